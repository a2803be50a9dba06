"""Small maps of items, for the tests of pages."""

import numpy as np

from softspread import report


def tiny_map(n=5, label="a"):
    rng = np.random.default_rng(0)
    view = report.View(label, np.full((n, 2), 0.5), rng.random(n), np.arange(n))
    return report.ItemMap(rng.normal(size=(n, 2)), [label, "b"], [view], marks={label: (0.0, 0.0)})


def tiny_points(n=5, label="a"):
    rng = np.random.default_rng(0)
    places, ones = rng.normal(size=(n, 2)), np.ones(n, dtype=int)
    p = rng.random(n)
    return report.PointMap(
        places, [label, "b"], 0 * ones, p, ones, 1 - p, rng.random(n), p, ones, [label] * n
    )
