"""`ghcrawl simulate`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import typer
from msgspec import Struct

from ghcrawl.cli.failures import perform
from ghcrawl.cli.options import Size, flag, grouped, option

CHANGES_PER_MINUTE: Final = 30.0


class Options(Struct, frozen=True, kw_only=True):
    """The options that not every simulator has. None: not given."""

    tokens: Annotated[
        int | None, option("--tokens", "N", "Number of users with a token. Default: 1.", min=1, max=10)
    ] = None
    limit: Annotated[
        int | None, option("--limit", "N", "Rate limit: calls per user and window. Default: 5000.", min=1)
    ] = None
    window: Annotated[
        float | None,
        option("--window", "S", "Length of the rate limit window, in seconds. Default: the platform's.", min=1),
    ] = None
    faults: Annotated[
        float | None, option("--faults", "RATE", "Fraction of calls that fail, 0–0.9. Default: 0.", min=0, max=0.9)
    ] = None
    live: Annotated[bool, flag("--live", help="Change the data while running.")] = False
    per_minute: Annotated[
        float | None,
        option("--changes-per-minute", "N", "Changes per minute; implies --live. Default: 30.", min=0.1, max=6000),
    ] = None
    webhook_url: Annotated[
        str | None, option("--webhook-url", "URL", "Send signed webhooks to this URL; implies --live.")
    ] = None
    webhook_secret: Annotated[
        str | None, option("--webhook-secret", "TEXT", "Secret that signs the webhooks. Default: simulated.")
    ] = None

    def given(self) -> Mapping[str, tuple[str, Any]]:
        """Option → field and value of a `Simulation`, for the options that were given, alone or by another."""
        changes = self.per_minute or (CHANGES_PER_MINUTE if self.live or self.webhook_url else None)
        options = {
            "--tokens": ("tokens", self.tokens),
            "--limit": ("limit", self.limit),
            "--window": ("window_s", self.window),
            "--faults": ("faults", self.faults),
            "--live": ("changes_per_minute", changes),
            "--webhook-url": ("webhook_url", self.webhook_url),
            "--webhook-secret": ("webhook_secret", self.webhook_secret),
        }
        return {option: (name, value) for option, (name, value) in options.items() if value is not None}


@grouped
def simulate(
    platform: Annotated[str, option("--platform", "NAME", "Platform to simulate. Default: GitHub.")] = "",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="PORT", help="Port to listen on; 0: any free port.")
    ] = 8642,
    size: Size = 2000,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the generated data.")] = 0,
    options: Options = Options(),  # noqa: B008  # frozen
) -> int:
    """Simulate a platform on this machine until Ctrl-C.

    [bold]Examples[/bold]

    ghcrawl simulate --faults 0.1 --limit 60 --window 12

    ghcrawl simulate --live --webhook-url http://127.0.0.1:8640/webhook

    ghcrawl simulate --platform mastodon
    """
    from ghcrawl.cli import simulate as work
    from ghcrawl.platforms.simulation import Simulation

    given = options.given()
    simulation = Simulation(port=port, size=size, seed=seed, **dict(given.values()))
    return perform(work.simulate(platform, simulation, given))
