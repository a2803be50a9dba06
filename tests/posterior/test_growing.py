"""A blend whose items come and go."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from blends import own_of, random_counts
from softspread import knn_graph
from softspread._common.threads import Workers
from softspread.diffusion.diffusion import Diffusion
from softspread.graph.extension import tie_newcomers
from softspread.posterior.blend import fit_blend
from softspread.posterior.growing import with_items, without_items


def fitted(n=150):
    """A blend with classifiers and kernels, and 12 new items."""
    X = np.random.default_rng(0).normal(size=(n + 12, 2))
    own = own_of(random_counts(n, 2, 60))
    graph = knn_graph(X[:n], 8)
    return fit_blend(Diffusion(graph, 0.9), own, X=X[:n]), graph, X[n:]


def test_new_items_are_answered_as_items_that_were_not_fitted():
    """And old ones as before."""
    workers, (blend, graph, new) = Workers(1), fitted()
    ties = tie_newcomers(graph, new, workers)
    grown = with_items(blend, ties, new, None)
    asked = blend.posterior_of_new(ties, new, [rung.mass for rung in blend.rungs], workers)
    found = grown.posterior(workers)
    assert_allclose(found.mean()[150:], asked.mean(), atol=1e-7)
    assert_allclose(found.mean()[:150], blend.posterior(workers).mean(), atol=1e-7)


def test_items_that_go_take_nothing_along():
    """Answers of the others stay, voted ones included; adding and removing the same leaves the blend."""
    workers, (blend, graph, new) = Workers(1), fitted()
    keep = np.ones(150, dtype=bool)
    keep[np.setdiff1d(np.arange(150), blend.own.voted)[::3]] = False
    left = without_items(blend, keep)
    assert_allclose(left.posterior(workers).mean(), blend.posterior(workers).mean()[keep], atol=1e-7)
    grown = with_items(blend, tie_newcomers(graph, new, workers), new, None)
    back = without_items(grown, np.arange(162) < 150)
    assert_array_equal(back.q, blend.q)
    assert_array_equal(back.own.voted, blend.own.voted)
    for one, other in zip(back.fixed, blend.fixed, strict=True):
        assert_array_equal(one.final, other.final)
        assert_array_equal(one.log_size, other.log_size)
