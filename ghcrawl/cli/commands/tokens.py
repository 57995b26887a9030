"""`ghcrawl tokens …`."""

# ruff: noqa: PLC0415  # imports wait until a command runs
from __future__ import annotations

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import ApiUrl, Config, Json, Place, Server, TokensFile

app = typer.Typer(invoke_without_command=True)


@app.callback()
def tokens(
    context: typer.Context,
    json: Json = False,
    server: Server = None,
    tokens_file: TokensFile = None,
    config: Config = None,
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

    return perform(work.list_(Place(server=server, config=config, tokens_file=tokens_file), json=json))


@app.command()
def check(
    json: Json = False,
    server: Server = None,
    tokens_file: TokensFile = None,
    api_url: ApiUrl = None,
    config: Config = None,
) -> int:
    """Check each credential with the API: owner, remaining quota, scopes. Costs at most one call each.

    With --server, show what the service last learned about them, at no cost.

    [bold]Examples[/bold]

    ghcrawl tokens check --json

    ghcrawl tokens check --server http://localhost:3000
    """
    from ghcrawl.cli import tokens as work

    place = Place(server=server, config=config, tokens_file=tokens_file, api_url=api_url)
    return perform(work.check(place, json=json))
