"""The paper's findings as statements that pass or fail, each with its number.

A statement is checked on every dataset that its experiment was run on. Where the experiment was not run there
is not a statement; a statement that fails says by how much.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from softspread.reproduce.present.beside import LEVEL as POINTS_LEVEL
from softspread.reproduce.present.beside import draws_of_points, reference_column, summarise
from softspread.reproduce.present.tables import labelled
from softspread.reproduce.run import each

FLAT = 0.10  # a change below a tenth is "stagnates"
STEEP = 0.30  # a change above three tenths is "falls"
SLOPES = (0.7, 1.1)  # of log evidence over log 1/(1 - alpha); components and peaks keep it below 1
LEVEL = 0.01  # two RMSEs this close count as level,
STANDARD_ERRORS = 2.0  # ... and so do two whose difference, draw by draw, is within this many of its errors
OURS = ("PLS (auto, classifier of votes as prior)", "PLS (auto)")  # the first that was run is judged
# Share of the authors' rows that must lie where one more draw of the points would: 95 % are expected, but
# rows share their points, and one unusual draw moves many of them together.
ROWS_WITHIN = 0.8
REFERENCES = {"moons_raw": "authors", "rmse_10": "rmse_10", "rmse_1": "rmse_1"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement on one dataset."""

    experiment: str
    dataset: str
    statement: str
    holds: bool
    number: str

    def line(self) -> str:
        """The finding in one line."""
        verdict = "PASS" if self.holds else "FAIL"
        return f"{verdict} {self.experiment}, {self.dataset}: {self.statement} ({self.number})"

    def to_json(self) -> dict[str, Any]:
        """The finding as plain values."""
        return asdict(self)


Frames = Mapping[str, Any]  # trials of each experiment that was run, as data frames


def _per_dataset(frames: Frames, *names: str) -> Iterator[tuple[str, str, Any]]:
    """Experiment, dataset and trials; the first of the named experiments that has the dataset counts."""
    seen = set()
    for name in names:
        if name not in frames:
            continue
        for dataset, part in labelled(frames[name]).groupby("dataset_label", sort=False):
            if dataset not in seen and (part["method"] == "pls").any():
                seen.add(dataset)
                yield name, str(dataset), part


def _alphas(frame: Any) -> Any:
    """Trials of spreading with a number as alpha, and that number."""
    part = frame[frame["method"] == "pls"]
    part = part.assign(alpha=each(part, "parameters", "alpha"))
    part = part[part["alpha"].map(lambda value: isinstance(value, float | int)).astype(bool)]
    return part.assign(alpha=part["alpha"].astype(float))


def alpha_and_budget(frames: Frames) -> Iterator[Finding]:
    """Large alpha for few votes, small alpha for many."""
    for name, dataset, frame in _per_dataset(frames, "alpha_budget", "trajectories_alpha"):
        means = _alphas(frame).groupby(["budget", "alpha"])["rmse"].mean().unstack()
        low, high = min(means, key=lambda a: abs(a - 0.1)), min(means, key=lambda a: abs(a - 0.9))
        few, many = means.index.min(), means.index.max()
        at_few, at_many = means.loc[few], means.loc[many]
        yield Finding(
            name,
            dataset,
            f"a larger alpha is better at a small budget ({100 * few:g} %)",
            bool(at_few[high] < at_few[low]),
            f"RMSE {at_few[high]:.4f} at alpha {high:g}, {at_few[low]:.4f} at {low:g}",
        )
        yield Finding(
            name,
            dataset,
            f"and worse at a large one ({100 * many:g} %)",
            bool(at_many[high] > at_many[low]),
            f"RMSE {at_many[high]:.4f} at alpha {high:g}, {at_many[low]:.4f} at {low:g}",
        )
        best = means.idxmin(axis=1)
        falls = bool((best.sort_index().diff().dropna() <= 0).all())
        listed = ", ".join(f"{100 * budget:g} %: {alpha:g}" for budget, alpha in best.items())
        yield Finding(name, dataset, "the best alpha falls as the budget grows", falls, listed)


def alpha_and_neighbors(frames: Frames) -> Iterator[Finding]:
    """Many neighbours for a small alpha, few for a large one."""
    for name, dataset, frame in _per_dataset(frames, "alpha_k", "neighbors"):
        budget = min(frame["budget"].unique(), key=lambda share: abs(np.log(share / 0.1)))
        part = _alphas(frame[frame["budget"] == budget])
        part = part.assign(k=each(part, "parameters", "n_neighbors"))
        means = part.groupby(["alpha", "k"])["rmse"].mean().unstack()
        few, many = min(means, key=lambda k: abs(k - 5)), min(means, key=lambda k: abs(k - 50))
        for alpha, better, worse, words in (
            (means.index.min(), many, few, "a small alpha likes many neighbours"),
            (means.index.max(), few, many, "a large alpha likes few neighbours"),
        ):
            row = means.loc[alpha]
            numbers = f"{row[better]:.4f} with {better} neighbours, {row[worse]:.4f} with {worse}"
            holds = bool(row[better] < row[worse])
            yield Finding(name, dataset, words, holds, f"alpha {alpha:g}: RMSE {numbers}")


def stagnation(frames: Frames) -> Iterator[Finding]:
    """Items that never get votes stop improving."""
    for name, dataset, frame in _per_dataset(frames, "train_test"):
        part = _alphas(frame)
        alpha = part["alpha"].min()
        means = part[part["alpha"] == alpha].groupby("budget")[["rmse_train", "rmse_test"]].mean()
        start, end = means.index[np.abs(np.log(means.index)).argmin()], means.index.max()
        change = 1 - means.loc[end] / means.loc[start]
        yield Finding(
            name,
            dataset,
            "RMSE on items without votes stagnates, while it falls on items with votes",
            bool(abs(change["rmse_test"]) < FLAT and change["rmse_train"] > STEEP),
            f"alpha {alpha:g}, from {100 * start:g} % to {100 * end:g} %: {change['rmse_test']:.0%} lower "
            f"without, {change['rmse_train']:.0%} lower with votes",
        )


def spread_out(frames: Frames) -> Iterator[Finding]:
    """A budget does more on many items than on few."""
    for name, dataset, frame in _per_dataset(frames, "concentrate"):
        part = _alphas(frame)
        part = part.assign(share=each(part, "design", "subset_share"))
        means = part.groupby(["alpha", "share"])["rmse"].mean().unstack()
        best_few = means[[share for share in means if share <= 0.1]].min(axis=1)
        gain = 1 - means[1.0] / best_few
        yield Finding(
            name,
            dataset,
            "votes spread over all items beat the same votes on a tenth of them or fewer",
            bool((gain > 0).all()),
            "; ".join(f"alpha {alpha:g}: RMSE {value:.0%} lower" for alpha, value in gain.items()),
        )


def evidence_growth(frames: Frames) -> Iterator[Finding]:
    """Evidence grows like 1 / (1 - alpha)."""
    for name, dataset, frame in _per_dataset(frames, "evidence"):
        means = _alphas(frame).groupby("alpha")["mean_evidence"].mean()
        means = means[means.index >= 0.9]
        if len(means) < 2:
            continue
        slope = float(np.polyfit(np.log(1 / (1 - means.index)), np.log(means), 1)[0])
        yield Finding(
            name,
            dataset,
            "the evidence of an item grows about like 1 / (1 - alpha)",
            SLOPES[0] <= slope <= SLOPES[1],
            f"slope {slope:.2f} of log evidence over log 1 / (1 - alpha), alpha from 0.9 to "
            f"{means.index.max():g}",
        )


def growing_items(frames: Frames) -> Iterator[Finding]:
    """A fixed number of votes reaches a growing dataset only with a large alpha."""
    for name, dataset, frame in _per_dataset(frames, "growing_datasets"):
        part = _alphas(frame[frame["votes"] == frame["votes"].min()])
        means = part.groupby(["alpha", "n_items"])["rmse"].mean().unstack()
        change = means[means.columns.max()] / means[means.columns.min()] - 1
        low, high = change.index.min(), change.index.max()
        yield Finding(
            name,
            dataset,
            "with a fixed number of votes, RMSE grows with the dataset for a small alpha and hardly for a "
            "large one",
            bool(change[low] > FLAT and change[high] < change[low]),
            f"from {means.columns.min():,} to {means.columns.max():,} items: {change[low]:+.0%} at alpha "
            f"{low:g}, {change[high]:+.0%} at {high:g}",
        )
        seen = part.groupby(["alpha", "n_items"])["mean_evidence"].mean().unstack()
        first, last = seen.columns.min(), seen.columns.max()
        yield Finding(
            name,
            dataset,
            "and the evidence of an item falls",
            bool((seen[last] < seen[first]).all()),
            "; ".join(
                f"alpha {alpha:g}: {row[first]:.3f} to {row[last]:.3f}" for alpha, row in seen.iterrows()
            ),
        )


def separated_features(frames: Frames) -> Iterator[Finding]:
    """Features with a larger silhouette give a smaller RMSE."""
    if "dimensions" not in frames:
        return
    for dataset, part in frames["dimensions"].groupby("dataset"):
        means = part.groupby("features")[["rmse", "silhouette"]].mean().dropna()
        if len(means) < 4:
            continue
        rank = float(means["rmse"].rank().corr(means["silhouette"].rank()))
        yield Finding(
            "dimensions",
            str(dataset),
            "features with a larger silhouette tend to give a smaller RMSE",
            rank < 0,
            f"rank correlation {rank:.2f} over {len(means)} feature spaces",
        )


def rmse_from_few_votes(frames: Frames) -> Iterator[Finding]:
    """Histograms of few votes make the RMSE look too large; correcting for their noise does not."""
    for name, dataset, frame in _per_dataset(frames, "estimated_rmse"):
        largest = frame[frame["size"] == frame["size"].max()]
        means = largest.groupby("votes_per_item")[["rmse", "estimate", "corrected"]].mean()
        few, many = means.loc[means.index.min()], means.loc[means.index.max()]
        excess = few["estimate"] - few["rmse"]
        yield Finding(
            name,
            dataset,
            "one vote per item makes the RMSE look far too large, ten votes much less so",
            bool(few["estimate"] > 1.5 * few["rmse"] and many["estimate"] - many["rmse"] < excess / 3),
            f"true RMSE {few['rmse']:.4f}; with 1 vote {few['estimate']:.4f}, with {means.index.max()} "
            f"{many['estimate']:.4f}",
        )
        at = means.loc[min(means.index, key=lambda number: abs(number - 3))]
        yield Finding(
            name,
            dataset,
            "with the votes' noise taken off, three votes per item suffice (not in the paper)",
            bool(abs(at["corrected"] / at["rmse"] - 1) < FLAT),
            f"true {at['rmse']:.4f}, estimated {at['corrected']:.4f} on {int(frame['size'].max())} items",
        )


def intervals_widen(frames: Frames) -> Iterator[Finding]:
    """Intervals are wide where votes are few."""
    frame = frames.get("sine_intervals")
    if frame is None:
        return
    frame = frame.assign(interval=each(frame, "options", "interval"))
    means = frame.groupby(["interval", "region"])[["width", "coverage"]].mean().unstack()
    for kind in means.index:
        wide, narrow = means.loc[kind, ("width", "sparse")], means.loc[kind, ("width", "dense")]
        yield Finding(
            "sine_intervals",
            "sine_curve",
            f"{kind} intervals are wider where votes are few",
            bool(wide > narrow),
            f"mean width {wide:.3f} there, {narrow:.3f} elsewhere",
        )
    if "hoeffding" in means.index:
        lowest = float(means.loc["hoeffding", "coverage"].min())
        yield Finding(
            "sine_intervals",
            "sine_curve",
            "Hoeffding intervals with the bias bound contain the truth as often as they promise",
            lowest >= 0.95,
            f"coverage {lowest:.3f}, promised 0.95",
        )


def best_on_moons(frames: Frames) -> Iterator[Finding]:
    """Density helps on two moons, whichever points are drawn."""
    for experiment in ("rmse_10", "rmse_1"):
        if experiment not in frames:
            continue
        frame = frames[experiment]
        part = frame[frame["dataset"] == "two_moons"]
        part = part.assign(points=draws_of_points(part))
        means = part.groupby(["points", "method", "parameters"])["rmse"].mean()
        best = means.groupby(["points", "method"]).min().unstack()
        if not {"pls", "gkr", "knn"} <= set(best):
            continue
        gain = best[["gkr", "knn"]].min(axis=1) - best["pls"]
        error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
        yield Finding(
            experiment,
            "two_moons",
            "spreading beats both baselines, each at its best setting, over draws of the points",
            bool(gain.mean() > STANDARD_ERRORS * error),
            f"RMSE {best['pls'].mean():.4f}, kernel {best['gkr'].mean():.4f}, nearest votes "
            f"{best['knn'].mean():.4f}; ahead by {gain.mean():.4f} ± {error:.4f} (standard error), on "
            f"{int((gain > 0).sum())} of {len(gain)} draws of the points",
        )


def authors_rows(frames: Frames) -> Iterator[Finding]:
    """The authors' results on two moons could be one of ours, had we drawn their points."""
    for experiment, reference in REFERENCES.items():
        frame = frames.get(experiment)
        if frame is None or "two_moons" not in set(frame["dataset"]):
            continue
        part: Any = labelled(frame[frame["dataset"] == "two_moons"])
        inside, outside = 0, []
        for (key, votes), rows in part.groupby(["paper_key", "votes"], sort=False):
            group = rows[rows["method_label"] == rows["method_label"].iloc[0]]  # Algorithm 3, not the text
            theirs = reference_column(reference, "two_moons", int(votes)).get(str(key))
            ours = summarise(group)
            agrees = ours.agrees_with(theirs)
            if agrees is None or theirs is None:
                continue
            if agrees:
                inside += 1
            else:
                reach = ours.reach if ours.over_points else theirs[1]
                apart = f"theirs {theirs[0]:.4f}, ours {ours.mean:.4f}, allowed ± {reach:.4f}"
                outside.append(f"{key} at {int(votes)} votes: {apart}")
        if inside + len(outside):
            number = f"{inside} of {inside + len(outside)}"
            number += "; not: " + "; ".join(outside) if outside else ""
            yield Finding(
                experiment,
                "two_moons",
                f"at least {ROWS_WITHIN:.0%} of the authors' rows lie where one more draw of the points "
                f"would ({POINTS_LEVEL:.0%} each)",
                inside >= ROWS_WITHIN * (inside + len(outside)),
                number,
            )


def best_without_truth(frames: Frames) -> Iterator[Finding]:
    """Spreading, with everything chosen from the votes, is level with every rival at its best setting."""
    for experiment in ("cifar10h_table", "competitors"):
        for name, dataset, frame in _per_dataset(frames, experiment):
            drawn = frame.assign(points=draws_of_points(frame))
            index = ["votes", "points", "draw"]
            table = drawn.pivot_table(index=index, columns="method_label", values="rmse")
            rivals = [label for label in table if not str(label).startswith("PLS")]
            ours = next((label for label in OURS if label in table), None)
            if ours is None or not rivals:
                continue
            compared = [_against_best(part, ours, rivals) for _, part in table.groupby("votes")]
            yield Finding(
                name,
                dataset,
                f"{ours}, without truth, is best or level (1 % or 2 standard errors) at every budget",
                all(one.holds for one in compared),
                "; ".join(one.text for one in compared),
            )


@dataclass(frozen=True, slots=True)
class _Compared:
    holds: bool
    text: str


def _against_best(part: Any, ours: str, rivals: list[str]) -> _Compared:
    """Ours against the rival with the lowest mean RMSE on the same votes, draw by draw."""
    best = part[rivals].mean().idxmin()
    difference = part[ours] - part[best]
    behind, level = difference.mean(), part[best].mean()
    error = difference.std(ddof=1) / np.sqrt(len(difference)) if len(difference) > 1 else 0.0
    votes = int(part.index.get_level_values("votes")[0])
    noise = f" ± {error / level:.1%}" if error else ""
    return _Compared(
        bool(behind <= max(LEVEL * level, STANDARD_ERRORS * error)),
        f"{votes:,} votes: {behind / level:+.1%}{noise} against {best}",
    )


def errors_vanish(frames: Frames) -> Iterator[Finding]:
    """Errors vanish although votes per item do too: consistency."""
    frame = frames.get("consistency")
    if frame is None:
        return
    frame = frame.assign(dimension=each(frame, "options", "dimension"), graph=each(frame, "options", "graph"))
    for (dimension, graph), part in frame.groupby(["dimension", "graph"]):
        means = part.groupby("n_items")[["rmse", "largest_error", "votes_per_item"]].mean()
        first, last = means.iloc[0], means.iloc[-1]
        yield Finding(
            "consistency",
            f"unit cube, {dimension} d, {graph}",
            "the largest error falls while votes per item fall",
            bool(
                last["largest_error"] < first["largest_error"]
                and last["votes_per_item"] < first["votes_per_item"]
            ),
            f"{first['largest_error']:.3f} to {last['largest_error']:.3f}, RMSE {first['rmse']:.4f} to "
            f"{last['rmse']:.4f}, votes per item {first['votes_per_item']:.3f} to "
            f"{last['votes_per_item']:.3f}",
        )


CHECKS: tuple[Callable[[Frames], Iterator[Finding]], ...] = (
    authors_rows,
    best_on_moons,
    alpha_and_budget,
    alpha_and_neighbors,
    stagnation,
    spread_out,
    evidence_growth,
    growing_items,
    separated_features,
    rmse_from_few_votes,
    intervals_widen,
    errors_vanish,
    best_without_truth,
)


def check_findings(frames: Frames) -> list[Finding]:
    """Check all statements that these experiments can decide."""
    run = {name: frame for name, frame in frames.items() if not frame.empty}
    return [finding for check in CHECKS for finding in check(run)]
