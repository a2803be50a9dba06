"""
Several classes per item
========================
Each class is a question with the answers yes and no; what people leave out of a list is a no.
"""

import matplotlib.pyplot as plt
import numpy as np

from softspread import SoftLabeler, Votes

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(300, 2))
asked = rng.choice(300, 50, replace=False)
lists = [[name for name, x in zip(("right", "high"), row, strict=True) if x > 0] for row in X[asked]]
votes = Votes.from_multilabel(lists, asked)
lab = SoftLabeler(kind="multilabel", random_state=0).fit(X, votes)
print(lab.to_frame()[["item", "p_high", "p_right", "evidence_high", "verdict_high"]].head())

figure, axes = plt.subplots(1, 2, figsize=(8, 4))
for ax, name, p in zip(axes, lab.classes_, lab.predict_proba().T, strict=True):
    points = ax.scatter(*X.T, c=p, vmin=0, vmax=1, s=15)
    ax.scatter(*X[asked].T, facecolors="none", edgecolors="black", s=30)
    ax.set_title(f"probability of {name}")
figure.colorbar(points, ax=axes)
