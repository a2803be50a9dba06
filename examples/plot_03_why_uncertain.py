"""
Ambiguous, or not enough votes?
===============================
An item can be uncertain because people disagree, or because nobody was asked.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from softspread import SoftLabeler, Votes

X, truth = load_digits(return_X_y=True)
rng = np.random.default_rng(1)
rows = rng.integers(0, len(X), 900)
said = np.where(rng.random(900) < 0.15, rng.integers(0, 10, 900), truth[rows])
lab = SoftLabeler(random_state=0).fit(X, Votes.from_pairs(rows, said))
split = lab.uncertainty()
frame = lab.soft_labels().to_frame()
print(frame["verdict"].value_counts())

figure, axes = plt.subplots(figsize=(6, 5))
for verdict, part in frame.groupby("verdict"):
    axes.scatter(split.aleatoric[part.index], split.epistemic[part.index], s=8, label=verdict)
axes.set(xlabel="people disagree (aleatoric)", ylabel="too few votes (epistemic)")
axes.legend()
