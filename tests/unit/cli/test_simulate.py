"""`ghcrawl simulate`: options that a platform's simulator does not have are refused."""

from __future__ import annotations

import pytest

from ghcrawl.cli.commands.simulate import Options
from ghcrawl.cli.simulate import introduction, simulate
from ghcrawl.platforms.registry import PLATFORMS
from ghcrawl.platforms.simulation import Simulated, Simulation
from ghcrawl.values.errors import ConfigError
from ghcrawl.wiring import simulator

EVERY = Options(tokens=2, limit=60, window=12, faults=0.1, live=True, webhook_url="http://hook/", webhook_secret="s")


@pytest.mark.parametrize("platform", [each for each in PLATFORMS if each.simulator], ids=lambda each: each.name)
async def test_each_option_is_honoured_or_refused(platform):
    for option in set(EVERY.given()) - platform.simulator.options:
        with pytest.raises(
            ConfigError, match=f"^{option}: the simulator of {platform.name} has no such option; it has"
        ):
            await simulate(platform.name, Simulation(), [option])
    assert platform.simulator.options <= set(EVERY.given())


def test_the_first_platform_is_simulated_by_default_and_has_every_option():
    platform, first = simulator("")
    assert platform is PLATFORMS[0]
    assert first.options == set(EVERY.given())


def test_options_that_were_not_given_are_left_to_the_simulator():
    assert Options().given() == {}
    assert Simulation(**dict(EVERY.given().values())) == Simulation(
        tokens=2,
        limit=60,
        window_s=12,
        faults=0.1,
        changes_per_minute=30.0,
        webhook_url="http://hook/",
        webhook_secret="s",
    )


@pytest.mark.parametrize(
    ("options", "changes"),
    [
        (Options(live=True), 30.0),
        (Options(per_minute=6), 6),
        (Options(live=True, per_minute=6), 6),
        (Options(webhook_url="http://hook/"), 30.0),
    ],
)
def test_whatever_needs_changes_makes_them(options, changes):
    assert options.given()["--live"] == ("changes_per_minute", changes)


def test_the_command_that_it_names_has_options_where_the_platform_has_them_and_variables_elsewhere():
    simulated = Simulated(
        url="http://127.0.0.1:1",
        spec="q/post user=a",
        settings={"github.api_url": "http://127.0.0.1:1", "github.calls_per_min": "0"},
        environ={"GHCRAWL_TOKENS": "a;b"},
    )
    lines = [line for line, _ in introduction(PLATFORMS[0], simulated)]
    assert lines[1] == (
        "  GHCRAWL_GITHUB__CALLS_PER_MIN=0 GHCRAWL_TOKENS='a;b' ghcrawl crawl 'q/post user=a' "
        "--api-url http://127.0.0.1:1 --db simulated.db"
    )
