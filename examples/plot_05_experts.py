"""
Which expert counts how much
============================
Held-out votes weigh spreading, kernels, classifiers and the class shares.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import load_digits

from softspread import SoftLabeler, Votes

X, truth = load_digits(return_X_y=True)
found = {}
for n_votes in (100, 1000):
    rows = np.random.default_rng(0).integers(0, len(X), n_votes)
    lab = SoftLabeler(random_state=0).fit(X, Votes.from_pairs(rows, truth[rows]))
    found[f"{n_votes} votes"] = pd.Series(lab.weights_)
weights = pd.DataFrame(found).fillna(0)
weights = weights[weights.max(axis=1) > 0.01]

figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
weights.plot.barh(ax=axes)
axes.set_xlabel("weight")
