"""`ghcrawl status`."""

# ruff: noqa: PLC0415  # imports wait until a command runs
from __future__ import annotations

from typing import Annotated

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Config, Db, Json, Place, Server, flag


def status(
    json: Json = False,
    watch: Annotated[bool, flag("--watch", "-w", help="Refresh every second until Ctrl-C.")] = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Show the state of a file or a service: queues, documents, deadletters.

    [bold]Examples[/bold]

    ghcrawl status

    ghcrawl status --json | jq .queues

    ghcrawl status --watch --server http://localhost:3000
    """
    from ghcrawl.cli import status as work

    return perform(work.status(Place(db=db, server=server, config=config), json=json, watch=watch))
