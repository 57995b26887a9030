"""`ghcrawl queue …`."""

# ruff: noqa: PLC0415  # imports wait until a command runs
from __future__ import annotations

from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Config, Db, Json, Place, Server, Yes

app = typer.Typer(invoke_without_command=True)


@app.callback()
def queue(
    context: typer.Context, json: Json = False, server: Server = None, db: Db = None, config: Config = None
) -> int:
    """Show the number of requests in each queue; purge a queue.

    [bold]Examples[/bold]

    ghcrawl queue --json

    ghcrawl queue purge later
    """
    if context.invoked_subcommand is not None:
        return 0
    from ghcrawl.cli import queues as work

    return perform(work.depths(Place(db=db, server=server, config=config), json=json))


@app.command()
def purge(
    name: Annotated[
        str, typer.Argument(metavar="QUEUE", help="Queue: event, immediate, soon, normal or later.", show_default=False)
    ],
    yes: Yes = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Permanently delete the requests that wait in a queue, but not those in flight.

    [bold]Example[/bold]

    ghcrawl queue purge later --yes
    """
    from ghcrawl.cli import queues as work

    return perform(work.purge(Place(db=db, server=server, config=config), name, yes=yes))
