"""
Why this soft label?
====================
An explanation splits one soft label into own votes, other items' votes and classifiers.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from softspread import ProbabilisticLabelSpreading, Votes

digits = load_digits()
rows = np.random.default_rng(0).integers(0, len(digits.data), 300)
est = ProbabilisticLabelSpreading(alpha=0.9).fit(digits.data, Votes.from_pairs(rows, digits.target[rows]))
why = est.explain(5)
print(why.head(6))

figure, panels = plt.subplots(1, 6, figsize=(9, 2))
panels[0].imshow(digits.images[5], cmap="Greys")
panels[0].set_title("item 5")
for panel, (_, row) in zip(panels[1:], why.head(5).iterrows(), strict=False):
    panel.imshow(digits.images[int(row["item"])], cmap="Greys")
    panel.set_title(f"{row['label']}: {row['weight']:.0%}")
for panel in panels:
    panel.axis("off")
