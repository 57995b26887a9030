"""Standard output: tables for a person, tab-separated lines for a pipe, JSON for a program."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ghcrawl.cli.words import one_line, printable
from ghcrawl.values.errors import ConfigError

GAP: Final = "  "
MIN_LAST: Final = 6


def console() -> Console:
    """Standard output. What is no terminal has no width: a line is as long as it is."""
    found = Console(highlight=False, markup=False, soft_wrap=False)
    if not found.is_terminal:
        found = Console(highlight=False, markup=False, width=240, color_system=None)
    return found


def write_json(value: Any) -> None:
    """`value`, readable, and nothing else."""
    write(json.dumps(value, indent=2, ensure_ascii=False, default=str))


def write(line: str) -> None:
    """A line as it is. What the encoding lacks is replaced."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(f"{line}\n".encode(encoding, "replace").decode(encoding))


def show_rows(titles: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[str] = ()) -> None:
    """A table on a terminal; else the bare rows, a line each, with tabs in between.

    numbers: the titles of columns that are aligned to the right. A last column of text has what room the others leave
    it and is cut to that; the others are never cut, since people copy from them, and a cut number is another number.
    """
    out = console()
    cells = [[one_line(cell) for cell in row] for row in rows]
    if not out.is_terminal:
        for row in cells:
            write("\t".join(row))
        return
    widths = [max(map(cell_len, column)) for column in zip(titles, *cells, strict=True)]
    room = out.width - sum(widths[:-1]) - len(GAP) * (len(widths) - 1)
    if titles[-1] not in numbers:
        widths[-1] = min(widths[-1], max(MIN_LAST, room))
    right = [title in numbers for title in titles]
    for place, row in enumerate([list(titles), *cells]):
        line = GAP.join(_padded(cell, width, right=to) for cell, width, to in zip(row, widths, right, strict=True))
        out.print(Text(line.rstrip(), style="" if place else "dim"), soft_wrap=True)


def _padded(cell: str, width: int, *, right: bool) -> str:
    """`cell`, fitted to a number of terminal columns."""
    text = Text(cell)
    text.truncate(width, overflow="ellipsis")
    blanks = " " * (width - text.cell_len)
    return blanks + text.plain if right else text.plain + blanks


def show_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Names and values, one below the other. A value may have several lines."""
    out, known = console(), [(name, printable(value)) for name, value in facts]
    if not out.is_terminal:
        width = max((len(name) for name, _ in known), default=0)
        for name, value in known:
            lines = value.splitlines() or [""]
            for place, line in enumerate(lines):
                write(f"{'' if place else name:{width}}{GAP}{line}".rstrip())
        return
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in known:
        grid.add_row(name, Text(value))
    out.print(grid)


def agreed(question: str, *, yes: bool) -> bool:
    """Ask for confirmation. Raises ConfigError where no person can be asked."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise ConfigError(f"{question} Standard input is not a terminal: confirm with --yes")
    return typer.confirm(question, err=True)
