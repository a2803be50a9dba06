"""The same votes give the same soft labels through every door: Python, the command line, the page."""

import numpy as np
import pandas as pd
import pytest

from command_line import run
from softspread import ProbabilisticLabelSpreading, SoftLabeler, Votes
from softspread.io.soft_labels import read_soft_labels

N_ITEMS, CLASSES = 240, np.array(["ant", "bee", "cat"])


@pytest.fixture(scope="module", params=[8, 400])
def project(request):
    """Items around three places, and votes by four people, one of whom guesses; too few votes to choose by,
    and enough."""
    rng = np.random.default_rng(5)
    truth = np.arange(N_ITEMS) % 3
    X = 4.0 * np.array([[0, 0], [1, 0], [0, 1]])[truth] + rng.normal(size=(N_ITEMS, 2))
    ids = np.array([f"item-{row:03d}" for row in range(N_ITEMS)])
    rows, who = rng.integers(0, N_ITEMS, request.param), np.arange(request.param) % 4
    labels = np.where(who == 3, rng.integers(0, 3, len(rows)), truth[rows])
    votes = pd.DataFrame({"item": ids[rows], "label": CLASSES[labels], "annotator": [f"p{w}" for w in who]})
    return X, ids, votes.drop_duplicates(["item", "annotator"])  # on the page a second one replaces the first


def assert_same(found, expected):
    """Equal up to the single precision of files."""
    assert [str(name) for name in found.ids] == [str(name) for name in expected.ids]
    assert [str(name) for name in found.classes] == [str(name) for name in expected.classes]
    np.testing.assert_allclose(found.p, expected.p, atol=1e-6)
    np.testing.assert_allclose(found.evidence, expected.evidence, rtol=1e-6)
    np.testing.assert_allclose(found.lower, expected.lower, atol=1e-6)
    np.testing.assert_allclose(found.upper, expected.upper, atol=1e-6)
    assert found.verdict.tolist() == expected.verdict.tolist()


@pytest.fixture(scope="module")
def in_python(project):
    """What the paper's estimator says with nothing but its defaults."""
    X, ids, votes = project
    return ProbabilisticLabelSpreading(random_state=0).fit(X, Votes.from_frame(votes), item_ids=ids)


@pytest.fixture(scope="module")
def recommended(project):
    """What the recommended estimator says with nothing but its defaults."""
    X, ids, votes = project
    return SoftLabeler(random_state=0).fit(X, Votes.from_frame(votes), item_ids=ids)


def spread_files(project, folder, *options):
    """What `softspread spread` writes for the same votes."""
    X, ids, votes = project
    np.savez(folder / "X.npz", embeddings=X, ids=ids)
    votes.to_csv(folder / "votes.csv", index=False)
    files = ("-e", folder / "X.npz", "-v", folder / "votes.csv", "-o", folder / "s.parquet")
    result = run("spread", *files, "--quiet", *options)
    assert result.exit_code == 0, result.output
    return read_soft_labels(folder / "s.parquet")


def test_the_command_line_says_what_python_says(project, recommended, tmp_path):
    """`softspread spread` with its defaults is the recommended estimator with its own."""
    found = spread_files(project, tmp_path)
    assert_same(found, recommended.soft_labels())
    assert found.metadata["method"] == "blend"
    weights = recommended.weights_
    assert found.metadata["weights"] == pytest.approx(weights[weights > 0].to_dict(), abs=1e-6)
    assert found.metadata["advice"] == recommended.advice_


def test_the_command_line_says_what_python_says_of_the_paper_s_method(project, in_python, tmp_path):
    """`--method pls` is the paper's estimator with its defaults."""
    found = spread_files(project, tmp_path, "--method", "pls")
    assert_same(found, in_python.soft_labels())
    assert found.metadata["alpha"] == in_python.alpha_


def test_the_page_says_what_python_and_the_command_line_say(project, recommended, tmp_path):
    """Votes cast on the page, one of them taken back: its export, and `softspread spread` on its votes."""
    pytest.importorskip("fastapi", reason="needs the extra web")
    pytest.importorskip("sqlalchemy", reason="needs the extra web")
    from softspread.web.project import exports
    from softspread.web.project.items import BareItems
    from softspread.web.project.service import Service
    from softspread.web.project.settings import Settings

    X, ids, votes = project
    settings = Settings(classes=tuple(CLASSES), data_dir=tmp_path, auth=False, seed=0)
    service = Service(settings, BareItems(ids.tolist()), X)
    service.start()
    try:
        cast = [
            service.vote(vote.annotator, vote.item, vote.label, f"k{number}")
            for number, vote in enumerate(votes.itertuples())
        ]
        elsewhere = next(item for item in ids if item not in votes["item"].to_numpy())
        service.submit([*cast, service.vote("p0", elsewhere, "cat", "slip")]).result(30)
        service.submit([service.undo("p0", "slip", "oops")]).result(30)
        exports.write(service, tmp_path / "soft_labels.parquet")
        exports.write(service, tmp_path / "votes.parquet")
    finally:
        service.stop()
    found = read_soft_labels(tmp_path / "soft_labels.parquet")
    assert_same(found, recommended.soft_labels())
    assert [str(name) for name in found.verdict] == recommended.soft_labels().verdict.tolist()
    exported = pd.read_parquet(tmp_path / "votes.parquet").drop(columns="created_at")
    assert_same(found, spread_files((X, ids, exported), tmp_path))


def test_alpha_is_the_default_where_votes_are_too_few(project, in_python):
    """Below ten votes nothing is chosen; above, held-out votes choose."""
    n_votes = len(project[2])
    assert (in_python.alpha_ == 0.9) or n_votes >= 10
    assert ("too few" in in_python.tuning_.how) == (n_votes < 10)
