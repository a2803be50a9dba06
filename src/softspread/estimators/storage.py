"""Save a fitted estimator to one file and load it back, without pickle.

save(est, path):  parameters, votes, names, graph, and what was learned  ->  header + arrays (see `archive`)
"""

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from softspread._common import validation
from softspread._common.archive import pack_names, read_archive, unpack_names, write_archive
from softspread._common.frames import as_frame
from softspread._common.types import AnyArray
from softspread.annotators.report import AnnotatorFit, AnnotatorReport
from softspread.annotators.weighting import Weighting
from softspread.diffusion.diffusion import Diffusion
from softspread.diffusion.solver import SolveReport
from softspread.errors import InputError, StoreError
from softspread.estimators.base import VotesEstimator
from softspread.estimators.baselines import GaussianKernelRegression, KNeighborsVotes, VoteHistogram
from softspread.estimators.graph_based import GraphEstimator
from softspread.estimators.labeler import SoftLabeler
from softspread.estimators.spreading import ProbabilisticLabelSpreading
from softspread.graph.graph import Graph
from softspread.posterior.blend import pack_blend, unpack_blend
from softspread.posterior.live import LiveBlend
from softspread.spreading.state import SpreadState
from softspread.tuning.result import Tuning, TuningPoint
from softspread.votes.reading import Names
from softspread.votes.standing import KEEP
from softspread.votes.table import VoteTable

FORMAT_VERSION = 2  # 1 knew no SoftLabeler; its files are still read
_REPORT = tuple(field.name for field in fields(AnnotatorReport))
_FIT_ARRAYS = ("weights", "soft_votes", "confusion", "annotator_weights")
_FIT_NUMBERS = ("alpha", "kappa", "newcomer_weight")
_CLASSES: dict[str, type[VotesEstimator]] = {
    cls.__name__: cls
    for cls in (
        SoftLabeler,
        ProbabilisticLabelSpreading,
        VoteHistogram,
        GaussianKernelRegression,
        KNeighborsVotes,
    )
}


def save(est: VotesEstimator, path: str | Path) -> None:
    """Write a fitted estimator to ``path``; the file appears whole or not at all.

    Parameters
    ----------
    est : estimator
        A fitted estimator of this package.
    path : str or Path
        The file.

    See Also
    --------
    load : Read it back.

    Examples
    --------
    >>> import tempfile
    >>> from softspread import VoteHistogram
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(VoteHistogram().fit([[0.0], [1.0]], ["yes", "no"]), f"{folder}/votes.softspread")
    ...     load(f"{folder}/votes.softspread").classes_.tolist()
    ['no', 'yes']
    """
    if type(est).__name__ not in _CLASSES:
        raise InputError(f"save takes one of {sorted(_CLASSES)}, got {type(est).__name__}.")
    check_is_fitted(est)
    questions = getattr(est, "questions_", None)
    header, arrays = _packed(est) if questions is None else _packed_questions(est, questions)
    write_archive(path, "estimator", FORMAT_VERSION, header, arrays)


def _packed(est: VotesEstimator) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    arrays, objects = _pack_votes("votes", est._votes)
    if est._votes.cast is not est._votes:
        cast, cast_objects = _pack_votes("cast", est._votes.cast)
        arrays, objects = arrays | cast, objects + cast_objects
    for name, values in (("classes", est.classes_), ("item_ids", est.item_ids_)):
        if values is not None:
            arrays[name] = pack_names(values)
            if values.dtype == object:
                objects.append(name)
    if est.prior is not None:
        # saved in the order of classes, for the items by now
        changed = isinstance(as_frame(est.prior), pd.DataFrame) or (
            est._items_moved and np.ndim(est.prior) == 2
        )
        given = est.prior_[:, : est._n_first_classes] if changed else est.prior
        arrays["prior"] = np.asarray(given, dtype=np.float64)
    header: dict[str, Any] = {
        "class": type(est).__name__,
        "parameters": _plain_parameters(est),
        "objects": objects,
        "repeats": est._votes.repeats,
        "n_first_classes": est._n_first_classes,
    }
    header["n_features_in"] = int(est.n_features_in_)
    header["classes_given"] = est._classes_given
    if hasattr(est, "feature_names_in_"):
        header["feature_names_in"] = list(est.feature_names_in_)
    if isinstance(est, GraphEstimator):
        _put_graph(est, header, arrays)
    else:
        arrays["features"] = est._items
    if isinstance(est, ProbabilisticLabelSpreading):
        _put_spreading(est, header, arrays)
    elif isinstance(est, SoftLabeler):
        _put_blend(est, header, arrays)
    return header, arrays


def _packed_questions(
    est: VotesEstimator, questions: Mapping[Any, VotesEstimator]
) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    """The question of each class by itself; the graph that all share once."""
    names = validation.class_names(list(questions))
    arrays: dict[str, AnyArray] = {"questions": pack_names(names)}
    headers = []
    for number, one in enumerate(questions.values()):
        header, mine = _packed(one)
        shared = {name for name in mine if number and name.startswith("graph.")}
        arrays |= {f"question{number}.{name}": mine[name] for name in mine.keys() - shared}
        headers.append(header)
    if est.prior is not None:
        arrays["prior"] = np.asarray(est.prior, dtype=np.float64)
    about = {"class": type(est).__name__, "parameters": _plain_parameters(est)}
    return about | {"questions": headers, "object_names": names.dtype == object}, arrays


def load(path: str | Path) -> VotesEstimator:
    """Read an estimator that :func:`save` wrote; it answers and learns exactly as before.

    Parameters
    ----------
    path : str or Path
        The file.

    Returns
    -------
    estimator
        The estimator, which answers and learns exactly as before.

    See Also
    --------
    save : Write it.

    Examples
    --------
    >>> import tempfile
    >>> from softspread import VoteHistogram
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(VoteHistogram().fit([[0.0], [1.0]], [0, 1]), f"{folder}/votes.softspread")
    ...     load(f"{folder}/votes.softspread").predict().tolist()
    [0, 1]
    """
    header, arrays = read_archive(path, "estimator", FORMAT_VERSION)
    try:
        return _unpacked(header, arrays) if "questions" not in header else _with_questions(header, arrays)
    except (KeyError, TypeError) as error:
        raise StoreError(f"{path} lacks a part of a saved estimator ({error}); save it again.") from error


def _with_questions(header: dict[str, Any], arrays: dict[str, AnyArray]) -> VotesEstimator:
    est = SoftLabeler(**header["parameters"], prior=arrays.get("prior"))
    graph: Graph | None = None
    each: dict[Any, Any] = {}
    names = unpack_names(arrays["questions"], header["object_names"]).tolist()
    for number, (name, facts) in enumerate(zip(names, header["questions"], strict=True)):
        mine = _part(arrays, f"question{number}.")
        each[name] = _unpacked(facts, mine, graph)
        graph = each[name].graph_
    est._answer_by(each)
    return est


def _unpacked(
    header: dict[str, Any], arrays: dict[str, AnyArray], graph: Graph | None = None
) -> VotesEstimator:
    """The estimator; ``graph``: unpacked before, where several questions share it."""
    est = _CLASSES[header["class"]](**header["parameters"])
    objects = set(header["objects"])
    names: dict[str, AnyArray] = {
        key: unpack_names(arrays[key], key in objects) for key in ("classes", "item_ids") if key in arrays
    }
    est._votes = _unpack_votes("votes", arrays, objects, header["repeats"])
    if "cast.rows" in arrays:
        est._votes.cast = _unpack_votes("cast", arrays, objects, header["repeats"])
    est.n_features_in_ = header["n_features_in"]
    est._classes_given = header["classes_given"]
    est._n_first_classes = header["n_first_classes"]
    if "feature_names_in" in header:
        est.feature_names_in_ = np.array(header["feature_names_in"], dtype=object)
    if "prior" in arrays:
        est.prior = arrays["prior"]
    if isinstance(est, GraphEstimator):
        _take_graph(est, header, arrays, names, graph)
        if isinstance(est, SoftLabeler):
            _take_blend(est, header, arrays)
        elif isinstance(est, ProbabilisticLabelSpreading):
            _take_spreading(est, header, arrays)
    else:
        est._items = arrays["features"]
        est._use_names(Names(len(est._items), names.get("item_ids"), names["classes"]))
        _restore_prior(est)
        est._spread()
    return est


def _part(arrays: dict[str, AnyArray], prefix: str) -> dict[str, AnyArray]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


def _pack_votes(name: str, votes: VoteTable) -> tuple[dict[str, AnyArray], list[str]]:
    """The arrays of a table of votes, and which of them hold objects."""
    arrays = {f"{name}.{part}": getattr(votes, part) for part in ("rows", "columns", "weights")}
    if votes.annotators is None:
        return arrays, []
    key = f"{name}.annotators"
    arrays[key] = pack_names(votes.annotators, may_be_none=True)
    return arrays, [key] if votes.annotators.dtype == object else []


def _unpack_votes(name: str, arrays: dict[str, AnyArray], objects: set[str], repeats: str) -> VoteTable:
    key = f"{name}.annotators"
    annotators = unpack_names(arrays[key], key in objects) if key in arrays else None
    rows, columns, weights = (arrays[f"{name}.{part}"] for part in ("rows", "columns", "weights"))
    votes = VoteTable(rows, columns, weights, annotators)
    votes.repeats = repeats
    return votes


def _put_graph(est: GraphEstimator, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    """The graph, the scales found on it, and the weights of annotators."""
    header["graph"] = est.graph_.facts()
    header["from_graph"] = isinstance(est._items, Graph)
    header["alpha"] = est._diffusion().alpha
    header["annotators"] = None
    if est._weighting is not None:
        header["annotators"], more = _pack_annotators(est._weighting.fit)
        arrays |= {f"annotators.{name}": array for name, array in more.items()}
    arrays |= {f"graph.{name}": array for name, array in est.graph_.arrays().items()}
    arrays |= {f"scales.{name}": array for name, array in est._diffusion().known_scales().items()}


def _take_graph(
    est: GraphEstimator,
    header: dict[str, Any],
    arrays: dict[str, AnyArray],
    names: dict[str, AnyArray],
    graph: Graph | None,
) -> None:
    est.graph_ = Graph.from_arrays(_part(arrays, "graph."), header["graph"]) if graph is None else graph
    est._use_names(Names(est.graph_.n_items, names.get("item_ids"), names["classes"]))
    est._items = est.graph_ if header["from_graph"] else est.graph_.features
    _restore_prior(est)
    weighting = None
    if header["annotators"] is not None:
        fit = _unpack_annotators(header["annotators"], _part(arrays, "annotators."))
        weighting = Weighting(fit, est._votes.take(slice(len(fit.weights))))
    est._use_weighting(weighting)


def _restored_diffusion(
    est: GraphEstimator, header: dict[str, Any], arrays: dict[str, AnyArray]
) -> Diffusion:
    diffusion = est._options().diffusion(est.graph_, header["alpha"])
    diffusion.restore_scales(_part(arrays, "scales."))
    return diffusion


def _put_spreading(
    est: ProbabilisticLabelSpreading, header: dict[str, Any], arrays: dict[str, AnyArray]
) -> None:
    header["prior_strength"] = est.prior_strength_
    header["tuning"] = None if est.tuning_ is None else _pack_tuning(est.tuning_)
    arrays |= {f"state.{name}": array for name, array in est._state.arrays().items()}
    if est._state.sharp is not None:
        arrays["sharp"] = est._state.sharp
    header["refined"] = est._state.refined
    solved = est._state.solve_report
    header["solved"] = None if solved is None else asdict(solved)


def _take_spreading(
    est: ProbabilisticLabelSpreading, header: dict[str, Any], arrays: dict[str, AnyArray]
) -> None:
    est.alpha_, est.prior_strength_ = header["alpha"], header["prior_strength"]
    est.n_neighbors_ = est.graph_.n_neighbors
    est.tuning_ = None if header["tuning"] is None else _unpack_tuning(header["tuning"])
    diffusion = _restored_diffusion(est, header, arrays)
    est._state = SpreadState(diffusion, est._counted_votes, len(est.classes_))
    solved = None if header["solved"] is None else SolveReport(**header["solved"])
    est._state.restore(_part(arrays, "state."), header["refined"], solved)
    est._state.sharp = arrays.get("sharp")
    est._forget_answers()


def _put_blend(est: SoftLabeler, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    header["n_fitted"], header["n_moved"] = est._n_fitted, est._n_moved
    header["blend"], blend = pack_blend(est._blend)
    arrays |= {f"blend.{name}": array for name, array in blend.items()}
    arrays |= {f"live.{name}": array for name, array in est._live.arrays().items()}
    header["models"] = list(est._models)
    if est._models:
        models, objects = _pack_votes("models", est._model_votes)
        arrays |= models
        header["objects"] += objects
    header["features_given"] = est._features is not None
    if est._features is not None:
        arrays["features"] = est._features


def _take_blend(est: SoftLabeler, header: dict[str, Any], arrays: dict[str, AnyArray]) -> None:
    est._check_parameters()
    est._models = tuple(header["models"])
    est._model_votes = VoteTable.empty()
    if est._models:
        est._model_votes = _unpack_votes("models", arrays, set(header["objects"]), KEEP)
    est._features = arrays["features"] if header["features_given"] else None
    est._diffused = _restored_diffusion(est, header, arrays)
    est._n_fitted, est._n_moved = header["n_fitted"], header["n_moved"]
    est._blend = unpack_blend(header["blend"], _part(arrays, "blend."))
    est._live = LiveBlend(est._blend, est._diffused)
    est._live.restore(_part(arrays, "live."))
    est._n_live = len(est._live.since)
    est._forget_derived()


def _pack_tuning(tuning: Tuning) -> dict[str, Any]:
    chosen = next(number for number, point in enumerate(tuning.points) if point is tuning.best)
    return asdict(tuning) | {"best": chosen}


def _unpack_tuning(packed: dict[str, Any]) -> Tuning:
    points = tuple(TuningPoint(**point) for point in packed["points"])
    return Tuning(**packed | {"points": points, "best": points[packed["best"]]})


def _pack_annotators(fit: AnnotatorFit) -> tuple[dict[str, Any], dict[str, AnyArray]]:
    report = {name: getattr(fit.report, name) for name in _REPORT}
    packed = {f"report.{name}": pack_names(values) for name, values in report.items()}
    parts = {name: getattr(fit, name) for name in _FIT_ARRAYS}
    facts = {
        "objects": [name for name, values in report.items() if values.dtype == object],
        "numbers": {name: float(getattr(fit, name)) for name in _FIT_NUMBERS},
        "reason": fit.reason,
    }
    return facts, packed | {name: values for name, values in parts.items() if values is not None}


def _unpack_annotators(facts: dict[str, Any], arrays: dict[str, AnyArray]) -> AnnotatorFit:
    report = {name: unpack_names(arrays[f"report.{name}"], name in facts["objects"]) for name in _REPORT}
    parts: dict[str, Any] = {name: arrays.get(name) for name in _FIT_ARRAYS}
    reason = facts.get("reason", "")  # files of older versions hold no neutral fit
    return AnnotatorFit(report=AnnotatorReport(**report), reason=reason, **facts["numbers"], **parts)


def _restore_prior(est: VotesEstimator) -> None:
    """The prior as it was given, then widened by the classes that came later."""
    if est.prior is None:
        est._set_prior()
        return
    n_given = est.prior.shape[-1]
    est.prior_ = validation.prior(est.prior, est.n_items_, n_given)
    if n_given < len(est.classes_):
        est._widen_prior(len(est.classes_) - n_given)


def _plain_parameters(est: VotesEstimator) -> dict[str, Any]:
    """Constructor parameters that JSON can hold; arrays travel apart, generators are refused."""
    plain: dict[str, Any] = {}
    for name, value in est.get_params(deep=False).items():
        if name == "prior":
            continue
        if value is not None and not isinstance(value, str | bool | int | float | np.number):
            raise StoreError(f"cannot save the parameter {name}={value!r}; use a number, a word or None.")
        plain[name] = value.item() if isinstance(value, np.generic) else value
    return plain
