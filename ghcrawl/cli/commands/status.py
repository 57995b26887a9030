"""`ghcrawl status`."""

# ruff: noqa: PLC0415  # imports wait until a command runs
from __future__ import annotations

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Config, Db, Json, Place, Server


def status(json: Json = False, server: Server = None, db: Db = None, config: Config = None) -> int:
    """Say what is in the file: crawls, what waits, documents, deadletters.

    [bold]Examples[/bold]

    ghcrawl status

    ghcrawl status --json | jq .queues
    """
    from ghcrawl.cli import status as work

    return perform(work.status(Place(db=db, server=server, config=config), json=json))
