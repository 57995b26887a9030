"""The comparison as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl


def draw(budgets: Mapping[str, Mapping[str, Mapping[str, float]]], file: Path) -> None:
    """A PNG: for each budget, share of items over mean delay, a point for each strategy."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415  # the backend is chosen first

    figure, axes = plt.subplots(1, len(budgets), figsize=(6 * len(budgets), 4.5), squeeze=False)
    for axis, (budget, rows) in zip(axes[0], budgets.items(), strict=True):
        for name, row in rows.items():
            shipped = name == "power"
            axis.scatter(row["mean_h"], row["share"] * 100, s=90 if shipped else 40, color="C3" if shipped else "C0")
            axis.annotate(name, (row["mean_h"], row["share"] * 100), xytext=(6, 4), textcoords="offset points")
        axis.set(title=f"{budget} calls an hour", xlabel="mean delay of the items found [h]", ylabel="items found [%]")
        axis.margins(0.2)
        axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(file, dpi=120)
    plt.close(figure)
