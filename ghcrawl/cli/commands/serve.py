"""`ghcrawl serve`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Crawled, Loops, Verbose, grouped, log_level

Host = Annotated[
    str | None,
    typer.Option("--host", metavar="ADDRESS", help="Address to bind. Default: 127.0.0.1.", show_default=False),
]


def _port(name: str, help: str) -> Any:  # noqa: A002  # typer's name for it
    return typer.Option(name, min=0, max=65535, metavar="PORT", help=help, show_default=False)


@grouped
def serve(
    *,
    host: Host = None,
    port: Annotated[
        int | None, _port("--port", "Port of the API and of webhooks; 0: any free port. Default: 3000.")
    ] = None,
    metrics_port: Annotated[int | None, _port("--metrics-port", "Port of metrics and probes. Default: 9464.")] = None,
    loops: Loops = None,
    place: Crawled,
    log_level: Annotated[str | None, log_level("info")] = None,
    verbose: Verbose = False,
) -> int:
    """Run as a service: crawl continuously, accept webhooks, serve the API and metrics.

    SIGTERM or Ctrl-C finishes requests in flight and stops the service. A
    second signal stops it immediately. Neither loses data. Several replicas
    can share one RabbitMQ and one MongoDB.

    [bold]Access:[/bold] without an admin token, only local requests are accepted. Set
    GHCRAWL_ADMIN_TOKEN to one or more tokens, separated by semicolons: TOKEN
    grants full access, TOKEN#read grants read access. Create a token with
    `openssl rand -hex 24`. Webhooks require GHCRAWL_WEBHOOK_SECRETS.

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
    return perform(work.serve(place, {name: value for name, value in more.items() if value is not None}))
