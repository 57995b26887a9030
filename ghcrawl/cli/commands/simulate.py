"""`ghcrawl simulate`."""

# ruff: noqa: PLC0415, PLR0913  # imports wait until a command runs; every option is a parameter
from __future__ import annotations

from typing import Annotated

import typer

from ghcrawl.cli.failures import perform


def simulate(
    *,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0: any free port.")] = 8642,
    size: Annotated[
        int, typer.Option("--size", min=100, max=1_000_000, metavar="N", help="Documents, more or less.")
    ] = 2000,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Another organisation for each number.")] = 0,
    tokens: Annotated[int, typer.Option("--tokens", min=1, max=10, metavar="N", help="Users with a token.")] = 1,
    limit: Annotated[int, typer.Option("--limit", min=1, metavar="N", help="Calls in a window, for each user.")] = 5000,
    window: Annotated[
        float, typer.Option("--window", min=1, metavar="S", help="Length of that window, in seconds.")
    ] = 3600,
    faults: Annotated[
        float, typer.Option("--faults", min=0, max=0.9, metavar="RATE", help="Share of calls that go wrong.")
    ] = 0.0,
) -> int:
    """Be a GitHub on this machine, for trying things out, until Ctrl-C.

    [bold]Example[/bold]

    ghcrawl simulate --faults 0.1 --limit 60 --window 12
    """
    from ghcrawl.cli import simulate as work

    wish = work.Wish(port=port, size=size, seed=seed, tokens=tokens, limit=limit, window_s=window, faults=faults)
    return perform(work.simulate(wish))
