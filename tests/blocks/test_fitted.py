"""An estimator that was fitted in blocks answers as one in memory, and says what it cannot."""

import pickle

import numpy as np
import pandas as pd
import pytest

from small_blocks import N_ITEMS, in_memory, items, votes
from softspread import InputError, Votes, save
from softspread.blocks.fitted import STORED

TOLERANCE = 2e-4  # as of runs in blocks


def fitted(folder, X=None, y=None, more=None, **parameters):
    """An estimator after a fit in blocks."""
    est = in_memory(**parameters)
    X, y = items()[0] if X is None else X, votes() if y is None else y
    return est.fit(X, y, out=folder / "soft.parquet", **{"memory_limit": "1GB", **(more or {})})


def test_answers_about_the_fitted_items_are_those_of_memory(tmp_path):
    """Soft labels, classes, mass, intervals and verdicts, in the user's order."""
    found, wanted = fitted(tmp_path), in_memory().fit(items()[0], votes())
    assert found.n_features_in_ == 3
    assert found.alpha_ == wanted.alpha_
    assert (found.transduction_ == wanted.transduction_).all()
    np.testing.assert_allclose(found.predict_proba(), wanted.predict_proba(), atol=TOLERANCE)
    np.testing.assert_allclose(found.predict_freq(), wanted.predict_freq(), rtol=2e-3, atol=1e-4)
    np.testing.assert_allclose(found.evidence_, wanted.evidence_, rtol=2e-3, atol=1e-4)
    np.testing.assert_allclose(found.soft_labels_of([7, 3]), wanted.predict_proba()[[7, 3]], atol=TOLERANCE)
    ours, theirs = (est.soft_labels(0.9, "wilson") for est in (found, wanted))
    np.testing.assert_allclose(ours.upper, theirs.upper, atol=TOLERANCE)
    assert (ours.verdict == theirs.verdict).mean() > 0.99
    assert (found.votes_.labels == wanted.votes_.labels).all()


def test_mass_is_what_the_parts_hold(tmp_path):
    """Also beside a strong prior: within the rounding of single precision, which the bound includes."""
    rng = np.random.default_rng(0)
    prior = rng.dirichlet(np.ones(3), N_ITEMS)
    found = fitted(tmp_path, prior=prior, prior_strength=5.0)
    labels = found._state.result.read()
    mass = found.predict_freq()[labels.ids]
    again = (mass + 5.0 * prior[labels.ids]) / (mass.sum(axis=1) + 5.0)[:, None]
    np.testing.assert_allclose(again, labels.p, atol=1e-6)
    assert (found.error_bound_ >= found.solve_report_.bound + 5.0 * STORED).all()


def test_ids_weights_and_frames_are_read_as_in_memory(tmp_path):
    """Ids from the index of a frame, one weight per label."""
    ids = [f"i{row}" for row in range(N_ITEMS)]
    X, weights = pd.DataFrame(items()[0], ids, ["a", "b", "c"]), np.linspace(0.5, 2, N_ITEMS)
    est, wanted = in_memory(), in_memory().fit(X, votes(), sample_weight=weights)
    est.fit(X, votes(), sample_weight=weights, out=tmp_path / "soft.parquet")
    assert est.feature_names_in_.tolist() == ["a", "b", "c"]
    assert est.item_ids_.tolist() == ids
    np.testing.assert_allclose(est.predict_proba(), wanted.predict_proba(), atol=TOLERANCE)


def test_files_are_fitted_by_a_dask_client(tmp_path):
    """The call that serves all sizes; an estimator goes through pickle with what it can answer."""
    pytest.importorskip("distributed", reason="needs the extra cluster")
    from distributed import Client, LocalCluster

    np.save(tmp_path / "X.npy", items()[0])
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        est = fitted(tmp_path, X=tmp_path / "X.npy", more={"client": client})
    wanted = in_memory().fit(items()[0], votes()).predict_proba()
    np.testing.assert_allclose(est.predict_proba(), wanted, atol=TOLERANCE)
    assert (pickle.loads(pickle.dumps(est)).predict_proba() == est.predict_proba()).all()


@pytest.mark.parametrize(
    "ask",
    [
        lambda est, _: est.update(0, 1),
        lambda est, _: est.undo(0, items()[1][0]),
        lambda est, _: est.refine(),
        lambda est, _: est.explain(0),
        lambda est, _: est.query(2),
        lambda est, _: est.quality(),
        lambda est, _: est.soft_labels(),
        lambda est, _: est.predict_interval(),
        lambda est, _: est.predict_proba([[0.0, 0.0, 0.0]]),
        lambda est, _: est.add_items([[0.0, 0.0, 0.0]]),
        lambda est, _: est.remove_items([1]),
        lambda est, _: est.partial_fit([[0.0, 0.0, 0.0]], [1]),
        lambda est, _: est.graph_.S,
        lambda est, _: est.stale_,
        lambda est, folder: save(est, folder / "est.npz"),
    ],
)
def test_what_needs_the_graph_is_refused_and_nothing_changes(tmp_path, ask):
    """With what can be asked, and how to get the rest."""
    est = fitted(tmp_path)
    before = est.predict_proba(), len(est.votes_)
    with pytest.raises(InputError, match=r"fitted in blocks .* method='wilson' .* fit without out"):
        ask(est, tmp_path)
    assert (est.predict_proba() == before[0]).all()
    assert len(est.votes_) == before[1]
    assert not (tmp_path / "est.npz").exists()


@pytest.mark.parametrize(
    ("parameters", "given", "message"),
    [
        ({"solver": "dense"}, {}, "solver='dense' does not work in blocks"),
        ({"metric": "cosine"}, {}, "metric='cosine' does not work in blocks"),
        ({"n_neighbors": "auto"}, {}, "n_neighbors='auto' does not work in blocks"),
        ({}, {"out": None}, "name the folder"),
        ({}, {"memory_limit": "many"}, "like 8GB"),
    ],
)
def test_what_a_fit_in_blocks_cannot_do_is_refused(tmp_path, parameters, given, message):
    """Before any work; the estimator stays as it was."""
    est = in_memory(**parameters)
    with pytest.raises(InputError, match=message):
        est.fit(items()[0], votes(), **({"out": tmp_path / "soft.parquet", "memory_limit": "1GB"} | given))
    assert not hasattr(est, "classes_")
    assert list(tmp_path.iterdir()) == []


def test_a_path_without_out_is_refused(tmp_path):
    """With both ways on."""
    with pytest.raises(InputError, match="Read it with read_embeddings, or fit in blocks: out="):
        in_memory().fit("X.npy", Votes.from_pairs([0], [1]))


def test_a_fit_in_memory_follows_one_in_blocks(tmp_path):
    """Nothing of the earlier fit is left."""
    est = fitted(tmp_path).fit(items()[0], votes())
    wanted = in_memory().fit(items()[0], votes())
    assert (est.update(0, 1).predict_proba() == wanted.update(0, 1).predict_proba()).all()
