"""Items in groups, and calibrated fits to votes on them."""

import numpy as np

from softspread import knn_graph
from softspread.diffusion.diffusion import Diffusion
from softspread.intervals.calibrated.model import fit_calibrated
from softspread.spreading.evidence import soft_labels
from softspread.votes.ballots import Ballots
from voting import mass_of


def make_blobs():
    """400 items in 4 groups, 4 classes, items of a group alike but not the same: graph, soft labels."""
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(4), 100)
    X = rng.normal(size=(4, 3))[group] * 6 + rng.normal(size=(400, 3))
    truth = np.stack([rng.dirichlet(4 * centre + 0.1) for centre in rng.dirichlet(np.full(4, 0.4), 4)[group]])
    return knn_graph(X, n_neighbors=10), truth


def fitted(graph, votes, n_classes, alpha=0.75, **options):
    """A fit, and the soft labels it belongs to."""
    mass = mass_of(graph, votes, n_classes, alpha, tol=1e-7, n_jobs=1)
    p = soft_labels(mass, np.full(n_classes, 1 / n_classes), 1e-4)
    diffusion = Diffusion(graph, alpha, n_jobs=1)
    return fit_calibrated(diffusion, Ballots.of(votes, n_classes), mass, **options), p
