"""
A model's predictions as prior
==============================
Predictions of any model become one more expert. A useless model gets no weight.
"""

import matplotlib.pyplot as plt
import numpy as np

from softspread import SoftLabeler, datasets, metrics, simulate

data = datasets.load("digits")
rng = np.random.default_rng(0)
votes = simulate.draw_votes(data.p_true, 200, rng)
model = 0.8 * data.p_true + 0.2 * rng.dirichlet(np.ones(10), len(data.X))
priors = {"none": None, "good model": model, "shuffled model": rng.permutation(model)}
errors = {}
for name, prior in priors.items():
    lab = SoftLabeler(prior=prior, random_state=0).fit(data.X, votes, classes=data.classes)
    errors[name] = metrics.rmse(lab.predict_proba(), data.p_true)

figure, axes = plt.subplots(figsize=(7, 2.5), layout="constrained")
axes.barh(list(errors), list(errors.values()))
axes.set_xlabel("RMSE")
