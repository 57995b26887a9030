"""`ghcrawl status`."""

from __future__ import annotations

from typing import Annotated

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Json, Kept, flag, grouped


@grouped
def status(
    *,
    json: Json = False,
    watch: Annotated[bool, flag("--watch", "-w", help="Refresh every second until Ctrl-C.")] = False,
    place: Kept,
) -> int:
    """Show the state of a file or a service: queues, documents, deadletters.

    [bold]Examples[/bold]

    ghcrawl status

    ghcrawl status --json | jq .queues

    ghcrawl status --watch --server http://localhost:3000
    """
    from ghcrawl.cli import status as work

    return perform(work.status(place, json=json, watch=watch))
