"""What the log in the database holds, and what the page says about it."""

import numpy as np

from softspread import SoftLabeler, Votes
from softspread.web.log.entry import UNDO, VOTE
from web.conftest import CLASSES


def votes_of(rows):
    """Entries of the database as votes, undos with negative weights."""
    columns = zip(*((row.item, row.label, row.annotator, row.weight) for row in rows), strict=True)
    items, labels, annotators, weights = (np.array(column) for column in columns)
    return Votes.from_pairs(items, labels, annotators, weights)


def fitted(service):
    """A fresh fit of what the log in the database holds."""
    rows = [row for row in service.store.entries(limit=10_000) if row.kind in (VOTE, UNDO)]
    est = SoftLabeler(alpha=service.settings.alpha, prior=service.learner.prior, n_jobs=1)
    return est.fit(service.graph, votes_of(rows), item_ids=service.items.ids, classes=list(CLASSES))


def batch(service):
    """Soft labels of such a fit."""
    return fitted(service).predict_proba()


def live(service):
    """Soft labels of all items as the page has them."""
    return service.state.soft_labels(np.arange(len(service.items))).p


def relearned(service):
    """The same after the page has learned from all of its votes."""
    service.state.learn()
    return live(service)
