"""The `Fetcher` port for GitHub: asks for one resource with the best principal and returns the answer as a value.

Two statuses concern the credential rather than the request:

* **401** retires the credential, for an hour, and the request goes to the next one at once. While none is left the
  requests are put off and `blocked_until` holds the backlog in the broker: an expired token must neither bury a
  backlog nor lose it. `refused` says in one line what is wrong, for the command line to stop with and for alerts.
* **403 for this credential only** (single sign-on, IP allow list, missing permission) is remembered for an hour, and
  the request goes to the next one. `Denied` is what remains when no other principal may ask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, Literal, Self

from msgspec import Struct

from ghcrawl.fetch.budgets import DeclaredBudgets
from ghcrawl.fetch.github.app_auth import app_key
from ghcrawl.fetch.github.budget import GRAPHQL
from ghcrawl.fetch.github.calls import PLATFORM, Calls, RedirectState, new_client
from ghcrawl.fetch.github.conditions import smaller_page, usable
from ghcrawl.fetch.github.credential_slot import CredentialSlot
from ghcrawl.fetch.github.pool import Grant, Need, Pool
from ghcrawl.fetch.github.principals import Credential
from ghcrawl.fetch.github.queries import QUERIES
from ghcrawl.fetch.github.querying import Queries
from ghcrawl.fetch.github.refusals import Limited, Unauthorized, Unfit, foreign, led_away
from ghcrawl.fetch.github.responses import Moved, Verdict
from ghcrawl.fetch.github.settings import GitHubSettings, accept_for
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Observer
from ghcrawl.ports.quotas import Egress
from ghcrawl.ports.source import PrincipalView
from ghcrawl.ports.store import Stored
from ghcrawl.values.documents import Validator
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Denied, Missing, Refused, Retrieved, Throttled
from ghcrawl.values.requests import Request

MAX_REDIRECTS: Final = 5
REST_S: Final = 60.0
MAX_ASKED: Final = 10
"""Credentials one fetch tries at the most: more refusals than that are no matter of this request."""


class _Elsewhere(Struct, frozen=True, kw_only=True):
    """Ask again, as `need` says; `otherwise` is the answer if no principal can."""

    need: Need
    otherwise: Retrieved | None = None


class GitHubFetcher:
    """Asks GitHub, as far as the principals' limits allow. Use as an async context manager."""

    def __init__(
        self,
        settings: GitHubSettings,
        credentials: Sequence[Credential],
        clock: Clock,
        observer: Observer,
        egress: Egress,
    ) -> None:
        self.api_url = settings.api_url
        self._settings = settings
        self._credentials = tuple(credentials)
        self._clock = clock
        self._client = new_client(settings, clock)
        self._calls = Calls(settings, self._client, clock, observer)
        declared = DeclaredBudgets(PLATFORM, settings.budgets, egress, clock, longest_s=settings.timeout_s)
        self._pool = Pool(settings, clock, self._calls.mint, self._calls.server_now, declared)
        self._queries = Queries(settings, self._calls, self._pool, clock)

    async def __aenter__(self) -> Self:
        await self._pool.use(self._credentials)
        await self._client.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._pool.close()
        await self._client.close()

    async def use(self, credentials: Sequence[Credential]) -> None:
        """Work with these from now on; those that were there before keep their budgets.

        Raises ConfigError for none at all: without a credential, private things look deleted.
        """
        if not credentials:
            raise ConfigError("no token given; keeping the previous tokens")
        await self._pool.use(credentials)

    def set_limits(self, *, concurrency: int, reserve: float) -> None:
        """concurrency: calls in flight per principal; reserve: the part of its budgets that is left to others."""
        self._pool.limit(concurrency=concurrency, reserve=reserve)

    def blocked_until(self) -> datetime | None:
        """While no principal has quota for `core`: when the first will. None: go ahead."""
        return self._pool.blocked_until()

    def credential_digest(self) -> str:
        """A digest of all credentials; installation tokens count as the installation, however often they are minted."""
        return self._pool.credential_digest()

    def refused(self) -> str:
        """Why no credential is accepted at all, as one line without secrets; empty while one is."""
        return self._pool.refused()

    def principals(self) -> tuple[PrincipalView, ...]:
        """Views of all credentials."""
        return self._pool.views()

    def batched(self) -> frozenset[str]:
        """The types of which many can be asked for at once, just now."""
        return self._queries.batched()

    def disproved(self, type: str, fields: Sequence[str]) -> None:
        """A batch of that type differed from REST in these fields: it is not asked for any more."""
        self._queries.disproved(type, fields)

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        """Ask for `request.url`; conditionally, where `stored` has a validator that serves. Raises FetchError."""
        if not self._settings.owns(request.url):
            return foreign(request.url, self._settings)
        if request.type in QUERIES:
            return await self._queries.fetch(request, replace(self._need(request, None), resource=GRAPHQL))
        if (polled_until := self._calls.polled_until(request.url)) is not None:
            return Throttled(until=polled_until, reason="poll_interval")
        validator = usable(stored, accept_for(request.type), self._settings.api_version)
        return await self._asked(self._need(request, validator), lambda: _redirects(request, stored, validator))

    async def post(self, request: Request) -> Retrieved:
        """Ask that something be done; `Pending` says that it is. Never sent twice. Raises FetchError."""
        if not self._settings.owns(request.url):
            return foreign(request.url, self._settings)
        return await self._asked(
            self._need(request, None), lambda: replace(_redirects(request, None, None), method="POST")
        )

    async def as_app(self, app_id: str, method: Literal["GET", "POST"], url: str) -> Retrieved:
        """Ask as the App itself, with the key of one of its installations. Raises FetchError."""
        app = self._pool.installation(app_id)
        if app is None:
            detail = f"there is no GitHub App {app_id} among the credentials"
            return Denied(status=0, reason="credential", detail=detail)
        if not self._settings.owns(url):
            return foreign(url, self._settings)
        claim = app_key(app).jwt(self._calls.server_now())
        verdict = await self._calls.as_app(app, claim, replace(_to(url), method=method))
        match verdict:
            case Limited():
                wait_s = verdict.retry_after_s or REST_S
                return Throttled(until=self._clock.now() + timedelta(seconds=wait_s), reason=verdict.kind)
            case Unauthorized(detail=detail):
                return Denied(status=401, reason="unauthorized", detail=detail)
            case Unfit(denied=denied):
                return denied
            case Moved():
                return led_away(url, verdict.url)
            case _:
                return verdict

    async def _asked(self, need: Need, redirects: Callable[[], RedirectState]) -> Retrieved:
        """The answer to the best principal, or to the next one."""
        otherwise: Retrieved | None = None
        for _ in range(MAX_ASKED):
            grant = await self._pool.grant(need)
            if isinstance(grant, Throttled):
                return grant
            if not isinstance(grant, Grant):
                return otherwise or grant
            answer = await self._follow(grant, need, redirects())
            if not isinstance(answer, _Elsewhere):
                return answer
            need, otherwise = answer.need, answer.otherwise or otherwise
        return otherwise or Throttled(until=self._clock.now() + timedelta(seconds=REST_S), reason="no_principal")

    def _need(self, request: Request, validator: Validator | None) -> Need:
        path = request.url[len(self._settings.api_url) :]
        scope = (request.context.scope or _scope_of(path)).lower()
        return Need(
            type=request.type,
            resource=self._calls.resource(request.type, path),
            owner=scope.partition("/")[0],
            scope=scope,
            private=request.context.private,
            prefer=validator.principal if validator is not None and validator.etag else "",
        )

    async def _follow(self, grant: Grant, need: Need, redirects: RedirectState) -> Retrieved | _Elsewhere:
        """The answer, wherever redirects lead. Each of them is one more call, which needs leave of its own."""
        verdict = await self._call(grant, redirects)
        for _ in range(MAX_REDIRECTS):
            if not isinstance(verdict, Moved):
                break
            if not self._settings.owns(verdict.url):
                return led_away(redirects.url, verdict.url)
            redirects.move(verdict)
            leave = await self._pool.again(grant)
            if isinstance(leave, Throttled):
                return leave
            verdict = await self._call(leave, redirects)
        if isinstance(verdict, Limited):  # the principal that was told to stop is rate-limited by now
            return _Elsewhere(need=replace(need, resource=self._calls.learned(need.type) or need.resource))
        return _judged(verdict, grant, need)

    async def _call(self, grant: Grant, redirects: RedirectState) -> Verdict | Limited:
        try:
            return await self._calls.ask(grant, redirects)
        finally:
            if grant.spent:
                await self._pool.spend(grant)


def _judged(verdict: Verdict, grant: Grant, need: Need) -> Retrieved | _Elsewhere:
    """The verdict as an answer to the request; or who else is to be asked."""
    match verdict:
        case Unauthorized(detail=detail):
            if grant.slot.anonymous:
                return Denied(status=401, reason="unauthorized", detail=detail)
            grant.slot.refused(grant.fingerprint, detail)
            return _Elsewhere(need=need)
        case Unfit(denied=denied, owner_wide=owner_wide):
            return _unfit(denied, grant.slot, need, owner_wide=owner_wide)
        case Missing(status=404):
            return _maybe_hidden(verdict, grant.slot, need)
        case Moved():
            detail = f"more than {MAX_REDIRECTS} redirects, the last one to {verdict.url}"
            return Refused(status=301, reason="redirect", detail=detail)
        case _:
            return verdict


def _unfit(denied: Denied, slot: CredentialSlot, need: Need, *, owner_wide: bool) -> _Elsewhere:
    """Remember the denial where it says something about later requests, and ask the others."""
    if need.owner:
        slot.mark(*((need.owner, "*") if owner_wide else (need.scope, need.type)), denied)
    without = need.without | {slot.id}
    return _Elsewhere(need=replace(need, without=without), otherwise=denied)


def _maybe_hidden(missing: Missing, slot: CredentialSlot, need: Need) -> Missing | Denied | _Elsewhere:
    """GitHub also says 404 for what one may not see. A principal that may see more is asked, once.

    Private data may be visible to any other principal; public data is hidden only from those that see less than all.
    Without a credential private data is always hidden, so the answer does not say whether it exists.
    """
    answer = _said_anonymously(missing, need) if slot.anonymous else missing
    if not need.owner or need.sees >= 0:
        return answer
    sees = slot.traits.sees(need.owner) + (0 if need.private else 1)
    without = need.without | {slot.id}
    return _Elsewhere(need=replace(need, without=without, sees=sees), otherwise=answer)


def _said_anonymously(missing: Missing, need: Need) -> Missing | Denied:
    if need.private:
        return Denied(status=404, reason="credential", detail="private data, and there is no token to ask for it with")
    return replace(missing, anonymous=True)


def _redirects(request: Request, stored: Stored | None, validator: Validator | None) -> RedirectState:
    url = smaller_page(request) if request.failures else request.url
    whole = url == request.url
    return RedirectState(
        type=request.type,
        url=url,
        name=request.url,
        stored=stored,
        validator=validator,
        attempt=request.attempt,
        keeps=whole,
    )


def _to(url: str) -> RedirectState:
    return RedirectState(type="", url=url, name=url, stored=None, validator=None, attempt=0, keeps=False)


def _scope_of(path: str) -> str:
    """`owner/repo` or `owner`, as far as the path says it; numeric routes say nothing that affinity could use."""
    steps = path.partition("?")[0].split("/")
    if len(steps) > 3 and steps[1] == "repos":
        return f"{steps[2]}/{steps[3]}"
    if len(steps) > 2 and steps[1] in ("orgs", "users"):
        return steps[2]
    return ""
