"""`ghcrawl deadletters …`."""

from __future__ import annotations

from typing import Annotated

import typer
from msgspec import Struct

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Json, Kept, Limit, Platforms, Yes, flag, grouped, option

app = typer.Typer(
    help="List, show, requeue and delete deadletters: requests that failed for good.", no_args_is_help=True
)


class Which(Struct, frozen=True, kw_only=True):
    """Which deadletters are meant, as typed. names: whole URNs, or the first digits of their ids."""

    names: Annotated[
        tuple[str, ...],
        typer.Argument(metavar="ID", help="URN, or the first digits of an ID.", show_default=False),
    ] = ()
    types: Annotated[
        tuple[str, ...], typer.Option("--type", "-t", metavar="TYPE", help="Only this request type; repeatable.")
    ] = ()
    platforms: Platforms = ()
    kinds: Annotated[
        tuple[str, ...], typer.Option("--class", "-c", metavar="CLASS", help="Only this failure class; repeatable.")
    ] = ()
    reason: Annotated[str, option("--reason", "TEXT", "Only if the reason contains TEXT.")] = ""
    host: Annotated[str, option("--host", "HOST", "Only URLs at this host.")] = ""
    older_than: Annotated[
        str, option("--older-than", "AGE", "Only if dead-lettered longer ago than AGE: 30m, 2h, 3d.")
    ] = ""
    all: Annotated[bool, flag("--all", help="Select all deadletters.")] = False

    @property
    def chooses(self) -> bool:
        """Whether anything was said about which."""
        return self != Which()


DryRun = Annotated[bool, flag("--dry-run", help="Show what would change, change nothing.")]


@app.command("list")
@grouped
def list_(
    *,
    which: Annotated[Which, "types", "platforms", "kinds", "reason", "host", "older_than"],
    limit: Limit = 50,
    json: Json = False,
    place: Kept,
) -> int:
    """List deadletters, newest first, with counts by class.

    [bold]Example[/bold]

    ghcrawl deadletters list --class http_503 --older-than 2h
    """
    from ghcrawl.cli import deadletters as work

    return perform(work.list_(place, which, limit=limit, json=json))


@app.command()
@grouped
def show(
    name: Annotated[str, typer.Argument(metavar="ID", help="URN, or the first digits of an ID.", show_default=False)],
    *,
    json: Json = False,
    place: Kept,
) -> int:
    """Show one deadletter: its request, how it was discovered, and the error of each attempt.

    [bold]Example[/bold]

    ghcrawl deadletters show 3f2a
    """
    from ghcrawl.cli import deadletters as work

    return perform(work.show(place, name, json=json))


@app.command()
@grouped
def requeue(
    *,
    which: Which,
    to: Annotated[
        str,
        option("--to", "QUEUE", "Target queue. Default: the queue each request came from."),
    ] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    place: Kept,
) -> int:
    """Put requests back into their queues and reset their attempts to 0.

    The next crawl of this file processes them; `ghcrawl crawl` without a SPEC
    is enough.

    [bold]Example[/bold]

    ghcrawl deadletters requeue --class http_503 && ghcrawl crawl
    """
    from ghcrawl.cli import deadletters as work

    return perform(work.requeue(place, which, to=to, dry_run=dry_run, yes=yes))


@app.command()
@grouped
def delete(*, which: Which, dry_run: DryRun = False, yes: Yes = False, place: Kept) -> int:
    """Permanently delete deadletters.

    [bold]Examples[/bold]

    ghcrawl deadletters delete --type labels --older-than 30d --dry-run

    ghcrawl deadletters delete --all --yes
    """
    from ghcrawl.cli import deadletters as work

    return perform(work.delete(place, which, dry_run=dry_run, yes=yes))
