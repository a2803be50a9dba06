"""
Who votes with the crowd?
=========================
Two of twelve people vote at random. Their consistency is low, and their votes count little.
"""

import numpy as np
from sklearn.datasets import load_digits

from softspread import SoftLabeler, Votes

X, truth = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
rows, names = rng.integers(0, len(X), 1500), rng.integers(0, 12, 1500)
careless = np.where(names < 2, 1.0, 0.1)
said = np.where(rng.random(1500) < careless, rng.integers(0, 10, 1500), truth[rows])
people = [f"person {name}" for name in names]
votes = Votes.from_pairs(rows, said, annotators=people, repeats="keep")
lab = SoftLabeler(random_state=0).fit(X, votes)
print(lab.annotators_.sort_values("consistency"))

lab.plot.annotators()
