"""What the dashboard computes: quality, forecast, annotators, gold, timeline."""

import json
import logging
import re

import numpy as np
import pytest

from softspread.annotators.verdict import VERDICTS
from softspread.estimators.labeler import REFIT
from softspread.web.project import analyst
from web.conftest import CLASSES, N_ITEMS, NEVER, running, three_clusters, wait_until_applied


def fill(service, people=4, noise=0.1, liar=None, seed=0, torn=()):
    """Everybody votes on 40 random items; a liar names classes at random; on torn items half say ant."""
    rng = np.random.default_rng(seed)
    truth = three_clusters()[1]
    operations = []
    for number in range(people):
        for row in rng.choice(np.setdiff1d(np.arange(N_ITEMS), torn), 40, replace=False).tolist():
            wrong = rng.random() < (1.0 if number == liar else noise)
            label = int(rng.integers(3)) if wrong else int(truth[row])
            operations.append(
                service.vote(f"p{number}", f"item-{row:03d}", CLASSES[label], f"k{number}-{row}")
            )
    for number, row in ((number, row) for number in range(people) for row in torn):
        label = CLASSES[number % 2]
        operations.append(service.vote(f"p{number}", f"item-{row:03d}", label, f"t{number}-{row}"))
    service.submit(operations).result(30)
    wait_until_applied(service)


@pytest.fixture
def judged(tmp_path):
    """A project with votes of four people, one of whom does not look, after the analyst had a look."""
    with running(
        tmp_path, auth=False, overlap=10, gold=(("item-000", "ant"), ("item-001", "bee"))
    ) as service:
        fill(service, liar=3)
        service.state.learn()
        service.analyst.update_overview()
        service.analyst.update_quality()
        yield service


def test_quality_and_forecast_are_given_with_intervals(judged):
    """And a verdict that follows from them."""
    found = judged.analyst.quality
    for name in ("rmse", "agreement"):
        estimate = found["quality"][name]
        assert estimate["lower"] <= estimate["value"] <= estimate["upper"]
    assert found["gain"]["more"] == 40
    assert found["verdict"] == ("go on" if found["gain"]["worthwhile"] else "enough")
    assert found["trend"][-1]["votes"] == 160


def test_an_annotator_who_does_not_look_stands_out(judged):
    """With the lowest consistency; gold answers are counted by name."""
    rows = {row["annotator"]: row for row in judged.analyst.annotators}
    assert all((one["verdict"], one["advice"]) == VERDICTS[one["flag"]] for one in rows.values())
    assert min(rows, key=lambda name: rows[name]["consistency"]) == "p3"
    table = judged.history.standing_votes()[0]
    for name, row in rows.items():
        mine = (table.annotators == name) & np.isin(table.rows, [0, 1])
        assert row["gold_total"] == mine.sum()
        assert row["gold_right"] == (table.columns[mine] == table.rows[mine]).sum()


def test_the_dashboard_is_ready_for_json(judged):
    """Plain numbers and None, also where an annotator cannot be rated."""
    plain = json.loads(json.dumps(judged.dashboard(), allow_nan=False))
    assert {one["annotator"] for one in plain["annotators"]} == {"p0", "p1", "p2", "p3"}


def test_without_votes_there_is_no_verdict(service):
    """Silence rather than a guess; after the first one more votes help."""
    service.analyst.update_quality()
    assert service.analyst.quality["verdict"] == "unknown"
    service.submit([service.vote("ann", "item-000", "ant", "k")]).result(10)
    wait_until_applied(service)
    service.state.learn()
    service.analyst.update_quality()
    assert service.analyst.quality["verdict"] == "go on"


@pytest.mark.parametrize(
    ("worthwhile", "repeated", "said"),
    [(True, 5, "go on"), (False, 5, "unknown"), (False, 40, "enough"), (True, 40, "go on")],
)
def test_enough_is_said_only_where_second_votes_can_tell(worthwhile, repeated, said):
    """Below 40 of them the error rests on assumptions."""
    quality, gain = {"rmse": {}, "repeated": repeated}, {"gain": {}, "worthwhile": worthwhile}
    assert analyst.verdict(quality, gain) == said


def test_quality_weighs_votes_by_how_their_items_were_chosen(tmp_path):
    """Votes that the page asked for carry their probability, and the dashboard says what they are worth."""
    truth = three_clusters()[1]
    with running(tmp_path, auth=False, overlap=10, refit=NEVER) as service:
        for _ in range(30):
            for who in ("p0", "p1", "p2"):
                row = service.queue.assign(who, 1)[0]
                made = service.vote(who, f"item-{row:03d}", CLASSES[truth[row]], f"k{row}")
                service.submit([made]).result(10)
        fill(service, people=1)
        service.state.learn()
        service.analyst.update_quality()
        found = service.analyst.quality["quality"]
        known = service.history.probabilities()
        n_brought = int(np.isnan(known).sum())
        assert len(known) - n_brought == 90
        assert (known[:90] >= 0.15 / N_ITEMS).all()
        assert found["votes"] == len(known)
        assert any("weighted by how probable the choice" in note for note in found["notes"])
        assert any(f"{n_brought} votes not asked for" in note for note in found["notes"])


def test_unsure_votes_do_not_stop_the_forecast(tmp_path):
    """A learning curve counts whole votes only."""
    with running(tmp_path, auth=False, overlap=10) as service:
        fill(service)
        service.submit([service.vote("eva", "item-000", "ant", "k", unsure=True)]).result(10)
        wait_until_applied(service)
        service.state.learn()
        service.analyst.update_quality()
        assert service.analyst.quality["gain"] is not None


def test_ambiguous_items_are_torn_and_never_at_100_percent(tmp_path):
    """No class of theirs has 70 %, more likely than not; the most likely ones come first."""
    with running(tmp_path, auth=False, overlap=100, refit=NEVER) as service:
        fill(service, people=10, torn=(30, 31, 32))
        service.state.learn()
        service.analyst.update_overview()
        rows, p = service.analyst.overview["ambiguous"], service.analyst.p
        assert {30, 31, 32} <= set(rows)
        assert (p[rows].max(axis=1) < 0.75).all()
        none = 1 - (1 - service.state.posteriors()[0][1].below(0.7)).sum(axis=1)
        assert (none[rows] > 0.5).all()
        assert (np.diff(none[rows]) <= 1e-12).all()


def test_nothing_is_ambiguous_before_the_first_vote(service):
    """Nobody has disagreed yet."""
    assert service.analyst.overview["ambiguous"] == []


def test_verdicts_are_those_of_the_estimator(judged):
    """Counted over all items."""
    verdicts = judged.state.soft_labels(np.arange(N_ITEMS)).verdict.tolist()
    counted = judged.analyst.overview["verdicts"]
    assert counted == {name: verdicts.count(name) for name in ("clear", "ambiguous", "not enough votes")}


def test_learning_again_is_said_in_the_log_and_on_the_dashboard(tmp_path, caplog):
    """From how many votes, and whose word counts."""
    with running(tmp_path, auth=False, overlap=10, refit=NEVER) as service:
        fill(service)
        assert service.dashboard()["learned"]["since"] == 160
        with caplog.at_level(logging.INFO):
            service.analyst.learn_if_due()
            assert service.state.refined
            assert "learned again" not in caplog.text
            service.state._refit = REFIT
            service.analyst.learn_if_due()
        assert "learned again from 160 votes; " in caplog.text
        found = service.dashboard()["learned"]
        assert (found["votes"], found["since"]) == (160, 0)
        assert sum(one["share"] for one in found["experts"]) == pytest.approx(1.0)
        assert found["trust"]["lower"] <= found["trust"]["value"] <= found["trust"]["upper"]


def test_the_timeline_ends_with_what_stands(judged):
    """Undos go down again, skips do not count."""
    judged.submit([judged.undo("p0", f"k0-{judged.history.column('row')[0]}", "u")]).result(10)
    judged.submit([judged.skip("p0", "item-000", "s")]).result(10)
    found = analyst.timeline(judged.history)
    assert found["votes"][-1] == 159
    assert sum(one["votes"] for one in found["people"]) == 159
    assert found["times"] == sorted(found["times"])


def test_latency_is_in_milliseconds():
    """Nothing where nothing happened."""
    assert analyst.latency([]) == {"last": None, "median": None, "p95": None}
    assert analyst.latency([0.001, 0.003, 0.002]) == {"last": 2.0, "median": 2.0, "p95": 2.9}


@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_a_lead_reads_where_neighbours_do_not_help(tmp_path, noise):
    """Random votes have nothing to do with their neighbours; votes on clusters do."""
    with running(tmp_path, auth=False, overlap=10, refit=NEVER) as service:
        fill(service, noise=noise)
        service.state.learn()
        service.analyst.update_quality()
        notes = " ".join(service.analyst.quality["quality"]["notes"])
    assert ("Another embedding" in notes) == (noise == 1.0), notes
    assert "compare_spaces" not in notes


def test_too_few_second_votes_are_explained_without_jargon(tmp_path):
    """A lead reads what is missing and what to do, but neither alpha nor KL."""
    with running(tmp_path, auth=False, overlap=10, refit=NEVER) as service:
        fill(service, people=1)
        service.state.learn()
        service.analyst.update_quality()
        notes = " ".join(service.analyst.quality["quality"]["notes"])
    assert "Ask for a second vote" in notes
    assert re.search(r"\b(alpha|KL)\b", notes) is None, notes
