"""All commands, and what is said about them."""

from __future__ import annotations

from typing import Annotated

import typer

from ghcrawl import __version__
from ghcrawl.cli.commands import (
    config,
    crawl,
    deadletters,
    demo,
    documents,
    queue,
    requests,
    serve,
    simulate,
    status,
    tokens,
)

HELP = """Crawl APIs, GitHub first, into one file.

See it work, with no server and no token:
    [bold]ghcrawl demo[/bold]
Crawl an organisation, a user, a repository or a URL:
    [bold]ghcrawl crawl acme[/bold]
Look at what was saved, and take it with you:
    [bold]ghcrawl documents list[/bold]
    [bold]ghcrawl documents export -o acme.jsonl[/bold]

GitHub answers 60 calls an hour without a token, and 5,000 with one:
    [bold]export GHCRAWL_TOKENS=ghp_...[/bold]
"""
EPILOG = (
    "Exit status: 0 all is well; 1 deadletters are left, or there is no such document or deadletter; 2 it could not be "
    "done (usage, settings, tokens, a file, an API that cannot be reached); 130 stopped by Ctrl-C; 70 a bug in ghcrawl."
)

app = typer.Typer(
    name="ghcrawl",
    help=HELP,
    epilog=EPILOG,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
CRAWL, LOOK, RUN = "Crawl", "Look at what was saved", "See to the rest"


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ghcrawl {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  # the callback has done everything
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Shows the help where nothing was asked for."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command("demo", rich_help_panel=CRAWL)(demo.demo)
app.command("crawl", rich_help_panel=CRAWL)(crawl.crawl)
app.command("serve", rich_help_panel=CRAWL)(serve.serve)
app.command("status", rich_help_panel=CRAWL)(status.status)
app.command("simulate", rich_help_panel=CRAWL)(simulate.simulate)
app.add_typer(documents.app, name="documents", rich_help_panel=LOOK)
app.add_typer(deadletters.app, name="deadletters", rich_help_panel=LOOK)
app.add_typer(queue.app, name="queue", rich_help_panel=RUN)
app.add_typer(requests.app, name="requests", rich_help_panel=RUN)
app.add_typer(config.app, name="config", rich_help_panel=RUN)
app.add_typer(tokens.app, name="tokens", rich_help_panel=RUN)
