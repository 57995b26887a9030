"""`ghcrawl demo`."""

# ruff: noqa: PLC0415  # imports wait until a command runs
from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghcrawl.cli.failures import perform


def demo(
    size: Annotated[
        int, typer.Option("--size", min=100, max=1_000_000, metavar="N", help="Documents, more or less.")
    ] = 2000,
    db: Annotated[Path, typer.Option("--db", metavar="FILE", help="Where they go; made anew each time.")] = Path(
        "ghcrawl-demo.db"
    ),
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Another organisation for each number.")] = 0,
) -> int:
    """Crawl a simulated GitHub: no server, no token, no internet.

    An organisation is made up, crawled, and crawled again to show what a
    refresh costs. What was saved stays in the file, to be looked at.

    [bold]Example[/bold]

    ghcrawl demo --size 5000 --seed 7
    """
    from ghcrawl.cli import demo as work

    return perform(work.demo(size=size, db=db, seed=seed))
