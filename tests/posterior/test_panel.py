"""What models say: one soft vote each, translated by people's votes, never with those on the item itself."""

import numpy as np
import pytest

from blends import own_of, random_counts
from softspread import knn_graph
from softspread._common.threads import Workers
from softspread.diffusion.diffusion import Diffusion
from softspread.posterior.experts import other_shares
from softspread.posterior.panel import (
    MODELS,
    RULE,
    Panel,
    Pooled,
    correlation_law,
    panel_experts,
    pool,
    rhos,
    together,
    translated,
)
from softspread.votes.table import VoteTable

N, N_CLASSES = 60, 3
COUNTS = random_counts(N, N_CLASSES, 25, seed=1)
OWN = own_of(COUNTS)
SHARES = other_shares(OWN, OWN.counts.sum(axis=0))[0]


def table_of(said):
    """Votes of models as (name, row, column, weight)."""
    names, rows, columns, weights = zip(*said, strict=True)
    return VoteTable(
        np.array(rows), np.array(columns), np.array(weights, float), np.array(names, dtype=object)
    )


def random_panel(n_models=3, seed=0, n=N):
    """Models that each speak about half of the items, some of these several times."""
    rng = np.random.default_rng(seed)
    said = [
        (f"m{model}", row, int(rng.integers(N_CLASSES)), 1.0)
        for model in range(n_models)
        for row in rng.choice(n, 3 * n // 4).tolist()
    ]
    return Panel.of(table_of(said), [f"m{model}" for model in range(n_models)], n, N_CLASSES)


def slowly_translated(said, rows, own):
    """The formula, item by item, with every sum over all other items."""
    found = []
    counts = np.zeros((own.n_items, N_CLASSES))
    counts[own.voted] = own.counts
    for number, row in enumerate(rows.tolist()):
        others = [place for place, other in enumerate(rows.tolist()) if other != row]
        shares = np.delete(counts, row, axis=0).sum(axis=0) + 1
        shares /= shares.sum()
        T = sum((np.outer(said[place], counts[rows[place]]) for place in others), np.zeros((3, 3)))
        T = T + RULE.strength * (RULE.likely * np.eye(3) + (1 - RULE.likely) * shares)
        found.append(said[number] @ (T / T.sum(axis=1, keepdims=True)))
    return np.array(found)


def test_several_samples_of_a_model_are_one_soft_vote():
    """Three of four samples for a class are three quarters; one taken back counts no more."""
    said = [("m", 4, 0, 1), ("m", 4, 0, 1), ("m", 4, 0, 1), ("m", 4, 2, 1), ("m", 2, 1, 1), ("m", 2, 1, -1)]
    (model,) = Panel.of(table_of(said), ["m"], N, N_CLASSES).models
    assert model.rows.tolist() == [4]
    np.testing.assert_allclose(model.said, [[0.75, 0, 0.25]])
    assert model.n_votes == 4


def test_a_translation_is_the_formula_without_the_votes_on_the_item():
    """The fast one subtracts an item from the sums over all; also in small blocks."""
    model = random_panel(1).models[0]
    slow = slowly_translated(model.said, model.rows, OWN)
    for block in (RULE.block, 20):
        rule = type(RULE)(block=block)
        fast = translated(model.said, model.rows, OWN, SHARES, rule)
        np.testing.assert_allclose(fast, slow, atol=1e-6)


def test_votes_on_an_item_do_not_move_what_the_models_say_about_it():
    """With all its votes turned around, its own predictions stay and others' move."""
    row = int(OWN.voted[0])
    turned = COUNTS.copy()
    turned[row] = turned[row][::-1]
    diffusion = Diffusion(
        knn_graph(np.random.default_rng(0).normal(size=(N, 2)), 5, n_jobs=1), 0.9, solver="dense"
    )
    panel = random_panel()
    before, after = (panel_experts(panel, diffusion, own_of(c)) for c in (COUNTS, turned))
    single = slice(0, 1 + len(panel.models))  # all but the one whose rho all votes choose together
    for one, other in zip(before[single], after[single], strict=True):
        np.testing.assert_allclose(one.final[row], other.final[row], atol=1e-6)
        assert np.abs(one.final - other.final).max() > 1e-4


def test_experts_are_distributions_and_answer_as_they_are_judged():
    """One per model, one of all spread, one of all together; they share the belief of a prior."""
    X = np.random.default_rng(0).normal(size=(N, 2))
    diffusion = Diffusion(knn_graph(X, 5, n_jobs=1), 0.9, workers=Workers(1))
    for n_models in (1, 3):
        experts = panel_experts(random_panel(n_models), diffusion, OWN)
        assert len(experts) == n_models + 1 + (n_models > 1)
        assert sum(expert.belief for expert in experts) == pytest.approx(RULE.belief)
        for expert in experts:
            assert expert.source == MODELS
            np.testing.assert_allclose(expert.final.sum(axis=1), 1, atol=1e-5)
            np.testing.assert_array_equal(expert.held, expert.final[OWN.voted])


def test_without_people_a_model_is_believed_in_part():
    """A vote of a model is worth the share that the rule says, the rest goes to all classes alike."""
    nobody = own_of(np.zeros((N, N_CLASSES)))
    shares = other_shares(nobody, np.zeros(N_CLASSES))[0]
    said = translated(np.eye(3), np.arange(3), nobody, shares)
    np.testing.assert_allclose(said, RULE.likely * np.eye(3) + (1 - RULE.likely) / 3, atol=1e-6)


def test_models_together_multiply_or_repeat_each_other():
    """rho = 0 is the product of all, rho = 1 its geometric mean."""
    logs = np.log([[0.8, 0.1, 0.1]]) - np.log(1 / 3)
    pooled, shares = Pooled(3 * logs, np.array([3])), np.full((1, 3), 1 / 3, np.float32)
    np.testing.assert_allclose(together(pooled, shares, 1.0), [[0.8, 0.1, 0.1]], atol=1e-6)
    cubed = np.array([[0.8, 0.1, 0.1]]) ** 3
    np.testing.assert_allclose(together(pooled, shares, 0.0), cubed / cubed.sum(), atol=1e-6)


@pytest.mark.parametrize(("copies", "expected"), [(True, (0.75, 1.0)), (False, (0.0, 0.35))])
def test_votes_of_people_say_how_much_models_repeat_each_other(copies, expected):
    """Six copies of one model are worth little more than one; six that err apart nearly six."""
    rng = np.random.default_rng(0)
    n = 1_500
    truth = rng.integers(3, size=n)
    own = own_of(np.eye(3)[truth] * (rng.random(n) < 0.6)[:, None])

    def model():
        return np.where(rng.random(n) < 0.6, truth, rng.integers(3, size=n))

    one = model()
    labels = [one if copies else model() for _ in range(6)]
    said = [(f"m{j}", row, int(c), 1) for j, mine in enumerate(labels) for row, c in enumerate(mine)]
    panel = Panel.of(table_of(said), [f"m{j}" for j in range(6)], n, 3)
    shares = other_shares(own, own.counts.sum(axis=0))[0]
    law = correlation_law(pool(panel, own, shares), own, shares)
    assert law.sum() == pytest.approx(1)
    assert expected[0] <= law @ rhos() <= expected[1]
