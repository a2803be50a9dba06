"""What was learned, in words for a lead."""

import numpy as np
import pandas as pd
import pytest

from softspread import SoftLabeler
from softspread.queries.registry import STRATEGIES
from softspread.web.project.in_words import (
    ANOTHER_EMBEDDING,
    STRATEGIES_IN_WORDS,
    expert_shares,
    news_of,
    on_neighbours,
    trust_range,
)
from softspread.web.project.learner import Learned
from web.conftest import three_clusters


def test_every_strategy_of_ours_has_words():
    """A lead chooses by what a strategy does, not by its name; one of another package keeps its name."""
    assert set(STRATEGIES_IN_WORDS) == set(STRATEGIES.names())
    assert len(set(STRATEGIES_IN_WORDS.values())) == len(STRATEGIES_IN_WORDS)


def test_every_expert_of_the_estimator_has_a_name_that_a_lead_understands():
    """None is called by an alpha or a C."""
    X, truth = three_clusters()
    labeler = SoftLabeler(n_neighbors=5, prior=np.full((60, 3), 1 / 3)).fit(X, truth, features=X)
    shares = expert_shares(labeler.weights_)
    assert sum(one["share"] for one in shares) == pytest.approx(1.0)
    assert [one["share"] for one in shares] == sorted((one["share"] for one in shares), reverse=True)
    assert not any(word in one["name"] for one in shares for word in ("alpha", " C ", "landmark", "kernel"))
    assert news_of(Learned(labeler, 60)).startswith("learned again from 60 votes; ")


def test_a_lead_is_told_where_neighbours_do_not_help():
    """In words without functions or options; nothing is said where they help, or of too few votes."""
    X, truth = three_clusters()
    mixed = np.random.default_rng(0).permutation(np.repeat(truth, 5))
    for votes, says in ((np.repeat(truth, 5), False), (mixed, True)):
        labeler = SoftLabeler(n_neighbors=5).fit(np.repeat(X, 5, axis=0), votes)
        found = on_neighbours(Learned(labeler, 300))
        assert (found is not None) == says
        if says:
            assert "(all classes)" in found
            assert found.endswith(ANOTHER_EMBEDDING)
            assert "compare_spaces" not in found
    few = SoftLabeler(n_neighbors=5).fit(X, np.where(np.arange(60) < 10, truth, -1))
    assert on_neighbours(Learned(few, 10)) is None


def test_trust_is_a_median_and_a_range():
    """Read off the distribution."""
    trust = pd.DataFrame({"votes": [1.0, 2.0, 4.0], "probability": [0.2, 0.7, 0.1]})
    assert trust_range(trust) == {"value": 2.0, "lower": 1.0, "upper": 4.0}
