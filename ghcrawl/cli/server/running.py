"""`ghcrawl status` and `ghcrawl config` of a service."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from ghcrawl.cli import output
from ghcrawl.cli.kinds import entity_types, kept, split
from ghcrawl.cli.server.client import connected
from ghcrawl.cli.server.ports import counts_of, depths_of, types_of
from ghcrawl.cli.snapshot import depth_line
from ghcrawl.cli.stderr import say, suggest
from ghcrawl.cli.words import number, stamp, written
from ghcrawl.ports.queue import by_queue
from ghcrawl.settings import loading as setting
from ghcrawl.values.times import moment
from ghcrawl.wiring import PLATFORMS, SETTINGS


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
        suggest("list deadletters and their reasons", ("ghcrawl", "deadletters", "list", "--server", url))
    return 0


def facts(found: Mapping[str, Any], url: str) -> Iterable[tuple[str, str]]:
    """What a person wants to know of it, line by line."""
    now, workers = moment(found["at"]), found["loops"]
    yield (
        "service",
        f"{url}, ghcrawl {found['version']} ({found['worker']}), crawls {_crawled(found)}",
    )
    yield "workers", _loops(workers)
    if workers["trouble"]:
        yield "error", workers["trouble"]
    if workers["blocked_until"]:
        yield "blocked", f"no API calls before {stamp(moment(workers['blocked_until']))}"
    elif workers.get("blocked"):
        for platform, until in workers["blocked"].items():
            yield "blocked", f"{platform} until {stamp(moment(until))}; the others go on"
    for host in workers["unreachable_hosts"]:
        yield "unreachable", f"{host['base_url']} since {stamp(moment(host['since']))}: {host['reason']}"
    yield "waiting", depth_line(by_queue(depths_of(found["queues"])))
    yield "", f"{number(sum(queue['settled_last_minute'] for queue in found['queues']))} settled in the last minute"
    things, lists = split(types_of(found["documents"]), entity_types(PLATFORMS))
    yield from kept(things, lists, counts_of(found["deadletters"]))
    for principal in found["principals"]:
        yield "credential", _principal(principal, now)


def _crawled(found: Mapping[str, Any]) -> str:
    """Its platforms: the base URL of an API, or a name. Older services list those with a base URL alone."""
    bases: Mapping[str, str] = found["base_urls"]
    return ", ".join(bases.get(platform, platform) for platform in found.get("platforms", bases))


def _loops(workers: Mapping[str, Any]) -> str:
    said = f"{workers['running']} of {workers['wanted']}, {workers['busy']} busy"
    if workers["draining"]:
        return f"{said}; stopping"
    return f"{said}; paused" if workers["paused"] else said


def _principal(principal: Mapping[str, Any], now: datetime) -> str:
    label, host = principal["label"], principal.get("host", "")
    if principal["retired"]:
        return f"{label}: refused ({principal['retired']})"
    said = [", ".join(_budget(each, host) for each in principal["budgets"]) or "not used yet", waits(principal, now)]
    return f"{label}: {'; '.join(filter(None, said))}"


def _budget(budget: Mapping[str, Any], host: str) -> str:
    """What is left of it. The name of the host is in the label already."""
    left = f"{number(budget['remaining'])} of {number(budget['limit'])}"
    return left if budget["resource"] == host else f"{budget['resource']} {left}"


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
    """`name` is `value` from now on in all replicas; None: it is unset. Returns the exit status.

    Raises ConfigError, and then nothing was changed; StoreError.
    """
    async with connected(url, setting.environment()) as client:
        wanted = None if value is None else setting.typed(name, value, SETTINGS)
        done = await client.send("PATCH", "/api/v1/settings", {name: wanted})
    for change in done["changes"]:
        said = "unset" if change["after"] is None else f"now {written(change['after'])}"
        say(f"{change['name']} is {said} in all replicas of {url}.")
    if not done["changes"]:
        say(f"{name} already has this value.")
    return 0
