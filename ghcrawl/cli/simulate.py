"""`ghcrawl simulate`: a simulated platform as a server of its own."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterable
from typing import Final

from ghcrawl.cli.output import write
from ghcrawl.cli.signals import Signals
from ghcrawl.cli.stderr import say
from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.simulation import Simulated, Simulation
from ghcrawl.values.errors import ConfigError
from ghcrawl.wiring import simulator

TICK_S: Final = 3600.0
COMMON: Final = ("--port", "--size", "--seed")


async def simulate(name: str, options: Simulation, given: Iterable[str] = ()) -> int:
    """Returns the exit status once it is stopped.

    name: of a platform; empty: the first. given: the options that were typed, besides those that all simulators have.
    Raises ConfigError, also where the port is taken.
    """
    platform, simulator_of = simulator(name)
    for option in given:
        if option not in simulator_of.options:
            known = ", ".join(sorted((*simulator_of.options, *COMMON)))
            raise ConfigError(f"{option}: the simulator of {platform.name} has no such option; it has {known}")
    with Signals() as signals:
        try:
            async with simulator_of.run(options) as simulated:
                _introduce(platform, simulated)
                while not signals.received:
                    await signals.wait(TICK_S)
        except OSError as error:
            why = os.strerror(error.errno or 0)
            raise ConfigError(f"cannot listen on port {options.port}: {why}; choose another with --port") from error
    if report := simulated.report():
        say(report)
    say("Stopped.")
    return 0


def _introduce(platform: Platform, simulated: Simulated) -> None:
    write(simulated.url)
    sys.stdout.flush()
    for sentence, invented in introduction(platform, simulated):
        say(sentence, invented=invented)


def introduction(platform: Platform, simulated: Simulated) -> Iterable[tuple[str, bool]]:
    """Lines on how to use it, and whether one shows credentials, which open nothing but this simulator."""
    yield from ((sentence, False) for sentence in simulated.about)
    yield from ((f"  {token}  authenticates as {whose}", True) for token, whose in simulated.tokens.items())
    yield "Try it from another terminal:", False
    yield f"  {_command(platform, simulated)}", True
    yield "Press Ctrl-C to stop.", False


def _command(platform: Platform, simulated: Simulated) -> str:
    """A command that crawls it. Settings are options where the platform has such, otherwise variables."""
    options = {f"{platform.name}.{setting}": option for option, setting in platform.options.items()}
    named = {name: value for name, value in simulated.settings.items() if name not in options}
    variables = {f"GHCRAWL_{name.replace('.', '__').upper()}": value for name, value in named.items()}
    words = [f"{name}={shlex.quote(value)}" for name, value in {**variables, **simulated.environ}.items()]
    words += ["ghcrawl", "crawl", shlex.quote(simulated.spec)]
    for name, option in options.items():
        words += [option, shlex.quote(simulated.settings[name])] if name in simulated.settings else []
    return " ".join((*words, "--db", "simulated.db"))
