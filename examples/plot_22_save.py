"""
Save, load, go on
=================
One file without pickle. The loaded estimator goes on learning where the saved one stopped.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from softspread import ProbabilisticLabelSpreading, Votes, load, save

X, truth = make_blobs(300, centers=3, random_state=0)
rows = np.random.default_rng(0).integers(0, 300, 30)
est = ProbabilisticLabelSpreading().fit(X, Votes.from_pairs(rows, truth[rows]))
with TemporaryDirectory() as folder:
    save(est, Path(folder) / "labels.softspread")
    again = load(Path(folder) / "labels.softspread")
again.update([7], [truth[7]])

figure, axes = plt.subplots(figsize=(6, 4))
moved = np.abs(again.predict_proba() - est.predict_proba()).max(axis=1)
shown = axes.scatter(*X.T, c=moved, cmap="viridis")
axes.scatter(*X[7], s=120, facecolors="none", edgecolors="red", label="the new vote")
figure.colorbar(shown, label="change of the soft label")
axes.legend()
