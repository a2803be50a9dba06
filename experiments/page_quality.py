"""The voting page's numbers about itself, while it chooses the items: do its 90 % intervals hold?

    python -m experiments.page_quality --draws 20 --jobs 2

A whole project without HTTP: its queue hands items to eight people by the default strategy with 15 % uniform
picks, they vote as often for a class as the crowd of the real dataset did; the log and the fits are the
page's own, the fits half as often as it makes them. After one and after two votes per item the dashboard's
numbers are compared with the crowd's soft labels; beside them those of the same votes taken for votes on
random items. Datasets: 1,200 items of each, from --data, by default ../shared/data beside the repository.
--folder keeps the projects: their votes can be judged again without being cast again. The tables are printed
and stored for the documentation (``experiments/results/voting_page.json``).
"""

import argparse
import multiprocessing
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from experiments.posterior.datasets import SIZE, Dataset, load, seed_of
from experiments.stored import Sheet

from softspread import metrics
from softspread.estimators.labeler import RefitRule
from softspread.simulate import draw_columns
from softspread.web.project.items import BareItems
from softspread.web.project.service import Service
from softspread.web.project.settings import Settings

DATASETS = ("cifar10h", "davidson", "chaosnli", "mdagreement")  # the last two had no part in the design
PEOPLE = 8
AT_ONCE = 10  # items that a person takes before the pool is chosen again
NOT_BY_ITSELF = RefitRule(fewest=10**9)  # fits come where the simulation asks for them ...
SPARSE_RULE = RefitRule(share=0.5)  # ... half as often as the page: the fits are most of the cost
MEASURES = {"rmse": "RMSE", "accuracy": "accuracy", "agreement": "agreement with a new vote"}
LEVEL = 0.9


@contextmanager
def project(dataset: Dataset, folder: Path, seed: int) -> Iterator[Service]:
    """A running project on the items of a dataset; it goes on with what is in the folder."""
    n, n_classes = dataset.truth.shape
    classes = tuple(f"class {column}" for column in range(n_classes))
    settings = Settings(classes, folder, auth=False, seed=seed)
    names = [f"item-{row}" for row in range(n)]
    service = Service(settings, BareItems(names), dataset.X, refit=NOT_BY_ITSELF)
    service.start()
    service.analyst.stop()  # looks when it is told to
    try:
        yield service
    finally:
        service.stop()


def voted(dataset: Dataset, draw: int, votes: list[float], folder: Path) -> Iterator[tuple[float, Path]]:
    """The project after each number of votes per item; what an earlier run has kept is not voted on again."""
    before = None
    for budget in votes:
        kept = folder / f"{dataset.name}-{draw}-{budget:g}"
        if not kept.exists():
            rng = np.random.default_rng([draw, seed_of(dataset.name), round(budget * 1_000)])
            unfinished = folder / f"{kept.name}-unfinished"
            shutil.rmtree(unfinished, ignore_errors=True)
            if before is not None:
                shutil.copytree(before, unfinished)
            with project(dataset, unfinished, int(rng.integers(2**31))) as service:
                vote(service, dataset, round(budget * len(dataset.truth)), rng)
            unfinished.rename(kept)
        yield budget, kept
        before = kept


def vote(service: Service, dataset: Dataset, number: int, rng: np.random.Generator) -> None:
    """Everybody votes on a few items until the log has this many votes."""
    while (before := len(service.history)) < number:
        service.queue.set_rule(service.queue._rule)  # the pool is chosen from the votes so far
        for person in range(PEOPLE):
            name = f"person {person}"
            cards = service.assign(name, min(AT_ONCE, number - len(service.history)))
            rows = np.array([card.row for card in cards], dtype=np.int64)
            columns = draw_columns(dataset.truth, rows, rng.random(len(rows)))
            entries = [
                service.vote(name, card.item, service.classes[column], f"{name} {card.row}")
                for card, column in zip(cards, columns.tolist(), strict=True)
            ]
            if entries:
                service.submit(entries).result()
        assert len(service.history) > before, "nobody got an item"
        assert service.state.wait_until(len(service.history), 600)
        learned = service.state.learned
        if SPARSE_RULE.due(learned.n_since, learned.n_votes):
            service.state.learn()


def look(service: Service, dataset: Dataset) -> list[dict[str, Any]]:
    """What the dashboard says, what is true, and what the same votes say when taken for random ones."""
    service.state.learn()
    learned = service.state.learned
    labeler = learned.labeler
    p = labeler.predict_proba()
    true = {
        "rmse": metrics.rmse(dataset.truth, p),
        "accuracy": metrics.accuracy(dataset.truth, p),
        "agreement": float(dataset.truth[np.arange(len(p)), p.argmax(axis=1)].mean()),
    }
    said = service.analyst._quality(learned, np.random.default_rng(learned.n_votes))
    assert said is not None
    unaware = labeler.quality(confidence_level=LEVEL, random_state=0)
    rows = []
    for measure, title in MEASURES.items():
        part, other = said[measure], getattr(unaware, measure)
        rows.append(
            {
                "measure": title,
                "true": true[measure],
                "said": part["value"],
                "lower": part["lower"],
                "upper": part["upper"],
                "held": part["lower"] <= true[measure] <= part["upper"],
                "taken for random": other.value,
                "random held": other.lower <= true[measure] <= other.upper,
            }
        )
    return rows


Found = dict[tuple[str, float, str], list[dict[str, Any]]]  # rows by dataset, votes per item, measure


def one_draw(
    name: str, draw: int, data: Path, votes: list[float], folder: Path
) -> list[tuple[float, dict[str, Any]]]:
    """A whole project on one dataset: its rows after each number of votes per item."""
    dataset = load(name, data, SIZE)
    found = []
    for budget, kept in voted(dataset, draw, votes, folder):
        with project(dataset, kept, draw) as service:
            found += [(budget, row) for row in look(service, dataset)]
    return found


def run(args: argparse.Namespace) -> None:
    """Every draw of every dataset; what there is so far is stored after each."""
    found: Found = {}
    with ExitStack() as stack:
        folder = args.folder or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        pool = stack.enter_context(ProcessPoolExecutor(args.jobs, multiprocessing.get_context("spawn")))
        cells = [(name, draw) for draw in range(args.draws) for name in args.datasets]
        running = {pool.submit(one_draw, *cell, args.data, args.votes, folder): cell for cell in cells}
        for finished in as_completed(running):
            name, draw = running[finished]
            for budget, row in finished.result():
                found.setdefault((name, budget, row["measure"]), []).append(row)
                found.setdefault(("all", budget, row["measure"]), []).append(row)
                print(name, draw, budget, *row.values(), flush=True)
            store_so_far(found)


def missed_by(row: dict[str, Any]) -> tuple[bool, bool]:
    """Whether the truth lies below and above the interval."""
    return row["true"] < row["lower"], row["true"] > row["upper"]


def store_so_far(found: Found) -> None:
    """The table of all runs so far."""
    sheet = Sheet("voting_page")
    title = "The page's own numbers under its default strategy: 90 % intervals that held"
    order = [*DATASETS, "all"]
    places = {key: (key[2], order.index(key[0]), key[1]) for key in found}
    for (name, budget, measure), rows in sorted(found.items(), key=lambda one: places[one[0]]):
        error = np.array([row["said"] - row["true"] for row in rows])
        sheet.add(
            title,
            {
                "dataset": name,
                "votes per item": budget,
                "measure": measure,
                "runs": len(rows),
                "true": float(np.mean([row["true"] for row in rows])),
                "said": float(np.mean([row["said"] for row in rows])),
                "its error": float(error.std(ddof=1) / np.sqrt(len(rows))) if len(rows) > 1 else None,
                "width": float(np.mean([row["upper"] - row["lower"] for row in rows])),
                "held": int(sum(row["held"] for row in rows)),
                "truth below, above": " and ".join(
                    str(sum(missed)) for missed in zip(*(missed_by(row) for row in rows), strict=True)
                ),
                "worst miss": max(
                    max(row["lower"] - row["true"], row["true"] - row["upper"], 0.0) for row in rows
                ),
                "taken for random": float(np.mean([row["taken for random"] for row in rows])),
                "random held": int(sum(row["random held"] for row in rows)),
            },
        )
    print(sheet.save())


def main() -> None:
    """Read the command line, run, store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--datasets", nargs="+", choices=DATASETS, default=list(DATASETS))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1, help="draws at the same time")
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[1] / "../shared/data")
    parser.add_argument("--folder", type=Path, help="keeps the projects; must exist")
    parser.add_argument("--votes", type=float, nargs="+", default=[1.0, 2.0], help="votes per item")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
