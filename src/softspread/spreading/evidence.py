"""From votes to evidence, and from evidence to soft labels.

    mass Y (n, n_classes), evidence N = sum_c Y_c  ->  p = (Y + kappa prior) / (N + kappa)   [soft label]

:class:`Evidence` is what reached each item, :class:`SoftLabels` what we say about it. Python, the command
line, files and the page all use these two.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from softspread._common.extras import needs_extra
from softspread._common.kinds import MULTILABEL, SINGLE
from softspread._common.notebook import SHOWN_ROWS, as_html
from softspread._common.types import AnyArray, BoolArray, FloatArray, IntArray
from softspread._common.wording import counted
from softspread.errors import InputError

if TYPE_CHECKING:
    import torch

SHOWN_CLASSES = 6  # in a short description


def soft_labels(mass: FloatArray, prior: AnyArray, prior_strength: float) -> FloatArray:
    """(Y + kappa prior) / (N + kappa), rows summing to 1; the prior where both are 0. Theory [soft label]."""
    mass = np.maximum(mass, 0.0)  # a solver's rounding may leave -1e-12
    total = mass + prior_strength * prior
    evidence = total.sum(axis=1, keepdims=True)
    return np.where(evidence > 0, total / np.where(evidence > 0, evidence, 1.0), prior)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Evidence:
    """Mass of all votes per item and class; two of them add like their votes.

    Attributes
    ----------
    mass : (n, n_classes) array
        What each item has received per class.
    error_bound : (n,) array
        Proven: no entry of an item's mass is further from the exact one.

    See Also
    --------
    SoftLabels : Soft labels made of it, with intervals.

    Examples
    --------
    >>> one = Evidence(np.array([[1.0, 0.5]]), np.array([1e-6]))
    >>> (one + one).total.tolist()
    [3.0]
    """

    mass: FloatArray  # (n, n_classes)  what each item has received per class
    error_bound: FloatArray  # (n,)  proven: no entry of an item's mass is further from the exact one

    def __add__(self, other: "Evidence") -> "Evidence":
        return Evidence(self.mass + other.mass, self.error_bound + other.error_bound)

    def __repr__(self) -> str:
        n, n_classes = self.mass.shape
        shape = f"{counted(n, 'item')}, {counted(n_classes, 'class')}"
        return f"Evidence({shape}; {self.mass.sum():.4g} votes' worth)"

    @property
    def total(self) -> FloatArray:
        """(n,) evidence of each item, in votes."""
        return np.asarray(self.mass.sum(axis=1))

    def soft_labels(self, prior: AnyArray, prior_strength: float) -> FloatArray:
        """(n, n_classes) soft labels under a prior that counts as ``prior_strength`` votes.

        Parameters
        ----------
        prior : (n, n_classes) array
            Probabilities that count as pseudo-votes.
        prior_strength : float
            How many votes the prior counts as.

        Returns
        -------
        (n, n_classes) array
            Rows sum to 1.

        See Also
        --------
        ProbabilisticLabelSpreading.soft_labels : The same for a fitted estimator, with intervals.

        Examples
        --------
        >>> Evidence(np.array([[3.0, 1.0]]), np.zeros(1)).soft_labels(np.array([[0.5, 0.5]]), 0.0).tolist()
        [[0.75, 0.25]]
        """
        return soft_labels(self.mass, prior, prior_strength)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SoftLabels:
    """Soft label, evidence, interval and verdict of every item.

    Attributes
    ----------
    ids : (n,) array
        Names of the items; their positions where they have none.
    classes : (n_classes,) array
        Class names, in the order of columns.
    p : (n, n_classes) array
        Soft labels; each row sums to 1, of the kind "multilabel" each entry is a probability by itself.
    evidence : (n,) array
        How many votes' worth has reached each item; on average over the classes of the kind "multilabel".
    lower, upper : (n, n_classes) array or None
        Ends of each soft label's interval.
    metadata : mapping
        Facts about the run that made them; written to files.
    verdict : (n,) array or None
        "clear", "ambiguous" or "not enough votes", see :func:`~softspread.uncertainty_split`.
    kind : str
        "single", "multilabel" or "ordinal", as of the :class:`SoftLabeler` that made them.
    more : mapping of str to (n,) array
        Further columns: evidence_<class> and verdict_<class> of "multilabel"; expected_level, expected_lower
        and expected_upper of "ordinal".

    See Also
    --------
    ProbabilisticLabelSpreading.soft_labels : Makes them.

    Examples
    --------
    >>> p, classes = np.array([[0.25, 0.75]]), np.array(["no", "yes"])
    >>> labels = SoftLabels(np.array(["a"]), classes, p, evidence=np.array([2.0]))
    >>> labels
    SoftLabels(1 item, 2 classes: no, yes; median evidence 2; no intervals)
    >>> labels.to_frame().columns.tolist()
    ['item', 'p_no', 'p_yes', 'evidence']
    """

    ids: AnyArray
    classes: AnyArray
    p: FloatArray
    evidence: FloatArray
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    verdict: AnyArray | None = None
    kind: str = SINGLE
    more: Mapping[str, AnyArray] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def labels(self) -> AnyArray:
        """(n,) the most probable class of each item; of "multilabel" lists of those above .5."""
        if self.kind == MULTILABEL:
            found = np.empty(len(self), dtype=object)
            found[:] = [self.classes[row].tolist() for row in self.p >= 0.5]
            return found
        return np.asarray(self.classes[self.p.argmax(axis=1)])

    @property
    def width(self) -> FloatArray:
        """(n, n_classes) width of each interval."""
        if self.lower is None or self.upper is None:
            raise InputError("these soft labels have no intervals; spread the votes again to get some.")
        return np.asarray(self.upper - self.lower)

    def take(self, rows: IntArray | BoolArray) -> "SoftLabels":
        """The soft labels of some items.

        Parameters
        ----------
        rows : (m,) array of int, or (n,) array of bool
            Positions of the items, or a mask.

        Returns
        -------
        SoftLabels
            Of these items only, in the given order.

        Examples
        --------
        >>> labels = SoftLabels(np.arange(2), np.array(["no", "yes"]), np.eye(2), np.array([1.0, 3.0]))
        >>> labels.take(labels.evidence > 2).labels.tolist()
        ['yes']
        """

        def some(values: AnyArray | None) -> AnyArray | None:
            return None if values is None else values[rows]

        return SoftLabels(
            self.ids[rows],
            self.classes,
            self.p[rows],
            self.evidence[rows],
            some(self.lower),
            some(self.upper),
            self.metadata,
            some(self.verdict),
            self.kind,
            {name: values[rows] for name, values in self.more.items()},
        )

    def columns(self) -> Iterator[tuple[str, FloatArray]]:
        """Name and values of each column of numbers: p_<class>, evidence, lower_<class>, upper_<class>.

        Yields
        ------
        name : str
            The column's name.
        values : (n,) array
            Its values.

        See Also
        --------
        to_frame : All of them with items and verdicts, as a table.

        Examples
        --------
        >>> labels = SoftLabels(np.arange(1), np.array(["no", "yes"]), np.eye(2)[:1], np.array([1.0]))
        >>> [name for name, _ in labels.columns()]
        ['p_no', 'p_yes', 'evidence']
        """
        for prefix, values in (("p", self.p), ("lower", self.lower), ("upper", self.upper)):
            if values is not None:
                for column, label in enumerate(self.classes.tolist()):
                    yield f"{prefix}_{label}", values[:, column]
            if prefix == "p":
                yield "evidence", self.evidence
        yield from ((name, values) for name, values in self.more.items() if values.dtype.kind == "f")

    def words(self) -> dict[str, AnyArray]:
        """The columns of words: verdict, and of the kind "multilabel" verdict_<class>.

        Returns
        -------
        dict
            (n,) values by name.

        See Also
        --------
        columns : The columns of numbers.

        Examples
        --------
        >>> labels = SoftLabels(np.arange(1), np.array(["no", "yes"]), np.eye(2)[:1], np.array([1.0]))
        >>> labels.words()
        {}
        """
        found = {} if self.verdict is None else {"verdict": self.verdict}
        return found | {name: values for name, values in self.more.items() if values.dtype.kind != "f"}

    def to_frame(self) -> pd.DataFrame:
        """One row per item, as files have it.

        Returns
        -------
        pandas.DataFrame
            Columns item, p_<class>..., evidence, lower_<class>..., upper_<class>..., verdict and those of
            ``more``, as far as they are known.

        Examples
        --------
        >>> labels = SoftLabels(np.array(["a"]), np.array(["no", "yes"]), np.eye(2)[:1], np.array([2.0]))
        >>> labels.to_frame()["p_no"].tolist()
        [1.0]
        """
        names, columns = zip(*self.columns(), strict=True)  # 1 and "1" may both be classes
        frame = pd.DataFrame(np.column_stack(columns), columns=list(names))
        frame.insert(0, "item", self.ids)
        return frame.assign(**self.words())

    def to_torch_dataset(self, X: "ArrayLike | torch.Tensor", *, max_weight: float | None = None) -> Any:
        """Training data for PyTorch: features, soft label and weight of every item.

        ``torch.nn.functional.cross_entropy(model(x), p, reduction="none")`` takes the soft label as it is.

        Parameters
        ----------
        X : (n, ...) array-like or tensor
            What the model sees, one row per item in the order of ``ids``; kept as it is, floats as float32.
        max_weight : float, optional
            Weigh items by their evidence up to this many votes, over the mean weight; by default every item
            counts 1.

        Returns
        -------
        torch.utils.data.TensorDataset
            Triples (x, p, weight).

        See Also
        --------
        to_hf_dataset : The same for Hugging Face's datasets.

        Examples
        --------
        >>> labels = SoftLabels(np.arange(2), np.array(["no", "yes"]), np.eye(2), np.array([1.0, 3.0]))
        >>> x, p, weight = labels.to_torch_dataset([[0.5], [2.0]], max_weight=3)[1]  # doctest: +SKIP
        >>> p.tolist(), weight.item()  # doctest: +SKIP
        ([0.0, 1.0], 1.5)
        """
        with needs_extra("embed", "to_torch_dataset needs torch"):
            import torch
            from torch.utils.data import TensorDataset
        seen = X if isinstance(X, torch.Tensor) else torch.as_tensor(np.asarray(X))
        if seen.ndim == 0 or len(seen) != len(self):
            raise InputError(
                f"X must have one row per soft label ({len(self)}), got shape {tuple(seen.shape)}; give the "
                "features of the same items in the order of ids."
            )
        seen = seen.float() if seen.is_floating_point() else seen
        return TensorDataset(
            seen,
            torch.as_tensor(self.p, dtype=torch.float32),
            torch.as_tensor(self.training_weights(max_weight), dtype=torch.float32),
        )

    def training_weights(self, max_weight: float | None = None) -> FloatArray:
        """Weights of the items in a training loss, mean 1.

        Parameters
        ----------
        max_weight : float, optional
            Evidence counts up to this many votes; by default every item counts 1.

        Returns
        -------
        (n,) array
            One weight per item.

        See Also
        --------
        to_torch_dataset : Training data with these weights.

        Examples
        --------
        >>> labels = SoftLabels(np.arange(2), np.array(["no", "yes"]), np.eye(2), np.array([1.0, 9.0]))
        >>> labels.training_weights(3).tolist()
        [0.5, 1.5]
        """
        if max_weight is None:
            return np.ones(len(self))
        if not (np.isfinite(max_weight) and max_weight > 0):
            raise InputError(f"max_weight must be a number of votes above 0, got {max_weight!r}; try 10.")
        weights = np.minimum(self.evidence, max_weight)
        mean = weights.mean() if len(weights) else 0.0
        return weights / mean if mean > 0 else np.ones(len(self))

    def to_hf_dataset(self, **columns: Any) -> Any:
        """A Hugging Face dataset: item, soft_label, label, evidence, and what else is known.

        The columns are those of ``softspread export --format datasets``, without a file in between.

        Parameters
        ----------
        **columns : (n,) sequences
            Further columns by name, such as the texts or the paths of the items' images.

        Returns
        -------
        datasets.Dataset
            One row per item; ``soft_label`` is the distribution over the names of ``label``.

        See Also
        --------
        to_torch_dataset : The same for a loop of one's own.

        Examples
        --------
        >>> labels = SoftLabels(np.array(["a"]), np.array(["no", "yes"]), np.eye(2)[:1], np.array([2.0]))
        >>> labels.to_hf_dataset(text=["good"])[0]["soft_label"]
        [1.0, 0.0]
        """
        with needs_extra("datasets", "to_hf_dataset needs datasets"):
            import datasets
        names = [str(label) for label in self.classes.tolist()]
        numbers = datasets.Sequence(datasets.Value("float32"))
        leading = self.p.argmax(axis=1)
        found = {"item": self.ids.tolist(), "soft_label": self.p.tolist(), "label": leading.tolist()}
        kinds: dict[str, Any] = {"soft_label": numbers, "label": datasets.ClassLabel(names=names)}
        found["evidence"], kinds["evidence"] = self.evidence.tolist(), datasets.Value("float32")
        if self.lower is not None and self.upper is not None:
            found |= {"lower": self.lower.tolist(), "upper": self.upper.tolist()}
            kinds |= {"lower": numbers, "upper": numbers}
        if self.verdict is not None:
            found["verdict"] = self.verdict.tolist()
        for name, values in columns.items():
            if name in found or len(values) != len(self):
                reason = "is taken" if name in found else f"has {len(values)} values for {len(self)} items"
                raise InputError(f"the column {name!r} {reason}; give one value per item under another name.")
            found[name] = list(values)
        data = datasets.Dataset.from_dict(found)
        return data.cast(datasets.Features({**data.features, **kinds}))

    def __repr__(self) -> str:
        n, n_classes = self.p.shape
        shown = [str(label) for label in self.classes.tolist()[:SHOWN_CLASSES]]
        more = ", ..." if n_classes > len(shown) else ""
        median = f"; median evidence {np.median(self.evidence):.3g}" if n else ""
        return (
            f"SoftLabels({counted(n, 'item')}, {counted(n_classes, 'class')}: "
            f"{', '.join(shown)}{more}{median}; {'no' if self.lower is None else 'with'} intervals)"
        )

    def _repr_html_(self) -> str:
        first = self.take(np.arange(min(len(self), SHOWN_ROWS)))
        best = first.p.argmax(axis=1)[:, None]
        shown = {"item": first.ids, "most probable": first.labels}
        for name in ("p", "lower", "upper"):
            values = getattr(first, name)
            if values is not None:
                shown[name] = np.take_along_axis(values, best, axis=1)[:, 0]
        if first.verdict is not None:
            shown["verdict"] = first.verdict
        return as_html(self, pd.DataFrame({**shown, "evidence": first.evidence}), len(self), "item")
