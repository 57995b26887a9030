"""`ghcrawl documents …`."""

# ruff: noqa: PLC0415, PLR0913  # imports wait until a command runs; every option is a parameter
from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Config, Db, Json, Limit, Place, Platforms, Server, flag

app = typer.Typer(help="List, show, follow, count and export saved documents.", no_args_is_help=True)

Types = Annotated[list[str] | None, typer.Option("--type", "-t", metavar="TYPE", help="Only this type; repeatable.")]
Under = Annotated[
    str | None,
    typer.Option(
        "--under",
        "--repo",
        metavar="NAME",
        help="Only this document and its descendants: acme/web, acme/web#5, a URL or a URN.",
    ),
]
Since = Annotated[
    str | None,
    typer.Option("--since", metavar="DATE", help="Only if last checked since then: 2026-11-01, or 7d for 7 days ago."),
]
Until = Annotated[str | None, typer.Option("--until", metavar="DATE", help="Only if last checked before then.")]
Lists = Annotated[bool, flag("--lists", help="Include list pages and cursors.")]
Thing = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="A name (acme/web, acme/web#5, acme/web@1a2b3c4), a URL or a URN.", show_default=False
    ),
]


@app.command("list")
def list_(
    *,
    type: Types = None,
    platform: Platforms = None,
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
    """List documents, ordered by URN.

    In a pipe, each line is type, URN, URL and title, separated by tabs.

    [bold]Examples[/bold]

    ghcrawl documents list --type issue --limit 20

    ghcrawl documents list --under acme/web --since 7d

    ghcrawl documents list --limit 0 | cut -f2
    """
    from ghcrawl.cli import documents as work

    which = work.Which(
        types=tuple(type or ()),
        platforms=tuple(platform or ()),
        under=under or "",
        since=since or "",
        until=until or "",
        lists=lists,
    )
    return perform(work.list_(Place(db=db, server=server, config=config), which, limit=limit, json=json))


@app.command()
def show(
    name: Thing,
    type: Annotated[
        str | None,
        typer.Option("--type", "-t", metavar="TYPE", help="Type to choose if a URL matches several documents."),
    ] = None,
    json: Json = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Show one document: its links and its content.

    [bold]Examples[/bold]

    ghcrawl documents show acme/web

    ghcrawl documents show urn:repo:240001:issue:7 --json
    """
    from ghcrawl.cli import documents as work

    return perform(work.show(Place(db=db, server=server, config=config), name, type=type or "", json=json))


@app.command()
def follow(
    name: Thing,
    link: Annotated[str, typer.Argument(metavar="LINK", help="Link name.", show_default=False)],
    *,
    limit: Limit = 50,
    json: Json = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """List the documents that a link points to; `show` lists the links.

    [bold]Examples[/bold]

    ghcrawl documents follow acme repos

    ghcrawl documents follow https://github.com/acme/web/issues/7 user
    """
    from ghcrawl.cli import documents as work

    return perform(work.follow(Place(db=db, server=server, config=config), name, link, limit=limit, json=json))


@app.command()
def count(json: Json = False, server: Server = None, db: Db = None, config: Config = None) -> int:
    """Count documents by type.

    [bold]Example[/bold]

    ghcrawl documents count --json | jq .by_type.issue
    """
    from ghcrawl.cli import documents as work

    return perform(work.count(Place(db=db, server=server, config=config), json=json))


@app.command()
def export(
    *,
    type: Types = None,
    platform: Platforms = None,
    under: Under = None,
    since: Since = None,
    until: Until = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Output file; -: standard output (default)."),
    ] = None,
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="jsonl: one document per line; csv or parquet: the table of one type; singer: messages for a target.",
        ),
    ] = "jsonl",
    flat: Annotated[
        bool, flag("--flat", help="Entities as the API returned them, without metadata, with _urn, _type, _repo.")
    ] = False,
    by_type: Annotated[bool, flag("--by-type", help="One file for each type in the folder --output.")] = False,
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="FILE",
            help="With singer: the last STATE; export only what was written since.",
            show_default=False,
        ),
    ] = None,
    no_lists: Annotated[bool, flag("--no-lists", help="Entities only: no list pages, no cursors.")] = False,
    no_deleted: Annotated[bool, flag("--no-deleted", help="Skip deleted entities (those with a deletedAt).")] = False,
    server: Server = None,
    db: Db = None,
    config: Config = None,
) -> int:
    """Export documents; all by default, one per line: entities, list pages and cursors.

    [bold]Examples[/bold]

    ghcrawl documents export -o acme.jsonl

    ghcrawl documents export --type issue --repo acme/web --since 2026-11-01

    ghcrawl documents export --type issue --flat --no-deleted | jq -r .title

    ghcrawl documents export --by-type -o acme

    ghcrawl documents export --type issue --format csv -o issues.csv

    ghcrawl documents export --format singer | target-jsonl
    """
    from ghcrawl.cli import export as work

    which = work.Which(
        types=tuple(type or ()),
        platforms=tuple(platform or ()),
        under=under or "",
        since=since or "",
        until=until or "",
        lists=not (flat or no_lists),
        deleted=False if no_deleted else None,
    )
    wanted = work.Export(
        format=format,
        output=None if output == Path("-") else output,
        flat=flat,
        by_type=by_type,
        state=state,
    )
    return perform(work.export(Place(db=db, server=server, config=config), which, wanted))
