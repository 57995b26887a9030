"""The comparison as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import matplotlib as mpl

NEAR_H: Final = 10


def draw(budgets: Mapping[str, Mapping[str, Mapping[str, float]]], file: Path) -> None:
    """A PNG: for each budget, share of items over mean delay, a point for each strategy."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415  # the backend is chosen first

    figure, axes = plt.subplots(1, len(budgets), figsize=(6 * len(budgets), 4.5), squeeze=False)
    for axis, (budget, rows) in zip(axes[0], budgets.items(), strict=True):
        labels: dict[tuple[int, int], list[str]] = {}
        for name, row in rows.items():
            shipped = name == "power"
            at = (row["mean_h"], row["share"] * 100)
            axis.scatter(*at, s=90 if shipped else 40, color="C3" if shipped else "C0")
            labels.setdefault((round(at[0] / NEAR_H), round(at[1])), []).append(name)
        for names in labels.values():  # strategies that differ by nothing that can be seen share a line
            at = (rows[names[0]]["mean_h"], rows[names[0]]["share"] * 100)
            above = "power" in names
            place = {"xytext": (8, 4 if above else -2), "va": "bottom" if above else "top"}
            axis.annotate(", ".join(names), at, textcoords="offset points", fontsize=9, **place)
        axis.set(title=f"{budget} calls an hour", xlabel="mean delay of the items found [h]", ylabel="items found [%]")
        axis.margins(x=0.8, y=0.3)
        axis.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(file, dpi=120)
    plt.close(figure)
