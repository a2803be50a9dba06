"""
Your own graph
==============
Any symmetric affinity can carry votes: here, a network of people with two communities.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array

from softspread import ProbabilisticLabelSpreading, Votes, affinity_graph

rng = np.random.default_rng(0)
side = np.repeat([0, 1], 30)
chance = np.where(side[:, None] == side, 0.25, 0.02)
ties = np.triu(rng.random((60, 60)) < chance, 1)
A = csr_array((ties + ties.T).astype(float))
est = ProbabilisticLabelSpreading(alpha=0.9).fit(
    affinity_graph(A), Votes.from_pairs([0, 30], ["red", "blue"])
)

places = np.column_stack([side * 3, np.zeros(60)]) + rng.normal(size=(60, 2)) * 0.8
figure, axes = plt.subplots(figsize=(7, 4))
for one, two in zip(*np.nonzero(ties), strict=True):
    axes.plot(*places[[one, two]].T, color="lightgrey", linewidth=0.5, zorder=0)
axes.scatter(*places.T, c=est.predict_proba()[:, 1], cmap="coolwarm")
axes.scatter(*places[[0, 30]].T, s=120, facecolors="none", edgecolors="black")
axes.axis("off")
