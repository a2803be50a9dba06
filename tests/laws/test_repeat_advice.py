"""Too few second votes: every door gives the same advice, from the same threshold on."""

import json
import warnings

import numpy as np
import pandas as pd
import pytest

from command_line import run
from softspread import ProbabilisticLabelSpreading, SoftLabeler, SoftspreadWarning, Votes
from softspread.votes.repeats import REPEATS, repeat_advice

N_ITEMS, CLASSES = 120, np.array(["ant", "bee"])
X = np.random.default_rng(0).normal(size=(N_ITEMS, 2))
IDS = np.array([f"item-{row:03d}" for row in range(N_ITEMS)])


def votes_with(n_repeated):
    """One vote on every item by the first person, a second one on some by the other."""
    rows = np.r_[np.arange(N_ITEMS), np.arange(n_repeated)]
    who = np.repeat(["ann", "bob"], [N_ITEMS, n_repeated])
    labels = CLASSES[(X[rows, 0] > 0).astype(int)]
    return pd.DataFrame({"item": IDS[rows], "label": labels, "annotator": who})


def warned(function, *arguments, **options):
    """The result of a call and what it warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments, **options)
    return result, [str(one.message) for one in caught if one.category is SoftspreadWarning]


@pytest.fixture(params=[0, 1, REPEATS.enough - 1, REPEATS.enough])
def case(request):
    """A table of votes and the advice it deserves, as a list of none or one."""
    advice = repeat_advice(request.param, N_ITEMS)
    return votes_with(request.param), [] if advice is None else [advice]


def test_python_gives_the_advice(case):
    """Choosing alpha and calibrated intervals warn, quality notes it first."""
    frame, advice = case
    est = ProbabilisticLabelSpreading(random_state=0)
    est, heard = warned(est.fit, X, Votes.from_frame(frame), item_ids=IDS)
    assert heard == advice
    assert warned(est.predict_interval, method="calibrated")[1] == advice
    assert list(est.quality().notes[:1]) == advice


def test_the_posterior_gives_the_advice(case):
    """SoftLabeler keeps it and does not warn: its intervals are as wide as they have to be."""
    frame, advice = case
    est, heard = warned(SoftLabeler(random_state=0).fit, X, Votes.from_frame(frame), item_ids=IDS)
    assert heard == []
    assert [est.advice_] == (advice or [None])


def test_the_command_line_gives_the_advice(case, tmp_path):
    """Once, in the summary of `spread`, in its report and as a note of `quality`."""
    frame, advice = case
    np.savez(tmp_path / "X.npz", embeddings=X, ids=IDS)
    frame.to_csv(tmp_path / "votes.csv", index=False)
    files = ("-e", tmp_path / "X.npz", "-v", tmp_path / "votes.csv")
    document = json.loads(run("quality", *files, "--json").stdout)
    assert document["notes"][:1] == advice
    found = run("spread", *files, "-o", tmp_path / "s.parquet", "--report", tmp_path / "r.html", "--json")
    assert [json.loads(found.stdout)["advice"]] == (advice or [None])
    assert ("a second vote" in (tmp_path / "r.html").read_text()) == bool(advice)


def test_the_page_gives_the_advice(case, tmp_path):
    """As the first note of its quality, which the dashboard shows."""
    pytest.importorskip("fastapi", reason="needs the extra web")
    pytest.importorskip("sqlalchemy", reason="needs the extra web")
    from softspread.web.project.items import BareItems
    from softspread.web.project.service import Service
    from softspread.web.project.settings import Settings

    frame, advice = case
    settings = Settings(classes=tuple(CLASSES), data_dir=tmp_path, auth=False, seed=0, alpha=0.9, overlap=2)
    service = Service(settings, BareItems(IDS.tolist()), X)
    service.start()
    try:
        cast = [
            service.vote(vote.annotator, vote.item, vote.label, f"k{number}")
            for number, vote in enumerate(frame.itertuples())
        ]
        service.submit(cast).result(30)
        assert service.state.wait_until(len(service.history), 30)
        service.state.learn()
        service.analyst.update_quality()
        assert service.analyst.quality["quality"]["notes"][:1] == advice
    finally:
        service.stop()
