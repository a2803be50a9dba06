"""Annotator models side by side, flags and intervals of simulated annotators, and crowds that fail.

    python -m experiments.annotators --data FOLDER [--only PART] [--crowd NAME] [--draws 3]

The tables are printed and stored for the documentation (``experiments/results/annotators.json``).

``FOLDER`` holds ``labelme``, ``cifar10h``, ``davidson`` and ``mdagreement``. Parts:

labelme      error and Brier score against the gold labels, all votes and one vote per item
cifar10h     40 simulated annotators, one vote per item, RMSE to the soft labels of about 50 real people
overlap      the same with three votes per item
flags        a spammer and an honest annotator planted among labelme's
two-classes  simulated two-class crowds: who is flagged, and how often the interval of r holds the true one;
             the judging crowds were run once, after the rule was fixed
best-test    how many of those spammers any test could flag
controls     the real annotators of labelme and mdagreement: who is flagged
random       crowds whose votes do not depend on the items
failures     collusion and shared confusions
mdagreement  for judging only: trained on one vote per item, or on four, judged by the votes held out

Dawid-Skene, GLAD and MACE are crowd-kit's (``pip install crowd-kit``, which brings no torch); where that is
not installed their columns stay empty.
"""

import argparse
import time
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from experiments.stored import Sheet
from sklearn.datasets import make_moons

from softspread import SoftLabeler, Votes, knn_graph
from softspread._common.types import FloatArray, IntArray
from softspread.annotators.consistency import ConsistencyModel
from softspread.annotators.fit import KAPPAS, fit_annotators
from softspread.annotators.report import AnnotatorFit
from softspread.annotators.weighting import Weighting
from softspread.diffusion.diffusion import Diffusion
from softspread.graph.graph import Graph
from softspread.spreading.evidence import soft_labels
from softspread.tuning.candidates import SearchSpace
from softspread.tuning.search import choose_parameters
from softspread.votes.ballots import Ballots
from softspread.votes.table import VoteTable

ALPHAS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
AGGREGATORS = {"dawid-skene": "DawidSkene", "glad": "GLAD", "mace": "MACE"}  # in crowd-kit
METHODS = ("majority", *AGGREGATORS, "plain", "consistency", "confusion", "SoftLabeler")
N_ANNOTATORS = 40
# how many of the 40 are honest, noisy (40 % at random), uniform spammers, one-class spammers, confusers
CROWDS = {
    "mixed crowd": (20, 8, 6, 3, 3),
    "85 % spammers": (6, 0, 24, 10, 0),
    "all honest": (40, 0, 0, 0, 0),
}
Score = Callable[[FloatArray], list[float]]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--crowd", choices=CROWDS, help="of cifar10h; all of them by default")
    parser.add_argument("--features", default="features_efflite2_umap20", help="of cifar10h")
    parts = ("labelme", "cifar10h", "overlap", "flags", "two-classes", "best-test", "controls", "random")
    parts += ("failures", "mdagreement")
    parser.add_argument("--only", choices=parts)
    given = parser.parse_args()
    wanted = (given.only,) if given.only else parts
    if find_spec("crowdkit") is None:
        print("Dawid-Skene, GLAD and MACE are skipped: crowd-kit is not installed (pip install crowd-kit).")
    chosen = {name: kinds for name, kinds in CROWDS.items() if given.crowd in (None, name)}
    labelme, draws, sheet = given.data / "labelme", given.draws, Sheet("annotators")
    show_part = {
        "labelme": lambda: show_labelme(sheet, labelme, draws),
        "cifar10h": lambda: show_simulated(sheet, given.data / "cifar10h", given.features, draws, chosen, 1),
        "overlap": lambda: show_simulated(sheet, given.data / "cifar10h", given.features, draws, chosen, 3),
        "flags": lambda: show_flags(sheet, labelme, draws),
        "two-classes": lambda: show_two_classes(sheet, given.data, draws),
        "best-test": lambda: show_best_test(sheet, given.data),
        "controls": lambda: show_controls(sheet, given.data),
        "random": lambda: show_random(sheet, given.data, draws),
        "failures": lambda: show_failures(sheet, labelme, draws),
        "mdagreement": lambda: show_mdagreement(sheet, given.data / "mdagreement", draws),
    }
    for part in wanted:
        show_part[part]()
    print(sheet.save())


# ---------------------------------------------------------------------------------------------------- methods
def diffusions(graph: Graph) -> Callable[[float], Diffusion]:
    """One diffusion per alpha, kept."""
    return lru_cache(maxsize=None)(lambda alpha: Diffusion(graph, alpha, tol=1e-5))


def spread(
    at: Callable[[float], Diffusion], votes: VoteTable, n_classes: int, alpha: float, kappa: float
) -> FloatArray:
    """Soft labels of all items, in the user's order."""
    diffusion = at(alpha)
    mass = diffusion.spread_entries(votes.rows, votes.columns, votes.weights, n_classes, 1e-7).mass()
    return soft_labels(mass, np.full((1, n_classes), 1 / n_classes), kappa)


def majority(votes: VoteTable, n: int, n_classes: int) -> FloatArray:
    """Share of an item's own votes."""
    return soft_labels(votes.counts(n, n_classes), np.full((1, n_classes), 1 / n_classes), 1e-4)


def aggregated(name: str, votes: VoteTable, n: int, n_classes: int) -> FloatArray | None:
    """Crowd-kit's answer, None where it is not installed; items without votes get the class shares."""
    if find_spec("crowdkit") is None:
        return None
    from crowdkit import aggregation

    options = {"random_state": 0} if name == "mace" else {"n_iter": 100}
    table = pd.DataFrame({"task": votes.rows, "worker": votes.annotators, "label": votes.columns})
    found = getattr(aggregation, AGGREGATORS[name])(**options).fit_predict_proba(table)
    shares = np.bincount(votes.columns, minlength=n_classes) / len(votes)
    out = np.tile(shares, (n, 1))
    out[found.index] = found.reindex(columns=range(n_classes), fill_value=0.0).to_numpy()
    return out


def labelled(graph: Graph, votes: VoteTable, n_classes: int) -> FloatArray:
    """The recommended estimator as it comes."""
    given = Votes.from_pairs(
        votes.rows, votes.columns, votes.annotators, classes=range(n_classes), repeats="keep"
    )
    return np.asarray(SoftLabeler().fit(graph, given).predict_proba())


def fit(
    at: Callable[[float], Diffusion], votes: VoteTable, n_classes: int, confusion: bool = False
) -> AnnotatorFit:
    """Annotators rated, alpha and strength chosen by held-out votes."""
    space = SearchSpace(alphas=ALPHAS, strengths=KAPPAS)

    def choose(ballots: Ballots, _: bool) -> tuple[Diffusion, float]:
        found = choose_parameters(at(ALPHAS[0]).graph, ballots, space)
        return at(found.alpha), found.prior_strength

    return fit_annotators(at(ALPHAS[0]), votes, n_classes, choose=choose, confusion=confusion)


def all_methods(
    at: Callable[[float], Diffusion], votes: VoteTable, n_classes: int, score: Score
) -> list[list[float]]:
    """Scores of METHODS, in order."""
    n = at(ALPHAS[0]).graph.n_items
    unnamed = VoteTable(votes.rows, votes.columns, votes.weights)
    plain = fit(at, unnamed, n_classes)
    soft = fit(at, votes, n_classes, confusion=True)
    start = time.perf_counter()
    rated = fit(at, votes, n_classes)
    print(
        f"    plain alpha {plain.alpha}, rated alpha {rated.alpha} kappa {rated.kappa}, "
        f"{len(rated.report.annotator)} annotators, {len(votes)} votes, consistency fit "
        f"{time.perf_counter() - start:.1f} s",
        flush=True,
    )
    answers: list[FloatArray | None] = [majority(votes, n, n_classes)]
    answers += [aggregated(name, votes, n, n_classes) for name in AGGREGATORS]
    for found in (plain, rated, soft):
        counted = Weighting(found, votes).apply(votes)
        answers.append(spread(at, counted, n_classes, found.alpha, found.kappa))
    answers.append(labelled(at(ALPHAS[0]).graph, votes, n_classes))
    return [[] if p is None else score(p) for p in answers]


def show(sheet: Sheet, table: str, title: str, draws: list[list[list[float]]]) -> None:
    """One row of means over the draws, and one of the worst where there are several."""
    for name, choose in (("mean", np.mean), ("worst", np.max))[: min(len(draws), 2)]:
        row = {"votes": title, "draws": len(draws), "of them": name}
        for method, scores in zip(METHODS, zip(*draws, strict=True), strict=True):
            row[method] = (
                " / ".join(f"{value:.4f}" for value in choose(scores, axis=0)) if scores[0] else None
            )
        sheet.add(table, row)


# ---------------------------------------------------------------------------------------------------- labelme
def load_labelme(folder: Path) -> tuple[Graph, VoteTable, IntArray]:
    """Graph, votes and gold labels."""
    table = np.load(folder / "annotations.npy")
    rows, who = np.nonzero(table >= 0)
    votes = VoteTable(rows, table[rows, who].astype(np.int64), np.ones(len(rows)), who.astype(object))
    return (
        knn_graph(np.load(folder / "features_vgg16_umap20.npy")),
        votes,
        np.load(folder / "labels.npy").astype(np.int64),
    )


def subset(votes: VoteTable, kept: IntArray) -> VoteTable:
    """Some of the votes."""
    names = None if votes.annotators is None else votes.annotators[kept]
    return VoteTable(votes.rows[kept], votes.columns[kept], votes.weights[kept], names)


def gold_score(gold: IntArray, n_classes: int) -> Score:
    """Error and Brier score."""
    truth = np.eye(n_classes)[gold]
    return lambda p: [float((p.argmax(axis=1) != gold).mean()), float(((p - truth) ** 2).sum(axis=1).mean())]


def show_labelme(sheet: Sheet, folder: Path, n_draws: int) -> None:
    """All votes, and one vote per item."""
    graph, votes, gold = load_labelme(folder)
    at, score = diffusions(graph), gold_score(gold, 8)
    table = "Real votes of labelme: error / Brier score to the gold labels"
    show(sheet, table, "all votes", [all_methods(at, votes, 8, score)])
    draws = []
    for seed in range(n_draws):
        order = np.random.default_rng(seed).permutation(len(votes))
        first = order[np.unique(votes.rows[order], return_index=True)[1]]
        draws.append(all_methods(at, subset(votes, first), 8, score))
    show(sheet, table, "1 vote per item", draws)


# ------------------------------------------------------------------------------------------ simulated crowds
def simulate(soft: FloatArray, crowd: tuple[int, int, int, int, int], rng: np.random.Generator) -> VoteTable:
    """One vote per item; who votes on what is drawn at random."""
    n, n_classes = soft.shape
    who = rng.permutation(np.arange(n) % N_ANNOTATORS)
    honest = (rng.random((n, 1)) > np.cumsum(soft, axis=1)).sum(axis=1).clip(0, n_classes - 1)
    uniform = rng.integers(0, n_classes, n)
    favourite = rng.integers(0, n_classes, N_ANNOTATORS)[who]
    swapped = honest ^ 1  # a confuser takes each class of a pair for the other ...
    half = rng.random(n) < 0.5  # ... every other time
    kind = np.repeat(np.arange(5), crowd)[who]
    noisy = np.where(rng.random(n) < 0.4, uniform, honest)
    columns = np.choose(kind, [honest, noisy, uniform, favourite, np.where(half, swapped, honest)])
    return VoteTable(np.arange(n), columns, np.ones(n), who.astype(object))


def joined(tables: list[VoteTable]) -> VoteTable:
    """All votes of several tables."""
    parts = (np.concatenate([getattr(table, name) for table in tables]) for name in ("rows", "columns"))
    names = np.concatenate([table.annotators for table in tables])
    return VoteTable(*parts, np.ones(len(names)), names)


def show_simulated(
    sheet: Sheet,
    folder: Path,
    features: str,
    n_draws: int,
    crowds: dict[str, tuple[int, int, int, int, int]],
    votes_per_item: int,
) -> None:
    """Root mean squared error to the real soft labels."""
    counts = np.load(folder / "counts.npy").astype(np.float64)
    soft = counts / counts.sum(axis=1, keepdims=True)
    at = diffusions(knn_graph(np.load(folder / f"{features}.npy")))
    for name, crowd in crowds.items():
        draws = []
        for seed in range(n_draws):
            rng = np.random.default_rng(seed)
            votes = joined([simulate(soft, crowd, rng) for _ in range(votes_per_item)])
            draws.append(all_methods(at, votes, 10, lambda p: [float(np.sqrt(((p - soft) ** 2).mean()))]))
        table = f"Simulated crowds on cifar10h, votes per item: {votes_per_item}, RMSE"
        show(sheet, table, name, draws)


# ---------------------------------------------------------------------------------------- planted annotators
def planted(votes: VoteTable, n: int, columns: IntArray, rows: IntArray, name: str) -> VoteTable:
    """The votes and those of one more annotator."""
    names = np.append(votes.annotators, np.full(len(rows), name, dtype=object))
    return VoteTable(
        np.append(votes.rows, rows), np.append(votes.columns, columns), np.ones(len(votes) + len(rows)), names
    )


def show_flags(sheet: Sheet, folder: Path, n_draws: int) -> None:
    """How often a planted uniform spammer, and a planted honest annotator, is flagged."""
    graph, votes, gold = load_labelme(folder)
    at = diffusions(graph)
    for size in (20, 40, 80):
        caught, wronged, others = 0, 0, 0
        for seed in range(5 * n_draws):
            rng = np.random.default_rng(seed)
            rows = rng.choice(1000, (2, size), replace=False)
            both = planted(votes, 1000, rng.integers(0, 8, size), rows[0], "spammer")
            wrong = rng.random(size) < 0.2
            honest = np.where(wrong, rng.integers(0, 8, size), gold[rows[1]])
            both = planted(both, 1000, honest, rows[1], "honest")
            names, flag = _flags(at, both)
            caught += bool(flag[names == "spammer"][0])
            wronged += bool(flag[names == "honest"][0])
            others += int(flag.sum()) - bool(flag[names == "spammer"][0]) - bool(flag[names == "honest"][0])
        total = 5 * n_draws
        row = {"votes of each": size, "draws": total, "spammer flagged": caught, "honest flagged": wronged}
        row["real annotators flagged, mean"] = others / total
        sheet.add("A uniform spammer and an honest annotator (20 % errors) planted in labelme", row)


def _flags(at: Callable[[float], Diffusion], votes: VoteTable) -> tuple[np.ndarray, np.ndarray]:
    report = fit(at, votes, 8).report
    return report.annotator, report.flag == "does not follow"


# ---------------------------------------------------------------------------------- two classes, random votes
# True r of those planted among honest people: the first three vote at random, the last every other time.
PLANTED = {"uniform": 0.0, "one class": 0.0, "by shares": 0.0, "half at random": 0.5}


def two_class_scenes(data: Path) -> dict[str, tuple[Graph, FloatArray]]:
    """Graphs and true probabilities: two made of real votes, two made up."""
    rng = np.random.default_rng(5)
    tweets, images = (np.load(data / name / "counts.npy").astype(float) for name in ("davidson", "cifar10h"))
    some = rng.choice(len(tweets), 3000, replace=False)
    others = rng.choice(len(images), 3000, replace=False)
    X, moon = make_moons(1000, noise=0.2, random_state=0)
    in_cloud = rng.random(800) < 0.3
    cloud = rng.normal(size=(800, 3)) + 2 * in_cloud[:, None]
    probability = 1 / (1 + np.exp(6 - 2 * cloud.sum(axis=1) + np.log(7 / 3)))
    animal = images[others][:, [3, 4, 5, 7]].sum(axis=1) / images[others].sum(axis=1)
    neither = tweets[some, 2] / tweets[some].sum(axis=1)
    tweet_space = np.load(data / "davidson" / "features_minilm_umap20.npy")[some]
    image_space = np.load(data / "cifar10h" / "features_efflite2_umap20.npy")[others]
    return {
        "davidson, offensive or not": (knn_graph(tweet_space), np.stack([1 - neither, neither], axis=1)),
        "cifar10h, four animals or not": (knn_graph(image_space), np.stack([animal, 1 - animal], axis=1)),
        "two moons, 5 % errors": (knn_graph(X), np.where(moon[:, None] == [0, 1], 0.95, 0.05)),
        "two clouds": (knn_graph(cloud), np.stack([1 - probability, probability], axis=1)),
    }


def judging_scenes(data: Path) -> dict[str, tuple[Graph, FloatArray]]:
    """Other questions about other items, in other shares, which no constant was chosen on."""
    rng = np.random.default_rng(6)
    tweets, images = (np.load(data / name / "counts.npy").astype(float) for name in ("davidson", "cifar10h"))
    said = np.load(data / "labelme" / "annotations.npy")
    digits = np.load(data / "mnist" / "labels.npy")
    found = {}
    for title, counts, classes, space, n in (
        ("davidson, hateful or not", tweets, [0], "davidson/features_minilm_umap20", 4000),
        ("cifar10h, cat or dog, or not", images, [3, 5], "cifar10h/features_efflite2_umap20", 2000),
        (
            "labelme, first three classes or not",
            np.stack([(said == c).sum(axis=1) for c in range(8)], axis=1).astype(float),
            [0, 1, 2],
            "labelme/features_vgg16_umap20",
            1000,
        ),
        (
            "mnist, odd or even",
            np.eye(10)[digits] + 0.004,
            [1, 3, 5, 7, 9],
            "mnist/features_pixels_umap20",
            2500,
        ),
    ):
        rows = rng.choice(len(counts), n, replace=False)
        second = counts[rows][:, classes].sum(axis=1) / counts[rows].sum(axis=1)
        X = np.load(data / f"{space}.npy")[rows]
        found[title] = knn_graph(X), np.stack([1 - second, second], axis=1)
    return found


def people(p: FloatArray, n_honest: int, rng: np.random.Generator) -> tuple[VoteTable, dict[str, float]]:
    """Honest people with r from .6 to 1 and 15 to 300 votes, and one of each kind planted with 80; true r."""
    n, shares = len(p), p.mean(axis=0)
    tables, true_r = [], {}
    for number, planted in enumerate([""] * n_honest + list(PLANTED)):
        size = 80 if planted else int(np.clip(80 * np.exp(0.7 * rng.normal()), 15, 300))
        r = PLANTED[planted] if planted else rng.uniform(0.6, 1.0)
        rows = rng.choice(n, size, replace=False)
        name = planted or f"honest {number}"
        second = r * p[rows, 1] + (1 - r) * shares[1]
        if name == "uniform":
            second[:] = 0.5
        elif name == "one class":
            second[:] = rng.random() < shares[1]
        columns = (rng.random(size) < second).astype(np.int64)
        tables.append(VoteTable(rows, columns, np.ones(size), np.full(size, name, dtype=object)))
        true_r[name] = r
    return joined(tables), true_r


def show_two_classes(sheet: Sheet, data: Path, n_draws: int) -> None:
    """Flags, and how often the interval of r holds the true one."""
    for role, scenes, sizes in (
        ("design", two_class_scenes(data), (6, 12, 40)),
        ("judge", judging_scenes(data), (9, 25)),
    ):
        for title, (graph, p) in scenes.items():
            at = diffusions(graph)
            for n_honest in sizes:
                seeds = range(100, 100 + n_draws)  # 0 to 19 chose what flags
                crowds = [people(p, n_honest, np.random.default_rng(seed)) for seed in seeds]
                found = [(fit(at, votes, 2).report.to_frame(), true_r) for votes, true_r in crowds]
                sheet.add(
                    "Two classes: spammers with 80 votes among honest people",
                    {"role": role, "crowd": title, "honest people": n_honest, "draws": n_draws}
                    | who_was_flagged(found),
                )


def who_was_flagged(found: list[tuple[pd.DataFrame, dict[str, float]]]) -> dict[str, object]:
    """One row about several crowds, each a report and the true r of its people."""
    step = ConsistencyModel().grid[1] / 2  # r is known to half a step of the grid
    reports = [report.assign(r=report["annotator"].map(true_r)) for report, true_r in found]
    table = pd.concat(reports, keys=range(len(reports)))
    table["held"] = (table["lower"] - step <= table["r"]) & (table["r"] <= table["upper"] + step)
    row: dict[str, object] = {}
    for name in PLANTED:
        given = table.loc[table["annotator"] == name, "flag"].tolist()
        row[f"{name}: flagged + to check"] = f"{given.count('does not follow')}+{given.count('check')}"
    honest = table[~table["annotator"].isin(PLANTED)]
    by_draw = honest.groupby(level=0)["held"].mean()
    return row | {
        "honest flagged": int((honest["flag"] == "does not follow").sum()),
        "honest to check": f"{(honest['flag'] == 'check').sum()} of {len(honest)}",
        "largest P(r < .4) of an honest one": float(honest["p_not_following"].max()),
        "coverage of 90 %": float(by_draw.mean()),
        "worst draw": float(by_draw.min()),
        "width": float((honest["upper"] - honest["lower"]).mean()),
    }


def show_best_test(sheet: Sheet, data: Path) -> None:
    """How many spammers any test could flag: it knows the truth, their kind and how honest people vote.

    It is the likelihood ratio of r uniform between .6 and 1 against the kind, at a cut that flags one of
    1,000 honest people. One-class spammers name the more frequent class.
    """
    consistencies, n_votes, n_people = np.linspace(0.6, 1.0, 21), 80, 4_000
    for role, scenes in (("design", two_class_scenes(data)), ("judge", judging_scenes(data))):
        for title, (_, p) in scenes.items():
            rng, share = np.random.default_rng(0), p[:, 1].mean()
            row: dict[str, object] = {"role": role, "crowd": title, "share of the second class": share}
            second = p[rng.integers(len(p), size=(n_people, n_votes)), 1]
            r = rng.uniform(0.6, 1.0, size=(n_people, 1))
            honest = rng.random(second.shape) < r * second + (1 - r) * share
            for name, chance in (("uniform", 0.5), ("one class", float(share > 0.5)), ("by shares", share)):
                spam = rng.random(second.shape) < chance
                cut = np.quantile(_log_ratio(honest, second, share, chance, consistencies), 0.001)
                row[name] = float((_log_ratio(spam, second, share, chance, consistencies) < cut).mean())
            sheet.add("Share of spammers with 80 votes that the best possible test would flag", row)


def _log_ratio(
    named: np.ndarray, second: FloatArray, share: float, chance: float, consistencies: FloatArray
) -> FloatArray:
    """(people,) log likelihood of honest votes less that of votes for the second class with this chance."""

    def likelihood(probability: FloatArray | float) -> FloatArray:
        votes = np.where(named, probability, 1 - np.asarray(probability))
        return np.log(np.maximum(votes, 1e-9)).sum(axis=1)

    honest = [likelihood(r * second + (1 - r) * share) for r in consistencies]
    return np.asarray(np.logaddexp.reduce(honest) - np.log(len(honest)) - likelihood(chance))


def show_controls(sheet: Sheet, data: Path) -> None:
    """Real annotators of labelme and mdagreement: who is flagged, and how they vote beside others."""
    title = "Real annotators, all votes: who is flagged"
    graph, votes, _ = load_labelme(data / "labelme")
    crowds = {"labelme": (graph, votes, 8)}
    crowds["mdagreement"] = (*load_mdagreement(data / "mdagreement"), 2)
    for name, (graph, votes, n_classes) in crowds.items():
        report = fit(diffusions(graph), votes, n_classes).report.to_frame()
        above = report["annotator"].map(above_blind(votes, graph.n_items, n_classes))
        flagged, counts = report["flag"] == "does not follow", report["flag"].value_counts()
        row: dict[str, object] = {"crowd": name, "annotators": len(report)}
        row |= {flag: int(counts.get(flag, 0)) for flag in ("ok", "check", "does not follow")}
        row["agreement above blind, all"] = float(above.mean())
        row["of those flagged"] = float(above[flagged].mean())
        row["highest of them"] = float(above[flagged].max())
        sheet.add(title, row)


def above_blind(votes: VoteTable, n: int, n_classes: int) -> "pd.Series[float]":
    """Per annotator: the share of an item's other votes that agree, less that of votes by the own shares.

    Uses second votes on the same items only, neither neighbours nor embeddings.
    """
    cast = np.eye(n_classes)[votes.columns]
    others = votes.counts(n, n_classes)[votes.rows] - cast
    known = others.sum(axis=1) > 0
    said = others[known] / others[known].sum(axis=1, keepdims=True)
    table = pd.DataFrame(cast[known]).groupby(votes.annotators[known])
    habits = table.transform("mean").to_numpy()
    gap = pd.Series(((cast[known] - habits) * said).sum(axis=1))
    return gap.groupby(votes.annotators[known]).mean()


def show_random(sheet: Sheet, data: Path, n_draws: int) -> None:
    """How many of the crowds that never look at the items are called unknown."""
    for title, (graph, p) in two_class_scenes(data).items():
        at = diffusions(graph)
        for n_classes, n_annotators in ((2, 4), (3, 4), (3, 20), (8, 4)):
            unknown = [0, 0, 0]
            for place, size in enumerate((30, 150, 600)):
                for seed in range(n_draws):
                    rng = np.random.default_rng(seed)
                    rows = np.concatenate(
                        [rng.choice(len(p), size, replace=False) for _ in range(n_annotators)]
                    )
                    habits = rng.dirichlet(np.full(n_classes, 3.0), n_annotators)
                    habits = habits if seed % 2 else np.tile(habits[0], (n_annotators, 1))
                    columns = np.concatenate([rng.choice(n_classes, size, p=habit) for habit in habits])
                    names = np.repeat(np.arange(n_annotators), size).astype(object)
                    found = fit(at, VoteTable(rows, columns, np.ones(len(rows)), names), n_classes)
                    unknown[place] += set(found.report.flag) == {"unknown"}
            row = {
                "items": title,
                "classes": n_classes,
                "annotators": n_annotators,
                "crowds of each size": n_draws,
            }
            row |= {
                f"{size} votes each": number for size, number in zip((30, 150, 600), unknown, strict=True)
            }
            sheet.add("Random crowds that were called unknown", row)


# -------------------------------------------------------------------------------------- mdagreement: judging
def load_mdagreement(folder: Path) -> tuple[Graph, VoteTable]:
    """Graph and all votes."""
    table = pd.read_csv(folder / "annotations.csv")
    rows, columns = table["item"].to_numpy(), table["label"].to_numpy(dtype=np.int64)
    votes = VoteTable(rows, columns, np.ones(len(rows)), table["annotator"].to_numpy(dtype=object))
    return knn_graph(np.load(folder / "features_tfidfsvd50_f16.npy").astype(np.float32)), votes


def show_mdagreement(sheet: Sheet, folder: Path, n_draws: int) -> None:
    """Each item has five votes by five people: some are seen, the others judge.

    Which of an item's votes are held out is drawn at random, so they are votes of other people than those
    seen, and no method sees them. All are compared with the same held-out votes.
    """
    graph, votes = load_mdagreement(folder)
    at, n, rows = diffusions(graph), graph.n_items, votes.rows
    title = "mdagreement: RMSE to the mean held-out vote / Brier score of held-out votes"
    for seen in (4, 1):
        draws = []
        for seed in range(n_draws):
            order = np.random.default_rng(seed).permutation(len(rows))
            order = order[np.argsort(rows[order], kind="stable")]
            place = np.arange(len(rows)) - np.searchsorted(rows[order], rows[order])
            judging = subset(votes, order[place >= seen])
            draws.append(all_methods(at, subset(votes, order[place < seen]), 2, held_out_score(judging, n)))
        show(sheet, title, f"{seen} of 5 votes seen", draws)


def held_out_score(votes: VoteTable, n: int) -> Score:
    """Distance from the mean held-out vote, and Brier score of single ones."""
    counts = votes.counts(n, 2)
    judged = counts.sum(axis=1) > 0
    mean = counts[judged] / counts[judged].sum(axis=1, keepdims=True)
    single = np.eye(2)[votes.columns]
    return lambda p: [
        float(np.sqrt(((p[judged] - mean) ** 2).mean())),
        float(((p[votes.rows] - single) ** 2).sum(axis=1).mean()),
    ]


# --------------------------------------------------------------------------------------------------- failures
def show_failures(sheet: Sheet, folder: Path, n_draws: int) -> None:
    """Collusion (everyone in the ring names the next class) and a confusion half the crowd shares."""
    graph, votes, gold = load_labelme(folder)
    at, score = diffusions(graph), gold_score(gold, 8)
    table = "Planted in labelme, all votes: error / Brier score to the gold labels"
    for share in (0.2, 0.35, 0.45, 0.55):
        draws = []
        for seed in range(n_draws):
            rng = np.random.default_rng(seed)
            ring = rng.random(59) < share
            columns = np.where(ring[votes.annotators.astype(int)], (gold[votes.rows] + 1) % 8, votes.columns)
            draws.append(
                all_methods(at, VoteTable(votes.rows, columns, votes.weights, votes.annotators), 8, score)
            )
        show(sheet, table, f"{share:.0%} collude", draws)
    draws = []
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        half = rng.random(59) < 0.5
        fooled = half[votes.annotators.astype(int)] & (gold[votes.rows] == 2)
        columns = np.where(fooled, 3, votes.columns)
        draws.append(
            all_methods(at, VoteTable(votes.rows, columns, votes.weights, votes.annotators), 8, score)
        )
    show(sheet, table, "half of the crowd takes class 2 for 3", draws)


if __name__ == "__main__":
    main()
