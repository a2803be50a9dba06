"""Killed at any moment, a run leaves no half-written output, and the next run works."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from softspread.io.soft_labels import read_soft_labels

N = 400  # items
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and SIGKILL")

# A process that has loaded and run everything once, on one thread, and forks for every line it reads: a child
# per
# command, without the seconds that loading takes. A line may ask the child to kill itself at its n-th flush
# or rename.
SERVER = """
import json, os, signal, sys
import softspread.cli.app
files = ["spread", "-e", "X.npy", "-v", "votes.csv", "-q", "--threads", "1", "--alpha", "0.4"]
for out in ("warm.csv", "warm.parquet", "warm"):
    softspread.cli.app.app([*files, "-o", out, "-w", "warm-ws"], standalone_mode=False)
print("ready", flush=True)
for line in sys.stdin:
    order = json.loads(line)
    pid = os.fork()
    if pid == 0:
        steps = [0]
        def counted(function):
            def call(*args, **more):
                steps[0] += 1
                if steps[0] == order["die_at"]:
                    os.kill(os.getpid(), signal.SIGKILL)
                done = function(*args, **more)
                steps[0] += 1
                if steps[0] == order["die_at"]:
                    os.kill(os.getpid(), signal.SIGKILL)
                return done
            return call
        os.replace, os.fsync = counted(os.replace), counted(os.fsync)
        try:
            softspread.cli.app.app(order["arguments"])
        except SystemExit as end:
            os._exit(end.code or 0)
    print(pid, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Server:
    """Runs commands in children."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, "-c", SERVER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
        )
        assert self.process.stdout.readline() == "ready\n"

    def start(self, *arguments, die_at=0):
        order = {"arguments": list(map(str, arguments)), "die_at": die_at}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self):
        return int(self.process.stdout.readline())


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Small data, and the process that runs commands on it."""
    tmp_path = tmp_path_factory.mktemp("killed")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4)) + 3 * (np.arange(N) % 2)[:, None]
    np.save(tmp_path / "X.npy", X)
    rows = rng.integers(N, size=120)
    pd.DataFrame({"item": rows, "label": rows % 2}).to_csv(tmp_path / "votes.csv", index=False)
    made = Server(tmp_path)
    made.folder = tmp_path
    yield made
    made.process.stdin.close()
    made.process.wait(timeout=20)
    made.process.stdout.close()


def spread(seed, out):
    """A run with one of four alphas, in a workspace of its own for each output."""
    return (
        "spread",
        "-e",
        "X.npy",
        "-v",
        "votes.csv",
        "-o",
        out,
        "-w",
        f"ws-{out}",
        "-q",
        "--threads",
        1,
        "--alpha",
        0.5 + 0.1 * (seed % 4),
    )


def assert_whole(path):
    """The output is absent, or holds every item."""
    if path.exists():
        assert len(read_soft_labels(path)) == N


@pytest.mark.parametrize("out", ["s.parquet", "folder"])
def test_killed_at_every_step_of_writing(server, out):
    """Before and after every flush and rename, of output and workspace; the same workspace serves all
    runs."""
    tmp_path, died = server.folder, 0
    for step in range(1, 60):
        server.start(*spread(step, out), die_at=step)
        code = server.end()
        assert code in (0, -signal.SIGKILL)
        assert_whole(tmp_path / out)
        if code == 0:
            break
        died += 1
    assert code == 0
    assert died >= 4
    assert len(read_soft_labels(tmp_path / out)) == N
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]


def test_killed_at_random_moments(server):
    """Whatever it was doing; afterwards the output is whole and the next run works."""
    tmp_path = server.folder
    chance = np.random.default_rng(0)
    begin = time.monotonic()
    server.start(*spread(0, "s.csv"))
    assert server.end() == 0
    whole = time.monotonic() - begin
    died = 0
    for turn in range(1, 13):
        pid = server.start(*spread(turn, "s.csv"))
        time.sleep(chance.uniform(0, whole))
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        died += server.end() != 0
        assert_whole(tmp_path / "s.csv")
    assert died >= 1
    server.start(*spread(0, "s.csv"))
    assert server.end() == 0
    assert len(read_soft_labels(tmp_path / "s.csv")) == N
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")]
