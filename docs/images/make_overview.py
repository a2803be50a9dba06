"""Draw overview.png from the demo's data: few votes -> soft labels -> evidence.

Run ``python docs/images/make_overview.py``; needs matplotlib, which softspread itself does not.
"""

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgba

from softspread import ProbabilisticLabelSpreading
from softspread.demo import DemoPlan, load_data
from softspread.report import class_colors
from softspread.simulate import draw_votes

SEED = 0
N_VOTES = 90  # one vote for every twenty items
INK, SOFT, PALE = "#1f2430", "#626a79", "#d9dce3"


def main() -> None:
    """Compute and draw."""
    data_seed, draw_seed = np.random.SeedSequence(SEED).spawn(2)
    data = load_data(np.random.default_rng(data_seed), DemoPlan())
    votes = draw_votes(data.p_true, N_VOTES, np.random.default_rng(draw_seed))
    estimator = ProbabilisticLabelSpreading(alpha=0.9).fit(data.graph, votes)
    p = estimator.predict_proba()
    wrong = int((votes.labels != data.digits[votes.items]).sum())
    right = float((p.argmax(axis=1) == data.digits).mean())

    colors = np.array([to_rgba(color) for color in class_colors(p.shape[1])])
    x, y = data.positions.T
    figure, panels = plt.subplots(1, 3, figsize=(12, 4.5), facecolor="white")

    panels[0].scatter(x, y, s=5, c=PALE, linewidths=0)
    panels[0].scatter(
        x[votes.items], y[votes.items], s=30, c=colors[votes.labels], edgecolors=INK, linewidths=0.7
    )
    _finish(panels[0], f"{N_VOTES} votes", f"on {len(x)} images; {wrong} of them name another digit")

    panels[1].scatter(x, y, s=8, c=p @ colors[:, :3], linewidths=0)
    for digit in range(p.shape[1]):
        middle = np.median(data.positions[data.digits == digit], axis=0)
        panels[1].text(
            *middle,
            str(digit),
            ha="center",
            va="center",
            fontsize=12,
            fontweight="bold",
            color=INK,
            bbox={"boxstyle": "circle,pad=0.18", "fc": "white", "ec": "none", "alpha": 0.75},
        )
    _finish(
        panels[1],
        "soft labels for every item",
        f"colours mixed by probability; {right:.0%} of top classes right",
    )

    shown = panels[2].scatter(x, y, s=8, c=estimator.evidence_, norm="log", cmap="viridis_r", linewidths=0)
    _finish(panels[2], "and how much to trust them", "evidence: votes' worth that reached each item")
    bar = figure.colorbar(shown, ax=panels[2], fraction=0.035, pad=0.02, format="%g")
    bar.outline.set_visible(False)
    bar.ax.minorticks_off()
    bar.set_ticks([tick for tick in (0.05, 0.1, 0.2, 0.5, 1, 2) if bar.vmin <= tick <= bar.vmax])
    bar.ax.tick_params(labelsize=8, colors=SOFT, length=2)

    figure.subplots_adjust(left=0.01, right=0.97, top=0.86, bottom=0.02, wspace=0.05)
    figure.savefig(
        Path(__file__).with_name("overview.png"),
        dpi=100,
        metadata={"Software": None},
        pil_kwargs={"optimize": True},
    )


def _finish(panel: plt.Axes, title: str, subtitle: str) -> None:
    panel.set_aspect("equal", adjustable="datalim")
    panel.axis("off")
    panel.text(
        0.5, 1.09, title, transform=panel.transAxes, ha="center", fontsize=14, fontweight="bold", color=INK
    )
    panel.text(0.5, 1.02, subtitle, transform=panel.transAxes, ha="center", fontsize=9.5, color=SOFT)


if __name__ == "__main__":
    main()
