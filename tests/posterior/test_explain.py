"""What one soft label is made of: shares that sum to it exactly, and are what the formulas say."""

import numpy as np
import pandas as pd
import pytest

from blends import own_of
from softspread import InputError, SoftLabeler, Votes, affinity_graph, knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.posterior.blend import BlendRule, fit_blend
from softspread.posterior.explain import ExplainRule, explain_blend
from softspread.posterior.kernels import KernelRule
from softspread.posterior.live import LiveBlend
from softspread.posterior.stack import StackRule
from softspread.votes.table import VoteTable

N, C = 80, 3
RNG = np.random.default_rng(0)
TRUTH = np.arange(N) % C
X = RNG.normal(size=(N, 3)) + 2 * np.eye(3)[TRUTH]


def crowd(n_votes=70, seed=1, names=False):
    """Votes, one in five at random."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(N, size=n_votes)
    labels = np.where(rng.random(n_votes) < 0.2, rng.integers(C, size=n_votes), TRUTH[rows])
    who = [f"a{number}" for number in rng.integers(5, size=n_votes)] if names else None
    return Votes.from_pairs(rows, labels, who, repeats="keep")


def sums(table, lab):
    """(n_classes,) total weight of each label."""
    return table.groupby("label")["weight"].sum().reindex(lab.classes_, fill_value=0.0).to_numpy()


CASES = {
    "all experts": ({}, {}),
    "prior": ({"prior": RNG.dirichlet(np.ones(C), N)}, {}),
    "one alpha": ({"alpha": 0.7}, {}),
    "no classifiers": ({"classifier": "none"}, {}),
    "features": ({}, {"features": np.hstack([X, RNG.normal(size=(N, 9))])}),
}


@pytest.mark.parametrize(("parameters", "data"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("live", [False, True], ids=["fit", "live"])
def test_the_shares_of_every_class_sum_to_its_probability(parameters, data, live):
    """For voted and unvoted items, right after the fit and after votes and retractions."""
    lab = SoftLabeler(n_neighbors=6, **parameters).fit(X, crowd(), **data)
    if live:
        lab.update([3, 3, 40], [0, 1, 2]).undo(*[values[:2] for values in (crowd().items, crowd().labels)])
    p = lab.predict_proba()
    for item in (0, 3, int(crowd().items[0]), int(crowd().items[5]), 40):
        table = lab.explain(item, top=None)
        np.testing.assert_allclose(sums(table, lab), p[item], atol=1e-6)
        assert table["weight"].sum() == pytest.approx(1, abs=1e-9)
        assert (table["weight"] > 0).all()
        assert (np.diff(table["weight"]) <= 0).all()
        assert set(table["source"]) <= {
            *("own vote", "vote", "distant votes", "classifiers", "prior", "class shares")
        }
        assert ("prior" in set(table["source"])) <= ("prior" in parameters)


@pytest.mark.parametrize("normalization", ["symmetric", "random_walk"])
def test_shares_are_those_of_the_formulas(normalization):
    """One alpha without classifiers: shares and one rung, sharpened class by class, then own votes."""
    graph = knn_graph(X, 6, normalization=normalization)
    lab = SoftLabeler(alpha=0.8, classifier="none").fit(graph, crowd())
    blend, item = lab._blend, int(crowd().items[0])
    counts = lab.vote_counts_
    others = counts.copy()
    others[item] = 0
    M = np.linalg.inv(np.eye(N) - 0.8 * graph.S.toarray())
    reach = M[item] / M.max(axis=0)  # a vote on q brings M_iq / max_j M_jq
    votes = reach[:, None] * others
    back_off = blend.rule.ladder.first_back_off
    f = others.sum(axis=0) + 1
    f = f / f.sum()
    w_shares, w_rung = blend.weights
    from_votes = w_rung * votes / (votes.sum() + back_off)
    from_shares = w_shares * f + w_rung * back_off * f / (votes.sum() + back_off)
    q = from_votes.sum(axis=0) + from_shares
    m = lab._posterior.m[item]
    kept = sum(s.weight * s.lam for s in blend.calibration.settings) * blend.calibration.pi
    rest = 1 - counts[item].sum() / lab.evidence_[item]
    factor = rest * (m - kept) / q
    table = lab.explain(item, top=None)
    for row, column in ((5, 2), (int(crowd().items[9]), int(crowd().labels[9]))):
        mine = table[(table["item"] == row) & (table["label"] == column)]["weight"].sum()
        np.testing.assert_allclose(mine, (factor * from_votes[row])[column], atol=2e-5)
    expected = {
        "own vote": counts[item].sum() / lab.evidence_[item],
        "vote": (factor * from_votes).sum(),
        "class shares": (factor * from_shares + rest * kept).sum(),
    }
    found = table.groupby("source")["weight"].sum()
    for source, share in expected.items():
        np.testing.assert_allclose(found[source], share, atol=2e-4)
    assert found.get("distant votes", 0.0) < 2e-4


def test_kernels_share_out_their_votes():
    """A blend of kernels alone: each vote counts by its distance, width by width."""
    graph, counts = knn_graph(X, 6), np.zeros((N, C))
    np.add.at(counts, (crowd().items, crowd().labels), 1.0)
    kernels = KernelRule(number=2, belief=1e12)
    rule = BlendRule(kernels=kernels, stack=StackRule(belief_items=1e9))
    diffusion, own = Diffusion(graph, 0.9, n_jobs=1), own_of(counts)
    blend = fit_blend(diffusion, own, X=X, rule=rule)
    np.testing.assert_allclose(blend.weights[-2:], 0.5, atol=1e-6)
    item = int(np.flatnonzero(counts.sum(axis=1) == 0)[0])
    squared = ((X - X[item]) ** 2).sum(axis=1)
    wide, narrow = (np.exp(-w * squared / (2 * graph.sigma2))[:, None] * counts for w in (1 / 64, 1 / 16))
    first = wide / (wide.sum() + 1e-3)
    both = (first + (narrow + 0.02 * first) / (narrow.sum() + 0.02)) / 2
    rows, columns = np.nonzero(counts)
    votes = VoteTable(rows, columns, counts[rows, columns])
    found = explain_blend(LiveBlend(blend, diffusion), votes, item, C)
    listed = np.zeros((N, C))
    mine = found.sources == "vote"
    listed[found.rows[mine], found.columns[mine]] = found.weights[mine]
    for column in range(C):
        np.testing.assert_allclose(
            listed[:, column] / listed[:, column].sum(), both[:, column] / both[:, column].sum(), atol=1e-4
        )


def test_what_is_too_far_to_be_listed_is_summed_up():
    """A push that stops early lists fewer votes; sums stay what they are."""
    lab = SoftLabeler(n_neighbors=6, classifier="none").fit(X, crowd())
    args = lab._live, lab._counted_votes, 3, C
    whole, near = explain_blend(*args), explain_blend(*args, ExplainRule(floor=0.3))
    assert (near.sources == "vote").sum() < (whole.sources == "vote").sum()
    assert near.weights[near.sources == "distant votes"].sum() > 0.01
    for found in (whole, near):
        np.testing.assert_allclose(
            np.bincount(found.columns, found.weights, C), lab.predict_proba()[3], atol=1e-6
        )


def test_annotators_have_the_votes_they_cast():
    """One row per item, label and annotator; two who agree share what their votes bring."""
    votes = crowd(names=True) + Votes.from_pairs([7, 7, 7], [1, 1, 1], ["ann", "bob", "ann"], repeats="keep")
    lab = SoftLabeler(n_neighbors=6).fit(X, votes)
    table = lab.explain(8, top=None)
    mine = table[(table["item"] == 7) & table["annotator"].isin(["ann", "bob"])]
    shares = mine.set_index("annotator")["weight"]
    np.testing.assert_allclose(shares["ann"], 2 * shares["bob"])
    own = lab.explain(7, top=None)
    own = own[own["source"] == "own vote"]
    assert set(own["item"]) == {7}
    assert {"ann", "bob"} <= set(own["annotator"])
    assert table[table["source"] == "classifiers"]["annotator"].isna().all()


def test_a_vote_taken_back_has_no_share_of_its_own():
    """Until the next fit the widest alpha still counts it: for nobody by name."""
    lab = SoftLabeler(n_neighbors=6).fit(X, crowd(names=True))
    lab.update(11, 2, annotators="eve").undo(11, 2, annotators="eve")
    table = lab.explain(12, top=None)
    assert "eve" not in set(table["annotator"])
    np.testing.assert_allclose(sums(table, lab), lab.predict_proba()[12], atol=1e-6)


def test_without_votes_the_prior_or_the_class_shares_explain_all():
    """Nothing else is known."""
    none = Votes.from_pairs([], [])
    plain = SoftLabeler(n_neighbors=6).fit(X, none, classes=["a", "b"]).explain(0)
    assert plain["source"].unique().tolist() == ["class shares"]
    prior = SoftLabeler(n_neighbors=6, prior=[0.9, 0.1]).fit(X, none, classes=["a", "b"]).explain(0)
    assert prior["source"].iloc[0] == "prior"
    assert prior["weight"].iloc[0] == pytest.approx(0.9, abs=1e-3)


@pytest.mark.filterwarnings("ignore:.*have no neighbour")
def test_one_class_an_isolated_item_and_an_affinity_are_explained():
    """Sums hold in every corner."""
    one = SoftLabeler(n_neighbors=6).fit(X, Votes.from_pairs([0, 1], ["a", "a"]))
    assert one.explain(5, top=None)["weight"].sum() == pytest.approx(1)
    assert set(one.explain(5, top=None)["label"]) == {"a"}
    A = np.zeros((4, 4))
    A[0, 1] = A[1, 0] = 1.0
    lab = SoftLabeler().fit(affinity_graph(A), [0, 1, -1, 1])
    for item in range(4):
        np.testing.assert_allclose(
            sums(lab.explain(item, top=None), lab), lab.predict_proba()[item], atol=1e-6
        )


def test_the_table_is_like_that_of_spreading_with_a_source():
    """Ids and names of classes; the heaviest first, as many as asked for; bad questions are refused."""
    ids = [f"item {row}" for row in range(N)]
    votes = crowd()
    named = Votes.from_pairs([ids[row] for row in votes.items], [f"c{label}" for label in votes.labels])
    lab = SoftLabeler(n_neighbors=6).fit(X, named, item_ids=ids)
    table = lab.explain("item 4", top=5)
    assert isinstance(table, pd.DataFrame)
    assert table.columns.tolist() == ["source", "item", "label", "weight"]
    assert len(table) == 5
    pd.testing.assert_frame_equal(table, lab.explain("item 4", top=None).head(5))
    assert {item for item in table["item"] if pd.notna(item)} <= set(ids)
    with pytest.raises(InputError, match="nobody"):
        lab.explain("nobody")
    with pytest.raises(InputError, match="top"):
        lab.explain("item 4", top=0)
