"""`ghcrawl simulate`."""

from __future__ import annotations

from typing import Annotated

import typer

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Size, flag


def simulate(
    *,
    platform: Annotated[
        str,
        typer.Option(
            "--platform",
            metavar="NAME",
            help="Another platform to simulate, with --port, --size, --seed and --limit.",
            show_default=False,
        ),
    ] = "",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="PORT", help="Port to listen on; 0: any free port.")
    ] = 8642,
    size: Size = 2000,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the generated organisation.")] = 0,
    tokens: Annotated[
        int, typer.Option("--tokens", min=1, max=10, metavar="N", help="Number of users with a token.")
    ] = 1,
    limit: Annotated[
        int, typer.Option("--limit", min=1, metavar="N", help="Rate limit: calls per user and window.")
    ] = 5000,
    window: Annotated[
        float, typer.Option("--window", min=1, metavar="S", help="Length of the rate limit window, in seconds.")
    ] = 3600,
    faults: Annotated[
        float, typer.Option("--faults", min=0, max=0.9, metavar="RATE", help="Fraction of calls that fail, 0–0.9.")
    ] = 0.0,
    live: Annotated[bool, flag("--live", help="Change the data while running.")] = False,
    per_minute: Annotated[
        float,
        typer.Option(
            "--changes-per-minute", min=0.1, max=6000, metavar="N", help="Changes per minute; requires --live."
        ),
    ] = 30.0,
    webhook_url: Annotated[
        str | None,
        typer.Option(
            "--webhook-url", metavar="URL", help="Send signed webhooks to this URL; implies --live.", show_default=False
        ),
    ] = None,
    webhook_secret: Annotated[
        str,
        typer.Option("--webhook-secret", metavar="TEXT", help="Secret that signs the webhooks."),
    ] = "simulated",  # noqa: S107  # not a real secret
) -> int:
    """Run a local GitHub simulator until Ctrl-C.

    [bold]Examples[/bold]

    ghcrawl simulate --faults 0.1 --limit 60 --window 12

    ghcrawl simulate --live --webhook-url http://127.0.0.1:8640/webhook
    """
    from ghcrawl.cli import simulate as work

    if platform:
        return perform(work.simulate_platform(platform, port=port, size=size, seed=seed, limit=limit))
    wish = work.Options(
        port=port,
        size=size,
        seed=seed,
        tokens=tokens,
        limit=limit,
        window_s=window,
        faults=faults,
        changes_per_minute=per_minute if live or webhook_url else 0.0,
        webhook_url=webhook_url or "",
        webhook_secret=webhook_secret,
    )
    return perform(work.simulate(wish))
