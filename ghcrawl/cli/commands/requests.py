"""`ghcrawl requests …`."""

# ruff: noqa: PLC0415, PLR0913  # imports wait until a command runs; every option is a parameter
from __future__ import annotations

from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import ApiUrl, Config, Db, Json, Limit, Place, Server

app = typer.Typer(help="Put single requests into a queue, and see what waits there.", no_args_is_help=True)


@app.command()
def push(
    requests: Annotated[
        list[str],
        typer.Argument(
            metavar="SPEC|JSON", help="What to ask for; - reads lines from standard input.", show_default=False
        ),
    ],
    *,
    queue: Annotated[str, typer.Option("--queue", metavar="QUEUE", help="Where to put it.")] = "immediate",
    policy: Annotated[
        str | None,
        typer.Option("--policy", metavar="P", help="How to fetch, and where to go from there.", show_default=False),
    ] = None,
    server: Server = None,
    db: Db = None,
    api_url: ApiUrl = None,
    config: Config = None,
) -> int:
    """Put requests into a queue, for whatever crawls this file, now or later.

    [bold]Examples[/bold]

    ghcrawl requests push acme/web --policy refresh

    ghcrawl requests push '{"type": "repo", "url": "https://api.github.com/repos/acme/web", "policy": "reload:self"}'
    """
    from ghcrawl.cli import queues as work

    place = Place(db=db, server=server, config=config, api_url=api_url)
    return perform(work.push(place, requests, queue=queue, policy=policy))


@app.command()
def peek(
    queue: Annotated[
        str, typer.Argument(metavar="QUEUE", help="event, immediate, soon, normal or later.", show_default=False)
    ],
    limit: Limit = 20,
    json: Json = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Show what waits in a queue, and leave it there.

    [bold]Example[/bold]

    ghcrawl requests peek soon --limit 5
    """
    from ghcrawl.cli import queues as work

    return perform(work.peek(Place(db=db, server=server, config=config), queue, limit=limit, json=json))
