"""`ghcrawl demo`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Size, option


def demo(
    size: Size = 2000,
    db: Annotated[Path, typer.Option("--db", metavar="FILE", help="Database file; replaced by each run.")] = Path(
        "ghcrawl-demo.db"
    ),
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the generated data.")] = 0,
    platform: Annotated[str, option("--platform", "NAME", "Platform to simulate. Default: GitHub.")] = "",
) -> int:
    """Crawl a simulated GitHub: no server, no token, no internet.

    Generate an organisation, crawl it, and crawl it again to show the cost of a
    refresh. The documents remain in the file.

    With --platform, the same of another platform, such as a small blog: web.

    [bold]Examples[/bold]

    ghcrawl demo --size 5000 --seed 7

    ghcrawl demo --platform web
    """
    from ghcrawl.cli import demo as work

    return perform(work.demo(size=size, db=db, seed=seed, platform=platform))
