"""Asks sites for pages and feeds: robots.txt first, one call a host at a time, conditionally where we hold a copy."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Final, Self

from ghcrawl.fetch.web.addresses import is_literal, is_public, origin
from ghcrawl.fetch.web.answers import conditions_for, date_of, retry_after_s, type_of, validator_of
from ghcrawl.fetch.web.client import Answer, NotPublic, WebClient
from ghcrawl.fetch.web.hosts import ROBOTS_HOLD, Host, Hosts, Origin
from ghcrawl.fetch.web.leases import Leases, Taken
from ghcrawl.fetch.web.rendering import MAX_REDIRECTS, Parts, target
from ghcrawl.fetch.web.scripts import wants_scripts
from ghcrawl.fetch.web.settings import WebSettings
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Call, Observer
from ghcrawl.ports.quotas import Egress
from ghcrawl.ports.store import Stored
from ghcrawl.values.errors import FetchError
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Fetched, Missing, Retrieved, Throttled, Unchanged
from ghcrawl.values.requests import Ancestor, Request

if TYPE_CHECKING:
    from ghcrawl.fetch.web.browser import Browser

NAME: Final = "web"
RENDERED: Final = frozenset({"page", "post"})
"""Kinds whose scripts may be run."""
UNREACHABLE_ROBOTS_S: Final = 300.0
"""After a 5xx for robots.txt the whole host is left alone (RFC 9309, 2.3.1.4), and asked again this much later."""
_GONE: Final = frozenset({404, 410, 451})
_WAIT: Final = frozenset({429, 503})


class Turned(Exception):  # not an error: the answer is another
    """The URL is not fetched; `answer` is its result."""

    def __init__(self, answer: Retrieved) -> None:
        super().__init__()
        self.answer = answer


class WebFetcher:
    """As the port `Fetcher` says. Use as an async context manager."""

    def __init__(self, settings: WebSettings, clock: Clock, observer: Observer, egress: Egress) -> None:
        self.settings = settings
        self._client = WebClient(settings)
        self._browser: Browser | None = None
        self._clock = clock
        self._observer = observer
        self._hosts = Hosts()
        self._leases = Leases(egress.quotas, clock, settings.timeout_s)
        self.calls = 0

    async def __aenter__(self) -> Self:
        await self._client.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._browser is not None:
            await self._browser.close()
        await self._client.close()

    def blocked_until(self) -> datetime | None:
        """Never: each host has its own wait."""
        return None

    def credential_digest(self) -> str:
        """Requests are unauthenticated."""
        return "anonymous"

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        """As the port says. What can never be had is a body that says why: plans go on from it."""
        url, aliases = request.url, list[str]()
        try:
            for _ in range(MAX_REDIRECTS + 1):
                answer = await self._hop(url, request, stored)
                onward = target(url, answer)
                if not onward:
                    return self._read(url, answer, stored, tuple(aliases))
                aliases.append(url)
                url = onward
        except Turned as turned:
            answered = turned.answer
            return replace(answered, url=request.url) if isinstance(answered, Fetched) else answered
        return self._refused(request.url, f"more than {MAX_REDIRECTS} redirects", stored)

    # One call ---------------------------------------------------------------------------------------------------

    async def _hop(self, url: str, request: Request, stored: Stored | None) -> Answer:
        """The answer of one URL. Raises Turned where it is not to be asked now, or ever; FetchError."""
        try:
            place = origin(url)
        except ValueError as error:
            raise Turned(self._refused(url, str(error), stored)) from None
        try:
            private = self._may_be_private(place, request)
            host, now = self._hosts.of(place), self._clock.now()
            if (until := host.turn(now)) is not None:
                raise Turned(Throttled(until=until, reason="busy"))
            async with self._leases.hold(place, host):
                await self._obey(url, place, host, stored, private=private)
                answer = await self._ask(url, host, conditions_for(url, stored), private=private)
                return await self._with_scripts(url, place, request, answer)
        except Taken as taken:
            raise Turned(Throttled(until=taken.until, reason="busy")) from None
        except NotPublic as error:
            raise Turned(self._refused(url, str(error), stored)) from None

    def _may_be_private(self, place: Origin, request: Request) -> bool:
        """Whether `place` may be in a private network: an address that was typed may, one from a page may not.

        Raises NotPublic for a literal address that is private and may not be.
        """
        private = self.settings.private_addresses == "always"
        if self.settings.private_addresses == "typed":
            with suppress(ValueError):
                private = origin(Ancestor.of(request.root).url or request.url) == place
        if not private and is_literal(place[1]) and not is_public(place[1]):
            raise NotPublic(f"{place[1]} is not a public address")
        return private

    # Scripts ----------------------------------------------------------------------------------------------------

    async def _with_scripts(self, url: str, place: Origin, request: Request, answer: Answer) -> Answer:
        """The page as its scripts leave it, where it is one that needs them. Raises FetchError."""
        if answer.status != 200 or answer.refused or request.type not in RENDERED:
            return answer
        if not wants_scripts(self.settings.javascript, answer.body, answer.headers.get("Content-Type", "")):
            return answer
        async with AsyncExitStack() as held:
            parts = Parts(home=place, hold=self._hold, ask=partial(self._part, request), held=held)
            text = await self._opened_browser().render(url, answer, parts.get)
        return answer._replace(body=text.encode("utf-8", "replace"), rendered=True) if text else answer

    def _opened_browser(self) -> Browser:
        if self._browser is None:
            from ghcrawl.fetch.web.browser import Browser  # noqa: PLC0415  # Playwright is an extra

            self._browser = Browser(self.settings)
        return self._browser

    @asynccontextmanager
    async def _hold(self, place: Origin) -> AsyncIterator[bool]:
        """As `Hold` says."""
        host = self._hosts.of(place)
        if host.busy:
            yield False
            return
        async with AsyncExitStack() as held:
            try:
                await held.enter_async_context(self._leases.hold(place, host))
            except Taken:
                yield False
                return
            yield True

    async def _part(self, request: Request, url: str, place: Origin, headers: dict[str, str]) -> Answer | None:
        """A script, a style or what a script asks for. A host that asked us to wait is not asked."""
        host = self._hosts.of(place)
        if host.told_until is not None and host.told_until > self._clock.now():
            return None
        try:
            private = self._may_be_private(place, request)
            return await self._ask(url, host, headers, private=private, resource="part")
        except (Turned, NotPublic, FetchError):
            return None

    # Calls ------------------------------------------------------------------------------------------------------

    async def _ask(
        self, url: str, host: Host, headers: dict[str, str], *, private: bool, resource: str = "page"
    ) -> Answer:
        began = self._clock.now()
        status = 0
        try:
            answer = await self._client.ask(url, headers, private=private)
            status = answer.status
        finally:
            now = self._clock.now()
            seconds = max(0.0, (now - began).total_seconds())
            least_s = 0.0 if private else self.settings.delay_s
            host.done(now, seconds, host.pause_s(self.settings.user_agent, least_s))
            self._count(resource, status, seconds)
        if status in _WAIT:
            host.told(now + timedelta(seconds=retry_after_s(answer, now)))
            if status == 429 or "Retry-After" in answer.headers:
                assert host.free_at is not None, "it rests"
                raise Turned(Throttled(until=host.free_at, reason="primary"))
        return answer

    def _count(self, resource: str, status: int, seconds: float) -> None:
        self.calls += 1
        charged = status != 304
        self._observer.called(
            Call(
                platform=NAME,
                principal="anonymous",
                resource=resource,
                status=status,
                seconds=seconds,
                charged=charged,
            )
        )

    # robots.txt -------------------------------------------------------------------------------------------------

    async def _obey(self, url: str, place: Origin, host: Host, stored: Stored | None, *, private: bool) -> None:
        """Raises Turned where robots.txt does not let us ask for `url`.

        It did for a copy that was checked within a day, and that stands as long as a robots.txt does.
        """
        if not self.settings.obey_robots:
            return
        now = self._clock.now()
        if not host.fresh_robots(now):
            if stored is not None and stored.url == url and now - stored.checked_at < ROBOTS_HOLD:
                return
            await self._read_robots(place, host, private=private)
            if (pause_s := host.pause_s(self.settings.user_agent, 0.0)) > 0:
                host.rest(self._clock.now() + timedelta(seconds=pause_s))
            if host.allows(url, self.settings.user_agent) and (until := _waits(host, self._clock.now())):
                raise Turned(Throttled(until=until, reason="busy"))
        if not host.allows(url, self.settings.user_agent):
            raise Turned(self._refused(url, "robots.txt disallows it", stored))

    async def _read_robots(self, place: Origin, host: Host, *, private: bool) -> None:
        """4xx: everything is allowed. 5xx and no answer: nothing is, for now. Raises Turned, FetchError, NotPublic."""
        scheme, name, port = place
        url = f"{scheme}://{f'[{name}]' if ':' in name else name}:{port}/robots.txt"
        for _ in range(MAX_REDIRECTS):
            answer = await self._ask(url, host, {}, private=private)
            onward = target(url, answer)
            if not _near(onward, place, private=private):
                break
            url = onward
        else:
            answer = answer._replace(status=404)
        if answer.status >= 500:
            until = self._clock.now() + timedelta(seconds=UNREACHABLE_ROBOTS_S)
            host.rest(until)
            raise Turned(Throttled(until=until, reason="unreachable"))
        host.read_robots(answer.body if answer.status == 200 else b"", self._clock.now())

    # What an answer means ---------------------------------------------------------------------------------------

    def _read(self, url: str, answer: Answer, stored: Stored | None, aliases: tuple[str, ...]) -> Retrieved:
        """Raises FetchError for what may pass: 5xx."""
        now, status = self._clock.now(), answer.status
        validator = None if answer.rendered else validator_of(url, answer)  # scripts' additions have none
        if status == 304:
            return Unchanged(checked_at=now, validator=validator)
        if status >= 500:
            raise FetchError(f"{status} from {url}", url=url, status=status)
        if status in _GONE and stored is not None:
            return Missing(status=status, detail="gone", observed_at=date_of(answer, now))
        if status != 200 or answer.refused:
            return self._refused(url, answer.refused or f"status {status}", stored, status=status, aliases=aliases)
        return Fetched(
            body={"content": answer.body, **type_of(answer), "url": url},
            url=url,
            observed_at=date_of(answer, now),
            checked_at=now,
            validator=validator,
            aliases=aliases,
        )

    def _refused(
        self, url: str, reason: str, stored: Stored | None, *, status: int = 0, aliases: tuple[str, ...] = ()
    ) -> Retrieved:
        """A body that says why there is none; what we hold of it stays as it is."""
        now = self._clock.now()
        if stored is not None:
            return Unchanged(checked_at=now)
        body = {"refused": reason, "status": status, "url": url}
        return Fetched(body=body, url=url, observed_at=now, checked_at=now, aliases=aliases, status=status)

    def limited(self, settings: WebSettings) -> None:
        """These hold from now on, as far as they may change while calls are made."""
        self.settings = replace(self.settings, delay_s=settings.delay_s)


def _waits(host: Host, now: datetime) -> datetime | None:
    return host.free_at if host.free_at is not None and host.free_at > now else None


def _near(target: str, place: Origin, *, private: bool) -> bool:
    """Whether a robots.txt may be read at `target`: on the same host, and port where that is of our own network."""
    try:
        there = origin(target)
    except ValueError:
        return False
    return there == place if private else there[1] == place[1]
