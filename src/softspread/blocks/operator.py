"""Rows of S in blocks: edge weights, both directions of every edge, degrees, S = D^-1/2 A D^-1/2.

    "halves"    w / 2 of a block's own lists, sorted by the block at the other end
    "affinity"  own halves and those that point here: rows of A = (W + W^T) / 2, and degrees
    "operator"  rows of S in single precision: columns below b are its own b items, the others its halo

A weight in single precision is off by at most 6e-8 of itself, so mass is by at most about 6e-8 / (1 - alpha).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from softspread._common.types import AnyArray, FloatArray, IndexArray, IntArray
from softspread.blocks.job import Job
from softspread.blocks.neighbors import rows_of_blocks
from softspread.blocks.places import PlaceSet
from softspread.graph.builders import gaussian_weights


class BlockOperator(NamedTuple):
    """Some rows of S; the halo are the places of other blocks' items that they touch, ascending."""

    indptr: IntArray  # (b + 1,)
    columns: IndexArray  # (edges,)  0 to b - 1: own items; b + j: the halo's j-th
    values: AnyArray  # (edges,)  float32
    halo: IntArray  # (h,)
    boundary: IntArray  # (t,)  own items that others touch, ascending
    degrees: FloatArray  # (b,)

    @property
    def n_items(self) -> int:
        """Own items."""
        return len(self.degrees)


def kernel_width(bandwidth: str | float, facts: list[dict[str, Any]], n_neighbors: int) -> float:
    """sigma**2 from the sums of all blocks, theory [bandwidth]."""
    if not isinstance(bandwidth, str):
        return float(bandwidth)
    n_items = sum(block["items"] for block in facts)
    if bandwidth == "kth":
        return float(math.fsum(block["kth"] for block in facts) / n_items)
    return float(math.fsum(block["all"] for block in facts) / (n_items * n_neighbors))


def halve_edges(job: Job, block: int) -> dict[str, Any]:
    """Stage "halves": a block's directed weights, by the block at the other end."""
    found = job.store.read("neighbors", block)
    near, k = found["near"].ravel(), found["near"].shape[1]
    weights = 0.5 * gaussian_weights(found["squared"].ravel(), job.facts["sigma2"])
    source = int(job.layout.starts[block]) + np.repeat(np.arange(len(near) // k), k)
    kept = weights > 0
    near, weights, source = near[kept], weights[kept], source[kept]
    home = job.layout.block_of(near)
    order = np.argsort(home, kind="stable")
    cuts = np.searchsorted(home[order], np.arange(1, job.layout.n_blocks))
    arrays: dict[str, AnyArray] = {}
    for other, mine in enumerate(np.split(order, cuts)):
        if len(mine):
            arrays |= {f"from_{other}": source[mine], f"to_{other}": near[mine], f"w_{other}": weights[mine]}
    touched = np.flatnonzero(np.bincount(home)).tolist()
    return job.store.write("halves", block, arrays, {"touched": touched})


def add_halves(job: Job, block: int) -> dict[str, Any]:
    """Stage "affinity": rows of A of one block, with places as columns."""
    start, size = int(job.layout.starts[block]), int(np.diff(job.layout.starts)[block])
    own = job.store.read("halves", block)
    names = [name.removeprefix("from_") for name in own if name.startswith("from_")]
    ends = [(own[f"from_{name}"], own[f"to_{name}"], own[f"w_{name}"]) for name in names]
    for other in (block, *job.facts["pointing"].get(str(block), [])):
        here = job.store.read("halves", other, [f"from_{block}", f"to_{block}", f"w_{block}"])
        if here:
            ends.append((here[f"to_{block}"], here[f"from_{block}"], here[f"w_{block}"]))
    if not ends:  # every weight of the block has underflowed
        ends = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
    rows, places, weights = (np.concatenate(part) for part in zip(*ends, strict=True))
    ends_of_edges = PlaceSet.of(job.layout, places)
    columns, distinct = ends_of_edges.numbers(places), ends_of_edges.places
    A = csr_array((weights, (rows - start, columns)), shape=(size, len(distinct)))
    A.sum_duplicates()
    arrays = {
        "indptr": A.indptr.astype(np.int64),
        "places": distinct[A.indices],
        "weights": A.data,
        "degrees": np.asarray(A.sum(axis=1), dtype=np.float64).ravel(),
    }
    facts = {"edges": int(A.nnz), "isolated": int((arrays["degrees"] == 0).sum())}
    return job.store.write(
        "affinity", block, arrays, facts | {"most": float(arrays["degrees"].max(initial=0))}
    )


def normalize_block(job: Job, block: int) -> dict[str, Any]:
    """Stage "operator": rows of S of one block."""
    start, end = (int(edge) for edge in job.layout.starts[block : block + 2])
    A = job.store.read("affinity", block)
    places, indptr = A["places"], A["indptr"]
    outside = (places < start) | (places >= end)
    beyond = PlaceSet.of(job.layout, places[outside])
    halo, columns = beyond.places, places - start
    columns[outside] = (end - start) + beyond.numbers(places[outside])
    degrees = A["degrees"]
    others = rows_of_blocks(job, "affinity", "degrees", halo) if len(halo) else np.empty(0)
    root = np.sqrt(np.where((every := np.concatenate([degrees, others])) > 0, every, 1.0))
    values = A["weights"] / np.repeat(root[: end - start], np.diff(indptr)) / root[columns]
    rows = np.repeat(np.arange(end - start), np.diff(indptr))
    arrays = {
        "indptr": indptr,
        "columns": columns.astype(np.uint32),
        "values": values.astype(np.float32),
        "halo": halo,
        "boundary": np.flatnonzero(np.bincount(rows[outside])),
        "degrees": degrees,
    }
    touched = np.unique(job.layout.block_of(halo)).tolist() if len(halo) else []
    return job.store.write("operator", block, arrays, {"touched": touched, "halo": len(halo)})


def read_operator(job: Job, block: int) -> BlockOperator:
    """The operator of one block."""
    return BlockOperator(**job.store.read("operator", block, BlockOperator._fields))
