"""The page of a run tells everything it was given, in order of importance, and nothing leaves its place."""

import dataclasses
import json
import re

import numpy as np
import pandas as pd

from markup import NASTY, Tags
from softspread.annotators.verdict import VERDICTS
from softspread.quality.result import Estimate, Quality
from softspread.report.run import RunContent, run_page
from softspread.spreading.evidence import SoftLabels
from softspread.tuning.result import Tuning, TuningPoint


def content(n=60, name="item", label="class", **changes):
    """A made-up run."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], n)
    counts = rng.integers(0, 2, (n, 3)).astype(float)
    one = Estimate(0.5, 0.4, 0.6)
    points = tuple(TuningPoint(alpha, 20, 1e-4, None, alpha, 0.1) for alpha in (0.1, 0.5, 0.9))
    labels = SoftLabels(
        np.array([f"{name}{row}" for row in range(n)], dtype=object),
        np.array([f"{label}{c}" for c in range(3)], dtype=object),
        p,
        rng.exponential(3, n),
        p * 0.8,
        p * 0.8 + 0.2 * rng.random((n, 1)),
    )
    given = {
        "labels": labels,
        "vote_counts": counts,
        "verdicts": {"clear": 10, "ambiguous": 20, "not enough votes": n - 30},
        "features": rng.normal(size=(n, 4)),
        "inputs": {"Items": "some"},
        "settings": {"Alpha": "0.1"},
        "command": "softspread spread -e X.npy",
        "annotators": pd.DataFrame(
            {
                "annotator": [f"{name}-ann", "bob"],
                "votes": [10.0, 3.0],
                "agreement": [0.9, np.nan],
                "consistency": [0.8, 0.2],
                "lower": [0.7, 0.1],
                "upper": [0.9, 0.4],
                "flag": ["ok", "does not follow"],
            }
        ),
        "n_annotators": 2,
        "tuning": Tuning(points[0], points, "brier", "lowest", False),
        "quality": Quality(
            Estimate(np.nan, np.nan, np.nan), one, one, one, one, one, "held out", n, 9, 2, 0.9, ("note",)
        ),
        "warnings": ["look here"],
    }
    return RunContent(**{**given, **changes})


def test_the_page_has_every_part():
    """Sections, figures, warnings, the command."""
    text = run_page(content())
    titles = re.findall(r"<h2>([^<]*)</h2>", text)
    assert titles == [
        "Map of the items", "How sure", "Classes", "Most uncertain items", "Most ambiguous items",
        "Quality, estimated without ground truth", "Why this alpha", "Annotators", "What went in",
        "How to get this again",
    ]  # fmt: skip
    for part in ("look here", "softspread spread -e X.npy", "unknown", "note", "10 items (17%) are clear"):
        assert part in text
    assert text.index("bob") < text.index("item-ann")  # the odd one first


def test_annotators_worth_a_look_come_before_the_others():
    """Those who do not follow first, then those to check, however consistent the rest is."""
    frame = content().annotators
    odd = frame.assign(annotator=["one", "two"], flag=["check", "unknown"], consistency=0.1)
    more = pd.concat([odd, frame])
    text = run_page(content(annotators=more))
    places = [text.index(f">{name}<") for name in ("bob", "one", "two", "item-ann")]
    assert places == sorted(places)
    for flag in ("does not follow", "check"):
        assert VERDICTS[flag].words in text
        assert VERDICTS[flag].advice in text


def test_parts_that_are_missing_are_left_out():
    """No annotators, no tuning, no quality, no features, no evidence: still a page."""
    unknown = dataclasses.replace(content().labels, evidence=np.zeros(60))
    bare = content(annotators=None, tuning=None, quality=None, features=None, warnings=(), labels=unknown)
    titles = re.findall(r"<h2>([^<]*)</h2>", run_page(bare))
    assert titles == ["How sure", "Classes", "Most uncertain items", "What went in", "How to get this again"]


def test_lists_hold_the_most_uncertain_and_the_most_ambiguous():
    """Widest intervals; largest entropy among items with evidence."""
    given = content()
    text, p = run_page(given), given.labels.p
    uncertain = re.findall(
        r"<strong>(item\d+)</strong>", text.split("Most uncertain")[1].split("Most ambiguous")[0]
    )
    width = given.labels.width.max(axis=1)
    assert set(uncertain) == {f"item{row}" for row in np.argsort(-width)[:12]}
    ambiguous = re.findall(r"<strong>(item\d+)</strong>", text.split("Most ambiguous")[1].split("Quality")[0])
    entropy = np.where(given.labels.evidence >= 1, -(p * np.log(p)).sum(axis=1), -1)
    assert ambiguous == [f"item{row}" for row in np.argsort(-entropy, kind="stable")[:12]]


def test_no_name_becomes_markup_and_nothing_is_loaded():
    """Ids, classes, annotators, warnings and facts that try to leave their place stay text."""
    text = run_page(
        content(
            name=NASTY,
            label=NASTY,
            warnings=[NASTY],
            inputs={NASTY: NASTY},
            settings={NASTY: NASTY},
            command=NASTY,
        )
    )
    page = Tags(text)
    assert "img" not in page.tags
    assert not {"onerror", "src", "href"} & set(page.attributes)
    assert NASTY not in text


def test_one_class_and_one_item_make_a_page():
    """The smallest run there is."""
    ones = np.ones((31, 1))
    only = SoftLabels(np.arange(31), np.array([5]), ones, np.ones(31), ones, ones)
    assert "NaN" not in run_page(content(n=31, labels=only, vote_counts=ones))
    parts = ("vote_counts", "features")
    single = dataclasses.replace(
        content(),
        labels=content().labels.take(np.array([0])),
        verdicts={"clear": 1},
        **{part: getattr(content(), part)[:1] for part in parts},
    )
    assert "NaN" not in run_page(single)


def test_the_same_seed_gives_the_same_page():
    """The map's layout is random, but fixed by the seed."""
    assert run_page(content()) == run_page(content())
    assert run_page(content()) != run_page(content(seed=1))


def test_data_of_the_map_reads_back():
    """One entry per dot in every packed array."""
    text = run_page(content())
    data = json.loads(re.search(r"id='points'>(.*?)</script>", text)[1])
    assert len(data["names"]) == 60
    assert sorted(data["names"]) == sorted(f"item{row}" for row in range(60))


def test_a_thumbnail_stands_beside_each_mention_of_its_item():
    """An item may be among the most uncertain and among the most ambiguous, so twice at most."""
    address = "data:image/jpeg;base64,AAAA"
    wide = dataclasses.replace(content().labels, lower=np.zeros((60, 3)))
    text = run_page(content(thumbnail=lambda row: address if row == 0 else None, labels=wide))
    assert Tags(text).tags.count("img") <= 2
    everywhere = run_page(content(thumbnail=lambda row: address, labels=wide))
    assert Tags(everywhere).tags.count("img") == everywhere.count("<div class='item'>") > 2
