"""
Images by their pixels
======================
For small, simple images the pixels are an embedding. Shown: the most ambiguous digits.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from softspread import SoftLabeler, Votes, embed

digits = load_digits()
space = embed((digits.images * 15).astype(np.uint8), encoder="pixels:8", reduce="pca", dim=20)
rows = np.random.default_rng(0).integers(0, len(space.X), 400)
lab = SoftLabeler(random_state=0).fit(space.X, Votes.from_pairs(rows, digits.target[rows]))
p = lab.predict_proba()
doubtful = np.argsort(p.max(axis=1))[:8]

figure, panels = plt.subplots(1, 8, figsize=(9, 1.8))
for panel, row in zip(panels, doubtful, strict=True):
    first, second = np.argsort(-p[row])[:2]
    panel.imshow(digits.images[row], cmap="Greys")
    panel.set_title(f"{first}? {second}?")
    panel.axis("off")
