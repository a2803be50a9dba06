"""Weights of experts: the same as a general solver's, and the belief where votes say nothing."""

import numpy as np
import pytest
from scipy.optimize import minimize

from blends import expert_of
from softspread.posterior.stack import RULE, StackRule, stack_weights

ONCE = StackRule(resamples=0)


def slow_weights(experts, mean_vote, rule=RULE, times=1.0):
    """The module's formula, minimised by a general solver; items count as often as ``times`` says."""
    belief = np.array([expert.belief for expert in experts])
    belief /= belief.sum()
    held = np.stack([expert.held.astype(float) for expert in experts])
    pull = rule.belief_items * np.mean((held**2).sum(axis=(1, 2))) / len(mean_vote)

    def loss(w):
        miss = np.tensordot(w, held, 1) - mean_vote
        return (times * (miss**2).sum(axis=1)).sum() + pull * ((w - belief) ** 2).sum()

    return minimize(
        loss,
        belief,
        method="SLSQP",
        bounds=[(0, 1)] * len(belief),
        constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
        options={"ftol": 1e-14, "maxiter": 1000},
    ).x


def random_experts(rng, n_experts, n_voted, n_classes):
    """Votes, and experts between the truth and guessing."""
    truth = rng.dirichlet(np.full(n_classes, 0.3), n_voted)
    votes = np.eye(n_classes)[[rng.choice(n_classes, p=p) for p in truth]]
    noise = rng.dirichlet(np.ones(n_classes), (n_experts, n_voted))
    shares = rng.random(n_experts)[:, None, None]
    told = shares * truth + (1 - shares) * noise
    return [
        expert_of(q, belief) for q, belief in zip(told, rng.uniform(0.1, 2, n_experts), strict=True)
    ], votes


@pytest.mark.parametrize("n_voted", [1, 3, 30, 400])
@pytest.mark.parametrize(("n_experts", "n_classes"), [(1, 2), (2, 3), (6, 2), (13, 5)])
def test_weights_minimise_the_formula(n_voted, n_experts, n_classes, rng):
    """No general solver finds a lower loss; weights agree to 0.001."""
    experts, votes = random_experts(rng, n_experts, n_voted, n_classes)
    found = stack_weights(experts, votes, ONCE)
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(), 1, atol=1e-12)
    np.testing.assert_allclose(found, slow_weights(experts, votes), atol=1e-3)


@pytest.mark.parametrize("n_voted", [1, 3, 30, 120])
def test_weights_are_averaged_over_resamples_of_the_voted_items(n_voted, rng):
    """Each resample weighs the parts into which the items were dealt, and has its own minimum."""
    experts, votes = random_experts(rng, 4, n_voted, 3)
    rule = StackRule(parts=20, resamples=5)
    n_parts = min(20, n_voted)
    draws = n_parts * np.random.default_rng(0).dirichlet(np.ones(n_parts), 5)
    slow = [slow_weights(experts, votes, rule, times[np.arange(n_voted) % n_parts]) for times in draws]
    np.testing.assert_allclose(stack_weights(experts, votes, rule), np.mean(slow, axis=0), atol=1e-3)


def test_items_in_blocks_give_the_same_weights(rng):
    """Sums over items do not depend on how they are cut."""
    experts, votes = random_experts(rng, 5, 50, 3)
    whole = stack_weights(experts, votes, StackRule(parts=5))
    cut = stack_weights(experts, votes, StackRule(parts=5, block=3))
    np.testing.assert_allclose(cut, whole, atol=1e-9)


def test_without_votes_the_belief_answers():
    """Scaled to sum 1."""
    experts = [expert_of(np.empty((0, 2)), belief) for belief in (1.0, 3.0)]
    np.testing.assert_allclose(stack_weights(experts, np.empty((0, 2))), [0.25, 0.75])


def test_many_votes_find_the_one_expert_that_is_right(rng):
    """Whatever was believed before; with a single vote belief still counts."""
    truth = rng.dirichlet([0.2, 0.2], 2000)
    votes = np.eye(2)[(rng.random(2000) < truth[:, 1]).astype(int)]
    right, wrong = expert_of(truth, 0.05), expert_of(1 - truth, 1.95)
    assert stack_weights([right, wrong], votes)[0] > 0.95
    few = stack_weights([expert_of(truth[:1], 0.05), expert_of(1 - truth[:1], 1.95)], votes[:1])
    assert 0.02 < few[0] < 0.8


def test_items_dealt_in_their_order_give_the_same_weights_wherever_they_stand():
    """Shuffling rows and the order with them changes nothing but rounding."""
    rng = np.random.default_rng(0)
    votes = np.eye(3)[rng.integers(0, 3, 120)]
    helds = [rng.dirichlet(np.ones(3), 120) + 0.3 * number * votes for number in range(3)]
    order, shuffle = rng.permutation(120), rng.permutation(120)
    first = stack_weights([expert_of(held) for held in helds], votes, deal=order)
    moved = [expert_of(held[shuffle]) for held in helds]
    second = stack_weights(moved, votes[shuffle], deal=np.argsort(shuffle)[order])
    np.testing.assert_allclose(first, second, atol=1e-6)
