"""Headers: those of a site's answers, and those of conditional requests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

from ghcrawl.fetch.headers import MAX_RETRY_AFTER_S, http_date
from ghcrawl.fetch.web.client import Answer
from ghcrawl.ports.store import Stored
from ghcrawl.values.documents import Validator
from ghcrawl.values.jsontext import Json
from ghcrawl.values.times import CLOCKS_DIFFER

RETRY_AFTER_S: Final = 60.0


def conditions_for(url: str, stored: Stored | None) -> dict[str, str]:
    """Headers that let `url` answer 304. A validator says nothing about another URL."""
    validator = stored.validator if stored is not None else None
    if validator is None or validator.url != url:
        return {}
    found = {"If-None-Match": validator.etag, "If-Modified-Since": validator.last_modified}
    return {name: value for name, value in found.items() if value}


def validator_of(url: str, answer: Answer) -> Validator | None:
    """The validator of an answer, if it has one."""
    etag, last_modified = answer.headers.get("ETag"), answer.headers.get("Last-Modified")
    return Validator(url=url, etag=etag, last_modified=last_modified) if etag or last_modified else None


def type_of(answer: Answer) -> dict[str, Json]:
    """The type of a body, and whether scripts wrote it."""
    if answer.rendered:
        return {"type": "text/html; charset=utf-8", "rendered": True}
    return {"type": answer.headers.get("Content-Type", "")}


def date_of(answer: Answer, now: datetime) -> datetime:
    """When it was true, by the site's clock, as far as that can be believed."""
    said_s = http_date(answer.headers.get("Date", ""))
    if said_s is None or abs(said_s - now.timestamp()) >= CLOCKS_DIFFER.total_seconds():
        return now
    return datetime.fromtimestamp(said_s, UTC)


def retry_after_s(answer: Answer, now: datetime) -> float:
    """Seconds until a site may be asked again."""
    text = answer.headers.get("Retry-After", "")
    if text.isdecimal():
        return min(float(text[:9]), MAX_RETRY_AFTER_S)
    until_s = http_date(text)
    wait_s = until_s - now.timestamp() if until_s is not None else RETRY_AFTER_S
    return min(max(wait_s, 1.0), MAX_RETRY_AFTER_S)
