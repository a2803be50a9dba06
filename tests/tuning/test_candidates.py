"""What may be chosen, and graphs with several numbers of neighbours."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from softspread import InputError, SoftspreadWarning, knn_graph
from softspread.tuning.candidates import (
    ALPHAS,
    NEIGHBORS,
    PRIOR_STRENGTHS,
    STRENGTHS,
    CandidateGraphs,
    SearchSpace,
    SpreadOptions,
)


def test_words_become_grids_and_numbers_stay():
    """A number is its own and only candidate; "auto" is a grid, a longer one where a prior is given."""
    given = SearchSpace.read(0.9, 20, 1e-4, has_prior=False)
    assert (given.alphas, list(given.neighbors), given.strengths) == ((0.9,), [20], (1e-4,))
    assert not given.open
    chosen = SearchSpace.read("auto", "auto", "auto", has_prior=False)
    assert (chosen.alphas, chosen.neighbors, chosen.strengths) == (ALPHAS, NEIGHBORS, STRENGTHS)
    assert chosen.open
    assert SearchSpace.read(0.9, 20, "auto", has_prior=True).strengths == PRIOR_STRENGTHS


@pytest.mark.parametrize(
    "wrong", [("best", 20, 1.0), (0.9, "many", 1.0), (0.9, 20, "strong"), (1.0, 20, 1.0)]
)
def test_other_words_and_numbers_are_refused(wrong):
    """Only "auto" is a word, and numbers must make sense."""
    with pytest.raises(InputError):
        SearchSpace.read(*wrong, has_prior=False)


def test_defaults_come_first_where_they_are_allowed():
    """Where votes are too few, the default or the first candidate is taken."""
    assert SearchSpace(strengths=STRENGTHS).first_alpha == 0.9
    assert SearchSpace(strengths=STRENGTHS).first_strength == 1e-4
    other = SearchSpace(alphas=[0.5, 0.6], strengths=[2.0])
    assert (other.first_alpha, other.first_strength) == (0.5, 2.0)


def test_graphs_of_several_sizes_come_from_one_search(rng):
    """Cutting the lists of the largest search gives the graphs that separate searches give."""
    X = rng.normal(size=(70, 3))
    graphs = CandidateGraphs(X, (5, 12), SpreadOptions())
    for number in (5, 12):
        assert_allclose(graphs.build(number).S.toarray(), knn_graph(X, number).S.toarray(), atol=1e-14)


def test_more_neighbours_than_items_are_told_in_one_sentence():
    """The number in use is named."""
    with pytest.warns(SoftspreadWarning, match="n_neighbors=9 but there are only 4 items; using 3"):
        graphs = CandidateGraphs(np.eye(4), (9,), SpreadOptions())
    assert graphs.numbers == [3]
