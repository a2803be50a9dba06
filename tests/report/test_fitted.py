"""The page of a fitted estimator, from Python."""

import re

import numpy as np
import pytest

from softspread import ProbabilisticLabelSpreading, SoftLabeler, Votes
from softspread.errors import InputError, StoreError
from softspread.report.fitted import classes_in_words, count_verdicts, settings_of
from softspread.spreading.evidence import SoftLabels


@pytest.fixture(scope="module")
def votes():
    rng = np.random.default_rng(0)
    items = np.concatenate([rng.choice(120, 50, replace=False) for _ in range(4)])
    labels = np.where(rng.random(200) < 0.9, items // 60, rng.integers(0, 2, 200))
    return Votes.from_pairs(items, np.array(["cat", "dog"])[labels], annotators=np.repeat(np.arange(4), 50))


X = np.linspace(0, 1, 120)[:, None]


@pytest.mark.parametrize("kind", [SoftLabeler, ProbabilisticLabelSpreading])
def test_both_estimators_write_a_page_with_their_figures(kind, votes, tmp_path):
    """Counts, classes, annotators and what was learned, complete in itself."""
    est = kind(n_neighbors=5, random_state=0).fit(X, votes)
    page = est.report(tmp_path / "page.html", confidence_level=0.8)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page
    facts = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    assert facts["Items"] == "120 in 1 dimensions"
    assert facts["Votes"] == f"{est.vote_counts_.sum():,.0f}"
    assert facts["Classes"] == "2: cat, dog"
    assert facts["Annotators"] == "4"
    assert facts["Method"] == kind.__name__
    assert facts["Parameter n_neighbors"] == "5"
    assert facts["Intervals"] == "posterior, 80%"
    assert "Parameter index" not in facts
    assert ("What the votes taught" in page) == (kind is SoftLabeler)
    assert ("Why this alpha" in page) == (kind is ProbabilisticLabelSpreading)
    assert "http://" not in page.replace("http://www.w3.org", "")


def test_pictures_stand_on_the_page(votes, tmp_path):
    """Those of the folder that are named like the items."""
    image = pytest.importorskip("PIL.Image")
    for row in range(120):
        image.new("RGB", (9, 9)).save(tmp_path / f"{row}.png")
    est = SoftLabeler(n_neighbors=5, random_state=0).fit(X, votes)
    assert est.report(images=tmp_path).count("data:image/jpeg") >= 12


def test_a_place_that_cannot_be_written_is_refused_before_the_work(votes, tmp_path):
    """A folder is not a file, a missing folder holds no pictures; nothing is written."""
    est = SoftLabeler(n_neighbors=5, random_state=0).fit(X, votes)
    with pytest.raises(StoreError, match="folder"):
        est.report(tmp_path)
    with pytest.raises(InputError, match="no folder of images"):
        est.report(tmp_path / "page.html", images=tmp_path / "none")
    assert list(tmp_path.iterdir()) == []


def test_parameters_are_shown_in_short():
    """An array by its shape; those that are as usual are left out."""
    est = ProbabilisticLabelSpreading(alpha=0.5, prior=np.full((9, 2), 0.5))
    shown = settings_of(est, "wilson", 0.9)
    assert {name: value for name, value in shown.items() if name.startswith("Parameter")} == {
        "Parameter alpha": "0.5",
        "Parameter prior": "ndarray (9, 2)",
    }


def test_many_classes_are_cut():
    """The first twenty, and how many there are."""
    assert classes_in_words(list(range(30))).startswith("30: 0, 1,")
    assert classes_in_words(list(range(30))).endswith("19 ...")


def test_every_verdict_is_counted_also_where_nobody_has_it():
    """All three words in their order."""
    p = np.full((3, 2), 0.5)
    verdict = np.array(["clear", "clear", "ambiguous"], dtype=object)
    labels = SoftLabels(np.arange(3), np.arange(2), p, np.ones(3), p, p, verdict=verdict)
    assert count_verdicts(labels) == {"clear": 2, "ambiguous": 1, "not enough votes": 0}
