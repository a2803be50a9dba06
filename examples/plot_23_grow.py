"""
Datasets that grow
==================
New items join the graph; those far from all others are flagged.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from softspread import SoftLabeler, Votes

X, truth = make_moons(400, noise=0.1, random_state=0)
rows = np.random.default_rng(0).integers(0, 350, 60)
lab = SoftLabeler(random_state=0).fit(X[:350], Votes.from_pairs(rows, truth[rows]))

new = np.vstack([X[350:], [[3.5, 2.5]]])  # fifty more of the same kind, and one that is not
lab.add_items(new)
print(lab.novelty_.query("far"))
at_once = lab.predict_proba()
lab.refit()
print("largest change by learning again:", np.abs(lab.predict_proba() - at_once).max().round(3))

figure, axes = plt.subplots(figsize=(7, 4))
far = lab.novelty_["far"].to_numpy()
items = np.vstack([X[:350], new])
shown = axes.scatter(
    *items.T, c=lab.predict_proba()[:, 1], cmap="RdBu", s=np.where(np.arange(401) < 350, 10, 30)
)
axes.scatter(*items[far].T, s=200, facecolors="none", edgecolors="black", label="far from all others")
figure.colorbar(shown, label="probability of class 1")
axes.legend()
