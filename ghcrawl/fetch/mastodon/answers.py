"""Reads answers of Mastodon hosts. Pure: an answer in, a value out; `FetchError` for what is broken.

    200  Fetched     304  Unchanged     401  Unauthorized     403  Denied     404 410  Missing
    429  a limit (see `limits`)         other 4xx  Refused    5xx, no JSON  FetchError

Source: Mastodon's API documentation and exchanges recorded by the authors of Mastodon.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from ghcrawl.fetch.client import Answer
from ghcrawl.fetch.headers import http_date, links, retry_after_s
from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.values.documents import Validator
from ghcrawl.values.errors import FetchError, Malformed
from ghcrawl.values.jsontext import MAX_DEPTH, Json, TooDeep, loads
from ghcrawl.values.outcome import Denied, Fetched, Missing, Refused, Retrieved, Unchanged
from ghcrawl.values.times import moment

SCHEME: Final = "mastodon"
BLIND_S: Final = 300.0
"""How long to wait after a limit that does not say until when: Mastodon's period."""


class Unauthorized(Struct, frozen=True):
    """The host knows no such token."""

    detail: str


class Limit(Struct, frozen=True):
    """What an answer says of the limit that is closest. until: by our clock. hit: it says that nothing is left."""

    until: datetime
    limit: int
    remaining: int
    hit: bool


def read(
    answer: Answer, *, url: str, principal: str, conditional: bool, keeps: bool = True
) -> Retrieved | Unauthorized:
    """What `answer` means for the request of `url`. keeps: its validator is of use. Raises FetchError, Malformed."""
    status = answer.status
    if answer.body is None and status < 500:
        return Refused(status=status, reason="too_large", detail=f"{url} is larger than may be fetched")
    if status == 200:
        return _fetched(answer, url, principal, keeps=keeps)
    if status == 304 and conditional:
        return Unchanged(checked_at=answer.asked_at)
    if status == 401:
        return Unauthorized(said(answer))
    if status == 403:
        return Denied(status=403, reason="forbidden", detail=said(answer))
    if status in (404, 410):
        return Missing(status=status, detail=said(answer), observed_at=answer.asked_at, anonymous=not principal)
    if 400 <= status < 500:
        return Refused(status=status, reason="refused", detail=said(answer))
    raise FetchError(REDACTOR.text(f"{url} answered {status}"), url=url, status=status)


def _fetched(answer: Answer, url: str, principal: str, *, keeps: bool) -> Fetched:
    etag, here = answer.headers.get("ETag") if keeps else None, urlsplit(answer.url).netloc
    pages = links(answer.headers.get("Link"))
    return Fetched(
        body=parsed(answer),
        url=url,
        observed_at=answer.asked_at,
        checked_at=answer.asked_at,
        validator=Validator(url=answer.url, etag=etag, principal=principal) if etag else None,
        link={rel: named for rel, target in pages.items() if (named := _ours(target, here))},
    )


def _ours(url: str, host: str) -> str:
    """A URL of the same host with the platform's name for a scheme; empty for any other: tokens go to one host."""
    parts = urlsplit(url)
    return f"{SCHEME}://{host}{parts.path}?{parts.query}" if parts.netloc == host else ""


def parsed(answer: Answer) -> Json:
    """The body as JSON. Raises FetchError; Malformed for what is nested too deep, however often it is fetched."""
    try:
        return loads(answer.body or b"", max_depth=MAX_DEPTH)
    except TooDeep as error:
        raise Malformed(REDACTOR.text(f"{answer.url} answered {answer.status} with JSON {error}")) from None
    except ValueError:
        pass
    text = f"{answer.url} answered {answer.status} with {len(answer.body or b'')} bytes that are no JSON"
    raise FetchError(REDACTOR.text(text), url=answer.url, status=answer.status)


def said(answer: Answer) -> str:
    """The host's own words for why it does not answer."""
    try:
        body: Any = loads(answer.body or b"", max_depth=MAX_DEPTH)
    except ValueError:
        body = None
    words = body.get("error") if isinstance(body, Mapping) else None
    return REDACTOR.text(str(words or f"answered {answer.status}"))[:500]


def limit_of(answer: Answer, now: datetime) -> Limit | None:
    """What is left, as `X-RateLimit-*` say; None where they do not. `Reset` is an ISO 8601 moment of the server's."""
    headers = answer.headers
    hit = answer.status == 429
    server_now = http_date(headers.get("Date", "")) or now.timestamp()
    wait_s = _reset_s(headers.get("X-RateLimit-Reset", ""), server_now)
    if wait_s is None:
        wait_s = retry_after_s(headers, server_now) if hit else None
    if wait_s is None and not hit:
        return None
    until = now + timedelta(seconds=min(max(1.0, BLIND_S if wait_s is None else wait_s), 86_400.0))
    return Limit(
        until=until,
        limit=_number(headers.get("X-RateLimit-Limit", "")),
        remaining=0 if hit else _number(headers.get("X-RateLimit-Remaining", "")),
        hit=hit,
    )


def _reset_s(text: str, server_now: float) -> float | None:
    """Seconds until then; other servers of its API say epoch seconds."""
    try:
        at = float(text) if text.isdecimal() else moment(text, zone=UTC).timestamp()
    except ValueError:
        return None
    return at - server_now


def _number(text: str) -> int:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
