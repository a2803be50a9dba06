"""
How far may a soft label be off?
================================
Every probability has an interval. It is wide where few votes arrive.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from softspread import SoftLabeler, Votes

X, truth = make_moons(400, noise=0.15, random_state=0)
rng = np.random.default_rng(0)
rows = rng.integers(0, 400, 120)
said = np.where(rng.random(120) < 0.1, 1 - truth[rows], truth[rows])
lab = SoftLabeler(random_state=0).fit(X, Votes.from_pairs(rows, said))

p = lab.predict_proba()[:, 1]
lower, upper = lab.predict_interval(confidence_level=0.9)
order = np.argsort(p)

figure, axes = plt.subplots(figsize=(7, 4))
axes.fill_between(range(400), lower[order, 1], upper[order, 1], alpha=0.3, label="90 % interval")
axes.plot(p[order], label="soft label")
axes.set(xlabel="items, sorted", ylabel="probability of class 1")
axes.legend()
