"""`ghcrawl queue …`."""

from __future__ import annotations

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Json, Kept, QueueArgument, Yes, grouped

app = typer.Typer(invoke_without_command=True)


@app.callback()
@grouped
def queue(context: typer.Context, *, json: Json = False, place: Kept) -> int:
    """Show the number of requests in each queue; purge a queue.

    [bold]Examples[/bold]

    ghcrawl queue --json

    ghcrawl queue purge later
    """
    if context.invoked_subcommand is not None:
        return 0
    from ghcrawl.cli import queues as work

    return perform(work.depths(place, json=json))


@app.command()
@grouped
def purge(
    name: QueueArgument,
    *,
    yes: Yes = False,
    place: Kept,
) -> int:
    """Permanently delete the requests that wait in a queue, but not those in flight.

    [bold]Example[/bold]

    ghcrawl queue purge later --yes
    """
    from ghcrawl.cli import queues as work

    return perform(work.purge(place, name, yes=yes))
