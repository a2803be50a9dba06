"""The demo's figures are what they say: recomputable, repeatable, and judged by their own numbers."""

import dataclasses
import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from softspread import ProbabilisticLabelSpreading, demo, metrics
from softspread.datasets import load
from softspread.errors import InputError
from softspread.simulate import draw_votes

# The first 500 digits and soft labels of ten trees: other numbers, same laws, a quicker test.
PLAN = demo.DemoPlan(n_items=500, n_trees=10)


@pytest.fixture(scope="module")
def result():
    return demo.run_demo(seed=3, n_draws=1, plan=PLAN)


def score(mean, method="Spreading", spread=0.0):
    return demo.Score(method, "", 0.1, 180, (mean - spread, mean + spread))


@pytest.fixture(scope="module")
def two_draws():
    plan = dataclasses.replace(PLAN, alphas=(0.9,), gammas=(1.0,), neighbor_counts=(5,))
    return demo.run_demo(seed=3, n_draws=2, plan=plan)


@pytest.mark.parametrize("draw", [0, 1])
@pytest.mark.parametrize("column", range(len(PLAN.budgets)))
def test_figures_are_the_rmse_of_a_fit_done_by_hand(two_draws, draw, column):
    """Votes that were taken in and given back leave no trace: a fit from scratch has the same error."""
    data = two_draws.data
    n, n_votes = len(data.digits), two_draws.rows[0].scores[column].n_votes
    votes = draw_votes(data.p_true, n, np.random.default_rng(np.random.SeedSequence(3).spawn(3)[1 + draw]))
    y = np.zeros((n, 10))
    np.add.at(y, (votes.items[:n_votes], votes.labels[:n_votes]), 1)
    p = ProbabilisticLabelSpreading(alpha=0.9).fit(data.graph, y).predict_proba()
    # soft labels are promised to 1e-4 for the default tol, so their RMSE agrees to that
    assert two_draws.rows[0].scores[column].rmse[draw] == pytest.approx(
        metrics.rmse(data.p_true, p), abs=1e-4
    )


def test_items_are_those_of_the_dataset():
    """Same pictures, features and soft labels as the dataset of that name with the same seed; nothing is made
    twice."""
    ours, theirs = (
        demo.load_data(np.random.default_rng(5), PLAN),
        load("digits", random_state=np.random.default_rng(5), n_items=500, n_trees=10),
    )
    assert_array_equal(ours.images, theirs.images)
    assert_array_equal(ours.embedding, theirs.X)
    assert_array_equal(ours.p_true, theirs.p_true)


def test_a_further_draw_leaves_the_earlier_one_and_the_data_as_they_are(result, two_draws):
    """Draws have seeds of their own."""
    more = two_draws
    ours = next(row for row in result.rows if row.title == "Spreading, alpha 0.9")
    assert [score.rmse[0] for score in more.rows[0].scores] == [score.rmse[0] for score in ours.scores]
    assert_array_equal(more.data.p_true, result.data.p_true)
    assert all(score.rmse[0] != score.rmse[1] for score in more.rows[0].scores)


def test_baselines_stand_with_their_best_setting(result):
    """The setting shown is one that was tried, and all rows have every budget."""
    for row in result.rows:
        assert [score.budget for score in row.scores] == list(PLAN.budgets)
    kernel = next(row for row in result.rows if row.title.startswith("Gaussian"))
    assert {score.setting for score in kernel.scores} <= {f"gamma {gamma:g}" for gamma in PLAN.gammas}


def test_verdict_names_the_lowest_mean(result):
    """The winner of each budget is the lowest entry of its column."""
    for column, verdict in enumerate(result.verdicts):
        assert verdict.winner.mean == min(row.scores[column].mean for row in result.rows)


def test_verdict_can_go_against_spreading():
    """A lower baseline is called the winner, with the share by which it is lower."""
    ours, theirs = score(0.2), score(0.1, "Nearest votes", spread=0.01)
    verdict = demo.Verdict(ours, theirs, ours)
    assert not verdict.spreading_wins
    assert verdict.margin == pytest.approx(0.5)
    assert verdict.draws_ahead == 2
    assert verdict.chosen_change == pytest.approx(1.0)
    assert "Nearest votes wins" in verdict.sentence()
    assert "100% above the best baseline" in verdict.sentence()


def test_draws_ahead_counts_draws_not_means():
    """A lower mean may be ahead in one draw only."""
    ours = demo.Score("Spreading", "", 0.1, 180, (0.1, 0.3))
    theirs = demo.Score("Own votes only", "", 0.1, 180, (0.3, 0.29))
    assert demo.Verdict(ours, theirs, ours).draws_ahead == 1


def test_spread_is_the_sample_deviation_and_absent_for_one_draw():
    """Two values of distance 2 s deviate by s times the root of 2."""
    assert score(0.5, spread=0.1).std == pytest.approx(0.1 * np.sqrt(2))
    assert dataclasses.replace(score(0.5), rmse=(0.5,)).std is None


def test_views_keep_the_budgets_votes(result):
    """Each view counts as many votes as its budget has, and evidence is at least the item's own votes."""
    n = len(result.data.digits)
    assert [int(view.n_votes.sum()) for view in result.views] == [round(share * n) for share in PLAN.budgets]
    for view in result.views:
        # a vote gives its own item 1 unless another item is the peak of its profile
        assert np.mean(view.evidence >= view.n_votes - 1e-6) > 0.99


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
