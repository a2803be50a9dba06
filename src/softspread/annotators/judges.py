"""How good models are that vote beside people, judged by people's votes on the same items.

    soft votes of models + people's votes  ->  agreement, calibration, confusion, effective number

Intervals are exact ones for a share (Clopper and Pearson) with items as trials: several votes of people on an
item, or shares of votes, count as one item. Both make them rather too wide than too narrow.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import betaincinv

from softspread._common.notebook import ShownAsTable
from softspread._common.types import AnyArray, FloatArray
from softspread._common.wording import counted
from softspread.posterior.experts import OwnVotes, other_shares
from softspread.posterior.panel import RULE as PANEL
from softspread.posterior.panel import Panel, PanelRule, SoftVotes, correlation_law, pool, rhos

SHOWN = 3  # models by name in one line


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JudgeReport(ShownAsTable):
    """How good models are that vote beside people.

    Attributes
    ----------
    models : pandas.DataFrame
        One row per model: items it spoke about, votes (samples), compared (items that people voted on as
        well), agreement (share of people's votes that a vote of the model equals), confidence (mean
        probability of its most probable class) and overconfidence (by how much that exceeds the share of
        people's votes for it), each with the ends of its interval. Confidence is NaN where every soft vote
        is certain: single votes do not say how sure a model is.
    confusion : pandas.DataFrame
        One row per model and pair of classes: what people say (``people``) where the model says ``model``:
        the share with its interval, and the items behind it.
    effective_number : float
        How many independent models all of them are worth, by people's votes.
    effective_lower, effective_upper : float
        Ends of its interval.

    See Also
    --------
    SoftLabeler.judge_report : Makes one.

    Examples
    --------
    >>> from softspread import SoftLabeler, Votes
    >>> votes = Votes.from_pairs([0, 1, 0, 1], [0, 1, 0, 1], ["ann", "ann", "gpt", "gpt"])
    >>> lab = SoftLabeler(n_neighbors=1).fit([[0.0], [1.0]], votes, model_annotators=["gpt"])
    >>> lab.judge_report().to_frame()["compared"].tolist()
    [2]
    """

    models: pd.DataFrame
    confusion: pd.DataFrame
    effective_number: float
    effective_lower: float
    effective_upper: float

    def __repr__(self) -> str:
        return f"JudgeReport({self.summary()})"

    def summary(self) -> str:
        """The report in one line.

        Returns
        -------
        str
            Agreement of the first models, and what all are worth.

        Examples
        --------
        >>> from softspread import SoftLabeler, Votes
        >>> votes = Votes.from_pairs([0, 1, 0], [0, 1, 0], ["ann", "ann", "gpt"])
        >>> SoftLabeler(n_neighbors=1).fit([[0.0], [1.0]], votes, model_annotators=["gpt"]).judge_report()
        JudgeReport(1 model; gpt agrees with 100 % of people's votes (5 to 100 %) on 1 item)
        """
        parts = [counted(len(self.models), "model")]
        for row in self.models.head(SHOWN).to_dict("records"):
            if not row["compared"]:
                parts.append(f"{row['annotator']} spoke about no item that people voted on")
                continue
            ends = f"{100 * row['agreement_lower']:.0f} to {100 * row['agreement_upper']:.0f} %"
            share, items = f"{100 * row['agreement']:.0f} %", counted(row["compared"], "item")
            parts.append(f"{row['annotator']} agrees with {share} of people's votes ({ends}) on {items}")
        if len(self.models) > SHOWN:
            parts.append(f"{len(self.models) - SHOWN} more")
        if len(self.models) > 1 and self.models["compared"].any():
            ends = f"{self.effective_lower:.1f} to {self.effective_upper:.1f}"
            parts.append(f"together worth {self.effective_number:.1f} independent models ({ends})")
        return "; ".join(parts)

    def to_frame(self) -> pd.DataFrame:
        """One row per model.

        Returns
        -------
        pandas.DataFrame
            ``models``.

        Examples
        --------
        >>> from softspread import SoftLabeler, Votes
        >>> votes = Votes.from_pairs([0, 1, 0], [0, 1, 0], ["ann", "ann", "gpt"])
        >>> lab = SoftLabeler(n_neighbors=1).fit([[0.0], [1.0]], votes, model_annotators=["gpt"])
        >>> lab.judge_report().to_frame()["agreement"].tolist()
        [1.0]
        """
        return self.models


def judge_models(
    panel: Panel, own: OwnVotes, classes: AnyArray, level: float, rule: PanelRule = PANEL
) -> JudgeReport:
    """Compare what models say with what people voted.

    Parameters
    ----------
    panel : what the models say
    own : people's votes
    classes : (n_classes,) names
    level : of the intervals
    """
    compared = [_Compared.of(model, own) for model in panel.models]
    models = pd.DataFrame([one.row(level) for one in compared])
    confusion = pd.concat([one.confusion(classes, level) for one in compared], ignore_index=True)
    return JudgeReport(models, confusion, *_effective_number(panel, own, level, rule))


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """One model beside people, on the items that both voted on."""

    model: SoftVotes
    said: FloatArray  # (m, n_classes)  the model's soft votes
    voted: FloatArray  # (m, n_classes)  people's mean votes

    @classmethod
    def of(cls, model: SoftVotes, own: OwnVotes) -> "_Compared":
        mine, at = own.on_rows(model.rows)
        return cls(model, model.said[mine.voted], own.mean_vote[at])

    def row(self, level: float) -> dict[str, object]:
        """Agreement and calibration."""
        n = len(self.said)
        agreement, *ends = _share(float((self.said * self.voted).sum()), n, level).tolist()
        found: dict[str, object] = {
            "annotator": self.model.name,
            "items": len(self.model.rows),
            "votes": self.model.n_votes,
            "compared": n,
            "agreement": agreement,
            "agreement_lower": ends[0],
            "agreement_upper": ends[1],
        }
        sure = bool((self.model.said.max(axis=1, initial=0) == 1).all())
        confidence = np.nan if sure or not n else float(self.said.max(axis=1).mean())
        hits = float(self.voted[np.arange(n), self.said.argmax(axis=1)].sum()) if n else 0.0
        share, lower, upper = _share(hits, n, level).tolist()
        over = {"": share, "_lower": upper, "_upper": lower}
        return found | {
            "confidence": confidence,
            **{f"overconfidence{end}": confidence - value for end, value in over.items()},
        }

    def confusion(self, classes: AnyArray, level: float) -> pd.DataFrame:
        """What people say where the model says each class."""
        n_classes = len(classes)
        met = (self.said.T @ self.voted)[:n_classes, :n_classes]
        total = np.repeat(self.said.sum(axis=0)[:n_classes], n_classes)
        share, lower, upper = _share(met.ravel(), total, level)
        says, people = np.divmod(np.arange(n_classes**2), n_classes)
        return pd.DataFrame(
            {
                "annotator": self.model.name,
                "model": classes[says],
                "people": classes[people],
                "share": share,
                "lower": lower,
                "upper": upper,
                "items": total,
            }
        )


def _share(hits: FloatArray | float, n: FloatArray | float, level: float) -> FloatArray:
    """(3, ...) shares and the ends of their exact intervals, 0 or 1 where none or all hit; NaN of nothing."""
    hits, n = np.asarray(hits, dtype=np.float64), np.asarray(n, dtype=np.float64)
    misses, tail = np.maximum(n - hits, 0.0), (1 - level) / 2
    lower = np.where(hits <= 0, 0.0, betaincinv(hits, misses + 1, tail))
    upper = np.where(misses <= 0, 1.0, betaincinv(hits + 1, misses, 1 - tail))
    with np.errstate(invalid="ignore"):
        share = np.where(n > 0, hits / n, np.nan)
    return np.stack([share, np.where(n > 0, lower, 0.0), np.where(n > 0, upper, 1.0)])


def _effective_number(
    panel: Panel, own: OwnVotes, level: float, rule: PanelRule
) -> tuple[float, float, float]:
    """Mean and quantiles of n / (1 + (n - 1) rho), over what people's votes leave open about rho."""
    n = len(panel.models)
    if n < 2:
        return float(n), float(n), float(n)
    shares, _, _ = other_shares(own, own.counts.sum(axis=0))
    law = correlation_law(pool(panel, own, shares, rule), own, shares, rule)
    worth = n / (1 + (n - 1) * rhos(rule))
    order = np.argsort(worth)
    below = np.cumsum(law[order])
    tails = np.searchsorted(below, [(1 - level) / 2, (1 + level) / 2]).clip(max=len(law) - 1)
    lower, upper = worth[order][tails].tolist()
    return float(law @ worth), lower, upper
