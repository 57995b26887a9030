"""A simulated GitHub as `ghcrawl simulate` and `ghcrawl demo` start it: one organisation, and changes on request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Final

from ghcrawl.platforms.simulation import Simulated, Simulation
from ghcrawl.simulator.chance import seeded
from ghcrawl.simulator.faults import Faults
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.simulator.github.live.live import Life
from ghcrawl.simulator.github.live.sending import Sender
from ghcrawl.simulator.github.run import running
from ghcrawl.simulator.github.server import Server, Setup
from ghcrawl.simulator.github.shapes.site import Site
from ghcrawl.values.frozen import replace

ORG: Final = "acme"
WINDOW_S: Final = 3600.0
UNLIMITED: Final = 1_000_000_000
UNHINDERED: Final = {"github.calls_per_min": "0", "github.response_s_per_min": "0"}
"""Without secondary limits, which a simulator does not have."""


@asynccontextmanager
async def simulated(options: Simulation) -> AsyncIterator[Simulated]:
    """It answers until the block is left. Raises OSError where the port is taken."""
    world = generate(WorldSize.about(options.size), seed=options.seed)
    members = [member.user.login for member in world.org(ORG).members.values()][: options.tokens]
    tokens = {f"ghp_simulated{number:02}{'0' * 20}": login for number, login in enumerate(members, start=1)}
    limit, window_s = options.limit or UNLIMITED, options.window_s or WINDOW_S
    principals = {
        token: replace(world.principal(login, limit=limit), window_s=window_s) for token, login in tokens.items()
    }
    faults = Faults.weather(options.faults, seed=options.seed) if options.faults else Faults()
    async with running(world, Setup(tokens=principals, faults=faults), port=options.port) as server:
        life = Life(world=world, site=Site(server.url), logins=(ORG,), seed=options.seed, stays=frozenset(members))
        sender = _sender(server, options)
        async with _living(life, options, sender):
            yield Simulated(
                url=server.url,
                spec=ORG,
                settings={"github.api_url": server.url, **({} if options.limit else UNHINDERED)},
                environ={"GHCRAWL_TOKENS": ";".join(tokens)},
                tokens=tokens,
                about=tuple(_about(options)),
                report=lambda: _report(life, sender) if options.changes_per_minute else "",
            )


def _about(options: Simulation) -> Iterable[str]:
    yield f"This simulated GitHub has the organisation {ORG}. It allows 60 calls per hour without a token."
    if options.changes_per_minute:
        webhooks = f", with webhooks to {options.webhook_url}" if options.webhook_url else ""
        yield f"Making about {options.changes_per_minute:g} changes per minute{webhooks}."


def _sender(server: Server, options: Simulation) -> Sender | None:
    if not options.webhook_url:
        return None
    sender = Sender(options.webhook_url, options.webhook_secret, seeded(options.seed, "deliveries"))
    server.webhooks.add(f"orgs/{ORG}", sender)
    return sender


@asynccontextmanager
async def _living(life: Life, options: Simulation, sender: Sender | None) -> AsyncIterator[None]:
    """The data changes until the block is left, if it is to change at all."""
    if not options.changes_per_minute:
        yield
        return
    stop = asyncio.Event()
    living = asyncio.create_task(life.run(stop, per_minute=options.changes_per_minute, sender=sender))
    try:
        yield
    finally:
        stop.set()
        await living


def _report(life: Life, sender: Sender | None) -> str:
    answers: Sequence[tuple[int, int]] = sorted(sender.answers.items()) if sender else ()
    words = ", ".join(f"{count} with {status or 'nothing'}" for status, count in answers)
    return f"{life.counts.total()} changes made{f'; webhooks were answered {words}' if words else ''}."
