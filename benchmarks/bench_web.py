"""The voting page under load: when is a vote safe, when do labels move, is any vote lost?

    python -m benchmarks.bench_web load  --seconds 120     # 20 people on 100,000 items; then log = acks,
    state = batch
    python -m benchmarks.bench_web start                   # a log of a million votes
    python -m benchmarks.bench_web large                   # a million items: pages and memory

The server runs in a process of its own with accounts and SQLite; the voters are another process on the same
machine, each with a token and one connection. A voter votes at a steady pace (``--pace`` a second, as fast as
people can), or with ``--pace 0`` the moment the last answer is in; then 20 votes wait at any time, and one is
acknowledged after 20 divided by the votes a second, whatever the server does. Whatever else runs on the
machine makes everyone wait longer: how many cores it used meanwhile is measured and said.
"""

import argparse
import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks._common import ROOT, Settings, make_items, open_report, percentile, say, seconds, show_targets

N_CLASSES = 10
CLASSES = tuple("0123456789")
NOISE = 0.2  # share of votes that name a class at random
AHEAD = 8  # as the page asks for
SEED = 0  # of the neighbour search: the page and the batch that it is compared with
START_VOTES = 1_000_000
ANSWER_SECONDS = 900  # an export is a fit of its own
LEARNED = "learned-*.npz"  # the server's last fit
TOO_MANY = 429  # the status of a request that came too soon after others ...
HELD_BACK_SECONDS = 0.1  # ... and how long a voter then waits before the same vote is sent again
LIMITS = {
    "acknowledged, 95 %, s": 0.015,
    "soft labels moved, 95 %, s": 0.060,
    "votes per second": 200.0,
    "start with a million votes, s": 30.0,
    "page with a million items, s": 1.0,
    "memory with a million items, GiB": 4.0,
}


# ------------------------------------------------------------------------------------------------- the server
def make_service(folder: Path, database_url: str | None = None) -> Any:
    import numpy as np

    from softspread.web.project.items import BareItems
    from softspread.web.project.service import Service
    from softspread.web.project.settings import Settings as WebSettings

    X = np.load(folder / "X.npy", mmap_mode="r", allow_pickle=False)
    items = BareItems([f"item-{row:07d}" for row in range(len(X))])
    settings = WebSettings(
        classes=CLASSES, data_dir=folder / "data", port=0, database_url=database_url, seed=SEED
    )
    return Service(settings, items, X)


def serve(
    folder: Path,
    voters: int,
    database_url: str | None = None,
    tell: Callable[[dict[str, Any]], None] = lambda facts: print(json.dumps(facts), flush=True),
) -> None:
    """Start, make accounts with tokens, say where; serve until told to stop."""
    from softspread.web.http.app import create_app
    from softspread.web.http.server import run_server
    from softspread.web.log.accounts import Accounts

    service = make_service(folder, database_url)
    begin = time.perf_counter()
    service.start()
    took = time.perf_counter() - begin
    accounts = Accounts(service.store, service.clock)
    tokens = []
    for number in range(voters + 1):
        user = accounts.create(
            f"voter-{number}-{os.getpid()}", "a long password", "annotator" if number else "admin"
        )
        tokens.append(accounts.make_token(user, "benchmark"))

    def announce(address: str) -> None:
        threads = {thread.name: thread.native_id for thread in threading.enumerate()}
        facts = {"address": address, "tokens": tokens, "start": took, "from": service.started_from}
        tell(facts | {"threads": threads})

    try:
        run_server(create_app(service, stop_service=False), service.settings, announce)
    except KeyboardInterrupt:
        pass
    finally:
        service.stop()


class ServerProcess:
    """A server in a process of its own."""

    def __init__(self, folder: Path, voters: int = 1) -> None:
        command = [
            sys.executable,
            "-m",
            "benchmarks.bench_web",
            "serve",
            "--folder",
            str(folder),
            "--voters",
            str(voters),
        ]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        begin = time.perf_counter()
        line = self.process.stdout.readline()
        self.whole_start = time.perf_counter() - begin
        self.facts = json.loads(line)
        self.base = self.facts["address"]
        self.port = int(self.base.rsplit(":", 1)[1])
        self.get("/health")

    def get(self, path: str, token: int = 0) -> bytes:
        request = urllib.request.Request(
            self.base + path, headers={"Authorization": f"Bearer {self.facts['tokens'][token]}"}
        )
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
            return bytes(answer.read())

    def memory(self) -> float:
        """Largest resident size so far, GiB."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 2**20
        return float("nan")

    def cpu_seconds(self) -> float:
        """Processor time so far, all threads."""
        return processor_seconds(Path(f"/proc/{self.process.pid}/stat"))

    def thread_seconds(self) -> dict[str, float]:
        """Processor time so far of each thread, by name; all that came later together as "others"."""
        names = {native: name.removeprefix("softspread-") for name, native in self.facts["threads"].items()}
        found: dict[str, float] = {}
        for path in Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                spent = processor_seconds(path / "stat")
            except OSError:  # ended meanwhile
                continue
            name = names.get(int(path.name), "others")
            found[name] = found.get(name, 0.0) + spent
        return found

    def stop(self, number: int = signal.SIGINT) -> None:
        self.process.send_signal(number)
        self.process.wait(timeout=120)


def processor_seconds(path: Path) -> float:
    """Processor time, seconds, by a file ``stat`` of a process or thread."""
    fields = path.read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def machine_seconds() -> float:
    """Processor time so far of everything on the machine; nan where the system does not tell."""
    try:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:]
    except OSError:
        return float("nan")
    user, nice, system, _idle, _waiting, hard, soft, stolen = (int(field) for field in fields[:8])
    return (user + nice + system + hard + soft + stolen) / os.sysconf("SC_CLK_TCK")


# ------------------------------------------------------------------------------------------------- the voters
async def one_voter(
    port: int, token: str, number: int, labels: Any, until: float, pace: float
) -> list[tuple[float, str]]:
    """Vote until the time is up: (seconds until acknowledged, key) of each vote."""
    import numpy as np

    rng = np.random.default_rng([7, number])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"POST /api/v1/sync HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"

    async def ask(body: dict[str, Any]) -> tuple[int, Any]:
        content = json.dumps(body).encode()
        writer.write(
            f"{head}Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode()
            + content
        )
        lines = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        length = next(
            int(line.split(b":")[1]) for line in lines if line.lower().startswith(b"content-length")
        )
        return int(lines[0].split()[1]), json.loads(await reader.readexactly(length))

    _, answer = await ask({"wanted": AHEAD})
    ahead = [card["item"] for card in answer["items"]]
    taken: list[tuple[float, str]] = []
    due = time.perf_counter() + rng.random() / (pace or 1000)
    while time.perf_counter() < until and ahead:
        if pace:
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            due = max(due + 1 / pace, time.perf_counter() - 1 / pace)
        item, key = ahead.pop(0), f"v{number}-{len(taken)}-{rng.integers(2**40)}"
        label = int(rng.integers(N_CLASSES)) if rng.random() < NOISE else int(labels[int(item[5:])])
        vote = {"kind": "vote", "key": key, "item": item, "label": CLASSES[label]}
        status = TOO_MANY
        while status == TOO_MANY:  # nobody may vote more than 30 times a second for long: only with --pace 0
            begin = time.perf_counter()
            status, answer = await ask({"operations": [vote], "wanted": AHEAD, "holding": ahead})
            took = time.perf_counter() - begin
            if status == TOO_MANY:
                await asyncio.sleep(HELD_BACK_SECONDS)
        if status != 200:
            raise RuntimeError(f"vote refused: {status} {answer}")
        if answer["outcomes"][0]["status"] != "accepted":
            raise RuntimeError(f"vote not accepted: {answer['outcomes']}")
        taken.append((took, key))
        mine = set(ahead)
        ahead += [card["item"] for card in answer["items"] if card["item"] not in mine]
    writer.close()
    return taken


async def all_voters(
    port: int, tokens: list[str], labels: Any, duration: float, pace: float
) -> list[tuple[float, str]]:
    until = time.perf_counter() + duration
    voters = [one_voter(port, token, number, labels, until, pace) for number, token in enumerate(tokens)]
    return [vote for taken in await asyncio.gather(*voters) for vote in taken]


def prepare(folder: Path, n: int) -> Path:
    """Items of one size, kept for the next run; the graph is kept by the server itself."""
    import numpy as np

    home = folder / f"web{n}"
    if not (home / "X.npy").exists():
        home.mkdir(parents=True, exist_ok=True)
        X, classes = make_items(n, 0)
        np.save(home / "classes.npy", classes)
        np.save(home / "X.npy", X)
    for pattern in ("votes.sqlite*", LEARNED):
        forget(home / "data", pattern)
    return home


def forget(folder: Path, pattern: str) -> None:
    """Remove files of an earlier run."""
    for path in folder.glob(pattern):
        path.unlink()


def run_load(
    folder: Path, report: Any, n: int, voters: int, duration: float, pace: float, keep: bool = False
) -> None:
    """20 people vote; then the log is compared with what was acknowledged, the state with a batch.

    With ``keep`` the figures are stored for the documentation.
    """
    import numpy as np

    home = prepare(folder, n)
    labels = np.load(home / "classes.npy", allow_pickle=False)
    server = ServerProcess(home, voters)
    say(f"{voters} voters on {n:,} items for {duration:g} s at {pace or 'any'} votes a second each")
    threads = server.thread_seconds()
    begin, before = time.perf_counter(), (server.cpu_seconds(), time.process_time(), machine_seconds())
    taken = asyncio.run(all_voters(server.port, server.facts["tokens"][1:], labels, duration, pace))
    took = time.perf_counter() - begin
    now = (server.cpu_seconds(), time.process_time(), machine_seconds())
    by_thread = {
        name: 1000 * (after - threads.get(name, 0.0)) / max(1, len(taken))
        for name, after in server.thread_seconds().items()
    }
    cpu, own, machine = (after - then for after, then in zip(now, before, strict=True))
    dashboard = json.loads(server.get("/api/v1/dashboard"))
    latency, learned = dashboard["counts"]["latency"], dashboard["learned"]["votes"]
    time.sleep(2)
    served = json.loads(server.get("/api/v1/soft-labels?offset=0&limit=1000"))
    table = server.get("/api/v1/export/soft_labels.parquet")
    memory = server.memory()
    server.stop()
    times = [moment for moment, _ in taken]
    rate = len(taken) / took
    facts = {
        "votes": len(taken),
        "per_second": rate,
        "median": percentile(times, 0.5),
        "p95": percentile(times, 0.95),
        "p99": percentile(times, 0.99),
        "largest": max(times),
        "moved_ms": latency,
        "votes_at_last_fit": learned,
        "memory_gib": memory,
        "cpu_per_vote": cpu / max(1, len(taken)),
        "thread_ms_per_vote": by_thread,
        "cores_used": cpu / took,
        "cores_of_voters": own / took,
        "cores_of_others": max(0.0, (machine - cpu - own) / took),
        **check_log(home / "data" / "votes.sqlite", {key for _, key in taken}),
        **compare_with_batch(home, table, served),
    }
    report.add(bench="web_load", n=n, voters=voters, seconds=duration, pace=pace, **facts)
    say(
        f"  {len(taken):,} votes, {rate:.0f} a second; acknowledged after median {seconds(facts['median'])}, "
        f"95 % {seconds(facts['p95'])}, 99 % {seconds(facts['p99'])}, max {seconds(facts['largest'])}"
    )
    say(
        f"  soft labels moved after median {latency['median']} ms, 95 % {latency['p95']} ms; memory "
        f"{memory:.2f} GiB; the last fit that was swapped in has seen {learned:,} votes"
    )
    say(
        f"  server: {1000 * facts['cpu_per_vote']:.1f} ms of processor time a vote, "
        f"{facts['cores_used']:.2f} cores; voters {facts['cores_of_voters']:.2f}, everything else on the "
        f"machine {facts['cores_of_others']:.2f}"
    )
    shares = sorted(by_thread.items(), key=lambda pair: -pair[1])
    say("    of it " + ", ".join(f"{name} {spent:.2f}" for name, spent in shares if spent > 0.005))
    say(
        f"  lost {facts['lost']}, doubled {facts['doubled']}, not asked for {facts['foreign']}; "
        f"refined state against batch: {facts['batch_difference']:.1e}"
    )
    if keep:
        keep_figures(f"{voters} people vote on {n:,} items while the page learns in the background", facts)
    report.judge("votes per second", rate, LIMITS["votes per second"], at_least=True, n=n)
    report.judge("acknowledged, 95 %, s", facts["p95"], LIMITS["acknowledged, 95 %, s"], n=n)
    moved = latency["p95"] / 1000
    report.judge("soft labels moved, 95 %, s", moved, LIMITS["soft labels moved, 95 %, s"], n=n)
    report.judge("votes lost or doubled", facts["lost"] + facts["doubled"], 0, n=n)
    report.judge("largest difference from batch", facts["batch_difference"], 1e-4, n=n)


def keep_figures(title: str, facts: dict[str, Any]) -> None:
    """Store what the page about the voting page shows."""
    from experiments.stored import Sheet

    moved = facts["moved_ms"]
    figures = {
        "votes": facts["votes"],
        "votes per second": facts["per_second"],
        "acknowledged after, median, ms": 1000 * facts["median"],
        "acknowledged after, 95 %, ms": 1000 * facts["p95"],
        "acknowledged after, 99 %, ms": 1000 * facts["p99"],
        "soft labels moved after, median, ms": moved["median"],
        "soft labels moved after, 95 %, ms": moved["p95"],
        "processor time per vote, ms": 1000 * facts["cpu_per_vote"],
        "cores of the server": facts["cores_used"],
        "cores of everything else": facts["cores_of_voters"] + facts["cores_of_others"],
        "votes that the last fit had seen": facts["votes_at_last_fit"],
        "lost or doubled": facts["lost"] + facts["doubled"],
        "largest difference from a batch": facts["batch_difference"],
    }
    sheet = Sheet("voting_page")
    for name, value in figures.items():
        sheet.add(title, {"figure": name, "value": value})
    sheet.save()


def check_log(path: Path, acknowledged: set[str]) -> dict[str, int]:
    """Compare the log with what was acknowledged."""
    with sqlite3.connect(path) as connection:
        rows = connection.execute("select annotator, item, key from log where kind = 0").fetchall()
    keys = {key for _, _, key in rows}
    pairs = {(annotator, item) for annotator, item, _ in rows}
    return {
        "lost": len(acknowledged - keys),
        "doubled": len(rows) - len(keys) + len(rows) - len(pairs),
        "foreign": len(keys - acknowledged),
    }


def compare_with_batch(home: Path, table: bytes, served: dict[str, Any]) -> dict[str, float]:
    """A fresh fit of the log against what the server exported and against its live answers."""
    import io

    import numpy as np
    import pandas as pd

    from softspread import SoftLabeler, Votes, knn_graph

    with sqlite3.connect(home / "data" / "votes.sqlite") as connection:
        log = pd.read_sql("select item, label, annotator, weight from log where kind < 2", connection)
    rows = log["item"].str.slice(5).astype(int).to_numpy()
    names = (log[name].to_numpy(dtype=object) for name in ("label", "annotator"))
    votes = Votes.from_pairs(rows, *names, log["weight"].to_numpy())
    graph = knn_graph(np.load(home / "X.npy", allow_pickle=False), 20, random_state=SEED)
    batch = SoftLabeler().fit(graph, votes, classes=list(CLASSES)).predict_proba()
    frame = pd.read_parquet(io.BytesIO(table))
    refined = frame[[f"p_{name}" for name in CLASSES]].to_numpy(dtype=np.float64)
    live = np.array([item["p"] for item in served["items"]])
    return {
        "batch_difference": float(np.abs(refined - batch).max()),
        "live_difference": float(np.abs(live - batch[: len(live)]).max()),
    }


# --------------------------------------------------------------------------------------- start and large sets
def fill_log(path: Path, n_items: int, n_votes: int) -> None:
    """A log of random votes by 200 people, written straight into the database."""
    import numpy as np

    rng = np.random.default_rng(3)
    items, columns = (
        rng.integers(n_items, size=n_votes).tolist(),
        rng.integers(N_CLASSES, size=n_votes).tolist(),
    )
    rows = (
        (
            number + 1,
            0,
            f"k{number}",
            f"user-{number % 200}",
            f"item-{item:07d}",
            CLASSES[column],
            1.0,
            None,
            1.7e9 + number,
            "import",
            None,
            None,
        )
        for number, (item, column) in enumerate(zip(items, columns, strict=True))
    )
    with sqlite3.connect(path) as connection:
        connection.executemany("insert into log values (?,?,?,?,?,?,?,?,?,?,?,?)", rows)


def run_start(folder: Path, report: Any, n: int) -> None:
    """A log of a million votes: start without any snapshot, then with the one it left."""
    home = prepare(folder, n)
    ServerProcess(home).stop()  # makes tables and graph
    forget(home / "data", LEARNED)
    fill_log(home / "data" / "votes.sqlite", n, START_VOTES)
    for name in ("without a snapshot", "with a snapshot"):
        server = ServerProcess(home)
        start, whole = server.facts["start"], server.whole_start
        say(
            f"start with {START_VOTES:,} votes on {n:,} items, {name}: {start:.1f} s, whole process "
            f"{whole:.1f} s, {server.memory():.2f} GiB"
        )
        report.add(
            bench="web_start",
            n=n,
            votes=START_VOTES,
            how=name,
            start=start,
            whole=whole,
            memory=server.memory(),
        )
        report.judge(
            f"start with a million votes {name}, s", whole, LIMITS["start with a million votes, s"], n=n
        )
        server.stop()


def run_large(folder: Path, report: Any, n: int) -> None:
    """Pages and memory with a million items."""
    home = prepare(folder, n)
    server = ServerProcess(home, 2)
    say(f"{n:,} items: server up after {server.whole_start:.1f} s")
    paths = (
        "/vote",
        "/dashboard",
        "/api/v1/dashboard",
        "/api/v1/map/values",
        "/api/v1/items?search=item-0012345",
    )
    worst = 0.0
    for path in paths:
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            server.get(path)
            times.append(time.perf_counter() - begin)
        worst = max(worst, *times) if not path.startswith("/api/v1/items") else worst
        say(f"  {path}: median {seconds(percentile(times, 0.5))}, max {seconds(max(times))}")
        report.add(bench="web_page", n=n, path=path, median=percentile(times, 0.5), largest=max(times))
    import numpy as np

    labels = np.load(home / "classes.npy", allow_pickle=False)
    taken = asyncio.run(all_voters(server.port, server.facts["tokens"][1:], labels, 20, 5))
    time.sleep(20)  # a look and a snapshot, which need the most memory
    latency = json.loads(server.get("/api/v1/dashboard"))["counts"]["latency"]
    memory = server.memory()
    times = [moment for moment, _ in taken]
    say(
        f"  {len(taken)} votes: acknowledged 95 % {seconds(percentile(times, 0.95))}, soft labels moved 95 % "
        f"{latency['p95']} ms; memory {memory:.2f} GiB"
    )
    report.add(
        bench="web_large",
        n=n,
        votes=len(taken),
        p95=percentile(times, 0.95),
        moved_ms=latency,
        memory_gib=memory,
    )
    report.judge("page with a million items, s", worst, LIMITS["page with a million items, s"], n=n)
    report.judge("memory with a million items, GiB", memory, LIMITS["memory with a million items, GiB"], n=n)
    server.stop()


def main() -> None:
    """Run one part, or the server for another process."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=("load", "start", "large", "serve"))
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "softspread-bench-web")
    parser.add_argument("--items", type=int, default=None, help="default 100,000, and 1,000,000 for large")
    parser.add_argument("--voters", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument(
        "--pace", type=float, default=11.0, help="votes a second of each voter, 0 = no pause at all"
    )
    parser.add_argument("--out", type=Path, default=None, help="file of JSON lines")
    parser.add_argument("--store", action="store_true", help="of load: for the documentation")
    options = parser.parse_args()
    if options.part == "serve":
        serve(options.folder, options.voters)
        return
    report = open_report(Settings(), options.out)
    n = options.items or (1_000_000 if options.part == "large" else 100_000)
    if options.part == "load":
        asked = options.voters, options.seconds, options.pace, options.store
        run_load(options.folder, report, n, *asked)
    else:
        {"start": run_start, "large": run_large}[options.part](options.folder, report, n)
    show_targets(report)


if __name__ == "__main__":
    main()
