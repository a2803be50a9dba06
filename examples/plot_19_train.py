"""
Train a classifier on soft labels
=================================
One row per item and class, weighted by its probability: any classifier with sample weights can learn from it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from softspread import SoftLabeler, Votes

X, truth = load_digits(return_X_y=True)
X, X_test, truth, truth_test = train_test_split(X / 16, truth, random_state=0)
rows = np.random.default_rng(0).choice(len(X), 100, replace=False)
lab = SoftLabeler(random_state=0).fit(X, Votes.from_pairs(rows, truth[rows]), classes=range(10))
p = lab.predict_proba()
item, column = np.nonzero(p > 0.02)
soft = LogisticRegression().fit(X[item], column, sample_weight=p[item, column])
voted = LogisticRegression().fit(X[rows], truth[rows])
scores = {"votes alone": voted.score(X_test, truth_test), "soft labels": soft.score(X_test, truth_test)}

figure, axes = plt.subplots(figsize=(6, 2), layout="constrained")
axes.barh(list(scores), list(scores.values()))
axes.set_xlabel("accuracy on new items, trained from 100 votes")
