"""The fetcher of the AT Protocol: sends each request with an account that has budget; returns its answer as a value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from types import TracebackType
from typing import Final, Self

from msgspec import Struct

from ghcrawl import __version__
from ghcrawl.fetch.atproto.answers import BLOCKS, EXPIRED, REJECTED, Failure, body_of, failure_of, observed_at, wait_s
from ghcrawl.fetch.atproto.principals import ANONYMOUS, Principal, Server, moment_of
from ghcrawl.fetch.atproto.sessions import Account, Session, Throttle
from ghcrawl.fetch.atproto.xrpc import Method, method_of
from ghcrawl.fetch.client import Answer, Client
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Call, Observer
from ghcrawl.ports.source import BudgetView, PrincipalView
from ghcrawl.ports.store import Stored
from ghcrawl.values.documents import Validator
from ghcrawl.values.errors import ConfigError, FetchError
from ghcrawl.values.outcome import Denied, Fetched, Missing, Refused, Retrieved, Throttled, Unchanged
from ghcrawl.values.requests import Request

USER_AGENT: Final = f"ghcrawl/{__version__}"
MAX_BODY_BYTES: Final = 16_000_000


class AtprotoSettings(Struct, frozen=True, kw_only=True):
    """api_url: the server that is asked without a session. records: repositories are read, and no AppView.

    reserve: the part of a server's budget that is left to others behind the same address.
    """

    name: str
    api_url: str
    records: bool = False
    reserve: float = 0.05
    timeout_s: float = 60.0


class AtprotoFetcher:
    """Open it with `async with`."""

    def __init__(
        self, settings: AtprotoSettings, accounts: Sequence[Account], clock: Clock, observer: Observer
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._observer = observer
        headers = {"User-Agent": USER_AGENT, "Accept": "application/json"}
        self._client = Client(clock, headers=headers, timeout_s=settings.timeout_s, max_body_bytes=MAX_BODY_BYTES)
        self._servers: dict[str, Server] = {}
        self._principals = self._made(accounts, {})

    async def __aenter__(self) -> Self:
        await self._client.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    def _made(self, accounts: Sequence[Account], before: Mapping[str, Principal]) -> list[Principal]:
        if not accounts:
            return [Principal(self._server(self._settings.api_url))]
        return [
            before[account.principal_id]
            if account.principal_id in before and _same(before[account.principal_id], account)
            else Principal(self._server(account.service), Session(account, self._client, self._clock))
            for account in accounts
        ]

    def _server(self, url: str) -> Server:
        return self._servers.setdefault(url, Server(url))

    # The port -----------------------------------------------------------------------------------------------

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        """As the port says. Raises FetchError, Unsupported."""
        method = method_of(request, records=self._settings.records)
        if not method.name:
            now = self._clock.now()
            return Fetched(body={}, url=request.url, observed_at=now, checked_at=now)
        principal = self._choose()
        if isinstance(principal, Throttled):
            return principal
        try:
            answer = await self._asked(principal, method, stored)
        except Throttle as throttle:
            return Throttled(until=moment_of(throttle.until), reason="primary")
        if answer is None:
            return self._nobody()
        return self._read(answer, request, principal)

    def blocked_until(self) -> datetime | None:
        """As the port says."""
        first = min((each.waits_until for each in self._principals if not each.refused), default=None)
        if first is None:
            return self._nobody().until
        return moment_of(first) if first and first > self._clock.now().timestamp() else None

    def credential_digest(self) -> str:
        """As the port says."""
        ids = sorted(principal.id for principal in self._principals)
        return blake2b(" ".join(ids).encode(), digest_size=8).hexdigest()

    def principals(self) -> Sequence[PrincipalView]:
        """As the port says."""
        return [self._view(principal) for principal in self._principals]

    def refused(self) -> str:
        """Why no account is accepted, if none is."""
        reasons = [principal.refused for principal in self._principals]
        return reasons[0] if all(reasons) else ""

    async def use(self, accounts: Sequence[Account]) -> None:
        """As the port says; raises ConfigError where there are none."""
        if not accounts:
            raise ConfigError("no account given; keeping the previous accounts")
        self._principals = self._made(accounts, {principal.id: principal for principal in self._principals})

    async def trouble(self, account: Account) -> str:
        """Why an account cannot be used; empty: it can. Makes a session. Raises FetchError."""
        session = Session(account, self._client, self._clock)
        try:
            await session.token()
        except Throttle:
            return "the server makes no session just now; try again later"
        return session.refused

    # Asking -------------------------------------------------------------------------------------------------

    def _choose(self) -> Principal | Throttled:
        """The least busy of the principals that may ask now."""
        now = self._clock.now().timestamp()
        usable = [each for each in self._principals if not each.refused]
        free = [each for each in usable if each.waits_until <= now]
        if free:
            return min(free, key=lambda each: (each.in_flight, each.calls))
        if not usable:
            return self._nobody()
        return Throttled(until=moment_of(min(each.waits_until for each in usable)), reason="primary")

    def _nobody(self) -> Throttled:
        return Throttled(until=moment_of(self._clock.now().timestamp() + 60.0), reason="no_principal")

    async def _asked(self, principal: Principal, method: Method, stored: Stored | None) -> Answer | None:
        """The answer; None: the account is refused. An expired token is renewed, and the method asked once more."""
        session, headers = principal.session, _condition(stored, principal)
        token = await session.token() if session else ""
        answer = await self._call(principal, method, headers, token)
        if session is None or not _wants_renewal(answer):
            return answer
        token = await session.renewed(token)
        return await self._call(principal, method, headers, token) if token else None

    async def _call(
        self, principal: Principal, method: Method, headers: Mapping[str, str], token: str
    ) -> Answer | None:
        if principal.session and not token:
            return None
        asking = {**headers, "Authorization": f"Bearer {token}"} if token else headers
        principal.in_flight += 1
        principal.calls += 1
        answer = None
        try:
            answer = await self._client.ask("GET", principal.server.url + method.path, asking)
        finally:
            principal.in_flight -= 1
            self._observe(principal, answer)
        return answer

    def _observe(self, principal: Principal, answer: Answer | None) -> None:
        """Every answer is charged here, an unchanged one as well."""
        server = principal.server
        if answer is not None:
            server.note(answer, self._settings.reserve)
        limited = answer is not None and answer.status == 429
        if limited and answer is not None:
            server.benched_until = max(server.benched_until, answer.ended + wait_s(answer))
        self._observer.called(
            Call(
                platform=self._settings.name,
                principal=principal.id,
                resource="main",
                status=answer.status if answer else 0,
                seconds=answer.seconds if answer else 0.0,
                charged=True,
                remaining=server.remaining if server.limit else None,
                limit=server.limit or None,
                reset_at=moment_of(server.resets_at) if server.limit else None,
                throttle="primary" if limited else "",
            )
        )

    # Reading ------------------------------------------------------------------------------------------------

    def _read(self, answer: Answer, request: Request, principal: Principal) -> Retrieved:
        if answer.status == 304:
            return Unchanged(checked_at=answer.asked_at)
        if answer.status == 429:
            return Throttled(until=moment_of(principal.server.benched_until), reason="primary")
        if answer.status >= 500 and answer.status != 501:
            raise FetchError(f"{answer.status} {failure_of(answer).text}", url=request.url, status=answer.status)
        if answer.status != 200:
            return _failed(failure_of(answer), answer)
        body = body_of(answer)
        if not isinstance(body, dict):
            return Refused(
                status=0,
                reason="too_large" if answer.body is None else "invalid_json",
                detail=f"{request.url} answered no JSON object",
            )
        if request.type == "post" and body.get("posts") == []:
            return Missing(status=404, detail="no such post", observed_at=observed_at(answer))
        etag = answer.headers.get("ETag")
        return Fetched(
            body=body,
            url=request.url,
            observed_at=observed_at(answer),
            checked_at=answer.asked_at,
            validator=Validator(url=request.url, etag=etag, principal=principal.server.url) if etag else None,
        )

    def _view(self, principal: Principal) -> PrincipalView:
        server, now = principal.server, self._clock.now().timestamp()
        budget = BudgetView(
            resource="main",
            limit=server.limit,
            remaining=server.remaining,
            reset_at=moment_of(server.resets_at),
            reserved=int(server.limit * self._settings.reserve),
            main=True,
        )
        benched = principal.waits_until > now
        return PrincipalView(
            id=principal.id,
            label=principal.session.account.label if principal.session else ANONYMOUS,
            fingerprint=principal.id,
            budgets=(budget,) if server.limit and server.resets_at > now else (),
            calls=principal.calls,
            in_flight=principal.in_flight,
            anonymous=principal.session is None,
            benched_until=moment_of(principal.waits_until) if benched else None,
            benched_for="primary" if benched else "",
            retired=principal.refused,
        )


def _same(principal: Principal, account: Account) -> bool:
    return principal.session is not None and principal.session.account == account


def _condition(stored: Stored | None, principal: Principal) -> dict[str, str]:
    """A weak ETag is of the very bytes that one server would send."""
    validator = stored.validator if stored is not None else None
    if validator is None or not validator.etag or validator.principal != principal.server.url:
        return {}
    return {"If-None-Match": validator.etag}


def _wants_renewal(answer: Answer | None) -> bool:
    return answer is not None and answer.status in (400, 401) and failure_of(answer).name in EXPIRED | REJECTED


def _failed(failure: Failure, answer: Answer) -> Retrieved:
    """The outcome of an error, by its name."""
    status, seen = answer.status, observed_at(answer)
    if failure.gone:
        return Missing(status=410, detail=failure.text, observed_at=seen)
    if failure.absent or status == 404:
        return Missing(status=404, detail=failure.text, observed_at=seen)
    if failure.name in BLOCKS:
        return Denied(status=status, reason="blocked", detail=failure.text)
    if failure.name in EXPIRED | REJECTED or status == 401:
        return Denied(status=status, reason="unauthorized", detail=failure.text)
    if status == 403:
        return Denied(status=status, reason="forbidden", detail=failure.text or "forbidden")
    return Refused(status=status, reason="refused", detail=failure.text or f"status {status}")
