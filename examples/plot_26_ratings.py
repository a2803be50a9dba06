"""
Ratings by several people
=========================
Mean rating of every item from a few, with what each person adds to all ratings removed.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from softspread import RatingSpreading

rng = np.random.default_rng(0)
X = np.sort(rng.uniform(0, 1, size=(200, 1)), axis=0)
mean = 3 + np.sin(5 * X[:, 0])
items, people = rng.integers(200, size=120), rng.integers(4, size=120)
offsets = np.array([-0.6, -0.2, 0.2, 0.6])
ratings = mean[items] + offsets[people] + 0.3 * rng.normal(size=120)
table = pd.DataFrame({"item": items, "rating": ratings, "annotator": np.array(list("abcd"))[people]})
est = RatingSpreading(random_state=0).fit(X, table)
print(est.annotators_)

lower, upper = est.predict_interval()
figure, axes = plt.subplots(figsize=(7, 4))
axes.fill_between(X[:, 0], lower, upper, alpha=0.3, label="90 % interval of the mean")
axes.plot(X[:, 0], est.predict(), label="mean rating")
axes.plot(X[:, 0], mean, "k--", label="truth")
axes.scatter(X[items, 0], ratings, c=people, s=12)
axes.legend()
