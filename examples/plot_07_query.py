"""
What to vote on next
====================
The default strategy goes where a vote helps most, and covers the space on the way.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from softspread import SoftLabeler, Votes

X, truth = make_blobs(600, centers=4, cluster_std=1.6, random_state=3)
rows = np.random.default_rng(0).integers(0, 600, 80)
lab = SoftLabeler(random_state=0).fit(X, Votes.from_pairs(rows, truth[rows]))
asked = np.asarray(lab.query(40))

figure, axes = plt.subplots(figsize=(6, 5))
shown = axes.scatter(*X.T, s=10, c=lab.evidence_, cmap="Blues")
axes.scatter(*X[asked].T, s=40, marker="x", c="crimson", label="asked next")
figure.colorbar(shown, label="evidence")
axes.legend()
