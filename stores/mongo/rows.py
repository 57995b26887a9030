"""Converts documents to MongoDB's rows and back, and computes the row and the update of a save. Pure.

    {"_id": urn, …the body's own fields…, "_metadata": {…}}

`_metadata` is `Document.metadata()`, which readers of the predecessor's data know, with moments to the microsecond and
four more fields:

    checkedAt  when the platform was last asked about the document
    urls       the places of the document: one for each URL that leads to it, its own and aliases. A unique index is
               the one kind that every server supports, so each place belongs to one document: a second document that
               claims a URL takes the place `<url> 2`, and so on up to 4. A look-up by URL asks for all four places
               and takes the document with the strongest claim. A document without any place has its URN here,
               because two empty lists would collide
    claims     how strongly it claims a URL, if not by the document's precedence
    revision   a new value after each change: a replacement matches the revision that was read
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from ghcrawl.ports.store import Stored, Touch, latest
from ghcrawl.values.documents import Document, Validator
from ghcrawl.values.forms import forms_json, forms_of
from ghcrawl.values.frozen import replace
from ghcrawl.values.times import moment, time_text
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName
from stores import precedence
from stores.merging import Merged
from stores.mongo.escaping import from_bson, plain_text, safe_name, safe_text, to_bson
from stores.mongo.names import places

_ALWAYS: Final = (
    "platform",
    "type",
    "url",
    "digest",
    "version",
    "observedAt",
    "processedAt",
    "checkedAt",
    "revision",
    "urls",
)
_SOMETIMES: Final = ("changedAt", "deletedAt", "validator", "visits", "aliases", "claims", "headers.link", "forms")
HELD_FIELDS: Final = {f"_metadata.{name}": 1 for name in (*_ALWAYS, *_SOMETIMES)}
"""The projection of what look-ups, touches and saves need: neither body nor links."""


class Remembered(Struct, frozen=True, kw_only=True):
    """What a save may change of a document without changing its body.

    held: what every store remembers of a document.
    strengths: URL → how strongly the document claims it; its own URL and its aliases.
    entries: URL → its place in `urls`. A URL whose places all belong to stronger claimants has none.
    """

    held: precedence.StoredState
    strengths: Mapping[str, str]
    entries: Mapping[str, str]

    def metadata(self, urn: str) -> dict[str, Any]:
        """These values as fields of `_metadata`. None stands for an empty value, which is not stored."""
        held, precedence = self.held, self.held.precedence
        claims = [{"url": url, "as": claim} for url, claim in self.strengths.items() if claim != precedence]
        return {
            "changedAt": held.changed_at or None,
            "observedAt": time_text(held.observed_at),
            "checkedAt": time_text(held.checked_at),
            "etag": held.validator.etag if held.validator else None,
            "validator": held.validator.to_json() if held.validator else None,
            "visits": {policy: time_text(at) for policy, at in held.visits.items()} or None,
            "aliases": list(held.aliases) or None,
            "forms": forms_json(held.forms) or None,
            "urls": list(self.entries.values()) or [urn],
            "claims": claims or None,
        }


class StoredRow(Struct, frozen=True, kw_only=True):
    """A stored document without its body."""

    urn: str
    type_name: TypeName
    processed_at: datetime
    deleted_at: datetime | None
    revision: Any
    remembered: Remembered

    def stored(self) -> Stored:
        """The result of a look-up."""
        held = self.remembered.held
        return Stored(
            urn=self.urn,
            type_name=self.type_name,
            url=held.url,
            digest=held.digest,
            version=held.version,
            observed_at=held.observed_at,
            checked_at=held.checked_at,
            processed_at=self.processed_at,
            validator=held.validator,
            visits=held.visits,
            deleted_at=self.deleted_at,
            forms=held.forms,
        )


def held_of(stored: Mapping[str, Any]) -> StoredRow:
    """Read a row of the projection `HELD_FIELDS`."""
    meta = from_bson({name: item for name, item in stored["_metadata"].items() if name != "revision"})
    deleted_at, validator = meta.get("deletedAt"), meta.get("validator")
    url, aliases, found = meta["url"], tuple(meta.get("aliases", ())), set(meta["urls"])
    claims = {claim["url"]: claim["as"] for claim in meta.get("claims", ())}
    held = precedence.StoredState(
        url=url,
        changed_at=meta.get("changedAt", ""),
        observed_at=moment(meta["observedAt"]),
        checked_at=moment(meta["checkedAt"]),
        digest=meta["digest"],
        version=meta["version"],
        deleted=bool(deleted_at),
        link_header=meta.get("headers", {}).get("link", {}),
        validator=Validator.from_json(validator) if validator else None,
        visits={policy: moment(at) for policy, at in meta.get("visits", {}).items()},
        aliases=aliases,
        forms=forms_of(meta.get("forms", {})),
    )
    return StoredRow(
        urn=plain_text(stored["_id"]),
        type_name=TypeName(meta.get("platform", LEGACY_PLATFORM), meta["type"]),
        processed_at=moment(meta["processedAt"]),
        deleted_at=moment(deleted_at) if deleted_at else None,
        revision=stored["_metadata"]["revision"],
        remembered=Remembered(
            held=held,
            strengths={name: claims.get(name, held.precedence) for name in (url, *aliases)},
            entries={name: entry for name in (url, *aliases) for entry in places(name) if entry in found},
        ),
    )


def document_of(stored: Mapping[str, Any]) -> Document:
    """Read a whole row."""
    meta = from_bson({name: item for name, item in stored["_metadata"].items() if name != "revision"})
    body = from_bson({name: item for name, item in stored.items() if name not in ("_id", "_metadata")})
    return replace(Document.from_json({"_metadata": meta}), body=body)


def row_of(document: Document, remembered: Remembered, body: Mapping[str, Any], revision: Any) -> dict[str, Any]:
    """The row of a document. body: the result of `to_bson`."""
    meta = document.metadata()
    meta["fetchedAt"], meta["processedAt"] = time_text(document.fetched_at), time_text(document.processed_at)
    if document.deleted_at is not None:
        meta["deletedAt"] = time_text(document.deleted_at)
    for name, item in remembered.metadata(document.urn).items():
        meta.pop(name, None)
        if item is not None or name in ("etag", "validator"):
            meta[name] = item
    return {
        "_id": safe_text(document.urn),
        **body,
        "_metadata": {**to_bson(meta, document.urn), "revision": revision},
    }


def change_of(before: Remembered, after: Remembered, urn: str, revision: Any) -> dict[str, Any] | None:
    """The update that turns `before` into `after`; None if they are equal."""
    if before == after:
        return None
    meta = to_bson(after.metadata(urn), urn)
    sets = {f"_metadata.{name}": item for name, item in meta.items() if item is not None}
    unsets = {f"_metadata.{name}": "" for name, item in meta.items() if item is None}
    change = {"$set": {**sets, "_metadata.revision": revision}}
    return {**change, "$unset": unsets} if unsets else change


def touch_of(touch: Touch, revision: Any, before: Mapping[str, datetime]) -> dict[str, Any]:
    """The update that records a visit; moments only move forward. before: the stored visits, if known."""
    newest = {f"_metadata.visits.{safe_name(touch.policy)}": time_text(touch.visited_at)}
    if touch.checked_at is not None:
        newest["_metadata.checkedAt"] = time_text(touch.checked_at)
    kept: dict[str, Any] = {"_metadata.revision": revision}
    if touch.validator is not None:
        kept["_metadata.validator"] = to_bson(touch.validator.to_json(), touch.urn)
        kept["_metadata.etag"] = kept["_metadata.validator"]["etag"]
    many = before.keys() - latest(before, {touch.policy: touch.visited_at}).keys() - {touch.policy}
    gone = {f"_metadata.visits.{safe_name(policy)}": "" for policy in many}
    return {"$max": newest, "$set": kept} | ({"$unset": gone} if gone else {})


# Saving ------------------------------------------------------------------------------------------------------


def remembered(held: StoredRow | None, done: Merged) -> Remembered:
    """What is remembered after a save over `held`. New URLs have no places yet: see `placed`."""
    url, aliases = done.held.url, done.held.aliases
    before, entries = (held.remembered.strengths, held.remembered.entries) if held else ({}, {})
    return Remembered(
        held=done.held,
        strengths={name: max(before.get(name, ""), done.claims.get(name, "")) for name in (url, *aliases)},
        entries={name: entry for name, entry in entries.items() if name == url or name in aliases},
    )


class Placed(Struct, frozen=True, kw_only=True):
    """What is remembered of a document, with its places in `urls`.

    evicted: weaker claimants that must free a place first: (document, place).
    """

    remembered: Remembered
    evicted: Sequence[tuple[StoredRow, str]] = ()


def placed(urn: str, remembered: Remembered, others: Collection[StoredRow]) -> Placed:
    """Assign each URL of the document a free place; if none is free, that of the weakest claimant.

    A URL gets no place if all other claimants are stronger. others: all documents that have a place for these URLs.
    """
    entries, evicted = {}, []
    taken = {entry: held for held in others for entry in held.remembered.entries.values() if held.urn != urn}
    for url, strength in remembered.strengths.items():
        entry = remembered.entries.get(url) or next((place for place in places(url) if place not in taken), "")
        if not entry:
            rivals = [(held.remembered.strengths.get(url, ""), held.urn, place) for place, held in taken.items()]
            weakest = min(rival for rival in rivals if rival[2] in places(url))
            if weakest[:2] < (strength, urn):
                entry = weakest[2]
                evicted.append((taken[entry], entry))
        if entry:
            entries[url] = entry
    return Placed(remembered=replace(remembered, entries=entries), evicted=evicted)


def claimant(url: str, found: Iterable[StoredRow]) -> StoredRow | None:
    """The document with the strongest claim to `url`; of equal claims, the last by URN."""
    claims = [(held.remembered.strengths[url], held.urn, held) for held in found if url in held.remembered.entries]
    return max(claims, key=lambda claim: claim[:2])[2] if claims else None
