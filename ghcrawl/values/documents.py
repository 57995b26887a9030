"""Documents: what is saved of a resource, with its links, validator and metadata."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Final, Literal

from msgspec import Struct

from ghcrawl.values.forms import Form, Forms, forms_json, forms_of
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.times import iso, moment
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName

Origin = Literal["fetch", "storage", "list", "webhook", "event", "batch"]
"""Where a body was seen: its own URL, our store, a page of a list, a webhook, an event feed, an answer about many."""
FORM_OF: Final[Mapping[Origin, Form]] = {
    "fetch": "own",
    "list": "list",
    "webhook": "webhook",
    "event": "event",
    "batch": "batch",
}
"""The form of a body, by where it was seen. The stored copy has no form of its own: it combines all that was seen."""


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
