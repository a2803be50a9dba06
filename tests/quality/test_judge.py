"""The engine: intervals hold where the model is right, whatever is sampled."""

from dataclasses import replace

import numpy as np
import pytest

from judged import draw
from small_posteriors import posterior_of
from softspread import metrics
from softspread.quality.judge import Evidence, JudgeRule, judge
from softspread.quality.result import Trials
from softspread.quality.worlds import apart_beliefs
from softspread.votes.repeats import repeat_advice

NUS, CHANCES = [0.5, 2.0, 8.0, 32.0], [0.2, 0.3, 0.3, 0.2]


def simulated(seed, n_items=300, n_classes=3, r=2):
    """A truth drawn from a posterior, soft labels that are its means, and votes of the truth."""
    rng = np.random.default_rng(seed)
    m = rng.dirichlet(np.full(n_classes, 3 / n_classes), size=n_items)
    nu = rng.choice(NUS, p=CHANCES)
    a = np.maximum(nu * m, 1e-9)
    truth = rng.standard_gamma(a)
    truth /= truth.sum(axis=1, keepdims=True)
    posterior = posterior_of(m, np.zeros_like(m), NUS, chances=CHANCES)
    p, votes = np.asarray(posterior.mean()), draw(truth, r, rng)
    trials = Trials(p, votes, np.full(n_items, 1 / n_items), np.arange(n_items), votes)
    return truth, p, Evidence(trials, n_items, "set apart", apart_beliefs(posterior, p, np.arange(n_items)))


def judged(evidence, rule=None, seed=0):
    """Quality at .9."""
    return judge(evidence, 0.9, np.random.default_rng(seed), 50, JudgeRule() if rule is None else rule)


@pytest.mark.parametrize("n_classes", [2, 10, 100])
def test_intervals_hold_where_the_model_is_right(n_classes):
    """Truths drawn from the model itself: at least 15 of 20 runs for every measure; 18 are expected."""
    held = np.zeros(3)
    for seed in range(20):
        truth, p, evidence = simulated(seed, n_classes=n_classes)
        found = judged(evidence)
        real = metrics.rmse(truth, p), metrics.kl_divergence(truth, p), metrics.accuracy(truth, p)
        estimates = found.rmse, found.kl, found.accuracy
        held += [one.lower <= value <= one.upper for one, value in zip(estimates, real, strict=True)]
    assert (held >= 15).all()


def test_more_second_votes_narrow():
    """The mean width falls with the number of items that have two votes."""
    widths = [
        np.mean([np.subtract(*bounds(judged(simulated(seed, n_items)[2]).rmse)) for seed in range(5)])
        for n_items in (60, 240, 960)
    ]
    assert widths[0] > widths[1] > widths[2]


def bounds(estimate):
    """Upper, lower."""
    return estimate.upper, estimate.lower


def test_perfect_labels():
    """One-hot truths, shown as they are, and votes that all agree: an error near 0, an accuracy near 1."""
    n = 400
    sure = np.eye(4)[np.arange(n) % 4]
    posterior = posterior_of(sure, np.zeros_like(sure), 1e4)
    p = np.asarray(posterior.mean())
    trials = Trials(p, 2 * sure, np.full(n, 1 / n), np.arange(n), 2 * sure)
    found = judged(Evidence(trials, n, "set apart", apart_beliefs(posterior, p, np.arange(n))))
    assert found.rmse.upper < 0.01
    assert found.accuracy.upper == 1.0
    assert found.accuracy.lower > 0.98
    assert found.kl.upper < 0.01


def test_few_second_votes_leave_everything_open():
    """One vote per item: the one sentence, intervals from nothing to the whole score, values inside."""
    truth, p, evidence = simulated(0, r=1)
    found = judged(evidence)
    assert found.notes[0] == repeat_advice(0, len(truth))
    assert found.rmse.lower == found.kl.lower == found.noise.lower == 0
    assert found.rmse.upper >= np.sqrt(found.brier.value / 3)
    for one, value in ((found.rmse, metrics.rmse(truth, p)), (found.accuracy, metrics.accuracy(truth, p))):
        assert one.lower <= one.value <= one.upper
        assert one.lower <= value <= one.upper


def test_a_sample_of_items_and_trials_says_nearly_the_same():
    """Looking at a third of the items and trials moves the estimates within their intervals."""
    _, _, evidence = simulated(1, n_items=900)
    full, some = judged(evidence), judged(evidence, JudgeRule(most_items=300, most_trials=200))
    assert (some.n_items, some.n_votes, some.n_repeated) == (900, 1_800, 900)
    for name in ("rmse", "kl", "accuracy", "noise"):
        one, other = getattr(full, name), getattr(some, name)
        assert other.lower < one.value < other.upper


def test_a_sample_keeps_the_second_votes_and_speaks_for_all():
    """900 items, 60 of them with two votes: all 60 stay, and the score is that of all items, not of these."""
    truth, _, evidence = simulated(2, n_items=900)
    rng, votes = np.random.default_rng(0), evidence.trials.votes.copy()
    hard = np.argsort(truth.max(axis=1))[:60]  # the most ambiguous items have the second votes
    single = np.setdiff1d(np.arange(900), hard)
    votes[single] = draw(truth[single], 1, rng)
    trials = replace(evidence.trials, judged=votes, votes=votes)
    full = judged(replace(evidence, trials=trials))
    scores = [judged(replace(evidence, trials=trials), JudgeRule(most_items=200), seed) for seed in range(10)]
    assert {one.n_repeated for one in scores} == {60}
    assert all("second vote" not in note for one in scores for note in one.notes)
    found = np.array([one.brier.value for one in scores])
    assert abs(found.mean() - full.brier.value) < 4 * found.std() / np.sqrt(10)


def test_the_same_seed_gives_the_same_answer():
    """Everything random comes from the generator."""
    evidence = simulated(0)[2]
    assert judged(evidence, seed=3) == judged(evidence, seed=3)
