"""One call: asked, counted, observed, and read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final, Literal

import structlog
from msgspec import Struct

from ghcrawl.fetch.client import Answer, Client
from ghcrawl.fetch.github import headers as said
from ghcrawl.fetch.github import responses
from ghcrawl.fetch.github.app_auth import MintAnswer
from ghcrawl.fetch.github.budget import CORE, Quota
from ghcrawl.fetch.github.conditions import condition
from ghcrawl.fetch.github.limits import Finished
from ghcrawl.fetch.github.pool import Grant
from ghcrawl.fetch.github.principals import Installation, fingerprint
from ghcrawl.fetch.github.refusals import Limited, limited, message
from ghcrawl.fetch.github.responses import CallContext, Moved, Verdict
from ghcrawl.fetch.github.server_clock import ServerClock
from ghcrawl.fetch.github.settings import ACCEPT, GitHubSettings, accept_for
from ghcrawl.fetch.redaction import Secret
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Call, Observer
from ghcrawl.ports.store import Stored
from ghcrawl.values.documents import Validator
from ghcrawl.values.errors import FetchError
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.times import moment

log = structlog.stdlib.get_logger(__name__)

PLATFORM: Final = "github"
MINTING: Final = "mint"
AS_APP: Final = "app"
_BUCKETS: Final = (
    ("/search/code", "code_search"),
    ("/search/", "search"),
    ("/graphql", "graphql"),
)
"""Which budget a path is charged to, until an answer has told for its type of request."""


class RedirectState(Struct, kw_only=True):
    """Where one fetch has got to.

    url: what is asked next. name: the URL that the document will carry; aliases: those that permanently led to it.
    lasting: no temporary redirect came in between. keeps: a validator would be of use.
    method: POST asks that something be done, and is answered 202.
    """

    type: str
    url: str
    name: str
    stored: Stored | None
    validator: Validator | None
    attempt: int
    keeps: bool
    aliases: tuple[str, ...] = ()
    lasting: bool = True
    method: Literal["GET", "POST"] = "GET"

    def move(self, moved: Moved) -> None:
        """Go where the platform pointed."""
        self.lasting = self.lasting and moved.permanent
        if self.lasting and self.keeps:
            self.aliases = (*self.aliases, self.name)
            self.name = moved.url
        self.url = moved.url


def new_client(settings: GitHubSettings, clock: Clock) -> Client:
    """A client with the headers that GitHub wants in every call."""
    headers = {"User-Agent": settings.user_agent, "Accept": ACCEPT, "X-GitHub-Api-Version": settings.api_version}
    return Client(clock, headers=headers, timeout_s=settings.timeout_s, max_body_bytes=settings.max_body_bytes)


class Calls:
    """Makes calls, and lets the limits and the observer know how they ended."""

    def __init__(self, settings: GitHubSettings, client: Client, clock: Clock, observer: Observer) -> None:
        self._settings = settings
        self._client = client
        self._clock = clock
        self._observer = observer
        self._server = ServerClock()
        self._resources: dict[str, str] = {}
        self._polled: dict[str, datetime] = {}

    def polled_until(self, url: str) -> datetime | None:
        """When a feed may be asked again, where the server has said how often it wants to be; None: now."""
        until = self._polled.get(url)
        return until if until is not None and until > self._clock.now() else None

    def learned(self, type: str) -> str:
        """The budget that the last request of `type` was charged to; empty if there was none."""
        return self._resources.get(type, "")

    def resource(self, type: str, path: str) -> str:
        """The budget that requests of `type` are charged to, as far as one can know."""
        return self.learned(type) or next((bucket for prefix, bucket in _BUCKETS if path.startswith(prefix)), CORE)

    def server_now(self) -> datetime:
        """The present by the server's clock."""
        now = self._clock.now()
        return self._server.as_server_time(now, now.timestamp())

    async def ask(self, grant: Grant, redirects: RedirectState) -> Verdict | Limited:
        """What `redirects.url` answers to the credential of `grant`, which is spent then. Raises FetchError."""
        conditional = self._condition(redirects, grant.fingerprint)
        headers: dict[str, str] = {"Accept": accept_for(redirects.type), **conditional}
        if grant.header:
            headers["Authorization"] = grant.header
        began = self._clock.now()
        answer = None
        try:
            answer = await self._client.ask(redirects.method, redirects.url, headers)
        finally:
            if answer is None:  # failed or cancelled: it may have reached the server all the same
                self._lost(grant, (self._clock.now() - began).total_seconds())
        stop = self._settle(grant, answer, redirects.type)
        self._heed(redirects.url, answer)
        return stop or self._read(answer, redirects, grant.fingerprint, conditional=bool(conditional))

    async def query(self, grant: Grant, url: str, body: JsonObject, type: str) -> Answer | Limited:
        """What the GraphQL API at `url` answers; Limited where a status says so. Raises FetchError."""
        headers = {"Accept": accept_for(type), "Authorization": grant.header}
        began = self._clock.now()
        answer = None
        try:
            answer = await self._client.ask("POST", url, headers, body)
        finally:
            if answer is None:
                self._lost(grant, (self._clock.now() - began).total_seconds())
        return self._settle(grant, answer, type) or answer

    def observed_at(self, answer: Answer) -> datetime:
        """When `answer` was asked for, by the server's clock."""
        return self._server.as_server_time(answer.asked_at, answer.started)

    def _heed(self, url: str, answer: Answer) -> None:
        """Remember how long a feed is to be left alone; git refs say so too, and are not meant."""
        wait_s = said.poll_interval_s(answer.headers)
        if wait_s is not None and url.partition("?")[0].endswith("/events"):
            now = self._clock.now()
            self._polled = {feed: until for feed, until in self._polled.items() if until > now}
            self._polled[url] = now + timedelta(seconds=wait_s)

    async def mint(self, installation: Installation, jwt: Secret) -> MintAnswer:
        """What the server says to an App that asks for a token. Raises FetchError where it says nothing final."""
        url = f"{self._settings.api_url}/app/installations/{installation.installation_id}/access_tokens"
        answer = await self._client.ask("POST", url, {"Authorization": Secret(f"Bearer {jwt}")})
        self._server.learn(answer.headers.get("Date", ""), answer.started, answer.ended)
        self._observer.called(_call(installation.principal_id, MINTING, answer, charged=False))
        if limited(answer, answer.ended) or answer.status >= 500:
            raise FetchError(f"{url} answered {answer.status}", url=url, status=answer.status)
        if answer.status != 201:
            return MintAnswer(status=answer.status, message=message(answer))
        body = responses.parsed(answer)
        try:
            return MintAnswer(status=201, token=Secret(body["token"]), expires_at=moment(body["expires_at"]))
        except (KeyError, TypeError, ValueError):
            pass
        raise FetchError(f"{url} answered 201 without a token that expires", url=url, status=201)

    async def as_app(self, app: Installation, jwt: Secret, redirects: RedirectState) -> Verdict | Limited:
        """What `redirects.url` answers to the App itself, which is no installation's budget. Raises FetchError."""
        answer = await self._client.ask(redirects.method, redirects.url, {"Authorization": Secret(f"Bearer {jwt}")})
        self._server.learn(answer.headers.get("Date", ""), answer.started, answer.ended)
        stop = limited(answer, answer.ended + self._server.offset_s) if answer.status in (403, 429) else None
        throttle = stop.kind if stop is not None else ""
        self._observer.called(_call(fingerprint(app.app_id), AS_APP, answer, charged=False, throttle=throttle))
        return stop or self._read(answer, redirects, "", conditional=False)

    def _condition(self, redirects: RedirectState, fingerprint: str) -> dict[str, str]:
        if redirects.validator is None or redirects.stored is None:
            return {}
        return condition(
            redirects.validator,
            redirects.stored,
            url=redirects.url,
            fingerprint=fingerprint,
            now=self._clock.now(),
        )

    def _lost(self, grant: Grant, seconds: float) -> None:
        grant.lost(seconds)
        call = Call(
            platform=PLATFORM,
            principal=grant.slot.principal_id,
            resource=grant.resource,
            status=0,
            seconds=seconds,
            charged=False,
        )
        self._observer.called(call)

    def _settle(self, grant: Grant, answer: Answer, type: str) -> Limited | None:
        """Let the limits know, before anybody who waits for them goes on; and the observer."""
        headers, status, limiter = answer.headers, answer.status, grant.slot.limiter
        self._server.learn(headers.get("Date", ""), answer.started, answer.ended)
        # A 401 is answered without a credential: its budget is that of our address.
        quota = said.quota(headers, grant.resource) if status != 401 else None
        until = self._server.passed(quota.resets) if quota is not None else 0.0
        grant.finish(
            Finished(started=answer.started, seconds=answer.seconds, quota=quota, until=until, answered=status < 400)
        )
        if quota is not None:
            self._resources[type] = quota.resource
        stop = limited(answer, answer.ended + self._server.offset_s) if status in (403, 429) else None
        if stop is not None:
            self._stop(grant, stop, quota, until, answer)
        elif status < 400:
            limiter.limits.succeeded(answer.started)
            grant.slot.accepted()
        limiter.serve()
        charged = status != 304 or grant.slot.anonymous
        principal, throttle = grant.slot.principal_id, stop.kind if stop is not None else ""
        self._observer.called(_call(principal, grant.resource, answer, quota, charged=charged, throttle=throttle))
        return stop

    def _stop(self, grant: Grant, stop: Limited, quota: Quota | None, until: float, answer: Answer) -> None:
        """Ask nothing more of what was overdrawn, until the latest moment that anything in `answer` asks for."""
        limits, now, wait_s = grant.slot.limiter.limits, answer.ended, stop.retry_after_s
        if stop.kind == "primary":
            resource = quota.resource if quota is not None else grant.resource
            until = max(until, now + (wait_s or 0.0))
            limits.exhaust(resource, until, now)
        else:
            if wait_s is None and quota is not None and quota.remaining == 0:
                wait_s = until - now
            until = limits.strike(answer.started, wait_s, now)
        log.warning(
            "principal_throttled",
            principal=grant.slot.credential.label,
            limit=stop.kind,
            resource=grant.resource,
            wait_s=round(until - now, 1),
        )

    def _read(self, answer: Answer, redirects: RedirectState, fingerprint: str, *, conditional: bool) -> Verdict:
        asked = CallContext(
            url=redirects.url,
            name=redirects.name,
            aliases=redirects.aliases,
            accept=accept_for(redirects.type),
            api_version=self._settings.api_version,
            fingerprint=fingerprint,
            observed_at=self._server.as_server_time(answer.asked_at, answer.started),
            attempt=redirects.attempt,
            keeps=redirects.keeps,
            conditional=conditional,
        )
        return responses.read(answer, asked)


def _call(
    principal: str, resource: str, answer: Answer, quota: Quota | None = None, *, charged: bool, throttle: str = ""
) -> Call:
    return Call(
        platform=PLATFORM,
        principal=principal,
        resource=quota.resource if quota is not None else resource,
        status=answer.status,
        seconds=answer.seconds,
        charged=charged,
        remaining=quota.remaining if quota is not None else None,
        limit=quota.limit if quota is not None else None,
        reset_at=datetime.fromtimestamp(quota.resets, UTC) if quota is not None else None,
        throttle=throttle,
    )
