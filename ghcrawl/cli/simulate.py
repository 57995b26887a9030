"""`ghcrawl simulate`: the simulator as a server of its own."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from typing import Final

from ghcrawl.cli.output import write
from ghcrawl.cli.signals import Signals
from ghcrawl.cli.stderr import say
from ghcrawl.errors import ConfigError
from ghcrawl.simulator.faults import Faults
from ghcrawl.simulator.generation.generate import generate
from ghcrawl.simulator.generation.size import WorldSize
from ghcrawl.simulator.run import running
from ghcrawl.simulator.server import Setup

ORG: Final = "acme"
TICK_S: Final = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What was typed."""

    port: int
    size: int
    seed: int
    tokens: int
    limit: int
    window_s: float
    faults: float


async def simulate(wish: Wish) -> int:
    """Returns the exit status once it is stopped. Raises ConfigError where the port is taken."""
    world = generate(WorldSize.about(wish.size), seed=wish.seed)
    members = [member.user.login for member in world.org(ORG).members.values()][: wish.tokens]
    tokens = {f"ghp_simulated{number:02}{'0' * 20}": login for number, login in enumerate(members, start=1)}
    setup = Setup(
        tokens={
            token: replace(world.principal(login, limit=wish.limit), window_s=wish.window_s)
            for token, login in tokens.items()
        },
        faults=Faults.weather(wish.faults, seed=wish.seed) if wish.faults else Faults(),
    )
    with Signals(lambda: None) as signals:
        try:
            async with running(world, setup, port=wish.port) as server:
                _introduce(server.url, tokens)
                while not signals.received:
                    await signals.wait(TICK_S)
        except OSError as error:
            raise ConfigError(
                f"port {wish.port} cannot be used: {os.strerror(error.errno or 0)}; name another with --port"
            ) from error
    say("Stopped.")
    return 0


def _introduce(url: str, tokens: dict[str, str]) -> None:
    write(url)
    sys.stdout.flush()
    say(f"A simulated GitHub answers there, with the organisation {ORG}. Without a token it answers 60 calls an hour.")
    for token, login in tokens.items():
        say(f"  {token}  opens it as {login}")
    say("Try it from another terminal:")
    say(f"  GHCRAWL_TOKENS='{';'.join(tokens)}' ghcrawl crawl {ORG} --api-url {url} --db simulated.db")
    say("Ctrl-C stops it.")
