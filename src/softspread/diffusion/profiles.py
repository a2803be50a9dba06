"""Profiles of many items, kept only where they are large enough to matter.

    phi_q[i] = M_iq / s_q  for the items i that a push to ``floor`` reaches    theory: [profile], [push bound]

A push only ever adds, so every kept value is a lower bound, and what it misses is at most
sqrt(d_i) floor / ((1 - alpha) s_q), in the random-walk form sqrt(d_q) floor / ((1 - alpha) s_q).
"""

import threading

import numpy as np
from scipy.sparse import csr_array

from softspread import _kernels
from softspread._common.types import IntArray
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.push import PushWork

CHUNK = 64  # profiles per task


def local_profiles(diffusion: Diffusion, rows: IntArray, floor: float = 1e-4) -> csr_array:
    """Scaled profiles of the given inner rows, (len(rows), n) in inner numbering.

    ``result[j, i]`` is how much item i receives from one vote on ``rows[j]``. Memory and time grow as 1 /
    floor.
    """
    graph = diffusion.graph
    n = graph.n_items
    chunks = list(range(0, len(rows), CHUNK))
    parts: list[tuple[IntArray, IntArray, np.ndarray]] = [(np.empty(0, np.int64),) * 3 for _ in chunks]
    scratch = threading.local()
    seeds = rows.astype(np.uint32)

    def work(number: int) -> None:
        if not hasattr(scratch, "work"):
            scratch.work, scratch.x, scratch.r = PushWork(n), np.zeros(n), np.zeros(n)
        part = seeds[chunks[number] : chunks[number] + CHUNK]
        memory = scratch.work
        parts[number] = _kernels.push_profiles(
            graph.indptr,
            graph.indices,
            graph.weights,
            diffusion.root,
            diffusion.alpha,
            part,
            floor,
            scratch.x,
            scratch.r,
            memory.touched,
            memory.mark,
            memory.queue,
            memory.queued,
        )

    diffusion.workers.run(work, range(len(chunks)))
    sizes = np.concatenate([part[0] for part in parts]) if parts else np.empty(0, np.int64)
    indices = np.concatenate([part[1] for part in parts]) if parts else np.empty(0, np.int64)
    values = np.concatenate([part[2] for part in parts]) if parts else np.empty(0)
    owner = np.repeat(np.arange(len(rows)), sizes)
    values = values * diffusion.sources(rows, np.ones(len(rows)))[owner] * diffusion.error_factor()[indices]
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    profiles = csr_array((values, indices, indptr), shape=(len(rows), n))
    profiles.sort_indices()
    return profiles
