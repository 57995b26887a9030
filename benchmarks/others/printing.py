"""The figures as Markdown: times as ratios to the first tool, which is ghcrawl as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from benchmarks.others.measuring import Measured

GHCRAWLER: Final = 1.51
"""Calls for each thing: GHCrawler's published algorithm fetches every element of every list by itself
(microsoft/ghcrawler, `providers/fetcher/githubProcessor.js`). It is a number, not a run."""
COLUMNS: Final = (
    *("", "things", "calls", "calls / thing", "wall", "CPU", "MB", "again", "after 5 changes", "of them found"),
    *("killed: calls repeated", "things lost", "commands failed"),
)


def tables(measured: Sequence[Measured]) -> str:
    """What each took, and what each obtained."""
    return f"{_row(*COLUMNS)}\n{_rule(COLUMNS)}\n{_taken(measured)}\n\n{_obtained(measured)}"


def _taken(measured: Sequence[Measured]) -> str:
    base = measured[0].first
    lines = [
        _row(
            each.name,
            f"{each.things:,}",
            f"{each.calls:,}",
            f"{each.calls / max(1, each.things):.3f}",
            f"{each.first.wall_s / base.wall_s:.1f}",
            f"{each.first.cpu_s / base.cpu_s:.1f}",
            f"{each.first.peak_mb:.0f}",
            f"{each.again:,}",
            f"{each.changed:,}",
            str(each.found),
            f"{each.repeated:,}",
            f"{each.lost:,}",
            f"{each.first.failed} of {each.first.commands}",
        )
        for each in measured
    ]
    published = ["GHCrawler's published algorithm", "–", "–", f"{GHCRAWLER:.3f}", *["–"] * (len(COLUMNS) - 4)]
    return "\n".join([*lines, _row(*published)])


def _obtained(measured: Sequence[Measured]) -> str:
    """Kinds of more than one tool, equal columns once; what only `everything` knows is in a line of its own."""
    distinct: list[Measured] = []
    for each in measured:
        if each.counted not in [one.counted for one in distinct]:
            distinct.append(each)
    measured = distinct
    kinds = dict.fromkeys(kind for each in measured for kind in each.counted)
    shared = [kind for kind in kinds if sum(kind in each.counted for each in measured) > len(_everything(measured))]
    header = ("", *(each.name for each in measured))
    lines = [_row(kind, *(f"{each.counted.get(kind, 0):,}" for each in measured)) for kind in sorted(shared)]
    others = [sum(count for kind, count in each.counted.items() if kind not in shared) for each in measured]
    return "\n".join([_row(*header), _rule(header), *lines, _row("other kinds", *(f"{count:,}" for count in others))])


def _everything(measured: Sequence[Measured]) -> Sequence[Measured]:
    return [each for each in measured if "everything" in each.name]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(cells: Sequence[str]) -> str:
    return _row("---", *["---:"] * (len(cells) - 1))
