"""`ghcrawl status` and `ghcrawl config` of a service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ghcrawl import settings as setting
from ghcrawl.cli import output
from ghcrawl.cli.kinds import entity_types, kept, split
from ghcrawl.cli.server.client import connected
from ghcrawl.cli.server.ports import counts_of, depths_of
from ghcrawl.cli.snapshot import depth_line
from ghcrawl.cli.stderr import say, suggest
from ghcrawl.cli.words import number, stamp, written
from ghcrawl.model import moment
from ghcrawl.settings import Settings
from ghcrawl.wiring import github_platform


async def look(url: str) -> Mapping[str, Any]:
    """Everything about the service at a glance, as it says it. Raises ConfigError, StoreError."""
    async with connected(url, setting.environment()) as client:
        found: Mapping[str, Any] = await client.get("/api/v1/status")
        return found


async def status(url: str, *, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, StoreError."""
    found = await look(url)
    if json:
        output.write_json(found)
        return 0
    output.show_facts(facts(found, url))
    if found["deadletters"]["total"]:
        suggest("what was given up, and why", ("ghcrawl", "deadletters", "list", "--server", url))
    return 0


def facts(found: Mapping[str, Any], url: str) -> Iterable[tuple[str, str]]:
    """What a person wants to know of it, line by line."""
    now, crew = moment(found["at"]), found["loops"]
    yield "service", f"{url}, ghcrawl {found['version']} ({found['worker']}), crawls {found['api_url']}"
    yield "loops", _loops(crew)
    if crew["trouble"]:
        yield "trouble", crew["trouble"]
    if crew["blocked_until"]:
        yield "blocked", f"nobody can be asked before {stamp(moment(crew['blocked_until']))}"
    yield "waiting", depth_line(depths_of(found["queues"]))
    yield "", f"{number(sum(queue['settled_last_minute'] for queue in found['queues']))} settled in the last minute"
    things, lists = split(found["documents"]["by_type"], entity_types([github_platform(Settings())]))
    yield from kept(things, lists, counts_of(found["deadletters"]))
    for principal in found["principals"]:
        yield "asks as", _principal(principal, now)


def _loops(crew: Mapping[str, Any]) -> str:
    said = f"{crew['running']} of {crew['wanted']}, {crew['busy']} busy"
    if crew["draining"]:
        return f"{said}; stopping"
    return f"{said}; paused" if crew["paused"] else said


def _principal(principal: Mapping[str, Any], now: datetime) -> str:
    if principal["retired"]:
        return f"{principal['label']}: refused ({principal['retired']})"
    budgets = [
        f"{each['resource']} {number(each['remaining'])} of {number(each['limit'])}" for each in principal["budgets"]
    ]
    said = [", ".join(budgets) or "not asked yet", waits(principal, now)]
    return f"{principal['label']}: {'; '.join(filter(None, said))}"


def waits(principal: Mapping[str, Any], now: datetime) -> str:
    """Until when nothing is asked as this one, in words; empty where something may be."""
    benched = principal["benched_until"]
    return f"waits until {stamp(moment(benched))}" if benched and moment(benched) > now else ""


# Settings -----------------------------------------------------------------------------------------------------


async def settings(url: str) -> Mapping[str, Any]:
    """`settings`, `origins` and `live` of the service. Raises ConfigError, StoreError."""
    async with connected(url, setting.environment()) as client:
        found: Mapping[str, Any] = await client.get("/api/v1/settings")
        return found


async def change(url: str, name: str, value: str | None) -> int:
    """`name` is `value` from now on in all replicas; None: it is no longer set live. Returns the exit status.

    Raises ConfigError, and then nothing was changed; StoreError.
    """
    async with connected(url, setting.environment()) as client:
        wanted = None if value is None else setting.typed(name, value)
        done = await client.send("PATCH", "/api/v1/settings", {name: wanted})
    for change in done["changes"]:
        said = "no longer set live" if change["after"] is None else f"{written(change['after'])} from now on"
        say(f"{change['name']} is {said}, for all of {url}.")
    if not done["changes"]:
        say(f"{name} was so already.")
    return 0
