"""The demo's figures are what they say: recomputable, repeatable, and judged by their own numbers."""

import dataclasses
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softspread import ProbabilisticLabelSpreading, SoftLabeler, demo, metrics
from softspread.datasets import load
from softspread.errors import InputError
from softspread.simulate import draw_votes

# The first 300 digits and soft labels of ten trees: other numbers, same laws, a quicker test.
PLAN = demo.DemoPlan(n_items=300, n_trees=10)


@pytest.fixture(scope="module")
def result():
    return demo.run_demo(seed=3, n_draws=1, plan=PLAN)


@pytest.fixture(scope="module")
def two_draws():
    plan = dataclasses.replace(PLAN, gammas=(1.0,), neighbor_counts=(5,))
    return demo.run_demo(seed=3, n_draws=2, plan=plan)


def score(mean, method="SoftLabeler", spread=0.0):
    return demo.Score(method, "", 0.1, 180, (mean - spread, mean + spread))


@pytest.mark.parametrize(("row", "estimator"), list(enumerate([SoftLabeler, ProbabilisticLabelSpreading])))
@pytest.mark.parametrize(("draw", "column"), [(0, 0), (1, 1), (1, 2)])
def test_figures_are_the_rmse_of_a_fit_done_by_hand(two_draws, row, estimator, draw, column):
    """Nothing but the budget's votes and an estimator as it comes."""
    data = two_draws.data
    n, n_votes = len(data.digits), two_draws.rows[row].scores[column].n_votes
    votes = draw_votes(data.p_true, n, np.random.default_rng(np.random.SeedSequence(3).spawn(3)[1 + draw]))
    y = np.zeros((n, 10))
    np.add.at(y, (votes.items[:n_votes], votes.labels[:n_votes]), 1)
    p = estimator().fit(data.graph, y).predict_proba()
    assert two_draws.rows[row].scores[column].rmse[draw] == pytest.approx(
        metrics.rmse(data.p_true, p), rel=1e-6
    )


def test_items_are_those_of_the_dataset():
    """Same pictures, features and soft labels as the dataset of that name with the same seed; nothing is made
    twice."""
    ours, theirs = (
        demo.load_data(np.random.default_rng(5), PLAN),
        load("digits", random_state=np.random.default_rng(5), n_items=300, n_trees=10),
    )
    assert_array_equal(ours.images, theirs.images)
    assert_array_equal(ours.embedding, theirs.X)
    assert_array_equal(ours.p_true, theirs.p_true)


def test_a_further_draw_leaves_the_earlier_one_and_the_data_as_they_are(result, two_draws):
    """Draws have seeds of their own."""
    ours, more = result.rows[0], two_draws.rows[0]
    assert [score.rmse[0] for score in more.scores] == [score.rmse[0] for score in ours.scores]
    assert_array_equal(two_draws.data.p_true, result.data.p_true)
    assert all(score.rmse[0] != score.rmse[1] for score in more.scores)


def test_baselines_stand_with_their_best_setting(result):
    """The setting shown is one that was tried, and all rows have every budget."""
    for row in result.rows:
        assert [score.budget for score in row.scores] == list(PLAN.budgets)
    kernel = next(row for row in result.rows if row.title.startswith("Gaussian"))
    assert {score.setting for score in kernel.scores} <= {f"gamma {gamma:g}" for gamma in PLAN.gammas}


def test_verdict_compares_what_a_user_gets_with_the_best_baseline(result):
    """SoftLabeler as it comes, the lowest baseline of each budget, and the lowest of all."""
    for column, verdict in enumerate(result.verdicts):
        assert verdict.ours is result.rows[0].scores[column]
        baselines = [row.scores[column].mean for row in result.rows if row.is_baseline]
        assert verdict.baseline.mean == min(baselines)
        assert verdict.lowest.mean == min(row.scores[column].mean for row in result.rows)


def test_verdict_can_go_against_us():
    """A lower baseline is told on the card and in the sentence, with the share by which it is lower."""
    ours, theirs = score(0.2), score(0.1, "Nearest votes", spread=0.01)
    verdict = demo.Verdict(ours, score(0.15, demo.PAPER), theirs)
    assert not verdict.better
    assert verdict.lowest is theirs
    assert verdict.change == pytest.approx(1.0)
    assert verdict.draws_ahead == 0
    assert "100% above the best baseline, Nearest votes" in verdict.sentence()
    assert "has 0.1500, which is lower" in verdict.sentence()
    card = demo._card(verdict)
    assert (card.figure, card.good) == ("100% higher error", False)


def test_draws_ahead_counts_draws_not_means():
    """A lower mean may be ahead in one draw only."""
    ours = demo.Score("SoftLabeler", "", 0.1, 180, (0.1, 0.3))
    theirs = demo.Score("Own votes only", "", 0.1, 180, (0.3, 0.29))
    assert demo.Verdict(ours, ours, theirs).draws_ahead == 1


def test_spread_is_the_sample_deviation_and_absent_for_one_draw():
    """Two values of distance 2 s deviate by s times the root of 2."""
    assert score(0.5, spread=0.1).std == pytest.approx(0.1 * np.sqrt(2))
    assert dataclasses.replace(score(0.5), rmse=(0.5,)).std is None


def test_views_keep_the_budgets_votes(result):
    """Each view counts as many votes as its budget has, and evidence is at least the item's own votes."""
    n = len(result.data.digits)
    assert [int(view.n_votes.sum()) for view in result.views] == [round(share * n) for share in PLAN.budgets]
    for view in result.views:
        assert (view.evidence >= view.n_votes).all()


def test_json_is_plain_and_complete(result):
    """Every row and budget has one entry, and it survives a round trip."""
    data = demo.to_json(result)
    assert json.loads(json.dumps(data)) == data
    assert len(data["results"]) == len(result.rows) * len(PLAN.budgets)
    assert [verdict["text"] for verdict in data["verdicts"]] == [
        verdict.sentence() for verdict in result.verdicts
    ]


def test_page_shows_every_figure_and_links_nowhere(result):
    """Table entries, verdicts, seed and command are in the page; no address is."""
    text = demo.demo_page(result, 1.0, "softspread demo --seed 3 --draws 1")
    for row in result.rows:
        assert row.title in text
        assert all(demo.score_text(score) in text for score in row.scores)
    assert "softspread demo --seed 3 --draws 1" in text
    assert not [word for word in ("http:", "https:", "src=", "href=", "url(", "@import") if word in text]


@pytest.mark.parametrize(("seed", "draws"), [(-1, 1), (0, 0), (0.5, 1)])
def test_bad_seeds_and_draws_are_refused(seed, draws):
    """Before any work is done."""
    with pytest.raises(InputError, match="whole number"):
        demo.run_demo(seed, draws)
