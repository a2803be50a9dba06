"""
Alpha without ground truth
==========================
Held-out votes choose how far votes travel. The true error, unknown in practice, has its minimum nearby.
"""

import matplotlib.pyplot as plt
import numpy as np

from softspread import ProbabilisticLabelSpreading, datasets, knn_graph, metrics, simulate, tune

data = datasets.load("digits")
votes = simulate.draw_votes(data.p_true, 900, np.random.default_rng(0))
curve = tune(data.X, votes).curve()
graph = knn_graph(data.X)
true = [
    metrics.rmse(ProbabilisticLabelSpreading(alpha=a).fit(graph, votes).predict_proba(), data.p_true)
    for a in curve["alpha"]
]
figure, axes = plt.subplots(figsize=(7, 4))
axes.plot(1 - curve["alpha"], curve["score"], marker="o", label="held-out Brier score")
axes.plot(1 - curve["alpha"], true, marker="s", label="true RMSE")
axes.set(xscale="log", xlabel="1 - alpha")
axes.invert_xaxis()
axes.legend()
