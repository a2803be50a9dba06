"""
Soft labels of new items
========================
`predict_proba(X)` places items that were not there at the fit.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from softspread import SoftLabeler, Votes

X, truth = make_moons(400, noise=0.1, random_state=0)
rows = np.random.default_rng(0).integers(0, 400, 60)
lab = SoftLabeler(random_state=0).fit(X, Votes.from_pairs(rows, truth[rows]))
across, up = np.meshgrid(np.linspace(-1.5, 2.5, 60), np.linspace(-1, 1.5, 40))
p = lab.predict_proba(np.column_stack([across.ravel(), up.ravel()]))[:, 1]

figure, axes = plt.subplots(figsize=(7, 4))
shown = axes.pcolormesh(across, up, p.reshape(across.shape), cmap="RdBu", shading="auto")
axes.scatter(*X[rows].T, c=truth[rows], cmap="RdBu", edgecolors="black")
figure.colorbar(shown, label="probability of class 1")
