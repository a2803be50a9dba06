"""One real vote on each item and a few second ones, judged by held-out votes: what an own vote counts.

    python -m experiments.single_votes --data FOLDER [--draws 2] [--size 1200]

The tables are printed and stored for the documentation (``experiments/results/single_votes.json``).

``FOLDER`` holds the datasets of ``shared/data``. Votes are dealt from an item's own without putting them
back, so that no vote that judges was seen; a truth made of the same few votes would flatter the own vote.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from experiments.posterior.datasets import load, rows_of
from experiments.stored import Sheet
from threadpoolctl import threadpool_limits

from softspread import ProbabilisticLabelSpreading, SoftLabeler, SoftspreadWarning
from softspread._common.types import FloatArray, IntArray

ROLES = {
    "cifar10h": "design",
    "davidson": "design",
    "labelme": "design",
    "chaosnli": "judge",
    "mdagreement": "judge",
}
SECOND = (0, 10, 40)  # items with a second vote
SHARES = np.linspace(0.0, 0.9, 46)  # of the own vote, for the best in hindsight
HELD_OUT = "Brier score of held-out votes: one vote on each item, and second votes"
GOLD = "labelme: share of wrong labels, against the gold labels"


def main() -> None:
    """Print and store the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--size", type=int, default=1_200, help="items per dataset")
    given = parser.parse_args()
    sheet = Sheet("single_votes")
    with threadpool_limits(1):
        for name in ROLES:
            show(sheet, name, given.data, given.size, given.draws)
    print(sheet.save())


def show(sheet: Sheet, name: str, data: Path, size: int, n_draws: int) -> None:
    """One row per number of second votes: means over the draws."""
    dataset, counts = load(name, data, size), votes_of(name, data, size)
    gold = np.load(data / name / "labels.npy")[rows_of(1_000, size, name)] if name == "labelme" else None
    for second in SECOND:
        draws, errors = [], []
        for draw in range(n_draws):
            seen = deal(counts, second, np.random.default_rng([draw, size]))
            answers = answers_to(dataset.X, dataset.features, seen)
            draws.append(judged(answers, seen, counts - seen))
            if gold is not None:
                errors.append({word: float((p.argmax(axis=1) != gold).mean()) for word, p in answers.items()})
        start = {"dataset": name, "role": ROLES[name], "second votes": second, "draws": n_draws}
        sheet.add(HELD_OUT, start | pd.DataFrame(draws).mean().to_dict())
        if errors:
            start = {"second votes": second, "draws": n_draws}
            sheet.add(GOLD, start | pd.DataFrame(errors).mean().to_dict())


def votes_of(name: str, data: Path, size: int) -> IntArray:
    """(n, n_classes) all votes of the items that ``load`` takes."""
    if name == "labelme":
        votes = np.load(data / name / "annotations.npy")
        counts = np.stack([(votes == c).sum(axis=1) for c in range(8)], axis=1)
    else:
        counts = np.load(data / name / "counts.npy")
    return np.asarray(counts[rows_of(len(counts), size, name)], dtype=np.int64)


def deal(counts: IntArray, second: int, rng: np.random.Generator) -> IntArray:
    """(n, n_classes) one vote of each item, and a second one of some that have further votes."""
    dealt = _one_of_each(counts, rng)
    some = rng.permutation(np.flatnonzero(counts.sum(axis=1) > 2))[:second]
    dealt[some] += _one_of_each((counts - dealt)[some], rng)
    return dealt


def _one_of_each(counts: IntArray, rng: np.random.Generator) -> IntArray:
    number = rng.integers(counts.sum(axis=1))
    columns = (np.cumsum(counts, axis=1) <= number[:, None]).sum(axis=1)
    return np.eye(counts.shape[1], dtype=np.int64)[columns]


def answers_to(X: FloatArray, features: FloatArray | None, seen: IntArray) -> dict[str, FloatArray]:
    """Soft labels of own votes alone, of others alone, of spreading, of SoftLabeler."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SoftspreadWarning)  # few second votes: the study is about that
        plain = ProbabilisticLabelSpreading(random_state=0).fit(X, seen.astype(float))
        lab = SoftLabeler(random_state=0).fit(X, seen.astype(float), features=features)
    own = seen / seen.sum(axis=1, keepdims=True)
    others = np.asarray(lab._posterior.m, dtype=np.float64)  # as explain() shows them, item by item
    return {
        "own votes": own,
        "others": others,
        "PLS auto": np.asarray(plain.predict_proba()),
        "SoftLabeler": np.asarray(lab.predict_proba()),
    }


def judged(answers: dict[str, FloatArray], seen: IntArray, rest: IntArray) -> dict[str, float]:
    """Brier score per item, what the own vote counts, and what it should have counted."""
    found = {name: brier(p, rest) for name, p in answers.items()}
    own, others = answers["own votes"], answers["others"]
    mixed = [brier((1 - share) * others + share * own, rest) for share in SHARES]
    toward = own - others
    counts_now = ((answers["SoftLabeler"] - others) * toward).sum() / (toward**2).sum()
    best = int(np.argmin(mixed))
    return found | {
        "best share": mixed[best],
        "share of the own vote": float(counts_now),
        "best in hindsight": float(SHARES[best]),
    }


def brier(p: FloatArray, rest: IntArray) -> float:
    """Mean squared distance to the held-out votes, every item counting the same."""
    held = rest.sum(axis=1) > 0
    said = rest[held] / rest[held].sum(axis=1, keepdims=True)
    return float(((p[held] ** 2).sum(axis=1) - 2 * (p[held] * said).sum(axis=1) + 1).mean())


if __name__ == "__main__":
    main()
