"""`ghcrawl requests …`."""

from __future__ import annotations

from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Json, Kept, Limit, Place, QueueArgument, grouped, option

app = typer.Typer(help="Push requests to a queue, and list waiting requests.", no_args_is_help=True)


@app.command()
@grouped
def push(
    requests: Annotated[
        list[str],
        typer.Argument(
            metavar="SPEC|JSON", help="Requests to push; - reads lines from standard input.", show_default=False
        ),
    ],
    *,
    queue: Annotated[str, typer.Option("--queue", metavar="QUEUE", help="Target queue.")] = "immediate",
    policy: Annotated[
        str | None, option("--policy", "P", "How to fetch and what to follow; see `ghcrawl crawl --help`.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be queued, change nothing.")] = False,
    place: Annotated[Place, "server", "db", "api_url", "config"],
) -> int:
    """Push requests to a queue, for the running or the next crawl of this file.

    [bold]Examples[/bold]

    ghcrawl requests push acme/web --policy refresh

    ghcrawl requests push '{"type": "repo", "url": "https://api.github.com/repos/acme/web", "policy": "reload:self"}'
    """
    from ghcrawl.cli import queues as work

    return perform(work.push(place, requests, queue=queue, policy=policy, dry_run=dry_run))


@app.command()
@grouped
def peek(
    queue: QueueArgument,
    *,
    limit: Limit = 20,
    json: Json = False,
    place: Kept,
) -> int:
    """List the requests that wait in a queue, without removing them.

    [bold]Example[/bold]

    ghcrawl requests peek soon --limit 5
    """
    from ghcrawl.cli import queues as work

    return perform(work.peek(place, queue, limit=limit, json=json))
