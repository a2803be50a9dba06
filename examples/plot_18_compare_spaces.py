"""
Which embedding is better?
==========================
Held-out votes compare spaces without any ground truth.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from softspread import Votes, compare_spaces

X, truth = load_digits(return_X_y=True)
rows = np.random.default_rng(0).integers(0, len(X), 400)
votes = Votes.from_pairs(rows, truth[rows])
spaces = {f"{dim} directions": PCA(dim, random_state=0).fit_transform(X) for dim in (2, 5, 20)}
table = compare_spaces({**spaces, "all pixels": X}, votes=votes)
print(table)

figure, axes = plt.subplots(figsize=(7, 2.5), layout="constrained")
axes.barh(table["space"], table["held_out_brier"], xerr=table["standard_error"])
axes.set_xlabel("held-out Brier score, lower is better")
