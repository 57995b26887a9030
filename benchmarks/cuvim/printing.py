"""The comparison as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def strategies(budgets: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """A table for each budget."""
    parts = []
    for budget, rows in budgets.items():
        head = ["strategy", "items", "share %", "mean h", "median h", "lost", "calls", "oldest d"]
        body = [
            [
                name,
                f"{row['items']:,.0f}",
                f"{100 * row['share']:.1f}",
                f"{row['mean_h']:.1f}",
                f"{row['median_h']:.1f}",
                f"{row['lost']:,.0f}",
                f"{row['calls']:,.0f}",
                f"{row['oldest_d']:.1f}",
            ]
            for name, row in rows.items()
        ]
        parts.append(f"{budget} calls an hour\n{_aligned([head, *body])}")
    return "\n\n".join(parts) + "\n"


def tables(found: Mapping[str, Any]) -> str:
    """The seed's tables: what the paper prints beside what we get."""
    sections = [
        ("Messages in all", ["", "paper", "ours"], [["total", *_pair(found["total"])]]),
        (
            "Table 1, Hash by weight of the last day; H2 (fixed .5) is the paper's reading, H1 is a weighted mean",
            ["weight", "paper crawls / messages", "H2", "H1"],
            [
                [weight, *(_counts(row[name]) for name in ("paper", "h2", "h1"))]
                for weight, row in found["table1_hash"].items()
            ],
        ),
        (
            "Table 2, round-robin: crawls at 0, T/k, …; the first finds nothing",
            ["crawls each", "paper", "ours"],
            [[times, *_pair(row)] for times, row in found["table2_round_robin"].items()],
        ),
        (
            "Section 6.1, one crawl each; quiet users first and busy ones last beats the organ pipe",
            ["order", "paper", "ours"],
            [[name, *_pair(row)] for name, row in found["once"].items()],
        ),
        *(
            (title, ["users", "paper random / RR", *next(iter(found[name].values()))["ours"]], _divided(found[name]))
            for name, title in (
                (
                    "table3_two_parts",
                    "Table 3, two parts: difference of their daily messages; ours: means of 20 draws",
                ),
                (
                    "table4_sixteen_parts",
                    "Table 4, sixteen parts: difference of their daily messages; recursive is the same as round-robin",
                ),
            )
        ),
        (
            "Tables 5 and 6, machines of 2,000 users each: messages / difference. One queue plans nothing and is even",
            ["machines", "paper central", "paper distributed", "ours total", "central", "distributed", "one queue"],
            [
                [
                    count,
                    _counts(row["central"]),
                    _counts(row["distributed"]),
                    *(f"{each:,.0f}" for each in row["ours"].values()),
                ]
                for count, row in found["table5_6_machines"].items()
            ],
        ),
    ]
    return "\n\n".join(f"{title}\n{_aligned([head, *rows])}" for title, head, rows in sections)


def _divided(rows: Mapping[Any, Any]) -> list[list[Any]]:
    return [
        [users, f"{row['paper'][0]:,.0f} / {row['paper'][1]:,.0f}", *(f"{each:,.2f}" for each in row["ours"].values())]
        for users, row in rows.items()
    ]


def _pair(row: Mapping[str, Any]) -> list[str]:
    return ["–" if row["paper"] is None else f"{row['paper']:,}", f"{row['ours']:,}"]


def _counts(pair: Iterable[float]) -> str:
    return " / ".join(f"{each:,.0f}" for each in pair)


def _aligned(rows: Sequence[Sequence[Any]]) -> str:
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in texts) for column in range(len(texts[0]))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in texts]
    return "\n".join("  " + line for line in lines)
