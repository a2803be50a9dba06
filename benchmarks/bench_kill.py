"""kill -9 while people vote: is a vote that was acknowledged ever lost, or one ever counted twice?

    python -m benchmarks.bench_kill --times 100
    python -m benchmarks.bench_kill --times 100 --database-url postgresql://user@/votes?host=/tmp/pg

Eight people vote (one time in ten they take a vote back) as fast as the server answers, until the server is
killed at a random moment. It is started again on the same log, and what was not acknowledged is sent again
with the same key, as browsers do. After every kill the log in the database is compared with what was
acknowledged; at the end the page's state is compared with a fit of the log from scratch. The servers are
processes forked from one that has loaded everything already: so a start takes one second, not ten.
"""

import argparse
import http.client
import json
import multiprocessing
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks._common import Settings, open_report, say, seconds, show_targets
from benchmarks.bench_web import CLASSES, forget, make_service, prepare, serve

VOTERS = 8
UNDO_SHARE = 0.1
MOST_VOTES = 80  # acknowledged before the kill, at random from 1 ...
LATER = 0.03  # ... and up to so many seconds later
PATIENCE = 120.0  # seconds: then the kill comes whatever was acknowledged
AHEAD = 5
Operation = dict[str, Any]


class ForkedServer:
    """A server in a process of its own, killed without a warning."""

    def __init__(self, home: Path, voters: int, database_url: str | None) -> None:
        here, there = multiprocessing.Pipe()
        begin = time.perf_counter()
        self.process = multiprocessing.get_context("fork").Process(
            target=serve, args=(home, voters, database_url, there.send), daemon=True
        )
        self.process.start()
        there.close()
        facts = here.recv()
        self.start = time.perf_counter() - begin
        self.tokens: list[str] = facts["tokens"]
        self.port = int(facts["address"].rsplit(":", 1)[1])

    def kill(self) -> None:
        """Signal 9; gone on return."""
        self.process.kill()
        self.process.join()


@dataclass
class Voter:
    """Someone who votes until nobody answers any more, and remembers what was not acknowledged."""

    token: str
    number: int
    acknowledged: list[str] = field(default_factory=list)
    waiting: Operation | None = None  # sent, not acknowledged
    sent_again: int = 0
    last_vote: str | None = None
    count: int = 0

    def vote(self, port: int, labels: Any, rng: Any) -> None:
        """Until the connection breaks; any other refusal is an error."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        self.sent_again += self.waiting is not None
        ahead: list[str] = []
        with suppress(OSError, http.client.HTTPException):
            while True:
                if self.waiting is None and ahead:
                    self.waiting = self._next(ahead, labels, rng)
                sent = [] if self.waiting is None else [self.waiting]
                answer = self._ask(connection, {"operations": sent, "wanted": AHEAD, "holding": ahead})
                for outcome in answer["outcomes"]:
                    if outcome["status"] == "refused":
                        raise RuntimeError(f"refused: {outcome}")
                    self.acknowledged.append(sent[0]["key"])
                    self.waiting = None
                known = set(ahead)
                ahead += [card["item"] for card in answer["items"] if card["item"] not in known]

    def _next(self, ahead: list[str], labels: Any, rng: Any) -> Operation:
        self.count += 1
        key = f"p{self.number}-{self.count}"
        if self.last_vote is not None and rng.random() < UNDO_SHARE:
            undone, self.last_vote = self.last_vote, None
            return {"kind": "undo", "key": key, "vote": undone}
        item = ahead.pop(0)
        self.last_vote = key
        return {"kind": "vote", "key": key, "item": item, "label": CLASSES[int(labels[int(item[5:])])]}

    def _ask(self, connection: http.client.HTTPConnection, body: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        while True:
            connection.request("POST", "/api/v1/sync", json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
            if answer.status == 200:
                return dict(json.loads(content))
            if answer.status != 429:  # nobody may vote more than 30 times a second for long
                raise RuntimeError(f"{answer.status}: {content!r}")
            time.sleep(0.05)


def one_kill(server: ForkedServer, voters: list[Voter], labels: Any, rng: Any) -> None:
    """Vote, and kill the server after a random while."""
    troubles: list[BaseException] = []

    def go(voter: Voter, chance: Any) -> None:
        try:
            voter.vote(server.port, labels, chance)
        except BaseException as error:  # noqa: BLE001 - raised again below, by the thread that waits
            troubles.append(error)

    threads = [threading.Thread(target=go, args=pair) for pair in zip(voters, rng.spawn(VOTERS), strict=True)]
    for thread in threads:
        thread.start()
    wanted = sum(len(voter.acknowledged) for voter in voters) + int(rng.integers(1, MOST_VOTES))
    end = time.monotonic() + PATIENCE
    while sum(len(voter.acknowledged) for voter in voters) < wanted and time.monotonic() < end:
        time.sleep(0.002)
    time.sleep(rng.uniform(0, LATER))
    server.kill()
    for thread in threads:
        thread.join()
    if troubles:
        raise troubles[0]


def compare(home: Path, database_url: str | None, voters: list[Voter]) -> dict[str, int]:
    """The log in the database against what was acknowledged; no server runs."""
    from softspread.web.log.store import Store
    from softspread.web.project.settings import database_address

    store = Store(database_address(database_url, home / "data"))
    keys = [entry.key for entry in store.entries(limit=10**7)]
    store.close()
    acknowledged = [key for voter in voters for key in voter.acknowledged]
    known = set(acknowledged) | {voter.waiting["key"] for voter in voters if voter.waiting is not None}
    return {
        "lost": len(set(acknowledged) - set(keys)),
        "doubled": len(keys) - len(set(keys)) + len(acknowledged) - len(set(acknowledged)),
        "foreign": len(set(keys) - known),
        "logged": len(keys),
    }


def difference_from_batch(service: Any) -> float:
    """The page's soft labels, learned from its log, against a fit of the standing votes in the database."""
    import numpy as np

    from softspread import SoftLabeler, Votes
    from softspread.web.log.entry import UNDO, VOTE

    rows = [row for row in service.store.entries(limit=10**7) if row.kind in (VOTE, UNDO)]
    names = (np.array(column) for column in zip(*((r.item, r.label, r.annotator) for r in rows), strict=True))
    votes = Votes.from_pairs(*names, np.array([row.weight for row in rows]))
    batch = SoftLabeler(n_jobs=1).fit(
        service.graph, votes, item_ids=service.items.ids, classes=list(service.classes)
    )
    service.state.learn()
    page = service.state.soft_labels(np.arange(len(service.items))).p
    return float(np.abs(page - batch.predict_proba()).max())


def run(folder: Path, report: Any, n: int, times: int, database_url: str | None, keep: bool = False) -> None:
    """All kills on one log, then the comparisons; with ``keep`` they are stored for the documentation."""
    import numpy as np

    import softspread.web.http.app
    import softspread.web.http.server  # noqa: F401 - both loaded before the first fork
    from softspread.web.project.live_state import warm_up

    home = prepare(folder, n)
    warm_up(len(CLASSES))
    labels = np.load(home / "classes.npy", allow_pickle=False)
    forget(home / "data", "*.npz")
    rng = np.random.default_rng()
    voters: list[Voter] = []
    lost = doubled = foreign = logged = 0
    starts = []
    begin = time.perf_counter()
    for kill in range(times):
        server = ForkedServer(home, 0 if voters else VOTERS, database_url)
        starts.append(server.start)
        voters = voters or [Voter(token, number) for number, token in enumerate(server.tokens[1:])]
        one_kill(server, voters, labels, rng)
        found = compare(home, database_url, voters)
        lost, doubled, foreign = (
            max(worst, found[name])
            for worst, name in ((lost, "lost"), (doubled, "doubled"), (foreign, "foreign"))
        )
        logged = found["logged"]
        if (kill + 1) % 10 == 0:
            say(f"  {kill + 1} kills: {logged:,} lines in the log, lost {lost}, doubled {doubled}")
    service = make_service(home, database_url)
    service.start()
    apart = difference_from_batch(service)
    service.stop()
    acknowledged = sum(len(voter.acknowledged) for voter in voters)
    again = sum(voter.sent_again for voter in voters)
    database = "SQLite" if database_url is None else database_url.partition(":")[0]
    say(
        f"{database}: {times} kills in {time.perf_counter() - begin:.0f} s, {acknowledged:,} operations "
        f"acknowledged, {again} sent again, {logged:,} in the log; lost {lost}, doubled {doubled}, not asked "
        f"for {foreign}; state against batch {apart:.1e}; start median {seconds(float(np.median(starts)))}"
    )
    facts = {
        "database": database,
        "kills": times,
        "acknowledged": acknowledged,
        "sent again": again,
        "lines in the log": logged,
        "lost": lost,
        "doubled": doubled,
        "not asked for": foreign,
        "difference from a batch": apart,
    }
    report.add(bench="web_kill", n=n, start=float(np.median(starts)), **facts)
    if keep:
        from experiments.stored import Sheet

        sheet = Sheet("voting_page")
        sheet.add(f"kill -9 while eight people vote: {database}", facts)
        sheet.save()
    report.judge("votes lost or doubled by kill -9", lost + doubled + foreign, 0, n=n, database=database)
    report.judge("largest difference from batch after kill -9", apart, 1e-6, n=n, database=database)


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "softspread-bench-kill")
    parser.add_argument("--items", type=int, default=5_000)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--database-url", default=None, help="an empty PostgreSQL database instead of SQLite")
    parser.add_argument("--out", type=Path, default=None, help="file of JSON lines")
    parser.add_argument("--store", action="store_true", help="keep the figures for the documentation")
    options = parser.parse_args()
    report = open_report(Settings(), options.out)
    run(options.folder, report, options.items, options.times, options.database_url, options.store)
    show_targets(report)


if __name__ == "__main__":
    main()
