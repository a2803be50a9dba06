"""Disagreement against ignorance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from small_posteriors import posterior_of
from softspread import InputError, SoftLabeler, uncertainty_split
from softspread._common.entropy import entropy
from softspread.intervals.uncertainty import split_posterior, split_uncertainty_of, verdicts
from softspread.spreading.evidence import SoftLabels

P = np.array([[0.9, 0.1, 0.0], [0.4, 0.3, 0.3]])


def test_epistemic_uncertainty_is_the_mean_width():
    """Of all classes of an item, not of the widest one."""
    half = np.array([[0.05, 0.05, 0.2], [0.1, 0.1, 0.1]])
    split = uncertainty_split(P, P - half, P + half, np.ones(2))
    np.testing.assert_allclose(split.epistemic, [0.2, 0.2])


def test_soft_labels_with_intervals_are_split_alike_and_others_refused():
    """One object in place of four arrays."""
    labels = SoftLabels(np.arange(2), np.arange(3), P, np.array([9.0, 9.0]), P - 0.1, P + 0.1)
    split = uncertainty_split(P, P - 0.1, P + 0.1, labels.evidence)
    assert split_uncertainty_of(labels).to_frame().equals(split.to_frame())
    with pytest.raises(InputError, match="no intervals"):
        split_uncertainty_of(SoftLabels(labels.ids, labels.classes, P, labels.evidence))


def test_entropy_is_0_for_one_class_and_1_for_all_alike():
    """Aleatoric uncertainty ends at 0 and 1; epistemic is the mean width."""
    p = np.array([[1.0, 0, 0, 0], [0.25, 0.25, 0.25, 0.25]])
    split = uncertainty_split(p, np.zeros((2, 4)), np.ones((2, 4)), np.ones(2))
    assert_allclose(split.aleatoric, [0, 1], atol=1e-12)
    assert split.epistemic.tolist() == [1, 1]
    alone = uncertainty_split(np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)), np.ones(1))
    assert alone.aleatoric.tolist() == [0]
    assert alone.verdict.tolist() == ["clear"]


def test_more_votes_turn_not_enough_into_ambiguous_or_clear():
    """The same p, narrower intervals: the verdict becomes firm, and the right one."""
    for share, final in ((0.5, "ambiguous"), (0.95, "clear"), (0.72, "clear"), (0.68, "ambiguous")):
        p = np.array([[share, 1 - share]])
        verdicts = [
            uncertainty_split(p, np.maximum(p - half, 0), np.minimum(p + half, 1), np.ones(1)).verdict[0]
            for half in (0.6, 0.35, 0.05, 0.0)
        ]
        assert verdicts[0] == "not enough votes"
        assert verdicts[-1] == final


def test_no_evidence_is_never_a_verdict_about_the_item():
    """Without evidence only votes can help, whatever the interval says; the table has one row per item."""
    split = uncertainty_split(
        np.array([[0.9, 0.1]]), np.array([[0.9, 0.1]]), np.array([[0.9, 0.1]]), np.zeros(1)
    )
    assert split.to_frame()["verdict"].tolist() == ["not enough votes"]
    with pytest.raises(InputError, match="one shape"):
        uncertainty_split(np.ones((2, 2)), np.ones((2, 2)), np.ones((2, 3)), np.ones(2))


def test_the_posterior_becomes_sure_with_votes():
    """The same shares, more votes: from "not enough votes" to the right verdict."""
    m = np.full((1, 2), 0.5)
    for share, final in ((0.5, "ambiguous"), (0.95, "clear")):
        found = [
            verdicts(posterior_of(m, times * np.array([[share, 1 - share]]), 2.0), 0.9, 2)[0]
            for times in (2, 4, 400)
        ]
        assert found[0] == "not enough votes"
        assert found[-1] == final


def test_an_unknown_leader_is_not_ambiguity():
    """Where nu is tiny some class has nearly all, nobody knows which: votes are missing, people agree."""
    found = split_posterior(posterior_of(np.full((1, 20), 0.05), np.zeros((1, 20)), 0.1), 0.9, 20)
    assert found.verdict.tolist() == ["not enough votes"]
    assert found.epistemic[0] > 0.8
    assert found.aleatoric[0] < 0.2


def test_both_uncertainties_add_up_to_the_entropy_of_the_mean(rng):
    """Theory [two uncertainties]."""
    posterior = posterior_of(rng.dirichlet(np.ones(4), size=9), rng.integers(0, 3, (9, 4)), 3.0)
    found = split_posterior(posterior, 0.9, 4)
    assert_allclose(found.aleatoric + found.epistemic, entropy(posterior.mean()) / np.log(4), rtol=1e-9)
    assert (found.epistemic > 0).all()


def test_an_estimator_reads_its_posterior_unless_intervals_are_asked_for(rng):
    """uncertainty() and soft_labels() agree, by either way."""
    X = np.concatenate([rng.normal(c, 0.3, size=(40, 2)) for c in (0, 4)])
    counts = np.zeros((80, 2))
    counts[np.arange(80), np.arange(80) // 40] = 3
    lab = SoftLabeler(n_neighbors=8).fit(X, counts)
    assert (lab.uncertainty()["verdict"] == "clear").mean() > 0.9
    for method in ("posterior", "wilson"):
        assert (
            lab.uncertainty(method=method)["verdict"].tolist()
            == lab.soft_labels(method=method).verdict.tolist()
        )
    split = split_uncertainty_of(lab.soft_labels(method="wilson"))
    assert_allclose(lab.uncertainty(method="wilson")["epistemic"], split.epistemic)
