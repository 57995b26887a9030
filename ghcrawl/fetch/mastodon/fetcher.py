"""The `Fetcher` port for Mastodon: any number of hosts, each with its own tokens, limits and errors.

URLs are those of a host's API with the platform's name for a scheme. Hosts are asked by HTTPS; only those on this very
machine by HTTP. A token goes to its host and to no other, and no redirect is followed.

A call needs a call of every declared budget: Mastodon's own are 300 in five minutes for each account and for each
address. What a host says besides is heeded: nothing left, or 429, and this token waits until the host's reset.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Final, Self
from urllib.parse import quote, urlsplit

from msgspec import Struct

from ghcrawl.fetch.budgets import DeclaredBudget, DeclaredBudgets, Spent
from ghcrawl.fetch.client import Answer, Client
from ghcrawl.fetch.mastodon.answers import SCHEME, Unauthorized, limit_of, read
from ghcrawl.fetch.mastodon.hosts import ANONYMOUS, REMEMBERED_FOR, RETIRED, CredentialSlot, Host, Hosts
from ghcrawl.fetch.mastodon.tokens import HostToken
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Call, Observer
from ghcrawl.ports.quotas import Egress, Slot
from ghcrawl.ports.source import PrincipalView
from ghcrawl.ports.store import Stored
from ghcrawl.social.parsing import is_request_uri, parse
from ghcrawl.values.documents import Validator
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.outcome import Denied, Fetched, Refused, Retrieved, Throttled
from ghcrawl.values.requests import Request
from ghcrawl.values.times import iso

USER_AGENT: Final = "ghcrawl"
RESOURCE: Final = "api"
WINDOWS_AHEAD: Final = 3
"""Periods over which requests that find no quota left are spread: each period serves a limited number."""


class MastodonSettings(Struct, frozen=True, kw_only=True):
    """As the section of the settings."""

    budgets: tuple[DeclaredBudget, ...] = ()
    timeout_s: float = 60.0
    max_body_bytes: int = 100_000_000


class MastodonFetcher:
    """Asks hosts of Mastodon, as far as their limits allow. Use as an async context manager."""

    def __init__(
        self,
        settings: MastodonSettings,
        tokens: Sequence[HostToken],
        clock: Clock,
        observer: Observer,
        egress: Egress,
    ) -> None:
        headers = {"User-Agent": USER_AGENT, "Accept": "application/json"}
        self.client = Client(
            clock, headers=headers, timeout_s=settings.timeout_s, max_body_bytes=settings.max_body_bytes
        )
        self.hosts = Hosts()
        self.hosts.use(tokens)
        self._quotas = egress.quotas
        self._budgets = DeclaredBudgets(SCHEME, settings.budgets, egress, clock, longest_s=settings.timeout_s)
        self._most = min((budget.calls for budget in settings.budgets), default=300)
        self._period_s = max((budget.period_s for budget in settings.budgets), default=300.0)
        self.clock = clock
        self._observer = observer

    async def __aenter__(self) -> Self:
        await self.client.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.client.close()

    async def use(self, tokens: Sequence[HostToken]) -> None:
        """Work with these from now on. Raises ConfigError for none where there were some."""
        if not tokens and self.hosts.have_tokens:
            raise ConfigError("no token given; keeping the previous tokens")
        self.hosts.use(tokens)

    def blocked_until(self) -> datetime | None:
        """While no host that was asked may be asked: when the first may."""
        return self.hosts.blocked_until(self.clock.now()) if self.hosts.known else None

    def credential_digest(self) -> str:
        """A digest of all tokens."""
        return self.hosts.digest()

    def principals(self) -> Sequence[PrincipalView]:
        """Views of all principals."""
        now = self.clock.now()
        return self.hosts.views(now)

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        """Ask for `request.url`; conditionally, where `stored` has a validator that serves. Raises FetchError."""
        url = place_of(request.url)
        if url is None:
            return Refused(status=0, reason="foreign_url", detail=f"{request.url} is no URL of a Mastodon host")
        if not url:
            now = self.clock.now()
            return Fetched(body={}, url=request.url, observed_at=now, checked_at=now)
        name = urlsplit(url).netloc
        host = self.hosts.at(name)
        if not host.asked:
            await self._recall(host, name)
            await self._share_closing(host, name)
        host.asked = True
        if (until := host.closed(self.clock.now())) is not None:
            detail = (
                f"{name} answered {host.refusal} to its last {host.refusals} calls; nothing is asked until {iso(until)}"
            )
            return Denied(status=host.refusal, reason="forbidden", detail=detail)
        return await self._asked(request, url, host, name, stored)

    async def _asked(self, request: Request, url: str, host: Host, name: str, stored: Stored | None) -> Retrieved:
        """The answer to the first principal that may ask, or when one may."""
        validator = stored.validator if stored is not None else None
        waits: list[datetime] = []
        for slot in host.order(validator.principal if validator else ""):
            leave = await self._leave(slot, name)
            if isinstance(leave, datetime):
                waits.append(leave)
                continue
            condition = _condition(validator, url, slot)
            answer = await self._call(slot, url, condition, leave)
            if answer.status == 429:
                waits.append(slot.blocked(self.clock.now()) or self.clock.now())
                continue
            was_refusing = host.is_refusing
            host.answered(answer.status, self.clock.now())
            if host.refusals > 1:
                await self._share_closing(host, name)
            if host.is_refusing or was_refusing:
                await self._remember(host, name)
            keeps = not is_request_uri(request.url)  # a 304 costs as much, and a lookup needs the whole account
            verdict = read(answer, url=request.url, principal=slot.principal, conditional=bool(condition), keeps=keeps)
            if not isinstance(verdict, Unauthorized):
                return verdict
            if slot.token is None:
                return Denied(status=401, reason="unauthorized", detail=verdict.detail)
            slot.retire(verdict.detail)
        return self._put_off(host, waits)

    def _put_off(self, host: Host, waits: Sequence[datetime]) -> Throttled:
        """Not now. Retries are spread: a period serves a limited number."""
        now = self.clock.now()
        if not waits:
            return Throttled(until=now + RETIRED, reason="no_principal")
        windows = min(host.put_off // self._most, WINDOWS_AHEAD)
        host.put_off += 1
        reasons = {slot.reason for slot in host.order("") if slot.blocked(now)}
        return Throttled(
            until=min(waits) + timedelta(seconds=windows * self._period_s),
            reason="primary" if "primary" in reasons else "budget",
        )

    async def _share_closing(self, host: Host, name: str) -> None:
        """Let all replicas know that it is closed, or learn it from them. Raises StoreError.

        The one slot of a quota is taken until the host may be asked again.
        """
        now = self.clock.now()
        until = host.closed(now) or now
        taken = await self._quotas.take(f"{SCHEME}:closed:{name}", 1, now=now.timestamp(), until=until.timestamp())
        if isinstance(taken, float):
            host.close(datetime.fromtimestamp(taken, UTC))

    async def _recall(self, host: Host, name: str) -> None:
        """Learn that it refused everything in the past week, which outlives its hour of closing. Raises StoreError."""
        now = self.clock.now().timestamp()
        if isinstance(await self._quotas.take(f"{SCHEME}:refusing:{name}", 1, now=now, until=now), float):
            host.suspect()

    async def _remember(self, host: Host, name: str) -> None:
        """Let later processes know that it refuses everything, or that it does so no more. Raises StoreError."""
        quota, now = f"{SCHEME}:refusing:{name}", self.clock.now().timestamp()
        until = now + REMEMBERED_FOR.total_seconds() if host.is_refusing else now
        taken = await self._quotas.take(quota, 1, now=now, until=until)
        if isinstance(taken, float):
            change = self._quotas.extend if host.is_refusing else self._quotas.release
            await change(Slot(quota, 0, taken), until)

    async def _leave(self, slot: CredentialSlot, host: str) -> tuple[Spent, ...] | datetime:
        """One call of every budget, or until when to wait. Raises StoreError."""
        blocked = slot.blocked(self.clock.now())
        if blocked is not None:
            return blocked
        spent = await self._budgets.take(slot.principal, host=host)
        if isinstance(spent, float):
            slot.wait(datetime.fromtimestamp(spent, UTC), "budget")
            return datetime.fromtimestamp(spent, UTC)
        nothing_left_until = slot.take(self.clock.now())
        if nothing_left_until is not None:
            await self._budgets.cancel(spent)
            return nothing_left_until
        return spent

    async def _call(self, slot: CredentialSlot, url: str, headers: dict[str, str], spent: Sequence[Spent]) -> Answer:
        """One call, counted and observed. Raises FetchError."""
        answer: Answer | None = None
        began = self.clock.now()
        try:
            answer = await self.client.ask("GET", url, {**headers, **slot.authorization})
            return answer
        finally:
            slot.in_flight -= 1
            slot.calls += 1
            self._observe(slot, answer, (self.clock.now() - began).total_seconds())
            await self._budgets.finish(spent)

    def _observe(self, slot: CredentialSlot, answer: Answer | None, seconds: float) -> None:
        limit = limit_of(answer, self.clock.now()) if answer is not None else None
        if limit is not None:
            slot.heard(limit, self.clock.now())
        call = Call(
            platform=SCHEME,
            principal=f"{slot.host}/{slot.principal or ANONYMOUS}",
            resource=RESOURCE,
            status=answer.status if answer is not None else 0,
            seconds=max(0.0, seconds),
            charged=answer is not None,
            remaining=limit.remaining if limit else None,
            limit=limit.limit if limit else None,
            reset_at=limit.until if limit else None,
            throttle="primary" if limit is not None and limit.hit else "",
        )
        self._observer.called(call)


def _condition(validator: Validator | None, url: str, slot: CredentialSlot) -> dict[str, str]:
    """The header that asks whether our copy is current, where this very one asked for it then."""
    if validator is None or not validator.etag or (validator.url, validator.principal) != (url, slot.principal):
        return {}
    return {"If-None-Match": validator.etag}


def place_of(url: str) -> str | None:
    """What to ask for `url`; empty: nothing, since a request URI for words is about no account. None: not ours."""
    plain, _, _ = url.partition("#")
    if not plain.startswith(f"{SCHEME}://"):
        return None
    if not is_request_uri(url):
        return web_url(plain)
    uri = parse(url)
    who = [source.value for kind in ("user", "related") for source in uri.sources if source.kind == kind]
    return web_url(f"{SCHEME}://{uri.authority}/api/v1/accounts/lookup?acct={quote(who[0])}") if who else ""


def web_url(url: str) -> str:
    """A URL of this platform as the host knows it."""
    rest = url.removeprefix(f"{SCHEME}://")
    host = urlsplit(f"//{rest}").hostname or ""
    return f"{'http' if _is_here(host) else 'https'}://{rest}"


def _is_here(host: str) -> bool:
    """Whether `host` is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
