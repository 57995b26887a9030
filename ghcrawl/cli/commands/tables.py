"""`ghcrawl tables`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghcrawl.cli.commands.documents import Which
from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Json, Kept, Limit, flag, grouped
from ghcrawl.values.frozen import replace

app = typer.Typer(no_args_is_help=True)


@app.callback(invoke_without_command=True)
@grouped
def tables(
    context: typer.Context,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to",
            metavar="TARGET",
            help="A file ending in .sqlite or .duckdb, a folder (Parquet), or a folder called csv-… (CSV).",
            show_default=False,
        ),
    ] = None,
    *,
    only: Annotated[
        str | None, typer.Option("--only", metavar="TYPE,…", help="Only these types, separated by commas.")
    ] = None,
    which: Annotated[Which, "under", "since", "until"],
    bodies: Annotated[bool, flag("--bodies", help="Keep whole JSON bodies too, in the column _body.")] = False,
    whole: Annotated[bool, flag("--whole", help="Rebuild all tables instead of updating them.")] = False,
    json: Json = False,
    place: Kept,
) -> int:
    """Write the documents as typed tables with keys, for SQL.

    A second run into the same target writes only what changed since.

    [bold]Examples[/bold]

    ghcrawl tables --to acme.sqlite

    ghcrawl tables --to acme.duckdb --only issue,pull_request

    ghcrawl tables --to csv-acme --under acme/web
    """
    if context.invoked_subcommand is not None:
        return 0
    from ghcrawl.cli import tables as work
    from ghcrawl.values.errors import ConfigError

    if to is None:
        raise ConfigError("name a target: --to acme.sqlite")
    types = tuple(word for word in (only or "").split(",") if word)
    wanted = work.Wanted(to=to, which=replace(which, types=types), bodies=bodies, whole=whole)
    return perform(work.fill(place, wanted, json=json))


@app.command()
def ask(
    question: Annotated[
        str | None,
        typer.Argument(metavar="[QUESTION]", help="Its name, or SQL; without one they are listed.", show_default=False),
    ] = None,
    place: Annotated[
        Path | None,
        typer.Option("--in", metavar="TARGET", help="What ghcrawl tables wrote.", show_default=False),
    ] = None,
    *,
    repo: Annotated[str, typer.Option("--repo", metavar="NAME", help="Only this repository: acme/web.")] = "",
    since: Annotated[
        str,
        typer.Option("--since", metavar="DATE", help="Only what happened since: 2026-11-01, or 7d for 7 days ago."),
    ] = "",
    bots: Annotated[bool, flag("--bots", help="Count what bots did, too.")] = False,
    limit: Limit = 50,
    json: Json = False,
) -> int:
    """Answer a question from the tables: a table on a terminal, else CSV.

    [bold]Examples[/bold]

    ghcrawl tables ask

    ghcrawl tables ask time_to_merge --in acme.sqlite --repo acme/web --since 90d

    ghcrawl tables ask "SELECT count(*) FROM issues" --in acme.duckdb --json
    """
    from ghcrawl.cli import asking as work
    from ghcrawl.platforms.tables import together
    from ghcrawl.wiring import PLATFORMS

    schema = together(platform.tables for platform in PLATFORMS)
    if question is None:
        return work.questions(schema, json=json)
    return work.answer(
        schema, question, place, work.Narrowed(repo=repo, since=since, bots=bots), limit=limit, json=json
    )
