"""A project whose items may have several classes: one answer says yes or no to each."""

import json

import numpy as np
import pandas as pd
import pytest

import command_line
from softspread import SoftLabeler, read_votes
from softspread.errors import InputError
from softspread.io.soft_labels import read_soft_labels
from softspread.web.log.answers import Choice
from softspread.web.project import snapshots
from softspread.web.project.exports import write
from web.conftest import (
    CLASSES,
    N_ITEMS,
    NEVER,
    item_names,
    opened_world,
    running,
    three_clusters,
    vote,
    wait_until_applied,
)

SEVERAL = {"kind": "multilabel", "auth": False}
ITEMS = item_names()


def true_sets():
    """(n, 3) an item has the class of its cluster, those of the first half also the next one."""
    truth = three_clusters()[1]
    sets = np.eye(3, dtype=bool)[truth]
    first = np.arange(N_ITEMS) < N_ITEMS // 2
    sets[first] |= np.roll(np.eye(3, dtype=bool), 1, axis=1)[truth[first]]
    return sets


def names_of(row, noise=None):
    """The classes of an item, one of them changed where there is noise."""
    yes = true_sets()[row].copy()
    if noise is not None and noise.random() < 0.2:
        yes[noise.integers(3)] ^= True
    return [name for name, chosen in zip(CLASSES, yes, strict=True) if chosen]


def cast_many(service, n_people=3, n_each=40, seed=0):
    """Several people on random items, at times unsure."""
    rng = np.random.default_rng(seed)
    for person in range(n_people):
        for row in rng.permutation(N_ITEMS)[:n_each].tolist():
            yes = names_of(row, rng)
            said = Choice(yes, None if yes else CLASSES)
            vote(service, f"p{person}", ITEMS[row], said, f"k{row}", unsure=row % 7 == 0)
    wait_until_applied(service)


def live(service):
    return service.state.soft_labels(np.arange(N_ITEMS)).p


def batch(service, path):
    """The estimator's own answer to the exported votes."""
    write(service, path)
    votes = read_votes(path, kind="multilabel", classes=list(CLASSES))
    est = SoftLabeler(kind="multilabel", n_jobs=1, prior=service.learner.prior)
    return est.fit(service.graph, votes, item_ids=service.items.ids, classes=list(CLASSES))


@pytest.fixture
def several(tmp_path):
    """A project that learns again only when it is told to."""
    with running(tmp_path / "data", **SEVERAL, overlap=100, refit=NEVER) as service:
        yield service


def test_answers_become_the_soft_labels_of_the_estimator(several, tmp_path):
    """After learning again: probabilities, intervals, evidence and verdicts of kind multilabel."""
    cast_many(several)
    several.submit([several.undo("p0", several.store.entries(0, 1)[0].key, "u")]).result(10)
    several.submit(several.decide("lead", ITEMS[7], Choice(["bee"]), "d")).result(10)
    wait_until_applied(several)
    several.state.learn()
    expected = batch(several, tmp_path / "votes.csv").soft_labels()
    found = several.state.soft_labels(np.arange(N_ITEMS))
    for name in ("p", "evidence", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=1e-6)
    assert found.verdict.tolist() == expected.verdict.tolist()
    assert (found.kind, found.p.shape) == ("multilabel", (N_ITEMS, 3))
    assert ((found.p >= 0.5) == true_sets()).mean() > 0.9


def test_between_fits_an_answer_moves_its_classes_as_the_estimators_update_does(several, tmp_path):
    """At once, each question by itself; taking it back leaves nothing."""
    cast_many(several)
    several.state.learn()
    lab = batch(several, tmp_path / "votes.csv")
    several.state.refine()
    before = live(several)
    vote(several, "new", ITEMS[59], Choice(["ant", "bee"]), "k")
    wait_until_applied(several)
    several.state.refine()
    lab.update([ITEMS[59]], [["ant", "bee"]], ["new"])
    np.testing.assert_allclose(live(several), lab.refine().predict_proba(), atol=1e-6)
    assert live(several)[59, 0] > before[59, 0] + 0.01
    several.submit([several.undo("new", "k", "u")]).result(10)
    wait_until_applied(several)
    several.state.refine()
    np.testing.assert_allclose(live(several), before, atol=1e-6)


def test_the_questions_find_scales_once(several):
    """A vote on a prepared item costs each question a push, and no search."""
    cast_many(several, n_each=5)
    several.state.learn()
    several.state.prepare(np.array([50, 51]))
    first, *others = [one.live.known_scales() for one in several.state.learned.each]
    assert first
    for other in others:
        for alpha, found in first.items():
            for name, array in found.items():
                np.testing.assert_array_equal(other[alpha][name], array)
    finders = [one.live._states[0.5].diffusion.inner_finder for one in several.state.learned.each]
    assert finders == finders[:1] * 3


@pytest.mark.parametrize("rest", ["no", "nothing"])
def test_the_command_line_gives_the_same_for_the_exported_votes(tmp_path, rest):
    """`softspread spread --kind multilabel` on the page's vote file, to 1e-6: unsure answers, a decision, a
    prior."""
    X, _ = three_clusters()
    prior = 0.8 * true_sets() + 0.1
    np.savez(tmp_path / "X.npz", embeddings=X, ids=np.array(ITEMS))
    np.save(tmp_path / "prior.npy", prior)
    with running(tmp_path / "data", **SEVERAL, rest=rest, prior=prior) as service:
        cast_many(service)
        vote(service, "one", ITEMS[3], Choice([], ["cat"]), "partly")
        service.submit(service.decide("lead", ITEMS[8], Choice(["bee"], ["ant", "cat"]), "d")).result(10)
        wait_until_applied(service)
        for name in ("votes.csv", "soft_labels.csv"):
            write(service, tmp_path / name)
    files = ("-e", tmp_path / "X.npz", "-v", tmp_path / "votes.csv", "--prior", tmp_path / "prior.npy")
    asked = ("--kind", "multilabel", "--classes", ",".join(CLASSES), "--n-neighbors", 5)
    result = command_line.run("spread", *files, *asked, "-o", tmp_path / "spread.csv")
    assert result.exit_code == 0, result.output
    found, expected = (read_soft_labels(tmp_path / name) for name in ("soft_labels.csv", "spread.csv"))
    assert found.ids.tolist() == expected.ids.tolist()
    for name in ("p", "evidence", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=0, atol=1e-6)
    assert [str(name) for name in found.verdict] == [str(name) for name in expected.verdict]


def test_ordered_classes_are_exported_as_the_command_line_spreads_them(tmp_path):
    """One class per vote, their order kept: with the expected level."""
    X, truth = three_clusters()
    np.savez(tmp_path / "X.npz", embeddings=X, ids=np.array(ITEMS))
    with running(tmp_path / "data", kind="ordinal", auth=False) as service:
        for row in range(0, N_ITEMS, 2):
            vote(service, f"p{row % 3}", ITEMS[row], CLASSES[truth[row]], f"k{row}")
        wait_until_applied(service)
        for name in ("votes.csv", "soft_labels.csv"):
            write(service, tmp_path / name)
    files = ("-e", tmp_path / "X.npz", "-v", tmp_path / "votes.csv", "-o", tmp_path / "spread.csv")
    asked = ("--kind", "ordinal", "--classes", ",".join(CLASSES), "--n-neighbors", 5)
    result = command_line.run("spread", *files, *asked)
    assert result.exit_code == 0, result.output
    found, expected = (pd.read_csv(tmp_path / name) for name in ("soft_labels.csv", "spread.csv"))
    assert "expected_level" in found
    pd.testing.assert_frame_equal(found, expected, rtol=0, atol=1e-6)


def test_one_answer_is_one_line_of_the_log_and_undone_as_a_whole(several):
    """With both lists by name; sent twice it is written once, and a second answer waits for the undo."""
    assert vote(several, "ann", ITEMS[0], Choice(["bee", "ant"]), "k").status == "accepted"
    assert vote(several, "ann", ITEMS[0], Choice(["ant", "bee"]), "k").status == "repeated"
    assert "undo that vote first" in vote(several, "ann", ITEMS[0], Choice(["cat"]), "other").reason
    (entry,) = several.store.entries()
    assert json.loads(entry.label) == {"yes": ["ant", "bee"], "no": ["cat"]}
    several.submit([several.undo("ann", "k", "u")]).result(10)
    undo = several.store.entries()[-1]
    assert (undo.label, undo.weight, undo.undoes) == (entry.label, -1.0, entry.id)
    assert len(several.history.standing_votes()[0]) == 0
    assert vote(several, "ann", ITEMS[0], Choice([]), "none").status == "accepted"
    assert json.loads(several.store.entries()[-1].label) == {"yes": [], "no": list(CLASSES)}


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("ant", "send a list yes"),
        (Choice(["dog"]), "no class 'dog'"),
        (Choice(["ant"], ["ant"]), "both yes and no to ant"),
        (Choice([], []), "at least one class"),
    ],
)
def test_an_answer_that_makes_no_sense_is_refused(several, said, words):
    """Nothing of it is written."""
    with pytest.raises(InputError, match=words):
        several.vote("ann", ITEMS[0], said, "k")


def test_a_restart_goes_on_from_the_last_fit(tmp_path, database):
    """On both databases; also without it the log says the same once it is learned from."""
    how = SEVERAL | {"refit": NEVER, "database_url": database}
    with running(tmp_path, **how) as service:
        cast_many(service, n_each=10)
        service.state.learn()
        service._save_learned()
        vote(service, "late", ITEMS[5], Choice(["cat"]), "k")
        wait_until_applied(service)
        service.state.refine()
        before = live(service)
    with running(tmp_path, **how) as service:
        assert (service.started_from, service.state.learned.n_since) == ("snapshot", 1)
        assert len({id(one.parts.diffusion.graph) for one in service.state.learned.each}) == 1
        service.state.refine()
        np.testing.assert_allclose(live(service), before, atol=1e-6)
        service.state.learn()
        after = live(service)
    for path in tmp_path.glob(snapshots.PATTERN):
        path.unlink()
    with running(tmp_path, **how) as service:
        assert service.started_from == "log"
        np.testing.assert_allclose(live(service), after, atol=1e-6)


def test_a_log_of_another_kind_is_refused(tmp_path):
    """In both directions, before anybody votes."""
    with running(tmp_path / "several", **SEVERAL) as service:
        vote(service, "ann", ITEMS[0], Choice(["ant"]), "k")
    with pytest.raises(InputError, match="--kind multilabel"), running(tmp_path / "several", auth=False):
        pass
    with running(tmp_path / "one", auth=False) as service:
        vote(service, "ann", ITEMS[0], "ant", "k")
    with pytest.raises(InputError, match="name one class each"), running(tmp_path / "one", **SEVERAL):
        pass


def test_classes_can_be_renamed_and_added_but_not_merged(several):
    """An earlier answer says nothing about a class that came later, and keeps its word under a new name."""
    from softspread.web.project.classes import WantedClass

    vote(several, "ann", ITEMS[0], Choice(["ant"]), "k")
    wanted = [WantedClass("wasp", ("bee",)), WantedClass("ant", ("ant",)), WantedClass("cat", ("cat",))]
    several.change_classes([*wanted, WantedClass("dog")])
    assert several.wait_until_prepared(60)
    answers, (column,) = several.history.answers, several.history.standing_votes()[0].columns.tolist()
    assert answers.choice(column) == Choice(["ant"], ["wasp", "cat"])
    vote(several, "bob", ITEMS[0], Choice(["dog"]), "k")
    wait_until_applied(several)
    assert several.state.soft_labels(np.array([0])).p.shape == (1, 4)
    with pytest.raises(InputError, match="cannot be merged"):
        several.change_classes([WantedClass("insect", ("wasp", "ant")), WantedClass("cat", ("cat", "dog"))])


def test_the_dashboard_knows_each_class_and_all_together(tmp_path):
    """Quality with intervals, verdicts, people; ready for JSON."""
    gold = ((ITEMS[0], Choice(names_of(0), [name for name in CLASSES if name not in names_of(0)])),)
    with running(tmp_path, **SEVERAL, overlap=10, gold=gold) as service:
        cast_many(service, n_people=4)
        service.state.learn()
        service.analyst.update_overview()
        service.analyst.update_quality()
        found = json.loads(json.dumps(service.dashboard(), allow_nan=False))
        expected = service.state.learned.labeler.quality(random_state=0).set_index("class")
        counts = service.history.counts(N_ITEMS)
        n_sure = int((service.history.standing_votes()[0].weights == 1).sum())
        review = json.loads(json.dumps(service.review(), allow_nan=False))
    quality = found["quality"]
    assert [one["name"] for one in quality["classes"]] == list(CLASSES)
    squares = [one["rmse"]["value"] ** 2 for one in quality["classes"]]
    assert quality["rmse"]["value"] == pytest.approx(np.sqrt(np.mean(squares)))
    assert quality["rmse"]["value"] == pytest.approx(expected.loc["overall", "rmse"], rel=0.2)
    assert quality["votes"] == n_sure
    assert found["gain"]["more"] == 40
    assert sum(found["overview"]["verdicts"].values()) == N_ITEMS
    assert {one["annotator"] for one in found["annotators"]} == {"p0", "p1", "p2", "p3"}
    n_gold = int(counts[0])
    assert sum(one["gold_total"] for one in found["annotators"]) == 3 * n_gold
    assert found["counts"]["votes"] == 160
    assert review["agreement"]["alpha"] > 0.3
    assert [one["name"] for one in review["agreement"]["classes"]] == list(CLASSES)
    torn = review["lists"]["disagreements"][0]
    assert torn["cast"] >= 2
    assert any(0 < count < torn["cast"] for count in torn["counts"])


def test_items_are_handed_out_with_the_probability_of_their_draw(several):
    """Each class in turn names an item; all are different."""
    rows = several.queue.assign("ann", 12)
    assert len(set(rows)) == 12
    chances = [several.queue.how("ann", row).probability for row in rows]
    assert all(0 < chance <= 1 for chance in chances)


def test_votes_of_a_file_come_in_once_and_as_whole_answers(several):
    """Those of a person on an item are one vote; a second answer to the same question begins another."""
    items = [ITEMS[0]] * 4 + [ITEMS[1]] * 2
    labels, answers = ["ant", "bee", "cat", "ant", "ant", "ant"], [True, False, False, True, True, False]
    who = ["ann"] * 3 + ["bob", None, None]
    assert several.import_votes(items, labels, who, None, "mark", answers) == 4
    assert several.import_votes(items, labels, who, None, "mark", answers) == 0
    table = several.history.standing_votes()[0]
    assert several.history.answers.choice(table.columns[0]) == Choice(["ant"], ["bee", "cat"])
    assert table.annotators.tolist() == ["ann", "bob", None, None]
    with pytest.raises(InputError, match="another kind"):
        several.import_votes(items, labels, who, None, "other")


def test_suggestions_are_weighed_class_by_class(tmp_path):
    """In assisted mode the log keeps what was suggested, or withheld; the fit knows how far that pulled."""
    with running(tmp_path, **SEVERAL, mode="assisted", overlap=100, withheld_share=0.5) as service:
        rng = np.random.default_rng(0)
        for person in range(6):
            for card in service.assign(f"p{person}", 20):
                p = None if card.hint is None else dict(zip(CLASSES, card.hint, strict=True))
                yes = names_of(card.row, rng) if p is None else [name for name in CLASSES if p[name] >= 0.5]
                vote(service, f"p{person}", card.item, Choice(yes), f"k{card.row}", shown=p)
        wait_until_applied(service)
        learned = service.state.learn()
        assert [one.pull is not None for one in learned.each] == [True] * 3
        assert learned.pull.value == max(one.pull.value for one in learned.each)
        seen = service.history.column("seen")
        assert 0 < seen.sum() < len(seen)
        write(service, tmp_path / "votes.csv")
        assert set(pd.read_csv(tmp_path / "votes.csv")["answer"]) == {0, 1}


@pytest.fixture
def team(tmp_path):
    """Ada is admin, ben and eva are annotators."""
    with opened_world(tmp_path, kind="multilabel") as world:
        yield world


def post(client, *votes):
    return client.post("/api/v1/votes", json={"votes": list(votes)})


def test_the_api_takes_yes_and_no(team):
    """What is left off means no; a label is refused with a word on what to send."""
    ben = team.program("ben")
    project = ben.get("/api/v1/project").json()
    assert (project["kind"], project["rest"]) == ("multilabel", "no")
    answer = post(ben, {"key": "k", "item": ITEMS[0], "yes": ["ant", "cat"]})
    assert answer.status_code == 201, answer.text
    (entry,) = ben.get("/api/v1/votes").json()["entries"]
    assert json.loads(entry["label"]) == {"yes": ["ant", "cat"], "no": ["bee"]}
    refused = post(ben, {"key": "l", "item": ITEMS[1], "label": "ant"})
    assert refused.status_code == 409
    assert "send a list yes" in refused.text
    for body in ({}, {"label": "ant", "yes": ["ant"]}):
        assert post(ben, {"key": "m", "item": ITEMS[1], **body}).status_code == 422
    assert post(ben, {"key": "n", "item": ITEMS[1], "yes": []}).status_code == 201


def test_a_lead_decides_about_every_class(team):
    """As heavy as five people; taken back by a decision without an answer."""
    ada = team.program("ada")
    body = {"item": ITEMS[2], "yes": ["ant", "bee"]}
    assert ada.put("/api/v1/decisions", json=body).status_code == 200
    (card,) = ada.get("/api/v1/review").json()["lists"]["decided"]
    assert card["decided"] == {"yes": ["ant", "bee"], "no": ["cat"]}
    assert ada.put("/api/v1/decisions", json={"item": ITEMS[2]}).status_code == 200
    assert ada.get("/api/v1/review").json()["lists"]["decided"] == []
    why = ada.get("/api/v1/items/2/why").json()
    assert {part["label"].removeprefix("not ") for part in why["votes"]} == set(CLASSES)


def test_label_studio_sends_any_number_of_choices(team):
    """None of them is an answer, too; predictions preselect every class with at least one half."""
    ada = team.program("ada")
    for number, choices in ((1, ["ant", "cat"]), (2, [])):
        value = {"choices": choices}
        result = [{"from_name": "label", "to_name": "item", "type": "choices", "value": value}]
        annotation = {"id": number, "completed_by": number, "result": result, "created_at": "2026-01-01"}
        task = {"id": number, "data": {"item": ITEMS[number]}}
        body = {"action": "ANNOTATION_CREATED", "task": task, "annotation": annotation}
        assert ada.post("/webhook", json=body).json() == {"taken": 1, "refused": []}
    said = [json.loads(entry.label)["yes"] for entry in team.service.store.entries()]
    assert said == [["ant", "cat"], []]
    wait_until_applied(team.service)
    (found,) = ada.post("/predict", json={"tasks": [{"id": 1, "data": {"item": ITEMS[1]}}]}).json()["results"]
    p = team.service.state.soft_labels(np.array([1])).p[0]
    expected = [name for name, share in zip(CLASSES, p, strict=True) if share >= 0.5]
    assert found["result"][0]["value"]["choices"] == expected
