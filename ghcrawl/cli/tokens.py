"""`ghcrawl tokens` and `ghcrawl tokens check`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from ghcrawl.backend import open_backend
from ghcrawl.cli import output
from ghcrawl.cli.failures import FAILED
from ghcrawl.cli.opening import settings_of
from ghcrawl.cli.options import Place
from ghcrawl.cli.server import tokens as served
from ghcrawl.cli.stderr import complain, say, suggest
from ghcrawl.cli.unrecoverable import unanswered
from ghcrawl.cli.words import number, stamp, time_of_day
from ghcrawl.engine import batch_mismatches
from ghcrawl.platforms.credentials import CredentialCheck, LoadedCredential
from ghcrawl.ports.clock import SystemClock
from ghcrawl.settings import loading as setting
from ghcrawl.settings.sections import Settings
from ghcrawl.values.errors import ConfigError, FetchError
from ghcrawl.values.times import iso
from ghcrawl.wiring import credentials_of, mounts, source_credentials

SOON: Final = timedelta(days=14)


async def list_(place: Place, *, json: bool) -> int:
    """Returns the exit status. Raises ConfigError, StoreError."""
    if url := _server(place):
        return await served.list_(url, json=json)
    settings, _ = settings_of(place)
    found = source_credentials(settings, setting.environment())
    sourced = [(name, one) for name, ones in found.items() for one in ones]
    if json:
        output.write_json([_brief(name, one) for name, one in sourced])
        return 0
    if not sourced:
        for name in found:
            say(credentials_of(name).missing)
    if sourced:
        rows = [(name, one.credential.label, one.traits or "any", one.source) for name, one in sourced]
        output.show_rows(*_without_platform(("platform", "credential", "traits", "from"), rows))
        suggest("check them with the API", ("ghcrawl", "tokens", "check", *_typed(place)))
    return 0


async def check(place: Place, *, json: bool) -> int:
    """Returns the exit status: 2 where one cannot be used. Raises ConfigError, FetchError, StoreError."""
    if url := _server(place):
        return await served.check(url, json=json)
    settings, _ = settings_of(place)
    found = source_credentials(settings, setting.environment())
    checks = [(name, one) for name, ones in found.items() for one in await _checked(settings, name, ones)]
    now = SystemClock().now()
    if json:
        output.write_json([{**_figures(one), "label": one.label, "platform": name} for name, one in checks])
    else:
        _show(checks, now)
    for sentence in _expiring([one for _, one in checks], now):
        say(sentence)
    for name, ones in found.items():
        for sentence in credentials_of(name).remarks(ones, [one for of, one in checks if of == name]):
            say(sentence)
    for sentence in await _differing(settings):
        say(sentence)
    useless = [one for _, one in checks if one.trouble]
    for one in useless:
        complain(f"{one.label} cannot be used: {one.trouble}")
    return FAILED if useless else 0


async def _differing(settings: Settings) -> Sequence[str]:
    """What batches got wrong at these APIs, as far as a store is there that remembers it. Raises StoreError."""
    if settings.store.provider == "memory" or (settings.embedded and not settings.sqlite.path.exists()):
        return ()
    async with open_backend(settings) as backend:
        return [served.differ(*found) for found in await batch_mismatches.read_all(backend.store, mounts(settings))]


async def _checked(settings: Settings, name: str, found: Sequence[LoadedCredential]) -> Sequence[CredentialCheck]:
    """What the API of platform `name` says of its credentials. Raises FetchError."""
    asking = credentials_of(name).check(settings.section(name), [one.credential for one in found], SystemClock())
    try:
        return [one async for one in asking]
    except FetchError as error:
        base_url = mounts(settings)[name].base_url
        if error.status is not None or not base_url:
            raise
        raise FetchError(await unanswered(base_url, error), url=base_url) from error


Rows = Sequence[Sequence[str]]


def _without_platform(titles: Sequence[str], rows: Rows) -> tuple[Sequence[str], Rows]:
    """The same without its first column, the platform, where that is always the same."""
    if len({row[0] for row in rows}) > 1:
        return titles, rows
    return titles[1:], [row[1:] for row in rows]


def _show(checks: Sequence[tuple[str, CredentialCheck]], now: datetime) -> None:
    rows = []
    for name, one in checks:
        left = "no limit" if one.limit is None else f"{number(one.remaining or 0)} of {number(one.limit)}"
        reset = time_of_day(one.reset_at, now) if one.reset_at else ""
        rows.append(
            (name, one.label, one.login, "" if one.trouble else left, reset, one.trouble or _scopes(one.scopes))
        )
    titles = ("platform", "credential", "login", "calls left", "resets at", "scopes")
    output.show_rows(*_without_platform(titles, rows), numbers=("calls left",))


def _server(place: Place) -> str | None:
    """The service that is meant, if one is. Raises ConfigError."""
    if place.server and (place.tokens_file or place.api_url):
        option = "--tokens-file" if place.tokens_file else "--api-url"
        raise ConfigError(
            f"{option} cannot be combined with --server, which has its own tokens and API; omit one of them"
        )
    return place.server


def _expiring(checks: Sequence[CredentialCheck], now: datetime) -> Iterable[str]:
    for one in checks:
        if one.expires_at is not None and one.expires_at - now < SOON:
            yield f"{one.label} expires at {stamp(one.expires_at)}."


def _typed(place: Place) -> tuple[str, ...]:
    return (*place.typed(), *(("--tokens-file", str(place.tokens_file)) if place.tokens_file else ()))


def _scopes(scopes: tuple[str, ...] | None) -> str:
    if scopes is None:
        return ""
    return ", ".join(scopes) or "none: public data only"


def _brief(name: str, one: LoadedCredential) -> Mapping[str, Any]:
    return {
        "label": one.credential.label,
        "platform": name,
        "traits": one.traits or "any",
        "from": one.source,
        "principal": one.credential.principal_id,
    }


def _figures(one: CredentialCheck) -> Mapping[str, Any]:
    return {
        "login": one.login or None,
        "limit": one.limit,
        "remaining": one.remaining,
        "reset_at": iso(one.reset_at) if one.reset_at else None,
        "scopes": list(one.scopes) if one.scopes is not None else None,
        "expires_at": iso(one.expires_at) if one.expires_at else None,
        "trouble": one.trouble or None,
    }
