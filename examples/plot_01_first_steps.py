"""
First steps
===========
Votes on a tenth of the digits become soft labels for all of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from softspread import SoftLabeler, Votes

X, truth = load_digits(return_X_y=True)
voted = np.random.default_rng(0).integers(0, len(X), 180)
lab = SoftLabeler(random_state=0).fit(X, Votes.from_pairs(voted, truth[voted]))
print(lab.soft_labels().to_frame().head())

# %%
# Left: what people said. Right: the most probable class of every item; pale items have little evidence.
places = PCA(2, random_state=0).fit_transform(X)
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
left.scatter(*places.T, s=3, c="lightgrey")
left.scatter(*places[voted].T, s=15, c=truth[voted], cmap="tab10")
left.set_title("180 votes")
strength = np.clip(lab.predict_proba().max(axis=1), 0.1, 1)
right.scatter(*places.T, s=8, c=lab.transduction_, cmap="tab10", alpha=strength)
right.set_title("soft labels of 1797 items")
