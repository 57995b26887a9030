"""`ghcrawl deadletters …`."""

# ruff: noqa: PLC0415, PLR0913  # imports wait until a command runs; every option is a parameter
from __future__ import annotations

from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Config, Db, Json, Limit, Place, Platforms, Server, Yes, flag

app = typer.Typer(
    help="List, show, requeue and delete deadletters: requests that failed for good.", no_args_is_help=True
)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="ID", help="URN, or the first digits of an ID.", show_default=False),
]
Types = Annotated[
    list[str] | None, typer.Option("--type", "-t", metavar="TYPE", help="Only this request type; repeatable.")
]
Classes = Annotated[
    list[str] | None, typer.Option("--class", "-c", metavar="CLASS", help="Only this failure class; repeatable.")
]
Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Only if the reason contains TEXT.", show_default=False)
]
Host = Annotated[str, typer.Option("--host", metavar="HOST", help="Only URLs at this host.", show_default=False)]
OlderThan = Annotated[
    str,
    typer.Option(
        "--older-than",
        metavar="AGE",
        help="Only if dead-lettered longer ago than AGE: 30m, 2h, 3d.",
        show_default=False,
    ),
]
All = Annotated[bool, flag("--all", help="Select all deadletters.")]
DryRun = Annotated[bool, flag("--dry-run", help="Show what would change, change nothing.")]


@app.command("list")
def list_(
    *,
    type: Types = None,
    platform: Platforms = None,
    class_: Classes = None,
    reason: Reason = "",
    host: Host = "",
    older_than: OlderThan = "",
    limit: Limit = 50,
    json: Json = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """List deadletters, newest first, with counts by class.

    [bold]Example[/bold]

    ghcrawl deadletters list --class http_503 --older-than 2h
    """
    from ghcrawl.cli import deadletters as work

    which = work.Which(
        types=tuple(type or ()),
        platforms=tuple(platform or ()),
        kinds=tuple(class_ or ()),
        reason=reason,
        host=host,
        older_than=older_than,
    )
    return perform(work.list_(Place(db=db, server=server, config=config), which, limit=limit, json=json))


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="URN, or the first digits of an ID.", show_default=False)],
    json: Json = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Show one deadletter: its request, how it was discovered, and the error of each attempt.

    [bold]Example[/bold]

    ghcrawl deadletters show 3f2a
    """
    from ghcrawl.cli import deadletters as work

    return perform(work.show(Place(db=db, server=server, config=config), name, json=json))


@app.command()
def requeue(
    names: Names = None,
    *,
    type: Types = None,
    platform: Platforms = None,
    class_: Classes = None,
    reason: Reason = "",
    host: Host = "",
    older_than: OlderThan = "",
    every: All = False,
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="QUEUE", help="Target queue. Default: the queue each request came from.", show_default=False
        ),
    ] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Put requests back into their queues and reset their attempts to 0.

    The next crawl of this file processes them; `ghcrawl crawl` without a SPEC
    is enough.

    [bold]Example[/bold]

    ghcrawl deadletters requeue --class http_503 && ghcrawl crawl
    """
    from ghcrawl.cli import deadletters as work

    which = work.Which(
        names=tuple(names or ()),
        types=tuple(type or ()),
        platforms=tuple(platform or ()),
        kinds=tuple(class_ or ()),
        reason=reason,
        host=host,
        older_than=older_than,
        all=every,
    )
    return perform(work.requeue(Place(db=db, server=server, config=config), which, to=to, dry_run=dry_run, yes=yes))


@app.command()
def delete(
    names: Names = None,
    *,
    type: Types = None,
    platform: Platforms = None,
    class_: Classes = None,
    reason: Reason = "",
    host: Host = "",
    older_than: OlderThan = "",
    every: All = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Permanently delete deadletters.

    [bold]Examples[/bold]

    ghcrawl deadletters delete --type labels --older-than 30d --dry-run

    ghcrawl deadletters delete --all --yes
    """
    from ghcrawl.cli import deadletters as work

    which = work.Which(
        names=tuple(names or ()),
        types=tuple(type or ()),
        platforms=tuple(platform or ()),
        kinds=tuple(class_ or ()),
        reason=reason,
        host=host,
        older_than=older_than,
        all=every,
    )
    return perform(work.delete(Place(db=db, server=server, config=config), which, dry_run=dry_run, yes=yes))
