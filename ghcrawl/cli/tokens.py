"""`ghcrawl tokens` and `ghcrawl tokens check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from ghcrawl import settings as setting
from ghcrawl.cli import output
from ghcrawl.cli.failures import FAILED
from ghcrawl.cli.hopeless import unanswered
from ghcrawl.cli.opening import settings_of
from ghcrawl.cli.options import Place
from ghcrawl.cli.server import tokens as served
from ghcrawl.cli.stderr import complain, say, suggest
from ghcrawl.cli.words import number, stamp, time_of_day
from ghcrawl.clock import SystemClock
from ghcrawl.errors import ConfigError, FetchError
from ghcrawl.model import iso
from ghcrawl.wiring import Checked, Sourced, check_credentials, source_credentials

SOON: Final = timedelta(days=14)
NONE: Final = (
    "There are no tokens, so everything is asked as nobody, which GitHub allows 60 times an hour. Make one at "
    "https://github.com/settings/tokens (for public data it needs no scope at all), and put it into GHCRAWL_TOKENS."
)


async def list_(place: Place, *, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, StoreError."""
    if url := _server(place):
        return await served.list_(url, json=json)
    settings, _ = settings_of(place)
    found = source_credentials(settings, setting.environment())
    if json:
        output.write_json([_brief(one) for one in found])
        return 0
    if not found:
        say(NONE)
        return 0
    output.show_rows(
        ("credential", "traits", "from"), [(one.credential.label, _traits(one), one.source) for one in found]
    )
    suggest("asks the API about them", ("ghcrawl", "tokens", "check", *_typed(place)))
    return 0


async def check(place: Place, *, json: bool) -> int:
    """Returns the exit status: 2 where one is of no use. Raises ConfigError, FetchError, StoreError."""
    if url := _server(place):
        return await served.check(url, json=json)
    settings, _ = settings_of(place)
    found = source_credentials(settings, setting.environment())
    try:
        checks = [one async for one in check_credentials(settings, [one.credential for one in found])]
    except FetchError as error:
        if error.status is not None:
            raise
        api_url = settings.github.api_url
        raise FetchError(await unanswered(api_url, error), url=api_url) from error
    now = SystemClock().now()
    if json:
        output.write_json([{**_figures(one), "label": one.label} for one in checks])
    else:
        _show(checks, now)
    for sentence in _expiring(checks, now):
        say(sentence)
    for sentence in _shared(found, [one.login for one in checks]):
        say(sentence)
    useless = [one for one in checks if one.trouble]
    for one in useless:
        complain(f"{one.label} is of no use: {one.trouble}")
    return FAILED if useless else 0


def _show(checks: Sequence[Checked], now: datetime) -> None:
    rows = []
    for one in checks:
        left = "no limit" if one.limit is None else f"{number(one.remaining or 0)} of {number(one.limit)}"
        reset = time_of_day(one.reset_at, now) if one.reset_at else ""
        rows.append((one.label, one.login, "" if one.trouble else left, reset, one.trouble or _scopes(one.scopes)))
    output.show_rows(("credential", "login", "calls left", "new at", "scopes"), rows, numbers=("calls left",))


def _server(place: Place) -> str | None:
    """The service that is meant, if one is. Raises ConfigError."""
    if place.server and (place.tokens_file or place.api_url):
        option = "--tokens-file" if place.tokens_file else "--api-url"
        raise ConfigError(f"a service has tokens and an API of its own; leave out {option}, or --server")
    return place.server


def _expiring(checks: Sequence[Checked], now: datetime) -> Iterable[str]:
    for one in checks:
        if one.expires_at is not None and one.expires_at - now < SOON:
            yield f"{one.label} is good until {stamp(one.expires_at)} only."


def _shared(found: Sequence[Sourced], logins: Sequence[str]) -> Iterable[str]:
    """Tokens of one user have one budget, and must be said to."""
    principals: dict[str, set[str]] = {}
    for one, login in zip(found, logins, strict=False):
        if login:
            principals.setdefault(login, set()).add(one.credential.principal_id)
    counts = Counter(filter(None, logins))
    for login, ids in principals.items():
        if len(ids) > 1:
            yield f"{counts[login]} tokens belong to {login} and share one budget; write #user:{login} behind each."
    for one, login in zip(found, logins, strict=False):
        declared = getattr(one.credential, "user", "")
        if declared and login and declared != login.lower():
            yield f"{one.credential.label} belongs to {login}; correct its #user:{declared}."


def _typed(place: Place) -> tuple[str, ...]:
    return (*place.typed(), *(("--tokens-file", str(place.tokens_file)) if place.tokens_file else ()))


def _traits(one: Sourced) -> str:
    traits = one.credential.traits
    flags = [name for name in ("public", "private", "admin") if getattr(traits, name)]
    return ", ".join([*flags, *(f"org:{org}" for org in sorted(traits.orgs))]) or "any"


def _scopes(scopes: tuple[str, ...] | None) -> str:
    if scopes is None:
        return ""
    return ", ".join(scopes) or "none: public data only"


def _brief(one: Sourced) -> Mapping[str, Any]:
    return {
        "label": one.credential.label,
        "traits": _traits(one),
        "from": one.source,
        "principal": one.credential.principal_id,
    }


def _figures(one: Checked) -> Mapping[str, Any]:
    return {
        "login": one.login or None,
        "limit": one.limit,
        "remaining": one.remaining,
        "reset_at": iso(one.reset_at) if one.reset_at else None,
        "scopes": list(one.scopes) if one.scopes is not None else None,
        "expires_at": iso(one.expires_at) if one.expires_at else None,
        "trouble": one.trouble or None,
    }
