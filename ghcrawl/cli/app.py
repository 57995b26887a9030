"""All commands and their help."""

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
    tables,
    tokens,
    watch,
)

HELP = """Crawl GitHub and other APIs into one file.

Try it, without a server or a token:
    [bold]ghcrawl demo[/bold]
Crawl an organisation, a user, a repository or a URL:
    [bold]ghcrawl crawl acme[/bold]
List and export the saved documents:
    [bold]ghcrawl documents list[/bold]
    [bold]ghcrawl documents export -o acme.jsonl[/bold]
    [bold]ghcrawl tables --to acme.sqlite[/bold]

GitHub allows 60 calls per hour without a token, 5,000 with one:
    [bold]export GHCRAWL_TOKENS=ghp_...[/bold]
"""
EPILOG = (
    "Exit status: 0 success; 1 deadletters remain, or the document or deadletter was not found; 2 failure (usage, "
    "settings, tokens, file, unreachable API); 130 stopped by Ctrl-C; 70 a bug in ghcrawl."
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
CRAWL, LOOK, RUN = "Crawl", "Saved data", "Operations"


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ghcrawl {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001  # handled by the callback
        bool, typer.Option("--version", metavar="", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Show the help if no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


app.command("demo", rich_help_panel=CRAWL)(demo.demo)
app.command("crawl", rich_help_panel=CRAWL)(crawl.crawl)
app.command("serve", rich_help_panel=CRAWL)(serve.serve)
app.command("watch", rich_help_panel=CRAWL)(watch.watch)
app.command("unwatch", rich_help_panel=CRAWL)(watch.unwatch)
app.command("status", rich_help_panel=CRAWL)(status.status)
app.command("simulate", rich_help_panel=CRAWL)(simulate.simulate)
app.add_typer(documents.app, name="documents", rich_help_panel=LOOK)
app.add_typer(tables.app, name="tables", rich_help_panel=LOOK)
app.add_typer(deadletters.app, name="deadletters", rich_help_panel=LOOK)
app.add_typer(queue.app, name="queue", rich_help_panel=RUN)
app.add_typer(requests.app, name="requests", rich_help_panel=RUN)
app.add_typer(config.app, name="config", rich_help_panel=RUN)
app.add_typer(tokens.app, name="tokens", rich_help_panel=RUN)
