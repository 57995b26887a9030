"""`ghcrawl serve`."""

# ruff: noqa: PLC0415, PLR0913  # imports wait until a command runs; every option is a parameter
from __future__ import annotations

from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import ApiUrl, Config, Db, Place, TokensFile, Verbose

PORT_HELP = "Of the API and of webhooks; 3000 if not set, 0: any free one."


def serve(
    *,
    host: Annotated[
        str | None,
        typer.Option("--host", metavar="ADDRESS", help="Who is listened to; 127.0.0.1.", show_default=False),
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", min=0, max=65535, metavar="PORT", help=PORT_HELP, show_default=False)
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port",
            min=0,
            max=65535,
            metavar="PORT",
            help="Of metrics and probes; 9464 if not set.",
            show_default=False,
        ),
    ] = None,
    loops: Annotated[
        int | None,
        typer.Option(
            "--loops", min=1, metavar="N", help="Requests in hand at a time; 20 if not set.", show_default=False
        ),
    ] = None,
    db: Db = None,
    api_url: ApiUrl = None,
    tokens_file: TokensFile = None,
    config: Config = None,
    log_level: Annotated[
        str | None,
        typer.Option(
            "--log-level", metavar="LEVEL", help="debug, info, warning or error; info if not set.", show_default=False
        ),
    ] = None,
    verbose: Verbose = False,
) -> int:
    """Work through what waits for ever, and answer webhooks, operators and Prometheus.

    Runs until SIGTERM or Ctrl-C, which finishes what is in hand; a second one
    stops at once. Nothing is lost either way. Any number of these may share
    one RabbitMQ and one MongoDB.

    [bold]Who may ask:[/bold] without a token only this machine is answered. Set
    GHCRAWL_ADMIN_TOKEN to one or more, separated by semicolons: TOKEN may do
    everything, TOKEN#read may look. `openssl rand -hex 24` makes a good one.
    Webhooks need GHCRAWL_WEBHOOK_SECRETS.

    [bold]Examples[/bold]

    ghcrawl serve

    GHCRAWL_ADMIN_TOKEN=... GHCRAWL_WEBHOOK_SECRETS=... ghcrawl serve --host 0.0.0.0
    """
    from ghcrawl.cli import serve as work

    more = {
        "service.host": host,
        "service.port": port,
        "service.metrics_port": metrics_port,
        "crawl.loops": loops,
        "log.level": "debug" if verbose else log_level,
    }
    place = Place(db=db, config=config, api_url=api_url, tokens_file=tokens_file)
    return perform(work.serve(work.Wish(place=place, more={k: v for k, v in more.items() if v is not None})))
