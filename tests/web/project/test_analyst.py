"""What the dashboard computes: quality, forecast, annotators, gold, timeline, map."""

import numpy as np
import pytest

from softspread._common.digests import digest_array
from softspread.web.project import analyst
from softspread.web.project.item_map import MOST_SHOWN, map_items
from softspread.web.project.saved_graph import load_or_build, load_or_map
from web.conftest import CLASSES, N_ITEMS, running, three_clusters, wait_until_applied


def fill(service, people=4, noise=0.1, liar=None, seed=0):
    """Everybody votes on 40 random items; a liar names classes at random."""
    rng = np.random.default_rng(seed)
    truth = three_clusters()[1]
    operations = []
    for number in range(people):
        for row in rng.choice(N_ITEMS, 40, replace=False).tolist():
            wrong = rng.random() < (1.0 if number == liar else noise)
            label = int(rng.integers(3)) if wrong else int(truth[row])
            operations.append(
                service.vote(f"p{number}", f"item-{row:03d}", CLASSES[label], f"k{number}-{row}")
            )
    service.submit(operations).result(30)
    wait_until_applied(service)


@pytest.fixture
def judged(tmp_path):
    """A project with votes of four people, one of whom does not look, after the analyst had a look."""
    with running(
        tmp_path, auth=False, overlap=10, gold=(("item-000", "ant"), ("item-001", "bee"))
    ) as service:
        fill(service, liar=3)
        service.analyst.look()
        service.analyst.judge()
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
    assert min(rows, key=lambda name: rows[name]["consistency"]) == "p3"
    table = judged.history.standing_votes()[0]
    for name, row in rows.items():
        mine = (table.annotators == name) & np.isin(table.rows, [0, 1])
        assert row["gold_total"] == mine.sum()
        assert row["gold_right"] == (table.columns[mine] == table.rows[mine]).sum()


def test_too_few_votes_give_no_verdict(service):
    """Silence rather than a guess."""
    service.analyst.judge()
    assert service.analyst.quality["verdict"] == "unknown"
    service.submit([service.vote("ann", "item-000", "ant", "k")]).result(10)
    wait_until_applied(service)
    service.analyst.judge()
    assert service.analyst.quality["verdict"] == "unknown"
    assert service.analyst.quality["gain"] is None


def test_unsure_votes_do_not_stop_the_forecast(tmp_path):
    """A learning curve counts whole votes only."""
    with running(tmp_path, auth=False, overlap=10) as service:
        fill(service)
        service.submit([service.vote("eva", "item-000", "ant", "k", unsure=True)]).result(10)
        wait_until_applied(service)
        service.analyst.judge()
        assert service.analyst.quality["gain"] is not None


def test_ambiguous_items_are_known_and_torn(judged):
    """Highest entropy first, and none without evidence."""
    rows = judged.analyst.overview["ambiguous"]
    p, evidence = judged.analyst.p[rows].astype(float), judged.analyst.evidence[rows]
    entropy = -(p * np.log(p)).sum(axis=1)
    assert (evidence >= 1).all()
    assert (np.diff(entropy) <= 1e-6).all()


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


def test_the_map_keeps_neighbours_together():
    """Items of a cluster lie nearer to each other than to others, and everything fits the unit square."""
    X, truth = three_clusters(90)
    found = map_items(X)
    assert (found.places.min(), found.places.max()) == (0.0, 1.0)
    centres = np.array([found.places[truth == c].mean(axis=0) for c in range(3)])
    own = np.linalg.norm(found.places - centres[truth], axis=1)
    others = np.linalg.norm(found.places[:, None] - centres[None], axis=2)
    others[np.arange(90), truth] = np.inf
    assert (own < others.min(axis=1)).mean() > 0.9


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_map_of_very_few_items_exists(n):
    """No division by nothing."""
    found = map_items(np.random.default_rng(0).normal(size=(n, 3)))
    assert found.places.shape == (n, 2)
    assert np.isfinite(found.places).all()


def test_large_sets_are_sampled_and_placed_by_landmarks(monkeypatch):
    """Never more dots than a browser moves smoothly."""
    monkeypatch.setattr("softspread.web.project.item_map.MOST_SHOWN", 300)
    monkeypatch.setattr("softspread.web.project.item_map.LANDMARKS", 100)
    X, truth = three_clusters(900)
    found = map_items(X)
    assert len(found.rows) == 300 < MOST_SHOWN
    assert (np.diff(found.rows) > 0).all()
    centres = np.array([np.median(found.places[truth[found.rows] == c], axis=0) for c in range(3)])
    nearest = np.linalg.norm(found.places[:, None] - centres[None], axis=2).argmin(axis=1)
    assert (nearest == truth[found.rows]).mean() > 0.9


def test_a_kept_map_is_read_and_another_sets_is_not(tmp_path):
    """The fingerprint of the items decides."""
    X = three_clusters()[0]
    first = load_or_map(tmp_path / "map.npz", X, "a")
    np.testing.assert_array_equal(load_or_map(tmp_path / "map.npz", X[:5], "a").places, first.places)
    assert len(load_or_map(tmp_path / "map.npz", X[:5], "b").rows) == 5


def test_a_kept_graph_is_read_and_another_sets_is_not(tmp_path):
    """Other items, other neighbours, needed features or a damaged file build it again."""
    X, path = three_clusters()[0], tmp_path / "graph.npz"
    mark = digest_array(X).hex()
    first = load_or_build(path, X, mark, 5, keep_features=False)
    assert first.features is None
    assert load_or_build(path, X[:9], mark, 5, keep_features=False).n_items == N_ITEMS
    assert load_or_build(path, X, mark, 5, keep_features=True).features is not None
    assert load_or_build(path, X, mark, 4, keep_features=False).n_neighbors == 4
    assert load_or_build(path, X[:9], digest_array(X[:9]).hex(), 4, keep_features=False).n_items == 9
    path.write_bytes(b"PK nonsense")
    assert load_or_build(path, X, mark, 5, keep_features=False).n_items == N_ITEMS


def test_a_fingerprint_sees_every_number(rng):
    """One changed entry, another shape or another precision is another set."""
    X = rng.normal(size=(50, 3))
    other = X.copy()
    other[49, 2] += 1e-9
    marks = {digest_array(part).hex() for part in (X, other, X[:49], X.reshape(25, 6), X.astype(np.float32))}
    assert len(marks) == 5
    assert digest_array(X.copy()).hex() in marks
