"""
Side by side with baselines
===========================
The same votes, five methods, the error against known soft labels.
"""

import matplotlib.pyplot as plt
import numpy as np

from softspread import (
    GaussianKernelRegression,
    KNeighborsVotes,
    ProbabilisticLabelSpreading,
    SoftLabeler,
    VoteHistogram,
    datasets,
    metrics,
    simulate,
)

data = datasets.load("digits")
votes = simulate.draw_votes(data.p_true, 900, np.random.default_rng(0))
methods = {
    "histogram": VoteHistogram(),
    "kernel": GaussianKernelRegression(),
    "neighbours": KNeighborsVotes(),
    "spreading": ProbabilisticLabelSpreading(),
    "SoftLabeler": SoftLabeler(random_state=0),
}
errors = {
    name: metrics.rmse(method.fit(data.X, votes).predict_proba(), data.p_true)
    for name, method in methods.items()
}
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.barh(list(errors), list(errors.values()))
axes.set_xlabel("RMSE of the soft labels, one draw of 900 votes")
