"""From votes to posterior, in one go and after further votes."""

import numpy as np
import pytest

from blends import own_of, random_counts
from softspread import knn_graph
from softspread._common.threads import Workers
from softspread.diffusion.diffusion import Diffusion
from softspread.graph.extension import tie_newcomers
from softspread.posterior import kernels as kernels_module
from softspread.posterior.blend import fit_blend, see_together
from softspread.posterior.classifiers import BumpSpace
from softspread.posterior.experts import no_votes, shares_expert
from softspread.posterior.ladder import ladder_experts

N, N_CLASSES = 80, 3
X = np.random.default_rng(0).normal(size=(N, 3))
COUNTS = random_counts(N, N_CLASSES, 30, seed=3)
ONE = Workers(1)


@pytest.fixture(scope="module")
def diffusion():
    """Eighty items in three dimensions."""
    return Diffusion(knn_graph(X, 6, n_jobs=1), 0.9, solver="dense", workers=ONE)


@pytest.fixture(scope="module")
def blend(diffusion):
    """The shares, the ladder, six classifiers and five kernels."""
    return fit_blend(diffusion, own_of(COUNTS), X=X)


def finals(blend):
    """What every expert says, (n, n_classes) each."""
    shares = shares_expert(blend.own, 1.0).final
    ladder = ladder_experts(blend.rungs, shares, blend.own)
    return [shares, *(expert.final for expert in ladder), *(expert.final for expert in blend.fixed)]


def test_weights_are_shares_of_all_experts(blend):
    """They belong to the shares, the ladder, the classifiers and the kernels, in this order."""
    n_ladder = len(blend.names) - 1 - 10 - 5
    np.testing.assert_allclose(blend.weights.sum(), 1, atol=1e-9)
    assert blend.names[0] == "shares"
    assert all(name.startswith("alpha") for name in blend.names[1 : 1 + n_ladder])
    assert list(blend.names[-5:]) == [f"kernel {width}" for width in range(1, 6)]
    assert len(blend.weights) == len(blend.names)
    total = sum(w * final for w, final in zip(blend.weights, finals(blend), strict=True) if w > 0)
    np.testing.assert_allclose(blend.q, total, atol=1e-5)


@pytest.mark.parametrize("at_once", [1, 2 * N * N_CLASSES, 10**9], ids=["one", "two", "all"])
def test_questions_seen_together_see_what_each_sees_alone(diffusion, at_once):
    """To the last bit, of the same voted items and of others, with and without a second class."""
    flipped = COUNTS[:, ::-1].copy()
    others = random_counts(N, N_CLASSES, 20, seed=4)
    one_class = COUNTS * [1, 0, 0]
    questions = [own_of(counts) for counts in (COUNTS, others, flipped, one_class)]
    sights = list(see_together(diffusion, questions, X, X[:, :2], at_once=at_once))
    assert [len(sight.classifiers) for sight in sights] == [10, 10, 10, 0]
    assert [len(sight.kernels) for sight in sights] == [5] * 4
    for own, sight in zip(questions, sights, strict=True):
        alone = fit_blend(diffusion, own, X=X, features=X[:, :2])
        together = fit_blend(diffusion, own, sight=sight)
        assert alone.names == together.names
        np.testing.assert_array_equal(alone.weights, together.weights)
        np.testing.assert_array_equal(alone.q, together.q)
        np.testing.assert_array_equal(alone.q_held, together.q_held)
        np.testing.assert_array_equal(alone.log_size, together.log_size)


def test_items_enter_a_space_once_for_all_questions(diffusion, monkeypatch):
    """However many questions there are about the same voted items; and one kernel serves them all."""
    entered, kernels = [], []
    inside, widest = BumpSpace.of, kernels_module._widest_kernel
    monkeypatch.setattr(
        BumpSpace, "of", lambda self, items: entered.append(len(items)) or inside(self, items)
    )
    monkeypatch.setattr(kernels_module, "_widest_kernel", lambda *given: kernels.append(1) or widest(*given))
    questions = [own_of(COUNTS), own_of(COUNTS[:, ::-1]), own_of(COUNTS[:, [1, 0, 2]])]
    list(see_together(diffusion, questions, X, None))
    assert entered.count(N) == 1
    assert len(kernels) == 1


def test_an_expert_that_counts_nothing_keeps_no_predictions(blend):
    """With a million items they would take a gigabyte."""
    fixed = blend.weights[-len(blend.fixed) :]
    assert [len(expert.final) for expert in blend.fixed] == [N if w > 0 else 0 for w in fixed]


def test_a_prior_joins_the_experts(diffusion):
    """The last of them; a prior that is right gets the largest weight."""
    rng = np.random.default_rng(0)
    truth = rng.dirichlet(np.full(3, 0.2), N)
    votes = rng.multinomial(4, truth).astype(float)
    told = fit_blend(diffusion, own_of(votes), prior=truth)
    assert told.names[-1] == "prior"
    assert told.weights.argmax() == len(told.weights) - 1


def posterior_after(blend, own, more):
    """The posterior of all items after further votes."""
    return blend.posterior_of_rows(slice(None), own, own.counts.sum(axis=0), more, ONE)


def test_no_further_votes_change_nothing(blend):
    """The posterior after nothing is the posterior, with and without states at some alphas."""
    before = blend.posterior(ONE).mean()
    np.testing.assert_allclose(posterior_after(blend, own_of(COUNTS), {}).mean(), before, atol=1e-6)
    nothing = {rung.alpha: np.zeros((N, N_CLASSES)) for rung in blend.rungs}
    np.testing.assert_allclose(posterior_after(blend, own_of(COUNTS), nothing).mean(), before, atol=1e-6)


def test_rungs_follow_further_votes_and_what_was_learned_stays(diffusion):
    """The blend afterwards is that of the experts of all votes, with weights and sharpness from before."""
    blend = fit_blend(diffusion, own_of(COUNTS))
    more = np.zeros((N, N_CLASSES))
    more[[3, 40, 41], [0, 1, 1]] = 1
    brought = {rung.alpha: diffusion.at(rung.alpha).spread(np.arange(N), more).mass() for rung in blend.rungs}
    after = posterior_after(blend, own_of(COUNTS + more), brought)
    batch = fit_blend(diffusion, own_of(COUNTS + more))
    q = sum(w * final for w, final in zip(blend.weights, finals(batch), strict=True))
    np.testing.assert_allclose(after.m, blend.calibration.average(q.astype(np.float32)), atol=2e-3)
    assert after.trust is blend.trust


def test_a_new_item_is_answered_as_its_twin_without_votes(diffusion, blend):
    """A new item at the place of an unvoted one gets about the same posterior mean."""
    unvoted = np.flatnonzero(COUNTS.sum(axis=1) == 0)[:10]
    ties = tie_newcomers(diffusion.graph, X[unvoted], ONE)
    masses = [rung.mass for rung in blend.rungs]
    new = blend.posterior_of_new(ties, X[unvoted], masses, ONE)
    np.testing.assert_allclose(new.mean(), blend.posterior(ONE).mean()[unvoted], atol=0.15)
    np.testing.assert_allclose(new.mean().sum(axis=1), 1, atol=1e-9)


def test_a_new_item_far_from_all_is_answered_by_shares_and_classifiers(diffusion, blend):
    """Its ties are as good as none: nothing is NaN."""
    far = np.full((1, 3), 1e6)
    ties = tie_newcomers(diffusion.graph, far, ONE)
    new = blend.posterior_of_new(ties, far, [rung.mass for rung in blend.rungs], ONE)
    assert np.isfinite(new.mean()).all()
    assert np.isfinite(new.evidence()).all()


def test_without_votes_everything_is_uniform(diffusion):
    """Intervals are as wide as they get, and nothing is NaN."""
    blend = fit_blend(diffusion, no_votes(N, N_CLASSES), X=X)
    posterior = blend.posterior(ONE)
    np.testing.assert_allclose(posterior.mean(), 1 / 3, atol=1e-6)
    lower, upper = posterior.interval(0.1)
    assert (lower == 0).all()
    assert (upper > 0.9).all()


def test_held_out_predictions_alone_set_the_weights(diffusion):
    """With votes at random, no expert beats the shares: the blend stays near them."""
    rng = np.random.default_rng(1)
    counts = np.eye(3)[rng.integers(0, 3, N)] * 3
    blend = fit_blend(diffusion, own_of(counts), X=X)
    assert np.abs(blend.q - 1 / 3).mean() < 0.12
