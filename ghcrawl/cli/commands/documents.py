"""`ghcrawl documents …`."""

# ruff: noqa: PLC0415, PLR0913  # imports wait until a command runs; every option is a parameter
from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Config, Db, Json, Limit, Place

app = typer.Typer(help="List, show, count and export what was saved.", no_args_is_help=True)

Types = Annotated[
    list[str] | None, typer.Option("--type", "-t", metavar="TYPE", help="Only this type; may be given several times.")
]
Under = Annotated[
    str | None, typer.Option("--under", metavar="URN|URL", help="Only this thing and what lies below it.")
]
Lists = Annotated[
    bool, typer.Option("--lists", help="Pages of lists and cursors too, not only things.", show_default=False)
]


@app.command("list")
def list_(
    *,
    type: Types = None,
    under: Under = None,
    limit: Limit = 50,
    lists: Lists = False,
    json: Json = False,
    db: Db = None,
    config: Config = None,
) -> int:
    """Name the documents, a line each, by URN.

    Into a pipe: type, URN, URL and title, with tabs in between.

    [bold]Examples[/bold]

    ghcrawl documents list --type issue --limit 20

    ghcrawl documents list --under urn:repo:240001 --limit 0 | cut -f2
    """
    from ghcrawl.cli import documents as work

    which = work.Which(types=tuple(type or ()), under=under or "", lists=lists)
    return perform(work.list_(Place(db=db, config=config), which, limit=limit, json=json))


@app.command()
def show(
    name: Annotated[str, typer.Argument(metavar="URN|URL|SPEC", help="What to show.", show_default=False)],
    type: Annotated[
        str | None, typer.Option("--type", "-t", metavar="TYPE", help="Where a URL leads to several things.")
    ] = None,
    json: Json = False,
    db: Db = None,
    config: Config = None,
) -> int:
    """Show one document: where it leads, and all that is in it.

    [bold]Examples[/bold]

    ghcrawl documents show acme/web

    ghcrawl documents show urn:repo:240001:issue:7 --json
    """
    from ghcrawl.cli import documents as work

    return perform(work.show(Place(db=db, config=config), name, type=type or "", json=json))


@app.command()
def count(json: Json = False, db: Db = None, config: Config = None) -> int:
    """Count the documents by type."""
    from ghcrawl.cli import documents as work

    return perform(work.count(Place(db=db, config=config), json=json))


@app.command()
def export(
    *,
    type: Types = None,
    under: Under = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write; - or nothing: standard output."),
    ] = None,
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="jsonl: a document a line.")] = "jsonl",
    deleted: Annotated[
        bool, typer.Option("--deleted/--no-deleted", help="Things that are gone too; they have a deletedAt.")
    ] = True,
    db: Db = None,
    config: Config = None,
) -> int:
    """Write every document, one a line: things, pages of lists, and cursors.

    [bold]Examples[/bold]

    ghcrawl documents export -o acme.jsonl

    ghcrawl documents export --type issue --no-deleted | jq -r .title
    """
    from ghcrawl.cli import export as work

    which = work.Which(types=tuple(type or ()), under=under or "", lists=True, deleted=None if deleted else False)
    return perform(work.export(Place(db=db, config=config), which, output=output, format=format))
