"""`ghcrawl tokens …`."""

from __future__ import annotations

from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Json, Place, grouped

app = typer.Typer(invoke_without_command=True)


@app.callback()
@grouped
def tokens(
    context: typer.Context,
    json: Json = False,
    *,
    place: Annotated[Place, "server", "tokens_file", "config"],
) -> int:
    """List credentials and check that they work.

    Credentials come from GHCRAWL_TOKENS and --tokens-file, each as TOKEN or
    TOKEN#trait,trait, separated by semicolons or newlines. Traits: public,
    private, admin, org:NAME, and user:LOGIN for tokens of one user, which
    share one rate limit. Tokens are never printed.

    [bold]Examples[/bold]

    GHCRAWL_TOKENS='ghp_...#private,org:acme;ghp_...#public' ghcrawl tokens

    ghcrawl tokens check --tokens-file ~/.ghcrawl-tokens
    """
    if context.invoked_subcommand is not None:
        return 0
    from ghcrawl.cli import tokens as work

    return perform(work.list_(place, json=json))


@app.command()
@grouped
def check(
    *,
    json: Json = False,
    place: Annotated[Place, "server", "tokens_file", "api_url", "config"],
) -> int:
    """Check each credential with the API: owner, remaining quota, scopes. Costs at most one call each.

    With --server, show what the service last learned about them, at no cost.

    [bold]Examples[/bold]

    ghcrawl tokens check --json

    ghcrawl tokens check --server http://localhost:3000
    """
    from ghcrawl.cli import tokens as work

    return perform(work.check(place, json=json))
