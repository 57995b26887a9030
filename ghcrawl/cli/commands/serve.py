"""`ghcrawl serve`."""

from __future__ import annotations

from typing import Annotated, Final

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Crawled, Loops, Verbose, grouped, log_level, option

PORT: Final = {"min": 0, "max": 65535}


@grouped
def serve(
    *,
    host: Annotated[str | None, option("--host", "ADDRESS", "Address to bind. Default: 127.0.0.1.")] = None,
    port: Annotated[
        int | None,
        option("--port", "PORT", "Port of the API and of webhooks; 0: any free port. Default: 3000.", **PORT),
    ] = None,
    metrics_port: Annotated[
        int | None, option("--metrics-port", "PORT", "Port of metrics and probes. Default: 9464.", **PORT)
    ] = None,
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
