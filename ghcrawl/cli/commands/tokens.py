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
    """What credentials there are, and whether they are any good.

    They come from GHCRAWL_TOKENS and --tokens-file, each as TOKEN or
    TOKEN#trait,trait, separated by ; or line ends. Traits: public, private,
    admin, org:NAME, and user:LOGIN for tokens of one user, who has one budget.
    No token is ever shown.

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
    """Ask the API about each: whose it is, what is left, what it may do. Costs a call each at the most.

    With --server: what the service heard of them last, which costs none.

    [bold]Examples[/bold]

    ghcrawl tokens check --json

    ghcrawl tokens check --server http://localhost:3000
    """
    from ghcrawl.cli import tokens as work

    place = Place(server=server, config=config, tokens_file=tokens_file, api_url=api_url)
    return perform(work.check(place, json=json))
