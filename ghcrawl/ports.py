"""What the engine needs of the outside: Protocols, and the values that pass through them.

An adapter translates its vendor's errors once: `QueueError` or `StoreError` with `raise … from`. Every method may be
called from many loops at once. No method may be cancelled half-way: an adapter that was asked to write either did,
or did not, or raises.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal, Protocol

from ghcrawl.model import Deadletter, Document, Push, QueueName, Request, Validator
from ghcrawl.outcome import OutcomeName, Retrieved

# Time --------------------------------------------------------------------------------------------------------


class Clock(Protocol):
    """Time, so that a test can move it."""

    def now(self) -> datetime:
        """The present, aware UTC."""

    async def sleep(self, seconds: float) -> None:
        """Return after `seconds` of this clock's time."""


# Queues ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Depth:
    """How much one queue holds.

    ready: may be popped now. delayed: waits for its `not_before`. in_flight: popped and not settled.
    oldest_at: since when the one whose turn is next has been asked for; None: nothing is ready, or nobody can say.
    """

    ready: int = 0
    delayed: int = 0
    in_flight: int = 0
    oldest_at: datetime | None = field(default=None, compare=False)

    @property
    def total(self) -> int:
        """Everything that is not done."""
        return self.ready + self.delayed + self.in_flight


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """What became of a push: how many wait now because of it, how many were waiting already."""

    queued: int = 0
    bounced: int = 0


class Delivery(Protocol):
    """A popped request, in hand until it is acked or released. Either is final; a second call does nothing."""

    @property
    def request(self) -> Request:
        """What was popped."""

    @property
    def queue(self) -> QueueName:
        """Where it was popped from, and where a retry goes back to."""

    async def ack(self) -> None:
        """It is done and durable; forget it."""

    async def release(self) -> None:
        """It is not done; anybody may pop it again, now."""


class Queue(Protocol):
    """The five queues as one thing, because a request waits in one of them at most.

    Contract, held by every adapter (`tests/contracts/queue_contract.py`):

    * guaranteed: a push that returned is durable; what was popped and never settled comes back;
    * deduplicated: a request whose key waits is not queued twice. The copy that waits is the one that was asked for
      later, in the more urgent queue of the two. Popping frees the key;
    * delayed: `not_before` holds a request back without holding a consumer;
    * unordered: nothing may rely on order;
    * `depths`, `peek` and `is_empty` change nothing.
    """

    async def push(self, pushes: Sequence[Push]) -> Pushed:
        """All of them are durable when this returns. Raises QueueError; then any of them may or may not wait."""

    async def pop(self, order: Sequence[QueueName], *, patience_s: float) -> Delivery | None:
        """Take from the first queue of `order` that has something ready, waiting up to `patience_s` for one.

        None: nothing came. A body that is no request is never returned: the adapter files it as a deadletter.
        """

    async def depths(self) -> Mapping[QueueName, Depth]:
        """All five."""

    async def is_empty(self) -> bool:
        """Whether nothing is ready, delayed or in flight in any of them. Cheaper than `depths`."""

    async def peek(self, queue: QueueName, *, limit: int) -> Sequence[Request]:
        """Up to `limit` requests that wait in `queue`."""

    async def purge(self, queue: QueueName) -> int:
        """Forget what waits in `queue`, and its dedup keys only. Returns how many; what is in flight stays."""


class Broker(Protocol):
    """The server that keeps the queues, where they have one of their own and it can fail while the store is well."""

    @property
    def blocked(self) -> bool:
        """Whether it accepts nothing just now, because it is short of memory or disk."""

    async def answer(self) -> None:
        """Return if it answers at this moment, asking nobody else. Raises QueueError."""


# Stores ------------------------------------------------------------------------------------------------------

Saved = Literal["saved", "same", "stale", "tied"]
"""What a save did: wrote, found the same content, found something truer, or found what may be as true."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What is known of a stored document without reading its body: one look-up decides how to fetch.

    checked_at: when we last asked the platform and it was, or became, what we hold.
    visits: as in `Document`.
    """

    urn: str
    type: str
    url: str
    digest: str
    version: int
    observed_at: datetime
    checked_at: datetime
    processed_at: datetime
    validator: Validator | None = None
    visits: Mapping[str, datetime] = field(default_factory=dict)
    deleted_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Touch:
    """A stored document was visited and not written again: remember that, and nothing else.

    visited_at: when, by our clock; policy: under which spec.
    checked_at: when the platform was asked about it; None where only our own copy was read.
    validator: the one to keep from now on; None keeps the stored one.
    """

    urn: str
    type: str
    policy: str
    visited_at: datetime
    checked_at: datetime | None = None
    validator: Validator | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFilter:
    """Which documents to list. Empty fields admit everything.

    after: continue behind this URN; documents are listed by URN.
    scope: URN of an ancestor: `urn:repo:12` admits everything below that repository, and itself.
    since: observed at or after this moment.
    """

    types: tuple[str, ...] = ()
    scope: str = ""
    since: datetime | None = None
    deleted: bool | None = None
    after: str = ""


class Store(Protocol):
    """Documents, one a URN. Contract: `tests/contracts/store_contract.py`.

    * newer wins: `save` replaces only what has no greater `precedence`, in whatever order saves arrive;
    * equal content is not written again: "same" leaves the stored document as it is;
    * "tied": both name the same last change, say different things, and nothing tells which of them came later
      (`ghcrawl.ties`). The greater precedence stays, of equal ones the last, and what is written has no digest, so
      that whatever comes next is held against it anew: a tie is found again until the platform has been asked;
    * a document found once under a URL is found under it for ever (aliases), until another one claims that URL;
    * JSON comes back as it went in, whatever its keys.
    """

    async def save(self, document: Document, *, supersede: str = "") -> Saved:
        """Keep `document` unless a truer one is there.

        supersede: once saved, remove the documents whose URN sorts from this text up to the part of
        `document.urn` before `:page:`: the older generations of a relation.
        Raises Unstorable for what no retry can save, StoreError for the rest.
        """

    async def touch(self, touch: Touch) -> None:
        """Remember a check. A document that is gone meanwhile is none of its business."""

    async def look_up(self, type: str, url: str) -> Stored | None:
        """What is known of the document of this type and URL, by its own URL or an alias. One round trip."""

    async def get(self, urn: str) -> Document | None:
        """The document with this URN."""

    async def find(self, url: str) -> Sequence[Document]:
        """The documents of any type known under this URL."""

    def list(self, which: DocumentFilter) -> AsyncIterator[Document]:
        """The documents that `which` admits, by URN, without holding them all in memory."""

    async def counts(self) -> Mapping[str, int]:
        """Type → number of documents that are not tombstones."""

    async def read_state(self, name: str) -> Mapping[str, object] | None:
        """A small JSON object of our own (crawls, live settings) by name."""

    async def write_state(self, name: str, value: Mapping[str, object]) -> None:
        """Replace that object."""

    async def swap_state(self, name: str, before: Mapping[str, object] | None, after: Mapping[str, object]) -> bool:
        """Replace that object by `after` if it is still `before`, as it was read; None: there is none yet.

        False: somebody else replaced it meanwhile, and nothing was written. One atomic step.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadletterFilter:
    """Which deadletters are meant. Empty fields admit everything.

    reason: text that the reason contains, whatever the case.
    host: the host of the request's URL.
    before: buried before this moment.
    """

    urns: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    reason: str = ""
    host: str = ""
    before: datetime | None = None

    def until(self, now: datetime) -> DeadletterFilter:
        """The same, but never what is buried from `now` on."""
        return replace(self, before=min(now, self.before) if self.before else now)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadletterCounts:
    """How many deadletters a filter admits, in all and by request type and class of failure."""

    total: int = 0
    by_type: Mapping[str, int] = field(default_factory=dict)
    by_kind: Mapping[str, int] = field(default_factory=dict)


class Deadletters(Protocol):
    """Requests that were given up. Contract: `tests/contracts/deadletter_contract.py`."""

    async def bury(self, deadletter: Deadletter) -> None:
        """Keep it. Burying the same URN twice keeps one."""

    async def list(self, which: DeadletterFilter, *, limit: int, after: str = "") -> Sequence[Deadletter]:
        """Up to `limit` of them, newest first; `after` continues behind that URN."""

    async def count(self, which: DeadletterFilter) -> DeadletterCounts:
        """How many there are, by type and class."""

    async def get(self, urn: str) -> Deadletter | None:
        """One of them."""

    async def delete(self, urns: Sequence[str]) -> int:
        """Forget these. Returns how many were there."""


# Effects: what a settled request leaves behind ----------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """Everything one request leaves behind, as data: made durable in one go where that is possible.

    if_tied: what is pushed as well if saving the document comes to a tie.
    """

    pushes: tuple[Push, ...] = ()
    document: Document | None = None
    if_tied: Push | None = None
    supersede: str = ""
    touch: Touch | None = None
    deadletter: Deadletter | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """What making effects durable came to. saved: None where there was no document."""

    pushed: Pushed = Pushed()
    saved: Saved | None = None


class Ledger(Protocol):
    """Makes effects durable, then acks. A crash at any line means that the request comes again, never lost."""

    async def commit(self, delivery: Delivery, effects: Effects) -> Committed:
        """Order: pushes confirmed → document, touch or deadletter written → ack; or all of it in one transaction.

        What a tie asks for is pushed once the tie is known, before the ack.

        Goes on to its end even if the caller is cancelled meanwhile. Raises QueueError or StoreError before the ack;
        the caller then releases the delivery.
        """


# Fetchers ----------------------------------------------------------------------------------------------------


class Fetcher(Protocol):
    """Asks a platform for one resource. Everything the platform's protocol expects comes back as a value."""

    async def fetch(self, request: Request, stored: Stored | None) -> Retrieved:
        """Ask for `request.url`; conditionally, where `stored` has a validator that serves.

        `stored` None asks unconditionally. Raises FetchError when no answer came or the platform broke (5xx).
        """

    def blocked_until(self) -> datetime | None:
        """While no credential has quota: when the first will. None: go ahead."""

    def audience(self) -> str:
        """Says who asks, as a digest of all credentials: what is refused to these may be shown to others."""


# Observation -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """One request came to its outcome, and that is durable.

    reason: a word of a fixed few; detail: free text for logs only.
    fetch_s, write_s: time spent retrieving and processing, and making it durable.
    cause: the failure's class for retry and bury.
    """

    request: Request
    queue: QueueName
    outcome: OutcomeName
    reason: str = ""
    detail: str = ""
    cause: str = ""
    saved: Saved | None = None
    pushed: Pushed = Pushed()
    fetch_s: float = 0.0
    write_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One answer of a platform, or none: status 0.

    principal: fingerprint, never a credential.
    remaining, limit, reset_at: the budget this answer reported.
    throttle: the kind of throttling it signalled, if any.
    """

    platform: str
    principal: str
    resource: str
    status: int
    seconds: float
    charged: bool
    remaining: int | None = None
    limit: int | None = None
    reset_at: datetime | None = None
    throttle: str = ""


class Observer(Protocol):
    """Told of everything worth counting. Must not block and must not raise."""

    def settled(self, settled: Settled) -> None:
        """A request came to its outcome."""

    def called(self, call: Call) -> None:
        """A platform answered."""
