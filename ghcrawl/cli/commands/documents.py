"""`ghcrawl documents …`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Json, Kept, Limit, Platforms, flag, grouped
from ghcrawl.values.frozen import replace

app = typer.Typer(help="List, show, follow, count and export saved documents.", no_args_is_help=True)


class Which(Struct, frozen=True, kw_only=True):
    """Which documents are meant, as typed.

    under: a URN, a URL or a name. since, until: dates or ages, of when it was saved last: new, changed or deleted.
    lists: pages of lists and cursors too. deleted: None with and without.
    """

    types: Annotated[
        tuple[str, ...], typer.Option("--type", "-t", metavar="TYPE", help="Only this type; repeatable.")
    ] = ()
    platforms: Platforms = ()
    under: Annotated[
        str,
        typer.Option(
            "--under",
            "--repo",
            metavar="NAME",
            help="Only this document and its descendants: acme/web, acme/web#5, a URL or a URN.",
            show_default=False,
        ),
    ] = ""
    since: Annotated[
        str,
        typer.Option(
            "--since",
            metavar="DATE",
            help="Only what was saved (new, changed, deleted) since then: 2026-11-01, or 7d for 7 days ago.",
            show_default=False,
        ),
    ] = ""
    until: Annotated[
        str, typer.Option("--until", metavar="DATE", help="Only what was saved last before then.", show_default=False)
    ] = ""
    lists: bool = False
    deleted: bool | None = None


class Export(Struct, frozen=True, kw_only=True):
    """How to write. output: a file; None: standard output.

    flat: bodies as the platform sent them, with `_urn`, `_type` and what the platform adds. by_type: `output` is a
    folder for a file of each type. state: the last STATE of the Singer export before.
    """

    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Output file; -: standard output (default)."),
    ] = None
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="jsonl: one document per line; csv or parquet: the table of one type; singer: messages for a target.",
        ),
    ] = "jsonl"
    flat: Annotated[
        bool, flag("--flat", help="Entities as the API returned them, without metadata, with _urn, _type, _repo.")
    ] = False
    by_type: Annotated[bool, flag("--by-type", help="One file for each type in the folder --output.")] = False
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="FILE",
            help="With singer: the last STATE; export only what was written since.",
            show_default=False,
        ),
    ] = None


Chosen = Annotated[Which, "types", "platforms", "under", "since", "until"]
Lists = Annotated[bool, flag("--lists", help="Include list pages and cursors.")]
Thing = Annotated[
    str,
    typer.Argument(
        metavar="NAME", help="A name (acme/web, acme/web#5, acme/web@1a2b3c4), a URL or a URN.", show_default=False
    ),
]


@app.command("list")
@grouped
def list_(
    *,
    which: Chosen,
    limit: Limit = 50,
    lists: Lists = False,
    json: Json = False,
    place: Kept,
) -> int:
    """List documents, ordered by URN.

    In a pipe, each line is type, URN, URL and title, separated by tabs.

    [bold]Examples[/bold]

    ghcrawl documents list --type issue --limit 20

    ghcrawl documents list --under acme/web --since 7d

    ghcrawl documents list --limit 0 | cut -f2
    """
    from ghcrawl.cli import documents as work

    return perform(work.list_(place, replace(which, lists=lists), limit=limit, json=json))


@app.command()
@grouped
def show(
    name: Thing,
    *,
    type: Annotated[
        str | None,
        typer.Option("--type", "-t", metavar="TYPE", help="Type to choose if a URL matches several documents."),
    ] = None,
    json: Json = False,
    place: Kept,
) -> int:
    """Show one document: its links and its content.

    [bold]Examples[/bold]

    ghcrawl documents show acme/web

    ghcrawl documents show urn:repo:240001:issue:7 --json
    """
    from ghcrawl.cli import documents as work

    return perform(work.show(place, name, type=type or "", json=json))


@app.command()
@grouped
def follow(
    name: Thing,
    link: Annotated[str, typer.Argument(metavar="LINK", help="Link name.", show_default=False)],
    *,
    limit: Limit = 50,
    json: Json = False,
    place: Kept,
) -> int:
    """List the documents that a link points to; `show` lists the links.

    [bold]Examples[/bold]

    ghcrawl documents follow acme repos

    ghcrawl documents follow https://github.com/acme/web/issues/7 user
    """
    from ghcrawl.cli import documents as work

    return perform(work.follow(place, name, link, limit=limit, json=json))


@app.command()
@grouped
def count(*, json: Json = False, place: Kept) -> int:
    """Count documents by type.

    [bold]Example[/bold]

    ghcrawl documents count --json | jq .by_type.issue
    """
    from ghcrawl.cli import documents as work

    return perform(work.count(place, json=json))


@app.command()
@grouped
def export(
    *,
    which: Chosen,
    wanted: Export,
    no_lists: Annotated[bool, flag("--no-lists", help="Entities only: no list pages, no cursors.")] = False,
    no_deleted: Annotated[bool, flag("--no-deleted", help="Skip deleted entities (those with a deletedAt).")] = False,
    place: Kept,
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

    output = None if wanted.output == Path("-") else wanted.output
    lists, deleted = not (wanted.flat or no_lists), False if no_deleted else None
    which, wanted = replace(which, lists=lists, deleted=deleted), replace(wanted, output=output)
    return perform(work.export(place, which, wanted))
