"""
Texts without a model
=====================
Hashed n-grams need no download. Four votes label eighty short reviews.
"""

import matplotlib.pyplot as plt
import numpy as np

from softspread import SoftLabeler, Votes, embed

rng = np.random.default_rng(0)
good, bad, rest = ["great", "lovely", "warm"], ["dull", "boring", "weak"], ["film", "cast", "plot", "story"]
kinds = np.repeat([0, 1], 40)
texts = [" ".join([*rng.choice([good, bad][kind], 2), *rng.choice(rest, 2)]) for kind in kinds]
space = embed(texts, encoder="ngrams", reduce="pca", dim=3)
votes = Votes.from_pairs([0, 1, 40, 41], ["good", "good", "bad", "bad"])
lab = SoftLabeler(n_neighbors=10, random_state=0).fit(space.X, votes)
p = lab.predict_proba()[:, list(lab.classes_).index("good")]

figure, axes = plt.subplots(figsize=(6, 4))
shown = axes.scatter(*space.X[:, :2].T, c=p, cmap="RdYlGn", vmin=0, vmax=1)
figure.colorbar(shown, label="probability of good")
