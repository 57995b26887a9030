"""Requests: what travels on a queue."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from msgspec import Struct

from ghcrawl.values.documents import Document, Origin, Validator
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject, digest
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.times import iso
from ghcrawl.values.type_names import TypeName

MAX_HISTORY: Final = 10
MAX_FAILURES: Final = 10


class Payload(Struct, frozen=True, kw_only=True):
    """A body that came with the request, so that nothing needs to be fetched.

    observed_at: when the body was true on the platform, at the latest known moment; decides who is newer.
    received_at: when we got it, by our own clock; it answers nothing that was asked for later. None: now.
    digest: `digest(body)`, made once here because keys and documents both need it.
    validator: by which the thing's own URL can be asked conditionally, though it was not asked for this body.
    """

    body: JsonObject
    origin: Origin
    observed_at: datetime
    digest: str
    received_at: datetime | None = None
    etag: str | None = None
    delivery_id: str | None = None
    validator: Validator | None = None

    @classmethod
    def of(
        cls,
        body: JsonObject,
        *,
        origin: Origin,
        observed_at: datetime,
        received_at: datetime | None = None,
        delivery_id: str | None = None,
    ) -> Payload:
        """A payload with its digest worked out."""
        return cls(
            body=body,
            origin=origin,
            observed_at=observed_at,
            digest=digest(body),
            received_at=received_at,
            delivery_id=delivery_id,
        )


class Pagination(Struct, frozen=True, kw_only=True):
    """What the pages of one list hand on to the next.

    page: ordinal of this page, from 1; names the page's document.
    first: URL of page 1, for a pagination that must start again.
    fresh: ask unconditionally, because every page must be of one generation.
    started_at: when page 1 was seen; on a relation it names the generation. None while page 1 was unchanged.
    since: the lower bound this pagination asked the platform for, in the platform's own text.
    until: a newest-first pagination stops at the element with this URN: everything behind it is known.
    newest: the largest change text (or, newest-first, the first URN) seen so far.
    known: the list, or what it is of, was stored before; changed: some page so far was not what was stored.
    partial: some page so far left out what this credential may not see, and said so.
    covered: another list of this crawl asks for what the elements from this page on lead to (`Context.covered`).
    """

    page: int = 1
    first: str = ""
    fresh: bool = False
    started_at: datetime | None = None
    since: str = ""
    until: str = ""
    newest: str = ""
    known: bool = False
    changed: bool = False
    partial: bool = False
    covered: bool = False


class DeferredRequest(Struct, frozen=True, kw_only=True):
    """A request to be made once the thing that must be known first is known."""

    type: str
    url: str
    policy: str


class Ancestor(NamedTuple):
    """A request that led to another one. As text, `type@url`."""

    type: str
    url: str

    def __str__(self) -> str:
        return f"{self.type}@{self.url}" if self.url else self.type

    @classmethod
    def of(cls, text: str) -> Ancestor:
        """The inverse of `str`."""
        type, _, url = text.partition("@")
        return cls(type, url)


_AS_OF: Final = "as of "


class Proof(Struct, frozen=True, kw_only=True):
    """What a batch said of a thing, as digests by field, to be compared with the platform's own answer.

    fields: must be equal, if the fields in `as_of` are: those tell whether both speak of the same moment.
    """

    fields: Mapping[str, str] = {}
    as_of: Mapping[str, str] = {}

    def __bool__(self) -> bool:
        return bool(self.fields)

    def to_json(self) -> dict[str, str]:
        """All in one object, as messages hold it."""
        return {**self.fields, **{f"{_AS_OF}{name}": value for name, value in self.as_of.items()}}

    @classmethod
    def from_json(cls, value: Mapping[str, str]) -> Proof:
        """The proof that `to_json` wrote."""
        as_of = {name.removeprefix(_AS_OF): each for name, each in value.items() if name.startswith(_AS_OF)}
        return cls(fields={name: each for name, each in value.items() if not name.startswith(_AS_OF)}, as_of=as_of)


NO_PROOF: Final = Proof()


class Context(Struct, frozen=True, kw_only=True):
    """What a request knows about its place in the world.

    qualifier: URN of the parent, the prefix of the child's URN; empty for roots.
    urn: the URN, where the referrer knows it: our copy is found even after its URL changed.
    scope: `owner/repo` or `owner`: what allow-lists filter on and principals are chosen by; empty for neither.
    private: the resource is known to need a principal that may see private data.
    deleted_at: when it was deleted, according to a reliable source; it is to become a tombstone.
    history: the ancestors, nearest last; bounded.
    pagination: of pages of lists; of elements, whether their list was stored before.
    only_known: fetch only if the list was read before, or the thing or its parent is stored; otherwise another request
    will.
    then: children that a person asked for and that need this parent's identity.
    after: URN behind which work that is done in several turns goes on.
    notes: what the asker knows and the processor needs, in a form of the platform's own; no part of the key.
    covered: types of requests to leave out of follow-ups: the page has requested them in a batch.
    proof: what a batch said of this.
    changed_at: when this last changed at the latest, as the platform's list says that led here; empty: it does not say.
    A copy that cannot be asked about conditionally, and was seen later, is current.
    """

    qualifier: str = ""
    urn: str = ""
    scope: str = ""
    private: bool = False
    deleted_at: datetime | None = None
    history: tuple[Ancestor, ...] = ()
    pagination: Pagination = Pagination()
    only_known: bool = False
    then: tuple[DeferredRequest, ...] = ()
    after: str = ""
    notes: str = ""
    covered: tuple[str, ...] = ()
    changed_at: str = ""
    proof: Proof = NO_PROOF


class Failure(Struct, frozen=True, kw_only=True):
    """One failed attempt. cause: a short class, `http_503` or an exception's name; groups deadletters."""

    at: datetime
    cause: str
    message: str
    status: int | None = None
    worker: str = ""

    def to_json(self, *, at: str) -> dict[str, Any]:
        """As messages and deadletters keep it. at: its moment, in the format of either."""
        return {"at": at, "cause": self.cause, "message": self.message, "status": self.status, "worker": self.worker}


class Request(Struct, frozen=True, kw_only=True):
    """One thing to look at. What travels on a queue.

    policy: a spec that `ghcrawl.values.policy` reads: how to fetch, when to process, where in the visitor map.
    attempt: failures so far; waiting for quota is not one.
    asked_at: anything observed since then is fresh enough to answer; None asks the platform in any case.
    root: `type@url` of the request that started it all.
    """

    platform: str
    type: str
    url: str
    policy: str = "default"
    context: Context = Context()
    payload: Payload | None = None
    attempt: int = 0
    failures: tuple[Failure, ...] = ()
    asked_at: datetime | None = None
    root: str = ""

    @property
    def type_name(self) -> TypeName:
        """The type, and whose."""
        return TypeName(self.platform, self.type)

    @property
    def name(self) -> str:
        """`type@url`, as histories and logs show it."""
        return f"{self.type}@{self.url}"

    @property
    def is_root(self) -> bool:
        """Whether no other request led to it: a person, a webhook or a schedule asked for it."""
        return not self.context.history

    @property
    def key(self) -> bytes:
        """16 bytes; two requests with the same key are the same request."""
        context = self.context
        parts = [self.platform, self.type, self.url, self.policy]
        parts.append(f"{'known' if context.only_known else ''},{'fresh' if context.pagination.fresh else ''}")
        parts.extend(f"{deferred.type}@{deferred.url}:{deferred.policy}" for deferred in context.then)
        parts.extend(f"covered {type}" for type in context.covered)
        if context.changed_at:
            parts.append(f"changed {context.changed_at}")
        parts.extend(f"{name}={value}" for name, value in sorted(context.proof.to_json().items()))
        if self.payload is not None:
            parts.append(self.payload.digest)
        if context.deleted_at is not None:
            parts.append(iso(context.deleted_at))
        return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def child(self, type: str, url: str, policy: str, context: Context, payload: Payload | None = None) -> Request:
        """A request that this one leads to: same platform, crawl and deadline, one more ancestor."""
        history = (*self.context.history, Ancestor(self.type, self.url))[-MAX_HISTORY:]
        return Request(
            platform=self.platform,
            type=type,
            url=url,
            policy=policy,
            context=replace(context, history=history),
            payload=payload,
            asked_at=self.asked_at,
            root=self.root or self.name,
        )

    def about(
        self, document: Document, policy: str, *, url: str = "", qualifier: str = "", deleted_at: datetime | None = None
    ) -> Request:
        """A child about the very thing that `document` is of: known by its URN, since URLs change hands.

        url: where exactly this thing answers, if not at the document's own. The rest as in `Context`.
        """
        context = Context(
            qualifier=qualifier,
            urn=document.urn,
            scope=self.context.scope,
            private=self.context.private,
            deleted_at=deleted_at,
        )
        return self.child(document.type, url or document.url, policy, context)

    def failed(self, failure: Failure) -> Request:
        """The same request with one more failed attempt behind it."""
        return replace(self, attempt=self.attempt + 1, failures=(*self.failures, failure)[-MAX_FAILURES:])

    def renewed(self) -> Request:
        """The same request as if never tried: what an operator's requeue pushes."""
        return replace(self, attempt=0, failures=(), asked_at=None)


def unreadable(platform: str, type: str = "unknown") -> Request:
    """Stands for the request of a message that cannot be read: all that its place tells."""
    return Request(platform=platform, type=type, url="")


class Push(Struct, frozen=True, kw_only=True):
    """A request with its target queue, and the moment before which it may not be popped."""

    request: Request
    queue: QueueName
    not_before: datetime | None = None

    @property
    def lane(self) -> Lane:
        """Where the request waits."""
        return Lane(self.request.platform, self.queue)
