"""`ghcrawl tokens` of a service: its principals, as far as it knows them. No platform is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ghcrawl.cli import output
from ghcrawl.cli.failures import FAILED
from ghcrawl.cli.server.client import connected
from ghcrawl.cli.server.running import waits
from ghcrawl.cli.stderr import complain, say, suggest
from ghcrawl.cli.words import number, time_of_day
from ghcrawl.ports.clock import SystemClock
from ghcrawl.settings import loading as setting
from ghcrawl.values.times import moment
from ghcrawl.values.type_names import LEGACY_PLATFORM

Principal = Mapping[str, Any]


async def list_(url: str, *, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, StoreError."""
    found, _ = await _answered(url)
    if json:
        output.write_json([_brief(one) for one in found])
        return 0
    if not found:
        say(_none(url))
        return 0
    output.show_rows(("credential", "traits"), [(one["label"], _traits(one)) for one in found])
    suggest("show the remaining quota", ("ghcrawl", "tokens", "check", "--server", url))
    return 0


async def check(url: str, *, json: bool) -> int:
    """Returns the exit status: 2 where one is of no use. Raises ConfigError, StoreError."""
    (found, differing), now = await _answered(url), SystemClock().now()
    if json:
        output.write_json([_figures(one) for one in found])
    elif not found:
        say(_none(url))
    else:
        headings = ("credential", "calls left", "resets at", "state")
        output.show_rows(headings, [_row(one, now) for one in found], numbers=("calls left",))
    for one in differing:
        say(differ(one["platform"], one["type"], one["fields"]))
    useless = [one for one in found if one["retired"]]
    for one in useless:
        complain(f"{one['label']} does not work: {one['retired']}")
    return FAILED if useless else 0


def differ(platform: str, type: str, fields: Sequence[str]) -> str:
    """The sentence on batches that are off."""
    return (
        f"{platform}: batches of type {type} differ from single answers in {', '.join(fields)}; "
        "they are off until ghcrawl is updated."
    )


async def _answered(url: str) -> tuple[Sequence[Principal], Sequence[Mapping[str, Any]]]:
    """The principals with a credential, and the differences, of which earlier versions do not tell."""
    async with connected(url, setting.environment()) as client:
        found = await client.get("/api/v1/principals")
    principals = [one for one in found["principals"] if not one.get("anonymous")]
    return principals, found.get("differences", ())


def _none(url: str) -> str:
    return f"{url} has no tokens: its requests are unauthenticated."


def _traits(one: Principal) -> str:
    return ", ".join(one["traits"]) or "any"


def _brief(one: Principal) -> Mapping[str, Any]:
    """As `ghcrawl tokens --json` has it. from: the service does not tell."""
    named = {"platform": one.get("platform", LEGACY_PLATFORM), "label": one["label"]}  # earlier versions tell none
    return {**named, "traits": _traits(one), "from": None, "principal": one["id"]}


def _row(one: Principal, now: datetime) -> Sequence[str]:
    budget = _budget(one)
    left = f"{number(budget['remaining'])} of {number(budget['limit'])}" if budget else "not used yet"
    reset = time_of_day(moment(budget["reset_at"]), now) if budget else ""
    return (one["label"], "" if one["retired"] else left, reset, one["retired"] or waits(one, now))


def _figures(one: Principal) -> Mapping[str, Any]:
    """As `ghcrawl tokens check --json` has it, as of the last answers; null for what only asking would tell."""
    budget = _budget(one)
    return {
        "login": None,
        **{name: budget[name] if budget else None for name in ("limit", "remaining", "reset_at")},
        "scopes": None,
        "expires_at": None,
        "trouble": one["retired"] or None,
        "label": one["label"],
    }


def _budget(one: Principal) -> Mapping[str, Any] | None:
    return next((each for each in one["budgets"] if each.get("main")), None)
