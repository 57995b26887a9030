"""`ghcrawl documents …`."""

# ruff: noqa: PLC0415, PLR0913  # imports wait until a command runs; every option is a parameter
from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Config, Db, Json, Limit, Place, Server, flag

app = typer.Typer(help="List, show, follow, count and export what was saved.", no_args_is_help=True)

Types = Annotated[
    list[str] | None, typer.Option("--type", "-t", metavar="TYPE", help="Only this type; may be given several times.")
]
Under = Annotated[
    str | None,
    typer.Option("--under", "--repo", metavar="NAME", help="Only this and what lies below it: acme/web, a URL, a URN."),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="DATE", help="Only what was seen to be so since then: 2026-11-01, or 7d ago."),
]
Until = Annotated[str | None, typer.Option("--until", metavar="DATE", help="Only what was seen before then.")]
Lists = Annotated[bool, flag("--lists", help="Pages of lists and cursors too, not only things.")]
Thing = Annotated[str, typer.Argument(metavar="NAME", help="A name (acme/web), a URL or a URN.", show_default=False)]


@app.command("list")
def list_(
    *,
    type: Types = None,
    under: Under = None,
    since: Since = None,
    until: Until = None,
    limit: Limit = 50,
    lists: Lists = False,
    json: Json = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Name the documents, a line each, by URN.

    Into a pipe: type, URN, URL and title, with tabs in between.

    [bold]Examples[/bold]

    ghcrawl documents list --type issue --limit 20

    ghcrawl documents list --under acme/web --since 7d

    ghcrawl documents list --limit 0 | cut -f2
    """
    from ghcrawl.cli import documents as work

    which = work.Which(types=tuple(type or ()), under=under or "", since=since or "", until=until or "", lists=lists)
    return perform(work.list_(Place(db=db, server=server, config=config), which, limit=limit, json=json))


@app.command()
def show(
    name: Thing,
    type: Annotated[
        str | None, typer.Option("--type", "-t", metavar="TYPE", help="Where a URL leads to several things.")
    ] = None,
    json: Json = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Show one document: where it leads, and all that is in it.

    [bold]Examples[/bold]

    ghcrawl documents show acme/web

    ghcrawl documents show urn:repo:240001:issue:7 --json
    """
    from ghcrawl.cli import documents as work

    return perform(work.show(Place(db=db, server=server, config=config), name, type=type or "", json=json))


@app.command()
def follow(
    name: Thing,
    link: Annotated[str, typer.Argument(metavar="LINK", help="The name of one of its links.", show_default=False)],
    *,
    limit: Limit = 50,
    json: Json = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Name the documents that a link of one document leads to; `show` names its links.

    [bold]Examples[/bold]

    ghcrawl documents follow acme repos

    ghcrawl documents follow https://github.com/acme/web/issues/7 user
    """
    from ghcrawl.cli import documents as work

    return perform(work.follow(Place(db=db, server=server, config=config), name, link, limit=limit, json=json))


@app.command()
def count(json: Json = False, server: Server = None, db: Db = None, config: Config = None) -> int:
    """Count the documents by type.

    [bold]Example[/bold]

    ghcrawl documents count --json | jq .by_type.issue
    """
    from ghcrawl.cli import documents as work

    return perform(work.count(Place(db=db, server=server, config=config), json=json))


@app.command()
def export(
    *,
    type: Types = None,
    under: Under = None,
    since: Since = None,
    until: Until = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write; - or nothing: standard output."),
    ] = None,
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="jsonl: a document a line.")] = "jsonl",
    flat: Annotated[bool, flag("--flat", help="Things as the API sent them, without links and metadata.")] = False,
    no_lists: Annotated[bool, flag("--no-lists", help="Only things, no pages of lists and no cursors.")] = False,
    no_deleted: Annotated[bool, flag("--no-deleted", help="Not what is gone; it has a deletedAt.")] = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Write every document, one a line: things, pages of lists, and cursors.

    [bold]Examples[/bold]

    ghcrawl documents export -o acme.jsonl

    ghcrawl documents export --type issue --repo acme/web --since 2026-11-01

    ghcrawl documents export --type issue --flat --no-deleted | jq -r .title
    """
    from ghcrawl.cli import export as work

    which = work.Which(
        types=tuple(type or ()),
        under=under or "",
        since=since or "",
        until=until or "",
        lists=not (flat or no_lists),
        deleted=False if no_deleted else None,
    )
    return perform(
        work.export(Place(db=db, server=server, config=config), which, output=output, format=format, flat=flat)
    )
