"""Documents ⇄ what lies in MongoDB, and what a save makes of the one that is there. Pure.

    {"_id": urn, …the body's own fields…, "_metadata": {…}}

`_metadata` is `Document.metadata()`, so readers of the predecessor's data find what they know, but with moments to the
microsecond, and with four fields more:

    checkedAt  when the platform was last asked about it
    urls       every URL that leads here, url and aliases. The index over them is unique, because that is the only index
               that every server has: the second document that claims a URL is found under `<url> 2`, and so on to 4.
               Whoever looks for a URL asks for all four at once, and takes the one with the strongest claim. Who has
               no place at all has its URN there: two empty lists would collide
    claims     how strongly the URLs are claimed, where that is not by the document's precedence
    revision   another one after each change: who replaces what it has read names the revision that it has read
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final, NamedTuple

from ghcrawl.ports.store import Saved, Stored, Touch
from ghcrawl.values.model import LEGACY_PLATFORM, Document, TypeName, Validator, iso, moment, time_text
from stores import rules
from stores.mongo.escaping import (
    from_bson,
    plain_text,
    safe_name,
    safe_text,
    to_bson,
)
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
_SOMETIMES: Final = ("changedAt", "deletedAt", "validator", "visits", "aliases", "claims", "headers.link")
HELD_FIELDS: Final = {f"_metadata.{name}": 1 for name in (*_ALWAYS, *_SOMETIMES)}
"""Projects all that decides about a look-up, a touch and a save: no body, no links."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What a save may change of a document and leave its body alone. Saving over it merges this, field by field.

    strengths: URL → how strongly it is claimed; all URLs that ever led here.
    entries: URL → under which name it is among `urls`; not those whose places stronger claimants have.
    """

    url: str
    changed_at: str
    observed_at: datetime
    checked_at: datetime
    validator: Validator | None
    visits: Mapping[str, datetime]
    aliases: tuple[str, ...]
    strengths: Mapping[str, str]
    entries: Mapping[str, str]

    @property
    def precedence(self) -> str:
        """As of the document."""
        return f"{self.changed_at}|{iso(self.observed_at)}"

    def metadata(self, urn: str) -> dict[str, Any]:
        """As part of the `_metadata` of that document; what is empty is None, and absent there."""
        precedence = self.precedence
        claims = [{"url": url, "as": claim} for url, claim in self.strengths.items() if claim != precedence]
        return {
            "changedAt": self.changed_at or None,
            "observedAt": time_text(self.observed_at),
            "checkedAt": time_text(self.checked_at),
            "etag": self.validator.etag if self.validator else None,
            "validator": self.validator.to_json() if self.validator else None,
            "visits": {policy: time_text(at) for policy, at in self.visits.items()} or None,
            "aliases": list(self.aliases) or None,
            "urls": list(self.entries.values()) or [urn],
            "claims": claims or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A document that is there, without its body."""

    urn: str
    type_name: TypeName
    digest: str
    version: int
    processed_at: datetime
    deleted_at: datetime | None
    link_header: Mapping[str, str]
    revision: Any
    remembered: Remembered

    def stored(self) -> Stored:
        """For who decides how to fetch."""
        remembered = self.remembered
        return Stored(
            urn=self.urn,
            type_name=self.type_name,
            url=remembered.url,
            digest=self.digest,
            version=self.version,
            observed_at=remembered.observed_at,
            checked_at=remembered.checked_at,
            processed_at=self.processed_at,
            validator=remembered.validator,
            visits=remembered.visits,
            deleted_at=self.deleted_at,
        )

    def judged(self) -> rules.Held:
        """For who decides about a save."""
        return rules.Held(
            precedence=self.remembered.precedence,
            digest=self.digest,
            version=self.version,
            deleted=self.deleted_at is not None,
            link_header=self.link_header,
        )


def held_of(stored: Mapping[str, Any]) -> Held:
    """What `HELD_FIELDS` of a document say."""
    meta = from_bson({name: item for name, item in stored["_metadata"].items() if name != "revision"})
    deleted_at, validator = meta.get("deletedAt"), meta.get("validator")
    url, aliases, found = meta["url"], tuple(meta.get("aliases", ())), set(meta["urls"])
    changed_at, observed_at = meta.get("changedAt", ""), moment(meta["observedAt"])
    claims = {claim["url"]: claim["as"] for claim in meta.get("claims", ())}
    precedence = f"{changed_at}|{iso(observed_at)}"
    return Held(
        urn=plain_text(stored["_id"]),
        type_name=TypeName(meta.get("platform", LEGACY_PLATFORM), meta["type"]),
        digest=meta["digest"],
        version=meta["version"],
        processed_at=moment(meta["processedAt"]),
        deleted_at=moment(deleted_at) if deleted_at else None,
        link_header=meta.get("headers", {}).get("link", {}),
        revision=stored["_metadata"]["revision"],
        remembered=Remembered(
            url=url,
            changed_at=changed_at,
            observed_at=observed_at,
            checked_at=moment(meta["checkedAt"]),
            validator=Validator.from_json(validator) if validator else None,
            visits={policy: moment(at) for policy, at in meta.get("visits", {}).items()},
            aliases=aliases,
            strengths={name: claims.get(name, precedence) for name in (url, *aliases)},
            entries={name: entry for name in (url, *aliases) for entry in places(name) if entry in found},
        ),
    )


def document_of(stored: Mapping[str, Any]) -> Document:
    """The whole document."""
    meta = from_bson({name: item for name, item in stored["_metadata"].items() if name != "revision"})
    body = from_bson({name: item for name, item in stored.items() if name not in ("_id", "_metadata")})
    return replace(Document.from_json({"_metadata": meta}), body=body)


def row_of(document: Document, remembered: Remembered, body: Mapping[str, Any], revision: Any) -> dict[str, Any]:
    """What lies in the collection. body: as `to_bson` made it."""
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
    """The update that makes `before` into `after`; None: they are the same."""
    if before == after:
        return None
    meta = to_bson(after.metadata(urn), urn)
    sets = {f"_metadata.{name}": item for name, item in meta.items() if item is not None}
    unsets = {f"_metadata.{name}": "" for name, item in meta.items() if item is None}
    change = {"$set": {**sets, "_metadata.revision": revision}}
    return {**change, "$unset": unsets} if unsets else change


def touch_of(touch: Touch, revision: Any, before: Mapping[str, datetime]) -> dict[str, Any]:
    """The update that remembers a visit; it never takes time back. before: the visits as far as they are known."""
    latest = {f"_metadata.visits.{safe_name(touch.policy)}": time_text(touch.visited_at)}
    if touch.checked_at is not None:
        latest["_metadata.checkedAt"] = time_text(touch.checked_at)
    kept: dict[str, Any] = {"_metadata.revision": revision}
    if touch.validator is not None:
        kept["_metadata.validator"] = to_bson(touch.validator.to_json(), touch.urn)
        kept["_metadata.etag"] = kept["_metadata.validator"]["etag"]
    many = before.keys() - rules.latest(before, {touch.policy: touch.visited_at}).keys() - {touch.policy}
    gone = {f"_metadata.visits.{safe_name(policy)}": "" for policy in many}
    return {"$max": latest, "$set": kept} | ({"$unset": gone} if gone else {})


# What a save comes to ----------------------------------------------------------------------------------------


def _new(document: Document) -> Remembered:
    """What is remembered of a document that was not there before."""
    aliases = rules.known_as(document, document.url, document.url, ())
    strength = rules.claim_strength(document)
    return Remembered(
        url=document.url,
        changed_at=document.changed_at,
        observed_at=document.observed_at,
        checked_at=document.fetched_at,
        validator=document.validator,
        visits=document.visits,
        aliases=aliases,
        strengths=dict.fromkeys((document.url, *aliases), strength),
        entries={},
    )


class Merged(NamedTuple):
    """What a save comes to. written: what takes the place of the stored document; None: that stays, body and all."""

    saved: Saved
    remembered: Remembered
    written: Document | None


def merged(held: Held | None, document: Document) -> Merged:
    """What saving `document` over `held` comes to. As `stores.memory` does it."""
    if held is None:
        return Merged("saved", _new(document), document)
    before, judged = held.remembered, held.judged()
    outcome = rules.judge(judged, document)
    saved, document = rules.settled(outcome, judged, document)
    stale = saved == "stale"
    url = document.url if saved == "saved" else before.url
    keeps_validator = stale or rules.keeps_validator(judged, document)
    aliases = rules.known_as(document, url, before.url, before.aliases)
    claimed = dict.fromkeys((document.url, *document.aliases), rules.claim_strength(document))
    remembered = Remembered(
        url=url,
        changed_at=before.changed_at if stale else document.changed_at,
        observed_at=before.observed_at if stale else document.observed_at,
        checked_at=before.checked_at if stale else max(before.checked_at, document.fetched_at),
        validator=before.validator if keeps_validator else document.validator,
        visits=rules.visited(before.visits, document, saved),
        aliases=aliases,
        strengths={name: max(before.strengths.get(name, ""), claimed.get(name, "")) for name in (url, *aliases)},
        entries={name: entry for name, entry in before.entries.items() if name == url or name in aliases},
    )
    return Merged(outcome, remembered, document if saved == "saved" else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A document with a place among the `urls` for each URL that it may be found under.

    evicted: who has to give up its place first: (document, place).
    """

    remembered: Remembered
    evicted: Sequence[tuple[Held, str]] = ()


def placed(urn: str, remembered: Remembered, others: Collection[Held]) -> Placed:
    """What is remembered, with all its URLs in free places; where none is free, in that of the weakest claimant.

    others: all documents that have one of those places.
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


def claimant(url: str, found: Iterable[Held]) -> Held | None:
    """Of the documents that claim `url` the one that has it: the truest, and of equally true ones the last by URN."""
    claims = [(held.remembered.strengths[url], held.urn, held) for held in found if url in held.remembered.entries]
    return max(claims, key=lambda claim: claim[:2])[2] if claims else None
