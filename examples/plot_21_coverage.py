"""
Do the intervals hold?
======================
Where the truth is known, count how often it lies in the interval.
"""

import matplotlib.pyplot as plt
import numpy as np

from softspread import SoftLabeler, datasets, metrics, simulate

data = datasets.load("digits")
levels = [0.5, 0.7, 0.9, 0.95]
figure, axes = plt.subplots(figsize=(5, 4))
for n_votes in (300, 1800):
    votes = simulate.draw_votes(data.p_true, n_votes, np.random.default_rng(0))
    lab = SoftLabeler(random_state=0).fit(data.X, votes, classes=data.classes)
    held = [metrics.interval_coverage(data.p_true, *lab.predict_interval(confidence_level=a)) for a in levels]
    axes.plot(levels, held, marker="o", label=f"{n_votes} votes")
axes.plot([0.4, 1], [0.4, 1], color="grey", linestyle=":")
axes.set(xlabel="level asked for", ylabel="share of probabilities held, one draw")
axes.legend()
