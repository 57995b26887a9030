"""GitHub Apps: a key makes a JWT, a JWT makes an installation token, and that lives for an hour."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog
from msgspec import Struct

from ghcrawl.fetch.github.principals import Installation, Traits, fingerprint
from ghcrawl.fetch.redaction import REDACTOR, Secret
from ghcrawl.values.errors import ConfigError, FetchError
from ghcrawl.values.frozen import replace
from ghcrawl.values.times import iso

if TYPE_CHECKING:
    from ghcrawl.fetch.github.app_key import AppKey

log = structlog.stdlib.get_logger(__name__)

RENEW_BEFORE: Final = timedelta(minutes=5)
RETRY_RENEWAL: Final = timedelta(seconds=30)
CLOCK_WRONG: Final = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Minted:
    """An installation token. expires_at is the server's; renew_at is when to want another, by the server's clock."""

    header: Secret = field(repr=False)
    fingerprint: str
    expires_at: datetime
    renew_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class MintAnswer:
    """What the server said to a request for a token. token: empty where it gave none."""

    status: int
    token: Secret = field(default=Secret(), repr=False)
    expires_at: datetime | None = None
    message: str = ""


class MintRefused(Struct, frozen=True, kw_only=True):
    """The server gives this App no token, and asking again soon would not change that."""

    status: int
    reason: str


Mint = Callable[[Installation, Secret], Awaitable[MintAnswer]]
"""Asks for a token with a JWT. Raises FetchError where no answer came."""


def read_installation(app_id: str, installation_id: int, key_file: Path, traits: Traits | None = None) -> Installation:
    """An installation with the key of `key_file`. Raises ConfigError for a key that cannot be read or used."""
    try:
        key, trouble = key_file.read_text(encoding="utf-8"), ""
    except OSError as error:
        key, trouble = "", str(error)
    except UnicodeDecodeError:
        key, trouble = "", "it is no text"
    if trouble:
        raise ConfigError(f"the key of GitHub App {app_id} cannot be read from {key_file}: {trouble}")
    installation = Installation(
        app_id=app_id, installation_id=installation_id, private_key=Secret(key), traits=traits or Traits()
    )
    app_key(installation)
    return installation


def app_key(installation: Installation) -> AppKey:
    """The key of its App. Raises ConfigError."""
    from ghcrawl.fetch.github.app_key import AppKey  # noqa: PLC0415  # loads cryptography, where there is an App

    return AppKey(installation)


class InstallationTokens:
    """Always has a token that lives for some minutes more: minted on demand, once for all who wait for it."""

    def __init__(self, installation: Installation, mint: Mint, server_now: Callable[[], datetime]) -> None:
        self._installation = installation
        self._key = app_key(installation)
        self._mint = mint
        self._server_now = server_now
        self._minted: Minted | None = None
        self._minting: asyncio.Task[Minted | MintRefused] | None = None

    @property
    def ready(self) -> Minted | None:
        """The token to use; None: `renew` first."""
        minted = self._minted
        return minted if minted is not None and self._server_now() < minted.renew_at else None

    @property
    def present(self) -> Minted | None:
        """The token at hand, be it about to expire; None: there is none."""
        return self._minted

    def drop(self) -> None:
        """The present token is good for nothing."""
        if self._minted is not None:
            REDACTOR.discard(self._minted.header.removeprefix("Bearer "))
        self._minted = None

    async def renew(self) -> Minted | MintRefused:
        """A token with some minutes of life. Raises FetchError where no answer came and the old one has expired."""
        if self._minting is None:
            self._minting = asyncio.get_running_loop().create_task(self._renewed(), name="mint-token")
            self._minting.add_done_callback(self._done)
        minting = self._minting
        try:
            return await asyncio.shield(minting)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if not minting.cancelled() or (task is not None and task.cancelling()):
                raise
        raise FetchError("this GitHub App is no longer in use", url="")

    async def close(self) -> None:
        """Nothing is being minted any more."""
        if self._minting is not None:
            self._minting.cancel()
            await asyncio.gather(self._minting, return_exceptions=True)

    def _done(self, task: asyncio.Task[Minted | MintRefused]) -> None:
        self._minting = None
        if not task.cancelled():
            task.exception()  # retrieved here, because no caller may be left and asyncio would report it

    async def _renewed(self) -> Minted | MintRefused:
        try:
            answer = await self._answered()
        except FetchError as error:
            return self._make_do(error)
        if answer.expires_at is not None:
            return self._keep(answer.token, answer.expires_at)
        installation = self._installation
        what = f"no token for installation {installation.installation_id} of GitHub App {installation.app_id}"
        return MintRefused(status=answer.status, reason=f"{what}: {answer.status} {answer.message}".rstrip())

    async def _answered(self) -> MintAnswer:
        """The server's answer; to a second question, if the first one only showed that our clock is wrong."""
        asked_at = self._server_now()
        answer = await self._mint(self._installation, self._key.jwt(asked_at))
        corrected = self._server_now()
        if answer.status == 401 and abs(corrected - asked_at) > CLOCK_WRONG:
            answer = await self._mint(self._installation, self._key.jwt(corrected))
        return answer

    def _keep(self, token: Secret, expires_at: datetime) -> Minted:
        self.drop()
        REDACTOR.add(token)
        self._minted = Minted(
            header=Secret(f"Bearer {token}"),
            fingerprint=fingerprint(token),
            expires_at=expires_at,
            renew_at=max(expires_at - RENEW_BEFORE, self._server_now() + RETRY_RENEWAL),
        )
        log.info("app_token_minted", installation=self._installation.label, expires_at=iso(expires_at))
        return self._minted

    def _make_do(self, error: FetchError) -> Minted:
        """The old token for a while longer, if it still lives."""
        now, minted = self._server_now(), self._minted
        if minted is None or now >= minted.expires_at:
            raise error
        log.warning("app_token_kept", installation=self._installation.label, error=str(error))
        self._minted = replace(minted, renew_at=min(now + RETRY_RENEWAL, minted.expires_at))
        return self._minted
