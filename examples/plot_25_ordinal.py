"""
Ordered classes
===============
Grades have an order: experts are judged by how far they are off, and every item has an expected level.
"""

import matplotlib.pyplot as plt
import numpy as np

from softspread import SoftLabeler

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0, 1, size=(200, 1)), axis=0)
grade = np.clip(np.round(4 * X[:, 0] + 0.4 * rng.normal(size=200)), 0, 4).astype(int)
y = np.where(np.arange(200) % 4 == 0, grade, -1)
lab = SoftLabeler(kind="ordinal", random_state=0).fit(X, y, classes=range(5))
found = lab.to_frame()

figure, axes = plt.subplots(figsize=(7, 4))
axes.fill_between(X[:, 0], found["expected_lower"], found["expected_upper"], alpha=0.3, label="90 % interval")
axes.plot(X[:, 0], found["expected_level"], label="expected level")
axes.plot(X[y >= 0, 0], y[y >= 0], "k.", label="votes")
axes.set(xlabel="feature", ylabel="grade")
axes.legend()
