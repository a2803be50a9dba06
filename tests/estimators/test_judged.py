"""Quality of a SoftLabeler and of spreading: one method, one engine, the same refusals."""

import numpy as np
import pytest

from softspread import InputError, ProbabilisticLabelSpreading, SoftLabeler, Votes, metrics
from softspread.votes.repeats import repeat_advice

N = 300
BOTH = pytest.mark.parametrize("kind", [SoftLabeler, ProbabilisticLabelSpreading])


@pytest.fixture(scope="module")
def crowd():
    """Items, their truth, and votes on uniformly drawn items."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    truth = 1 / (1 + np.exp(-3 * X[:, :1]))
    truth = np.hstack([1 - truth, truth])
    rows = rng.integers(N, size=2 * N)
    return X, truth, rows, (rng.random(2 * N) < truth[rows, 1]).astype(int)


def fitted(kind, crowd, n_votes=2 * N, **options):
    """Fitted to the first votes."""
    X, _, rows, columns = crowd
    votes = Votes.from_pairs(rows[:n_votes], columns[:n_votes], classes=[0, 1])
    return kind(n_neighbors=10, random_state=0, **options).fit(X, votes)


@BOTH
def test_intervals_hold_the_truth(kind, crowd):
    """RMSE, KL and accuracy of ten draws of votes: 27 of 30 should be inside.

    At least 23 must be: a truth this smooth is better than quality believes, see docs/quality.md.
    """
    X, truth, _, _ = crowd
    inside = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows = rng.integers(N, size=N)
        votes = Votes.from_pairs(rows, (rng.random(N) < truth[rows, 1]).astype(int), classes=[0, 1])
        est = kind(n_neighbors=10, random_state=0).fit(X, votes)
        p, found = est.predict_proba(), est.quality()
        real = metrics.rmse(truth, p), metrics.kl_divergence(truth, p), metrics.accuracy(truth, p)
        for one, value in zip((found.rmse, found.kl, found.accuracy), real, strict=True):
            inside += one.lower <= value <= one.upper
        assert (found.n_votes, found.source, found.notes) == (N, "held out", ())
    assert inside >= 23


@BOTH
def test_equal_probabilities_change_nothing(kind, crowd):
    """Inverse-probability weights of a uniform draw are the plain estimate."""
    est = fitted(kind, crowd)
    assert est.quality(probabilities=np.full(2 * N, 1 / N)) == est.quality()


@BOTH
def test_probabilities_say_how_many_votes_it_rests_on(kind, crowd):
    """Unequal weights judge like fewer votes; the brier score moves with them."""
    est = fitted(kind, crowd)
    chances = np.random.default_rng(0).uniform(0.3, 3, 2 * N) / N
    found = est.quality(probabilities=chances)
    assert "600 votes, weighted by how probable the choice of their items was" in found.notes[0]
    assert found.brier != est.quality().brier


@BOTH
@pytest.mark.parametrize("probabilities", [np.full(3, 0.1), np.zeros(2 * N), np.full(2 * N, 1.1), "half"])
def test_bad_probabilities_are_refused(kind, crowd, probabilities):
    """Wrong length, zero, above one, not numbers."""
    with pytest.raises(InputError, match="probabilities must"):
        fitted(kind, crowd).quality(probabilities=probabilities)


@BOTH
def test_probabilities_and_votes_set_apart_exclude_each_other(kind, crowd):
    """Probabilities are those of the votes of the fit."""
    with pytest.raises(InputError, match="Give one of the two"):
        fitted(kind, crowd).quality(np.ones((N, 2)), probabilities=np.full(2 * N, 1 / N))


@BOTH
def test_votes_set_apart_judge(kind, crowd):
    """Two further votes on 60 random items; a table of another shape is refused."""
    est, rng, counts = fitted(kind, crowd), np.random.default_rng(1), np.zeros((N, 2))
    for row in rng.choice(N, 60, replace=False):
        counts[row] = rng.multinomial(2, crowd[1][row])
    found = est.quality(counts)
    assert (found.source, found.n_votes, found.n_items) == ("set apart", 120, 60)
    assert found.rmse.lower <= metrics.rmse(crowd[1], est.predict_proba()) <= found.rmse.upper
    with pytest.raises(InputError, match="items by classes"):
        est.quality(counts[:, :1])


@BOTH
def test_few_second_votes_are_said_in_one_sentence(kind, crowd):
    """The same words as everywhere, and intervals that hold all that is possible."""
    est = fitted(kind, crowd, 60)
    found = est.quality()
    assert found.notes[0] == repeat_advice(found.n_repeated, N)
    assert found.rmse.lower == 0


@BOTH
def test_quality_follows_later_votes(kind, crowd):
    """After an update the new votes judge too, as if all had been there from the start."""
    est = fitted(kind, crowd, 2 * N - 10).update(crowd[2][-10:], crowd[3][-10:])
    assert est.quality().n_votes == 2 * N
    expected = fitted(kind, crowd).quality().rmse
    assert est.quality().rmse.value == pytest.approx(expected.value, abs=0.02)


@BOTH
def test_one_class_and_no_votes(kind):
    """One class seen: finite numbers. No votes: said in words."""
    X = np.random.default_rng(0).normal(size=(50, 2))
    one = kind(alpha=0.9, n_neighbors=5, random_state=0).fit(X, Votes.from_pairs(np.arange(50), ["yes"] * 50))
    assert np.isfinite(one.quality().to_frame()[["value", "lower", "upper"]].to_numpy()).all()
    nothing = kind(n_neighbors=5).fit(X, np.full(50, -1), classes=[0, 1])
    with pytest.raises(InputError, match="no votes"):
        nothing.quality()


@pytest.mark.parametrize("model", ["consistency", "confusion"])
def test_weighted_votes_of_named_annotators(crowd, model):
    """Weights and soft votes of a labeler: finite, with the votes of trusted annotators as whole votes."""
    X, truth, rows, columns = crowd
    rng = np.random.default_rng(2)
    turn = np.array([np.sum(rows[:number] == row) for number, row in enumerate(rows)])
    who = (rows + turn) % 12  # nobody votes twice on an item
    labels = np.where(who % 4 == 3, rng.integers(2, size=len(rows)), columns)
    votes = Votes.from_pairs(rows, labels, annotators=[f"p{name}" for name in who])
    lab = SoftLabeler(n_neighbors=10, annotator_model=model, random_state=0).fit(X, votes)
    found = lab.quality()
    assert np.isfinite(found.to_frame()[["value", "lower", "upper"]].to_numpy()).all()
    assert found.rmse.lower <= metrics.rmse(truth, lab.predict_proba()) <= found.rmse.upper


@BOTH
def test_a_forecast_says_go_on_and_stop(kind, crowd):
    """Ten times the votes are worthwhile, one vote is not; bad numbers are refused."""
    est = fitted(kind, crowd)
    assert est.forecast(20 * N).worthwhile(0.05)
    assert not est.forecast(1).worthwhile(0.05)
    found = est.forecast(N, random_state=3)
    assert (found.n_votes, found.more) == (2 * N, N)
    assert found.gain == est.forecast(N, random_state=3).gain
    for bad in (0, -1, 1.5, "many"):
        with pytest.raises(InputError, match="more"):
            est.forecast(bad)


def test_the_forecast_of_a_labeler_starts_from_its_quality(crowd):
    """The RMSE as of now is that of :meth:`quality`, and weighted votes are no obstacle."""
    lab = fitted(SoftLabeler, crowd)
    assert lab.forecast(N, random_state=5).rmse_now == lab.quality(random_state=5).rmse
    X, _, rows, columns = crowd
    votes = Votes.from_pairs(rows, columns, weights=np.full(len(rows), 0.5))
    assert SoftLabeler(n_neighbors=10, random_state=0).fit(X, votes).forecast(N).gain.value > 0
