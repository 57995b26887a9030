"""`ghcrawl watch …` and `ghcrawl unwatch …`."""

from __future__ import annotations

from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Json, Limit, Watched, grouped

Words = Annotated[
    list[str],
    typer.Argument(
        metavar="SPEC...|list|show SPEC",
        help="What to watch, as for `ghcrawl crawl`; or list, or show.",
        show_default=False,
    ),
]


@grouped
def watch(
    words: Words,
    *,
    weight: Annotated[
        float, typer.Option("--weight", metavar="N", min=0.001, max=1000, help="Importance of its news.")
    ] = 1.0,
    every_d: Annotated[
        float,
        typer.Option("--every", metavar="DAYS", min=0, max=365, help="Ask at least this often; 0: as it has news."),
    ] = 0.0,
    limit: Limit = 50,
    json: Json = False,
    place: Watched,
) -> int:
    """Look again at sources, as often as their news deserve within the budget.

    A running `serve` or `crawl --follow` looks; schedule.budget_share limits it.

    [bold]Examples[/bold]

    ghcrawl watch acme acme/web

    ghcrawl watch list

    ghcrawl watch show acme/web
    """
    from ghcrawl.cli import sources as work

    first, *rest = words
    if first == "list":
        return perform(work.listed(place, json=json, limit=limit))
    if first == "show" and len(rest) == 1:
        return perform(work.show(place, rest[0], json=json))
    return perform(work.watch(place, words, weight=weight, every_d=every_d))


@grouped
def unwatch(
    specs: Annotated[list[str], typer.Argument(metavar="SPEC...", help="What to watch no longer.", show_default=False)],
    place: Watched,
) -> int:
    """Stop looking again at what `ghcrawl watch` named.

    [bold]Example[/bold]

    ghcrawl unwatch acme/web
    """
    from ghcrawl.cli import sources as work

    return perform(work.unwatch(place, specs))
