"""
A vote moves the soft labels at once
====================================
`update` adds votes to a fitted estimator, and `undo` takes them back. In a notebook
`est.vote_here(pictures)` does both, key by key.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from softspread import ProbabilisticLabelSpreading, Votes

X, truth = make_moons(500, noise=0.1, random_state=0)
est = ProbabilisticLabelSpreading(alpha=0.95).fit(X, Votes.from_pairs([0, 1], truth[[0, 1]]), classes=[0, 1])
order = np.random.default_rng(0).permutation(500)[:60]
right = [(est.transduction_ == truth).mean()]
for row in order:
    est.update([row], [truth[row]])
    right.append((est.transduction_ == truth).mean())
est.undo([order[-1]], [truth[order[-1]]])

figure, axes = plt.subplots(figsize=(7, 4))
axes.plot(right)
axes.set(xlabel="further votes, one at a time", ylabel="share of items right")
