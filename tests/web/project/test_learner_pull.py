"""Votes under suggestions: a simulation with a known pull and known soft labels."""

import numpy as np
import pandas as pd
import pytest

from softspread import knn_graph
from softspread.votes.reading import Names
from softspread.web.log.answers import Answers
from softspread.web.log.entry import VOTE, Entry
from softspread.web.log.history import History
from softspread.web.log.suggestions import written
from softspread.web.project.learner import Learned, Learner
from softspread.web.project.snapshots import load_learned, save_learned
from web.conftest import CLASSES, item_names, three_clusters

N, PEOPLE, PULL = 180, 5, 0.35


def simulated(seed):
    """A learner on votes of which a third are pulled; the truth, and the suggested class of each item."""
    rng = np.random.default_rng(seed)
    X, place = three_clusters(N)
    truth = np.full((N, 3), 0.2)
    truth[np.arange(N), place] = 0.6
    wrong = (X[:, 0] + X[:, 1] > np.median(X.sum(axis=1))) & (place != 0)
    suggested = np.where(wrong, (place + 1) % 3, place)
    history = History(pd.Index(item_names(N)), Answers(CLASSES))
    entries, rows, columns = [], [], []
    for person in range(PEOPLE):
        for row in rng.permutation(N).tolist():
            seen = bool(rng.random() >= 0.2)
            own = int(rng.choice(3, p=truth[row]))
            column = int(suggested[row]) if seen and rng.random() < PULL else own
            shown = written({CLASSES[suggested[row]]: 0.8, CLASSES[suggested[row] - 1]: 0.2}, seen=seen)
            number = len(entries) + 1
            name, item = f"person-{person}", item_names(N)[row]
            entries.append(
                Entry(VOTE, f"k{number}", name, item, CLASSES[column], 1.0, id=number, shown=shown)
            )
            rows.append(row)
            columns.append(column)
    history.take_entries(entries, rows, columns)
    names = Names(N, np.array(item_names(N), dtype=object), np.array(CLASSES, dtype=object))
    return Learner(knn_graph(X, 10), history, names), truth, suggested


@pytest.fixture(scope="module")
def fitted():
    """A simulation, the corrected fit, and the pull that was found."""
    learner, truth, suggested = simulated(0)
    labeler, (pull,) = learner.fit_corrected()
    return learner, truth, suggested, labeler, pull


def bias(labeler, truth, suggested):
    """How much more the soft labels give to the suggested class than is true, on average."""
    at = np.arange(N), suggested
    return float((labeler.predict_proba()[at] - truth[at]).mean())


def test_the_correction_leaves_at_most_a_third_of_the_bias(fitted):
    """The pull is found as well."""
    learner, truth, suggested, corrected, pull = fitted
    assert pull.lower <= PULL <= pull.upper
    before = bias(learner._fit_votes([learner.history.standing_votes()[0]]), truth, suggested)
    assert before > 0.1
    assert abs(bias(corrected, truth, suggested)) <= before / 3


def test_an_undo_takes_back_what_the_vote_counted_for(fitted):
    """Less than a whole vote where a suggestion may have decided it; nothing is left."""
    learner, _, _, labeler, pull = fitted
    learned = Learned(labeler, len(learner.history), pull)
    counted = labeler._votes
    lightest = int(np.argmin(counted.weights))
    assert counted.weights[lightest] < 0.9
    undo = learner.history.standing_votes()[0].take(slice(lightest, lightest + 1))
    found = learned._as_counted(undo.with_weights(-undo.weights))
    assert found.weights.tolist() == pytest.approx([-counted.weights[lightest]])


def test_a_restart_knows_the_pull_and_what_votes_counted_for(fitted, tmp_path):
    """The saved fit of votes that count less is one of this log; undos take back what they did before."""
    learner, _, _, labeler, pull = fitted
    learned = Learned(labeler, len(learner.history), pull)
    save_learned(tmp_path, learned)
    again = load_learned(tmp_path, learner)
    assert again.pull == pull
    assert again._discounted == learned._discounted
    whole = Learned(learner._fit_votes([learner.history.standing_votes()[0]]), len(learner.history))
    whole.labeler._votes._weights = 2.0 * whole.labeler._votes.weights  # more than anybody cast
    save_learned(tmp_path, whole)
    assert load_learned(tmp_path, learner) is None
