"""
Soft votes and counts
=====================
A vote may be split over classes, and a table of counts holds many votes at once.
"""

import matplotlib.pyplot as plt
import numpy as np

from softspread import ProbabilisticLabelSpreading, Votes

X = np.linspace(0, 1, 50)[:, None]
counts = np.full((50, 2), 0.0)
counts[5], counts[25], counts[45] = [8, 0], [0.5, 0.5], [1, 7]
est = ProbabilisticLabelSpreading(alpha=0.97, n_neighbors=5).fit(X, Votes.from_counts(counts))

figure, axes = plt.subplots(figsize=(7, 4))
axes.plot(X[:, 0], est.predict_proba()[:, 1], label="probability of class 1")
axes.plot(X[:, 0], est.evidence_ / est.evidence_.max(), label="evidence, relative")
axes.legend()
