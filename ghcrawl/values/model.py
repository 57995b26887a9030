"""The values that travel between rooms: frozen, with no I/O and no clock of their own.

Moments are aware UTC datetimes in memory and `2026-11-21T16:43:00.123Z` in JSON: fixed width, so they sort as text.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import blake2b
from typing import Any, Final, Literal, NamedTuple, TypeAlias
from uuid import uuid4

from msgspec import Struct

from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import dumps

Json: TypeAlias = Any
"""What a JSON parser returns."""
JsonObject: TypeAlias = Mapping[str, Any]

QueueName = Literal["event", "immediate", "soon", "normal", "later"]
LEGACY_PLATFORM: Final = "github"
"""The platform of every message, row and collection that names none: they were written when there was only one."""
QUEUES: Final[tuple[QueueName, ...]] = ("event", "immediate", "soon", "normal", "later")
"""The five queues, most urgent first. `event` holds requests that carry their payload and so need no call."""

Origin = Literal["fetch", "storage", "list", "webhook", "event", "batch"]
"""Where a body was seen: its own URL, our store, a page of a list, a webhook, an event feed, an answer about many."""
Form = Literal["own", "list", "webhook", "event", "batch"]
"""How a thing is told: by its own URL, or in one of the shorter ways, each of which may leave fields out."""
FORM_OF: Final[Mapping[Origin, Form]] = {
    "fetch": "own",
    "list": "list",
    "webhook": "webhook",
    "event": "event",
    "batch": "batch",
}
"""The form that a body has by where it was seen. Our own copy has none of its own: it is made of all that was seen."""


class Lane(NamedTuple):
    """What one platform holds in one queue: the unit by which work is popped, counted and held back."""

    platform: str
    queue: QueueName


MAX_HISTORY: Final = 10
MAX_FAILURES: Final = 10


class TypeName(NamedTuple):
    """A type of one platform: what documents and requests are counted, filtered and stored by.

    platform: as `Platform.name`, without a slash.
    """

    platform: str
    name: str

    def __str__(self) -> str:
        """`mastodon/status`: unambiguous. `ghcrawl.values.type_names` leaves out what is clear."""
        return f"{self.platform}/{self.name}"


_ENDS: Final = {"milliseconds": len('"2026-11-21T16:43:00.123'), "microseconds": len('"2026-11-21T16:43:00.123456')}
"""Where these parts of a second end in the JSON of a moment."""


def iso(moment: datetime, timespec: Literal["seconds", "milliseconds", "microseconds"] = "milliseconds") -> str:
    """`moment` as fixed-width UTC text that ends in Z."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    if utc.microsecond and timespec in _ENDS:
        return dumps(utc)[1 : _ENDS[timespec]].decode() + "Z"  # in a quarter of the time that `isoformat` takes
    return utc.isoformat(timespec=timespec)[:-6] + "Z"


def time_text(moment: datetime) -> str:
    """`moment` to the microsecond, as stores and queues keep it."""
    return iso(moment, "microseconds")


def moment(text: str, *, zone: tzinfo | None = None) -> datetime:
    """The moment that `iso` wrote, or any ISO 8601 text. zone: of a text without an offset. Raises ValueError."""
    value = datetime.fromisoformat(text)
    if value.tzinfo is UTC:
        return value
    if value.tzinfo is None:
        if zone is None:
            raise ValueError(f"{text!r} has no time zone")
        value = value.replace(tzinfo=zone)
    try:
        return value.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} is out of range: outside the years 1–9999 in UTC") from None


CLOCKS_DIFFER: Final = timedelta(days=1)
"""How far a clock may be ahead: what claims to have changed later than this after it was seen is not believed."""
_SECOND: Final = len("2026-11-21T16:43:00Z")


def dated(text: str) -> str:
    """A platform's text for a moment, as UTC to the second, so that it sorts; empty for what is none."""
    try:
        value = moment(text, zone=UTC)
    except (ValueError, OverflowError):
        return ""
    return text if len(text) == _SECOND and text[10] == "T" and text[-1] == "Z" else iso(value, "seconds")


def credible(changed_at: str, seen_at: datetime) -> str:
    """`changed_at` as `dated` says it; empty where it lies so far behind `seen_at` that it cannot be."""
    found = dated(changed_at) if changed_at else ""
    try:
        return found if not found or moment(found) - seen_at <= CLOCKS_DIFFER else ""
    except OverflowError:
        return ""


def digest(value: Json) -> str:
    """32 hex digits, equal for equal JSON regardless of the order of its keys."""
    return blake2b(dumps(value, sort_keys=True), digest_size=16).hexdigest()


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
    pagination: of pages of lists.
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
    """One attempt that went wrong.

    cause: a short class, `http_503` or an exception's name; groups deadletters.
    """

    at: datetime
    cause: str
    message: str
    status: int | None = None
    worker: str = ""


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


class Link(Struct, frozen=True, kw_only=True):
    """Where a document leads: one href or several, never both.

    type: `resource` names documents; `collection` pages of references; `relation` pages of the elements themselves.
    """

    type: Literal["resource", "collection", "relation"]
    href: str | None = None
    hrefs: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """The form that readers of the predecessor's documents know."""
        if self.href is not None:
            return {"href": self.href, "type": self.type}
        return {"hrefs": list(self.hrefs), "type": self.type}

    @classmethod
    def from_json(cls, value: JsonObject) -> Link:
        """The link that `to_json` wrote."""
        return cls(type=value["type"], href=value.get("href"), hrefs=tuple(value.get("hrefs", ())))


class Validator(Struct, frozen=True, kw_only=True):
    """What lets the platform answer "unchanged" for free.

    url: the URL that answered; a validator says nothing about any other.
    principal: fingerprint of the credential that asked, since ETags may depend on it.
    """

    url: str
    etag: str | None = None
    last_modified: str | None = None
    accept: str = ""
    api_version: str = ""
    principal: str = ""

    def to_json(self) -> dict[str, Json]:
        """JSON with the metadata's camelCase names."""
        return {
            "url": self.url,
            "etag": self.etag,
            "lastModified": self.last_modified,
            "accept": self.accept,
            "apiVersion": self.api_version,
            "principal": self.principal,
        }

    @classmethod
    def from_json(cls, value: JsonObject) -> Validator:
        """The validator that `to_json` wrote."""
        return cls(
            url=value["url"],
            etag=value.get("etag"),
            last_modified=value.get("lastModified"),
            accept=value.get("accept", ""),
            api_version=value.get("apiVersion", ""),
            principal=value.get("principal", ""),
        )


def precedence(changed_at: str, observed_at: datetime) -> str:
    """`Document.precedence` of what changed and was observed then."""
    return f"{changed_at}|{iso(observed_at)}"


class Known(Struct, frozen=True, kw_only=True):
    """Since when one form of a thing is known, see `ghcrawl.values.forms`.

    changed_at, observed_at: as of the document that came in this form last.
    digest: of its body; empty once another form said otherwise, or nothing tells which is true.
    partial: it lacked fields that this form is known to leave out.
    """

    observed_at: datetime
    digest: str
    changed_at: str = ""
    partial: bool = False

    @property
    def rank(self) -> tuple[str, datetime]:
        """Sorts by how true it is."""
        return self.changed_at, self.observed_at

    def to_json(self) -> dict[str, Json]:
        """JSON with the metadata's camelCase names; moments to the microsecond."""
        value: dict[str, Json] = {"observedAt": time_text(self.observed_at), "digest": self.digest}
        if self.changed_at:
            value["changedAt"] = self.changed_at
        return {**value, "partial": True} if self.partial else value

    @classmethod
    def from_json(cls, value: JsonObject) -> Known:
        """What `to_json` wrote."""
        return cls(
            observed_at=moment(value["observedAt"]),
            digest=value["digest"],
            changed_at=value.get("changedAt", ""),
            partial=value.get("partial", False),
        )


Forms = Mapping[Form, Known]
"""The forms in which a thing was seen. None: it was saved before forms were told apart, or it has but one."""


def forms_json(forms: Forms) -> dict[str, Json]:
    """As `_metadata.forms` has them."""
    return {form: known.to_json() for form, known in forms.items()}


def forms_of(value: JsonObject) -> Forms:
    """What `forms_json` wrote."""
    return {form: Known.from_json(known) for form, known in value.items()}  # type: ignore[misc]  # ours, as written


class Document(Struct, frozen=True, kw_only=True):
    """One thing as it was last seen: the platform's JSON, untouched, and what we know about it.

    urn: its one name, however it was reached. `_id` in the store.
    body: a list is wrapped as `{"elements": […]}`.
    changed_at: the platform's own text for "last changed" (`updated_at`), empty where it has none.
    observed_at: when the body was true on the platform, by the platform's clock.
    aliases: other URLs that have led here (renames, transfers, numeric routes).
    visits: policy spec → when a request with that policy was last settled here; says what need not be asked again.
    root, origin: which crawl brought it, and by which way.
    forms: the forms in which it was seen; of one that was just seen, that form alone.
    """

    platform: str
    type: str
    url: str
    urn: str
    body: JsonObject
    links: Mapping[str, Link]
    observed_at: datetime
    fetched_at: datetime
    processed_at: datetime
    version: int
    digest: str
    changed_at: str = ""
    validator: Validator | None = None
    link_header: Mapping[str, str] = {}
    root: str = ""
    origin: Origin = "fetch"
    aliases: tuple[str, ...] = ()
    visits: Mapping[str, datetime] = {}
    deleted_at: datetime | None = None
    deleted_reason: str = ""
    forms: Forms = {}

    @property
    def type_name(self) -> TypeName:
        """The type, and whose."""
        return TypeName(self.platform, self.type)

    @property
    def precedence(self) -> str:
        """Text that sorts by how true a representation is: last change first, then when it was seen.

        A store replaces a document only by one whose precedence is not smaller; what has a date replaces what has none.
        """
        return precedence(self.changed_at, self.observed_at)

    def metadata(self) -> dict[str, Json]:
        """The `_metadata` object, with the names that readers of the predecessor's documents use."""
        meta: dict[str, Json] = {
            "type": self.type,
            "url": self.url,
            "urn": self.urn,
            "platform": self.platform,
            "fetchedAt": iso(self.fetched_at),
            "processedAt": iso(self.processed_at),
            "observedAt": iso(self.observed_at),
            "version": self.version,
            "digest": self.digest,
            "etag": self.validator.etag if self.validator else None,
            "validator": self.validator.to_json() if self.validator else None,
            "headers": {"link": dict(self.link_header)},
            "links": {name: link.to_json() for name, link in self.links.items()},
            "rootRequest": self.root,
            "origin": self.origin,
        }
        optional = {
            "changedAt": self.changed_at,
            "aliases": list(self.aliases),
            "deletedAt": iso(self.deleted_at) if self.deleted_at else None,
            "deletedReason": self.deleted_reason,
            "visits": {policy: iso(at) for policy, at in self.visits.items()},
            "forms": forms_json(self.forms),
        }
        meta.update({name: value for name, value in optional.items() if value})
        return meta

    def to_json(self) -> dict[str, Json]:
        """The body with `_metadata` beside it: what analysts read and exports write."""
        return {**self.body, "_metadata": self.metadata()}

    @classmethod
    def from_json(cls, value: JsonObject) -> Document:
        """The document that `to_json` wrote."""
        meta = value["_metadata"]
        deleted = meta.get("deletedAt")
        validator = meta.get("validator")
        return cls(
            platform=meta.get("platform", LEGACY_PLATFORM),
            type=meta["type"],
            url=meta["url"],
            urn=meta["urn"],
            body={name: item for name, item in value.items() if name != "_metadata"},
            links={name: Link.from_json(link) for name, link in meta["links"].items()},
            observed_at=moment(meta["observedAt"]),
            fetched_at=moment(meta["fetchedAt"]),
            processed_at=moment(meta["processedAt"]),
            version=meta["version"],
            digest=meta["digest"],
            changed_at=meta.get("changedAt", ""),
            validator=Validator.from_json(validator) if validator else None,
            link_header=meta.get("headers", {}).get("link", {}),
            root=meta.get("rootRequest", ""),
            origin=meta.get("origin", "fetch"),
            aliases=tuple(meta.get("aliases", ())),
            visits={policy: moment(at) for policy, at in meta.get("visits", {}).items()},
            deleted_at=moment(deleted) if deleted else None,
            deleted_reason=meta.get("deletedReason", ""),
            forms=forms_of(meta.get("forms", {})),
        )


class Deadletter(Struct, frozen=True, kw_only=True):
    """A request that was dead-lettered, with its whole story.

    kind: the class of failure: an exception's name or `http_<status>`. Counted and filtered by.
    raw: the bytes of a message that was no request; `request` is then a stand-in.
    """

    urn: str
    request: Request
    queue: QueueName
    kind: str
    reason: str
    failures: tuple[Failure, ...]
    first_at: datetime
    last_at: datetime
    traceback: str = ""
    raw: bytes | None = None

    @classmethod
    def of(
        cls,
        request: Request,
        queue: QueueName,
        failure: Failure,
        *,
        urn: str = "",
        traceback: str = "",
        raw: bytes | None = None,
    ) -> Deadletter:
        """`request` from `queue`, dead-lettered after `failure`. urn: a new one, unless it is given."""
        failed = request.failed(failure)
        return cls(
            urn=urn or f"urn:deadletter:{uuid4()}",
            request=failed,
            queue=queue,
            kind=failure.cause,
            reason=failure.message,
            failures=failed.failures,
            first_at=failed.failures[0].at,
            last_at=failure.at,
            traceback=traceback,
            raw=raw,
        )
