"""The voting page's numbers about itself, while it chooses the items: do its 90 % intervals hold?

    python -m experiments.page_quality --draws 8

A whole project without HTTP: its queue hands items to eight people by the default strategy with 15 % uniform
picks, they vote as often for a class as the crowd of the real dataset did, the log and the fits in the
background are the page's own. After one and after two votes per item the dashboard's numbers are compared
with the crowd's soft labels; beside them those of the same votes taken for votes on random items. Datasets:
1,200 items of each, from --data, by default ../shared/data beside the repository. The tables are printed and
stored for the documentation (``experiments/results/voting_page.json``).
"""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from experiments.posterior.datasets import SIZE, Dataset, load, seed_of
from experiments.stored import Sheet

from softspread import metrics
from softspread.estimators.labeler import REFIT, RefitRule
from softspread.simulate import draw_columns
from softspread.web.project.items import BareItems
from softspread.web.project.service import Service
from softspread.web.project.settings import Settings

DATASETS = ("cifar10h", "davidson", "chaosnli", "mdagreement")
PEOPLE = 8
AT_ONCE = 10  # items that a person takes before the pool is chosen again
NOT_BY_ITSELF = RefitRule(fewest=10**9)  # fits come where the simulation asks for them ...
PAGES_RULE = REFIT  # ... as often as the page would
MEASURES = {"rmse": "RMSE", "accuracy": "accuracy", "agreement": "agreement with a new vote"}
LEVEL = 0.9


@contextmanager
def project(dataset: Dataset, seed: int) -> Iterator[Service]:
    """A running project on the items of a dataset, with nothing in its log."""
    n, n_classes = dataset.truth.shape
    with tempfile.TemporaryDirectory(prefix="softspread-page-quality-") as folder:
        settings = Settings(
            tuple(f"class {column}" for column in range(n_classes)), Path(folder), auth=False, seed=seed
        )
        names = [f"item-{row}" for row in range(n)]
        service = Service(settings, BareItems(names), dataset.X, refit=NOT_BY_ITSELF)
        service.start()
        service.analyst.stop()  # looks when it is told to
        try:
            yield service
        finally:
            service.stop()


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
        if PAGES_RULE.due(learned.n_since, learned.n_votes):
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


def run(args: argparse.Namespace) -> None:
    """One draw of every dataset after the other; what there is so far is stored after each."""
    found: Found = {}
    for draw in range(args.draws):
        for name in DATASETS:
            dataset = load(name, args.data, SIZE)
            rng = np.random.default_rng([draw, seed_of(name)])
            with project(dataset, int(rng.integers(2**31))) as service:
                for budget in args.votes:
                    vote(service, dataset, round(budget * len(dataset.truth)), rng)
                    for row in look(service, dataset):
                        found.setdefault((name, budget, row["measure"]), []).append(row)
                        found.setdefault(("all", budget, row["measure"]), []).append(row)
                        print(name, draw, budget, *row.values(), flush=True)
        store_so_far(found)


def store_so_far(found: Found) -> None:
    """The table of all runs so far."""
    sheet = Sheet("voting_page")
    title = "The page's own numbers under its default strategy: 90 % intervals that held"
    for (name, budget, measure), rows in sorted(found.items(), key=lambda one: one[0][2]):
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
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[1] / "../shared/data")
    parser.add_argument("--votes", type=float, nargs="+", default=[1.0, 2.0], help="votes per item")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
