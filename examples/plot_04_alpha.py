"""
How far votes travel
====================
One vote on a chain of items: with alpha near 1 it reaches far, with a small alpha it stays at home.
"""

import matplotlib.pyplot as plt
import numpy as np

from softspread import ProbabilisticLabelSpreading, Votes

X = np.linspace(0, 10, 201)[:, None]
figure, axes = plt.subplots(figsize=(7, 4))
for alpha in (0.5, 0.9, 0.99, 0.999):
    est = ProbabilisticLabelSpreading(alpha=alpha, n_neighbors=6)
    est.fit(X, Votes.from_pairs([100], ["yes"]), classes=["no", "yes"])
    axes.plot(X[:, 0], est.evidence_, label=f"alpha {alpha}")
axes.set(xlabel="position; the vote is at 5", ylabel="evidence")
axes.legend()
