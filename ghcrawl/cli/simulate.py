"""`ghcrawl simulate`: the simulator as a server of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from ghcrawl.cli.output import write
from ghcrawl.cli.signals import Signals
from ghcrawl.cli.stderr import say
from ghcrawl.platforms.contract import Simulated
from ghcrawl.simulator.chance import seeded
from ghcrawl.simulator.faults import Faults
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import WorldSize
from ghcrawl.simulator.github.live.live import Life
from ghcrawl.simulator.github.live.sending import Sender
from ghcrawl.simulator.github.run import running
from ghcrawl.simulator.github.server import Server, Setup
from ghcrawl.simulator.github.shapes.site import Site
from ghcrawl.simulator.github.world import World
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.frozen import replace
from ghcrawl.wiring import simulator

ORG: Final = "acme"
TICK_S: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What was typed. changes_per_minute: 0, nothing happens; webhook_url: who is told what does."""

    port: int
    size: int
    seed: int
    tokens: int
    limit: int
    window_s: float
    faults: float
    changes_per_minute: float = 0.0
    webhook_url: str = ""
    webhook_secret: str = field(default="", repr=False)


async def simulate(wish: Options) -> int:
    """Returns the exit status once it is stopped. Raises ConfigError where the port is taken."""
    world = generate(WorldSize.about(wish.size), seed=wish.seed)
    return await _until_stopped(_github(world, wish), wish.port)


async def simulate_platform(name: str, *, port: int, size: int, seed: int, limit: int) -> int:
    """The simulator of one platform, with the options that all have. Raises ConfigError."""
    return await _until_stopped(_other(simulator(name)(port=port, size=size, seed=seed, limit=limit)), port)


async def _until_stopped(simulating: AbstractAsyncContextManager[None], port: int) -> int:
    with Signals() as signals:
        try:
            async with simulating:
                while not signals.received:
                    await signals.wait(TICK_S)
        except OSError as error:
            why = os.strerror(error.errno or 0)
            raise ConfigError(f"cannot listen on port {port}: {why}; choose another with --port") from error
    say("Stopped.")
    return 0


@asynccontextmanager
async def _other(opening: AbstractAsyncContextManager[Simulated]) -> AsyncIterator[None]:
    async with opening as simulated:
        _introduce(simulated.url, simulated.tokens, simulated.tries)
        yield


@asynccontextmanager
async def _github(world: World, wish: Options) -> AsyncIterator[None]:
    members = [member.user.login for member in world.org(ORG).members.values()][: wish.tokens]
    tokens = {f"ghp_simulated{number:02}{'0' * 20}": login for number, login in enumerate(members, start=1)}
    setup = Setup(
        tokens={
            token: replace(world.principal(login, limit=wish.limit), window_s=wish.window_s)
            for token, login in tokens.items()
        },
        faults=Faults.weather(wish.faults, seed=wish.seed) if wish.faults else Faults(),
    )
    about = f"This simulated GitHub has the organisation {ORG}. It allows 60 calls per hour without a token."
    async with running(world, setup, port=wish.port) as server:
        tries = f"GHCRAWL_TOKENS='{';'.join(tokens)}' ghcrawl crawl {ORG} --api-url {server.url} --db simulated.db"
        _introduce(server.url, tokens, tries, about)
        async with _living(server, wish, members):
            yield


@asynccontextmanager
async def _living(server: Server, wish: Options, stays: Sequence[str]) -> AsyncIterator[None]:
    """Things happen in the block, if that was wished for."""
    if not wish.changes_per_minute:
        yield
        return
    life = Life(world=server.world, site=Site(server.url), logins=(ORG,), seed=wish.seed, stays=frozenset(stays))
    sender = None
    if wish.webhook_url:
        sender = Sender(wish.webhook_url, wish.webhook_secret, seeded(wish.seed, "deliveries"))
        server.webhooks.add(f"orgs/{ORG}", sender)
    told = f", with webhooks to {wish.webhook_url}" if sender else ""
    say(f"Making about {wish.changes_per_minute:g} changes per minute{told}.")
    stop = asyncio.Event()
    living = asyncio.create_task(life.run(stop, per_minute=wish.changes_per_minute, sender=sender))
    try:
        yield
    finally:
        stop.set()
        await living
        answers = sorted(sender.answers.items()) if sender else ()
        words = ", ".join(f"{count} with {status or 'nothing'}" for status, count in answers)
        say(f"{life.counts.total()} changes made{f'; webhooks were answered {words}' if words else ''}.")


def _introduce(url: str, tokens: Mapping[str, str], tries: str, about: str = "") -> None:
    write(url)
    sys.stdout.flush()
    if about:
        say(about)
    for token, whose in tokens.items():
        say(f"  {token}  authenticates as {whose}", invented=True)
    say("Try it from another terminal:")
    say(f"  {tries}", invented=True)
    say("Press Ctrl-C to stop.")
