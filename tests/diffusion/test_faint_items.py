"""Items that next to nothing reaches, against sums of positive numbers, which lose no digits."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from softspread import ProbabilisticLabelSpreading, knn_graph, load, save
from softspread.diffusion.faint_items import RULE, FaintRule, needed, solve_faint

ITEMS = 1_500  # above the dense limit, so that an ordinary solve has an error


def long_strip(rng):
    """Items along a line, votes at one end: evidence falls by hundreds of decades."""
    x = np.sort(rng.uniform(0, 60, ITEMS))
    X = np.column_stack([x, 0.1 * rng.normal(size=ITEMS)])
    y = np.full(ITEMS, -1)
    voted = rng.choice(ITEMS // 8, 20, replace=False)
    y[voted] = rng.integers(0, 3, 20)
    y[voted[:3]] = [0, 1, 2]
    return knn_graph(X, 10), y


def neumann(S, alpha, B):
    """sum over t of (alpha S)^t B: every term is positive, so every digit of every item is right."""
    total, term = B.copy(), B.copy()
    for step in range(100_000):
        term = alpha * (S @ term)
        total += term
        if step > 400 and (term.sum(axis=1) <= 1e-12 * total.sum(axis=1)).all():
            return total
    raise AssertionError("the series did not end")


def shares(mass):
    return mass / mass.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("alpha", [0.5, 0.9])
def test_soft_labels_without_a_prior_are_right_however_little_arrives(alpha, rng):
    """Algorithm 1 as printed: the series and the estimator agree where evidence is 1e-40 and less."""
    graph, y = long_strip(rng)
    est = ProbabilisticLabelSpreading(alpha=alpha, prior_strength=0.0, annotator_model="none", n_jobs=1)
    est.fit(graph, y, classes=[0, 1, 2])
    voted = np.flatnonzero(y >= 0)
    B = np.zeros((ITEMS, 3))
    B[voted, y[voted]] = 1 / est._state.diffusion.scales(voted)
    exact = neumann(graph.S, alpha, B)
    evidence = exact.sum(axis=1)
    assert evidence.min() < 1e-40
    # 1e-5 of this solve, and the error of the diffusion's own scales does not count: both use the same
    np.testing.assert_allclose(est.predict_proba(), shares(exact), atol=1e-5)
    np.testing.assert_allclose(est.evidence_, evidence, rtol=1e-4)
    assert (np.abs(est.predict_freq() - exact).max(axis=1) <= est.error_bound_ * (1 + 1e-9)).all()
    assert (est.error_bound_ <= 1e-3 * evidence).all()
    assert not est.stale_.any()


def test_without_the_second_solve_the_same_soft_labels_are_wrong(rng):
    """The ordinary solve answers at random where next to nothing arrives, and says so."""
    graph, y = long_strip(rng)
    est = ProbabilisticLabelSpreading(alpha=0.9, prior_strength=0.0, annotator_model="none", n_jobs=1)
    est.fit(graph, y, classes=[0, 1, 2])
    right = est.predict_proba()
    est._state.solve()  # as it was before
    wrong = est.predict_proba()
    off = np.abs(wrong - right).max(axis=1)
    assert off.max() > 0.3
    assert est.stale_[off > 0.01].all()
    est._state.refined = False
    est.refine()
    np.testing.assert_allclose(est.predict_proba(), right, atol=2e-5)


def test_updates_refine_and_files_keep_the_accuracy(rng, tmp_path):
    """After votes came and went the answer is the first one; a saved estimator answers bit by bit."""
    graph, y = long_strip(rng)
    est = ProbabilisticLabelSpreading(alpha=0.9, prior_strength=0.0, annotator_model="none", n_jobs=1)
    est.fit(graph, y, classes=[0, 1, 2])
    before = est.predict_proba()
    far = ITEMS - 1
    est.update([far], [1]).undo([far], [1]).refine()
    np.testing.assert_allclose(est.predict_proba(), before, atol=2e-5)
    save(est, tmp_path / "est.npz")
    again = load(tmp_path / "est.npz")
    np.testing.assert_array_equal(again.predict_proba(), est.predict_proba())
    np.testing.assert_array_equal(again.error_bound_, est.error_bound_)


def test_items_that_no_vote_reaches_have_nothing():
    """Two pieces of a graph, votes on one: exactly nothing on the other, and the bound says exactly."""
    S = csr_array(np.kron(np.eye(2), [[0.0, 1.0], [1.0, 0.0]]))
    B = np.array([[1.0], [0.0], [0.0], [0.0]])
    found = solve_faint(S, 0.5, B, np.full((4, 1), 1e-3), np.full(4, 1.0), np.zeros(4))
    np.testing.assert_allclose(found.Y[:, 0], [4 / 3, 2 / 3, 0, 0], rtol=1e-12)
    assert found.bound[2:].tolist() == [0.0, 0.0]
    assert (found.bound[:2] <= RULE.share * found.Y[:2, 0]).all()


def test_what_cannot_be_settled_keeps_its_bound():
    """A rule that asks for more digits than there are ends, and does not claim them."""
    S = long_strip(np.random.default_rng(0))[0].S
    B = np.zeros((ITEMS, 1))
    B[0] = 1.0
    empty, unknown = np.zeros((ITEMS, 1)), np.ones(ITEMS)
    found = solve_faint(S, 0.9, B, empty, unknown, np.zeros(ITEMS), FaintRule(share=1e-30))
    exact = neumann(S, 0.9, B)
    assert (found.bound > 1e-30 * exact[:, 0]).all()
    assert (np.abs(found.Y - exact)[:, 0] <= found.bound).all()


def test_an_ordinary_prior_needs_none_of_this():
    """The default strength covers the error of an ordinary solve."""
    assert [needed(strength) for strength in (0.0, 9e-5, 1e-4)] == [True, True, False]
