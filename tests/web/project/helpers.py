"""What the log in the database holds, and what the page says about it."""

from softspread import ProbabilisticLabelSpreading, Votes
from softspread.web.log.entry import UNDO, VOTE
from web.conftest import CLASSES


def batch(service):
    """Soft labels of a fresh fit of what the log in the database holds."""
    rows = [row for row in service.store.entries(limit=10_000) if row.kind in (VOTE, UNDO)]
    items = [service.items.row_of(row.item) for row in rows]
    votes = Votes.from_pairs(items, [row.label for row in rows], None, [row.weight for row in rows])
    est = ProbabilisticLabelSpreading(alpha=service.state.choice.alpha, annotator_model="none", n_jobs=1)
    return est.fit(service.graph, votes, classes=list(CLASSES)).predict_proba()


def live(service):
    return service.state.soft_labels().p
