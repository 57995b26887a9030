"""Standard output: tables for a person, tab-separated lines for a pipe, JSON for a program."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ghcrawl.cli.words import one_line
from ghcrawl.errors import ConfigError


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
    """A line as it is. What no encoding can write (half of a surrogate pair) becomes a question mark."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(f"{line}\n".encode(encoding, "replace").decode(encoding))


def show_rows(titles: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[str] = ()) -> None:
    """A table on a terminal; else the bare rows, a line each, with tabs in between.

    numbers: the titles of columns that are aligned to the right. The last column is cut where it is too long.
    """
    out = console()
    if not out.is_terminal:
        for row in rows:
            write("\t".join(one_line(cell) for cell in row))
        return
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for title in titles:
        last = title == titles[-1]
        table.add_column(
            title,
            justify="right" if title in numbers else "left",
            no_wrap=True,
            overflow="ellipsis" if last else "fold",
            ratio=1 if last and title not in numbers else None,
        )
    for row in rows:
        table.add_row(*(Text(one_line(cell)) for cell in row))
    out.print(table)


def show_facts(facts: Iterable[tuple[str, str]]) -> None:
    """Names and values, one below the other."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in facts:
        grid.add_row(name, Text(value))
    console().print(grid)


def say(sentence: str) -> None:
    """A sentence for a person who reads standard error."""
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


def agreed(question: str, *, yes: bool) -> bool:
    """Whether the person wants it. Raises ConfigError where there is nobody to ask."""
    if yes:
        return True
    if not sys.stdin.isatty():
        raise ConfigError(f"{question} Nobody is here to answer: add --yes")
    return typer.confirm(question, err=True)
