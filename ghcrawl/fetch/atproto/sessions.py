"""Who asks: accounts with an app password, each with a session that is renewed once however many calls find it expired.

An access token lasts two hours; the refresh token replaces both, and itself. Every process has sessions of its own, so
nothing that one replica rotates is in another's hands.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from ghcrawl.fetch.atproto.answers import EXPIRED, REJECTED, body_of, failure_of, wait_s
from ghcrawl.fetch.client import Answer, Client
from ghcrawl.fetch.redaction import REDACTOR, Secret
from ghcrawl.ports.clock import Clock
from ghcrawl.values.errors import ConfigError, FetchError

DEFAULT_SERVICE: Final = "https://bsky.social"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account to ask as. identifier: its handle or DID; service: the server that holds it."""

    identifier: str
    password: Secret = field(repr=False)
    service: str = DEFAULT_SERVICE

    @property
    def principal_id(self) -> str:
        """The same for every password of the account."""
        return f"{self.identifier}@{urlsplit(self.service).netloc}"

    @property
    def label(self) -> str:
        """For people."""
        return self.identifier


def read_accounts(text: str, *, source: str) -> Sequence[Account]:
    """The accounts in `text`: a line each, `handle app-password [server]`; `#` starts a comment.

    Raises ConfigError, which shows no password.
    """
    found: dict[str, Account] = {}
    for number, line in enumerate(text.replace(";", "\n").splitlines(), start=1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) not in (2, 3):
            raise ConfigError(f"{source}, line {number}: write HANDLE APP-PASSWORD, or HANDLE APP-PASSWORD SERVER")
        service = (words[2] if len(words) == 3 else DEFAULT_SERVICE).rstrip("/")
        if not service.startswith(("https://", "http://")):
            raise ConfigError(f"{source}, line {number}: the server must be a URL such as {DEFAULT_SERVICE}")
        account = Account(identifier=words[0].removeprefix("@"), password=Secret(words[1]), service=service)
        if account.principal_id in found:
            raise ConfigError(f"{source}, line {number}: {account.identifier} is there twice")
        found[account.principal_id] = account
    return tuple(found.values())


class Throttle(Exception):
    """The server makes no session just now. until: epoch seconds, by our clock."""

    def __init__(self, until: float) -> None:
        super().__init__(f"no session before {until}")
        self.until = until


class Session:
    """One account's session. refused: why the server makes none, ever; empty: it does. renewals: how often it was."""

    def __init__(self, account: Account, client: Client, clock: Clock) -> None:
        self.account = account
        self.refused = ""
        self.renewals = 0
        self._client = client
        self._clock = clock
        self._access = ""
        self._refresh = ""
        self._until = 0.0
        self._lock = asyncio.Lock()

    @property
    def waits_until(self) -> float:
        """Until when the server makes no session, in epoch seconds; 0: it does."""
        return self._until if not self._access and self._until > self._clock.now().timestamp() else 0.0

    async def token(self) -> str:
        """An access token, perhaps expired; empty: the account is refused. Raises Throttle, FetchError."""
        return self._access or await self.renewed("")

    async def renewed(self, old: str) -> str:
        """A token that is not `old`, of which the server said that it has expired. Raises Throttle, FetchError."""
        async with self._lock:
            if self._access == old and not self.refused:
                self._access = ""
                if not (self._refresh and await self._refreshed()):
                    await self._create()
            return self._access

    async def _refreshed(self) -> bool:
        refresh, self._refresh = self._refresh, ""
        answer = await self._ask("com.atproto.server.refreshSession", {"Authorization": f"Bearer {refresh}"})
        if answer.status != 200:
            self._demand_patience(answer, refresh)
        return answer.status == 200 and self._keep(answer)

    async def _create(self) -> None:
        if (now := self._clock.now().timestamp()) < self._until:
            raise Throttle(max(self._until, now))
        body = {"identifier": self.account.identifier, "password": str(self.account.password)}
        answer = await self._ask("com.atproto.server.createSession", {}, body)
        if answer.status != 200:
            self._demand_patience(answer)
            failure = failure_of(answer)
            if failure.name not in EXPIRED | REJECTED and not failure.gone:
                raise FetchError(f"no session: {failure.text}", url=answer.url, status=answer.status)
            self.refused = failure.text
        elif not self._keep(answer):
            raise FetchError("a session without tokens", url=answer.url, status=answer.status)

    def _demand_patience(self, answer: Answer, refresh: str = "") -> None:
        """Raises Throttle or FetchError for what may be otherwise later; a refresh token is then not used up."""
        if answer.status == 429:
            self._refresh = refresh
            self._until = answer.ended + wait_s(answer)
            raise Throttle(self._until)
        if answer.status >= 500:
            self._refresh = refresh
            raise FetchError("the server makes no session", url=answer.url, status=answer.status)

    def _keep(self, answer: Answer) -> bool:
        body = body_of(answer)
        access, refresh = (
            (body.get(name) for name in ("accessJwt", "refreshJwt")) if isinstance(body, dict) else ("", "")
        )
        if not (isinstance(access, str) and isinstance(refresh, str) and access and refresh):
            return False
        for secret in (access, refresh):
            REDACTOR.add(secret)
        self._access, self._refresh = access, refresh
        self.renewals += 1
        return True

    async def _ask(self, name: str, headers: dict[str, str], body: object = None) -> Answer:
        return await self._client.ask("POST", f"{self.account.service}/xrpc/{name}", headers, json=body)
