"""Checks credentials with the API: owner, remaining budget, scopes, expiry."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from ghcrawl.fetch.client import Answer, Client
from ghcrawl.fetch.github.app_auth import InstallationTokens, MintRefused
from ghcrawl.fetch.github.calls import Calls, new_client
from ghcrawl.fetch.github.principals import Anonymous, Credential, Installation, Token
from ghcrawl.fetch.github.refusals import said
from ghcrawl.fetch.github.settings import GitHubSettings
from ghcrawl.fetch.redaction import Secret
from ghcrawl.platforms.credentials import CredentialCheck
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Call, Settled
from ghcrawl.values.errors import CrawlError, FetchError
from ghcrawl.values.frozen import replace

_EXPIRY: Final = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:UTC|([+-]\d{4}))")


async def check(
    settings: GitHubSettings, credentials: Sequence[Credential], clock: Clock
) -> AsyncIterator[CredentialCheck]:
    """Each of `credentials`, or an anonymous call if there are none. Costs a call for each token. Raises FetchError."""
    client = new_client(settings, clock)
    await client.open()
    try:
        calls = Calls(settings, client, clock, _Unobserved())
        for credential in credentials or (Anonymous(),):
            yield await _checked(settings.api_url, credential, client, calls)
    finally:
        await client.close()


async def _checked(api_url: str, credential: Credential, client: Client, calls: Calls) -> CredentialCheck:
    checked = CredentialCheck(label=credential.label)
    try:
        header = await _header(credential, calls)
    except _Useless as error:
        return replace(checked, trouble=str(error))
    headers = {"Authorization": header} if header else {}
    answer = await client.ask("GET", f"{api_url}/rate_limit", headers)
    if answer.status in (401, 403):
        return replace(checked, trouble=f"{answer.status} {said(answer)}")
    checked = _with_budget(checked, answer)
    return (
        _with_owner(checked, await client.ask("GET", f"{api_url}/user", headers)) if _is_token(credential) else checked
    )


class _Useless(CrawlError):
    """The App gets no token."""


async def _header(credential: Credential, calls: Calls) -> Secret:
    """The value of `Authorization`; empty: no credential."""
    match credential:
        case Token(secret=secret):
            return Secret(f"Bearer {secret}")
        case Installation():
            tokens = InstallationTokens(credential, calls.mint, calls.server_now)
            try:
                minted = await tokens.renew()
            except FetchError as error:
                if error.status is None:
                    raise
                raise _Useless(str(error)) from error
            finally:
                await tokens.close()
            if isinstance(minted, MintRefused):
                raise _Useless(minted.reason)
            return minted.header
        case Anonymous():
            return Secret()


def _is_token(credential: Credential) -> bool:
    return isinstance(credential, Token)


def _with_budget(checked: CredentialCheck, answer: Answer) -> CredentialCheck:
    core = _object(_object(_object(answer).get("resources")).get("core"))
    limit, remaining, reset = (core.get(name) for name in ("limit", "remaining", "reset"))
    if not isinstance(limit, int) or not isinstance(remaining, int) or not isinstance(reset, int):
        return checked  # a server that limits nothing says so with 404
    return replace(checked, limit=limit, remaining=remaining, reset_at=datetime.fromtimestamp(reset, UTC))


def _with_owner(checked: CredentialCheck, answer: Answer) -> CredentialCheck:
    if answer.status != 200:
        return replace(checked, trouble=f"{answer.status} {said(answer)}")
    scopes = answer.headers.get("X-OAuth-Scopes")
    login = _object(answer).get("login")
    return replace(
        checked,
        login=login if isinstance(login, str) else "",
        scopes=None if scopes is None else tuple(filter(None, (scope.strip() for scope in scopes.split(",")))),
        expires_at=_expiry(answer.headers.get("GitHub-Authentication-Token-Expiration", "")),
    )


def _expiry(text: str) -> datetime | None:
    """GitHub writes `2026-12-24 10:00:00 UTC`, or an offset."""
    match = _EXPIRY.match(text)
    if match is None:
        return None
    return datetime.strptime(f"{match[1]} {match[2] or '+0000'}", "%Y-%m-%d %H:%M:%S %z")


def _object(value: Any) -> Mapping[str, Any]:
    if isinstance(value, Answer):
        try:
            value = json.loads(value.body or b"")
        except (ValueError, RecursionError):
            value = None
    return value if isinstance(value, dict) else {}


class _Unobserved:
    """These calls are not counted."""

    def settled(self, settled: Settled) -> None: ...

    def called(self, call: Call) -> None: ...
