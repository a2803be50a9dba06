"""
Would more votes pay?
=====================
The forecast says how far further votes on random items would lower the error, from the votes alone.
"""

import numpy as np
from sklearn.datasets import load_digits

from softspread import SoftLabeler, Votes

X, truth = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
rows = rng.integers(0, len(X), 800)
said = np.where(rng.random(800) < 0.2, rng.integers(0, 10, 800), truth[rows])
lab = SoftLabeler(random_state=0).fit(X, Votes.from_pairs(rows, said))
print(lab.quality())

lab.plot.learning_curve(more=1600)
