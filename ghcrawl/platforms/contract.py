"""A platform as one value: what it has, how people name it, how it is configured, asked, followed and listened to.

Everything else in `ghcrawl`, `queues` and `stores` works on this value and imports nothing of any platform.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Literal, Protocol

from msgspec import Struct

from ghcrawl.platforms.credentials import CredentialHandling
from ghcrawl.platforms.kind import Described, Event, Kind, OtherSpelling, Part, Thing
from ghcrawl.platforms.simulation import Simulator
from ghcrawl.platforms.survey import Survey
from ghcrawl.platforms.tables import NO_TABLES, Schema
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Observer
from ghcrawl.ports.quotas import Egress
from ghcrawl.ports.source import Credential, Source
from ghcrawl.ports.stream import Stream
from ghcrawl.ports.webhooks import Hooks
from ghcrawl.values.documents import Document
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.outcome import Save
from ghcrawl.values.requests import Request
from ghcrawl.values.section import Section
from ghcrawl.values.type_names import TypeName
from ghcrawl.values.visitor_map import Scenarios

# Optional abilities -------------------------------------------------------------------------------------------


class Deliveries(Struct, frozen=True, kw_only=True):
    """Webhooks: how a delivery looks, and the request that carries it.

    request: given the event's name, the delivery's id, its body, and when we received it by our clock; it goes to
        `event`. Total.
    scheme: how deliveries are signed with a shared secret. hmac-sha256: `sha256=` and the HMAC of the raw body in hex.
    weak_signature_header: of a signature that is too weak to be accepted; empty: there is none.
    ping: the event that tests the connection and carries nothing.
    resent_for: how long after the first attempt a delivery can arrive again.
    """

    request: Callable[[str, str, JsonObject, datetime], Request]
    event_header: str
    delivery_header: str
    signature_header: str
    max_bytes: int
    resent_for: timedelta
    scheme: Literal["hmac-sha256"] = "hmac-sha256"
    weak_signature_header: str = ""
    ping: str = ""


def _moments_of_events(page: Save) -> Sequence[datetime]:
    payloads = [push.request.payload for push in page.follow_ups]
    return [payload.observed_at for payload in payloads if payload is not None and payload.origin == "event"]


class Feed(Struct, frozen=True, kw_only=True):
    """Recent events, to be polled.

    request: for the feed of a thing, given its type and URL; None: it has none.
    type: of the requests that answer for a feed.
    news: the moments of the new items that one page brought; those of its events, unless a platform says otherwise.
    page: items that one page holds at most. gap: what must lie between two polls. free: unchanged answers cost nothing
        to a request with a credential.
    separate: type of things that may be missing from the feed of their owner; empty: there are none such.
    is_separate: whether one of them is, so that its own feed is polled.
    """

    request: Callable[[str, str], Request | None]
    type: str = ""
    news: Callable[[Save], Sequence[datetime]] = _moments_of_events
    page: int = 100
    gap: timedelta = timedelta(seconds=60)
    free: bool = False
    separate: str = ""
    is_separate: Callable[[Document], bool] = lambda _document: False


class Streaming(Struct, frozen=True, kw_only=True):
    """What happens, as it happens.

    type: of the documents that subscribe to a stream; what one of them subscribes to is read by `open`.
    """

    type: str
    open: Callable[[Source, Section, Document], Stream]


class HookAccess(Struct, frozen=True, kw_only=True):
    """Access to what a platform remembers of its webhooks: those of some names that lead to a URL, which is ours.

    check: raises ConfigError for names whose webhooks cannot be asked for. open: with names that were checked.
    """

    check: Callable[[Section, Sequence[str], str], None]
    open: Callable[[Source, Section, Sequence[str], str], Hooks]


# The platform -------------------------------------------------------------------------------------------------


class Open(Protocol):
    """Opens a platform's source of answers."""

    def __call__(
        self, section: Section, credentials: Sequence[Credential], clock: Clock, observer: Observer, egress: Egress
    ) -> AbstractAsyncContextManager[Source]:
        """It is open until the block is left. egress: where its calls come from, and quotas that all replicas share.

        Raises ConfigError.
        """


class Platform(Struct, frozen=True, kw_only=True):
    """One API, or one kind of API on many hosts, that can be crawled.

    kinds, scenarios: what it has, how each is processed, what leads where.
    read_spec: the request that a person's words mean, given its API's base URL (empty: it has none) and a policy spec.
        Raises SpecError with a sentence that says what would be understood.
    open: its source of answers. batched: types of which that can be asked for many at once, just now.
    disproved: a batch of that type differed in these fields from the platform's own answer; it is not asked any more.
    section, live: its part of the settings, and the names in it that may change while a crawl runs.
    page: the request for one page that a document of another platform links to, given its URL; None: it reads none.
    scope: what `crawl.allow` and `crawl.exclude` match for a request: an owner or `owner/part`; empty: any.
    free_unchanged: its answer that something is unchanged (304) is not counted against any limit.
    base: name of the setting that holds the base URL of its API; empty: every URL names its own host.
    scheme: of its URLs, which name things and not places to ask; empty: they are those of its API.
    requires_prefix: it understands any URL, so words are its own only where its name stands before them (`web:URL`).
    options: options of the command line that are settings of this section: `--api-url` → `api_url`.
    configured: the same platform as its settings have it, where a setting changes what it is.
    tie_window: how long after its last change a thing may change again without showing another date; see
        `ghcrawl.values.ties`.
    survey: what to look at for an estimate of a crawl of `request` under a policy, by what `batched` says; None: a few
        calls are enough.
    deliveries, feed, hooks: webhooks, polling, and redelivery of webhooks that did not arrive; None: it has none.
    streaming: what happens, as it happens; None: it has no streams.
    simulator: of it, for `ghcrawl simulate` and `ghcrawl demo`; None: there is none.
    tables: what its documents become for SQL.
    described: the entity that a URL names by the start of its id (`1a2b3c4`) or by what it says, given the base URL of
        the API; None: the URL is its own.
    namesakes: URLs of other things that people call the same: the pull request of an issue, and the other way round.
    other_spelling: the URL of the same thing with its names spelled otherwise; None: there is no other spelling.
    export_fields: fields that `documents export --flat` adds to a document's body; their names start with `_`.
    """

    name: str
    kinds: Mapping[str, Kind]
    scenarios: Scenarios
    read_spec: Callable[[str, str, str], Request]
    open: Open
    batched: Callable[[Source], frozenset[str]] = lambda _source: frozenset()
    disproved: Callable[[Source, str, Sequence[str]], None] = lambda _source, _type, _fields: None
    section: type[Section] = Section
    live: tuple[str, ...] = ()
    page: Callable[[str], Request | None] = lambda _url: None
    scope: Callable[[Request], str] = lambda request: request.context.scope
    free_unchanged: bool = False
    base: str = ""
    scheme: str = ""
    requires_prefix: bool = False
    options: Mapping[str, str] = {}
    configured: Callable[[Platform, Section], Platform] = lambda platform, _section: platform
    credentials: CredentialHandling | None = None
    tie_window: timedelta = timedelta(seconds=4)
    survey: Callable[[Scenarios, Request, str, frozenset[str]], Survey | None] = lambda _maps, _root, _policy, _all: (
        None
    )
    deliveries: Deliveries | None = None
    feed: Feed | None = None
    hooks: HookAccess | None = None
    streaming: Streaming | None = None
    simulator: Simulator | None = None
    tables: Schema = NO_TABLES
    described: Callable[[str, str], Described | None] = lambda _url, _base: None
    namesakes: Callable[[str], Sequence[str]] = lambda _url: ()
    other_spelling: Callable[[str], OtherSpelling | None] = lambda _url: None
    export_fields: Callable[[Document], Mapping[str, str]] = lambda _document: {}

    @property
    def types(self) -> tuple[TypeName, ...]:
        """All types, in the order of `kinds`."""
        return tuple(TypeName(self.name, kind) for kind in self.kinds)

    @property
    def entities(self) -> tuple[TypeName, ...]:
        """The types of things, parts and events, in the order of `kinds`: neither list pages nor cursors."""
        entities = [name for name, kind in self.kinds.items() if isinstance(kind, Thing | Part | Event)]
        return tuple(TypeName(self.name, name) for name in entities)

    def base_url(self, section: Section) -> str:
        """Of its API, without a slash at its end; empty: every URL names its own host."""
        return str(getattr(section, self.base)).rstrip("/") if self.base else ""

    def owns(self, url: str, section: Section) -> bool:
        """Whether `url` may be asked of this platform: by its scheme, below its base URL, or at any host."""
        if self.scheme:
            return url.startswith(f"{self.scheme}:")
        base = self.base_url(section)
        if not base:
            return url.startswith(("http://", "https://"))
        return url.startswith(base) and url[len(base) : len(base) + 1] in ("", "/", "?")
