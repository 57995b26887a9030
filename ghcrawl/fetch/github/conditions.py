"""Conditional requests (validators), and smaller pages after breakdowns."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from yarl import URL

from ghcrawl.ports.store import Stored
from ghcrawl.values.documents import Validator
from ghcrawl.values.requests import Request

MODIFIED_KINDS: Final = frozenset({"repo", "user", "org", "issue", "commit"})
"""Kinds whose `Last-Modified` moves with (nearly) every change; a pull request's, for one, does not."""
TRUSTED: Final = timedelta(days=30)
"""A copy older than this is fetched whole: some changes do not move `Last-Modified`."""
BREAKDOWNS: Final = frozenset({500, 502, 503, 504})
SMALLEST_PAGE: Final = 10


def usable(stored: Stored | None, accept: str, api_version: str) -> Validator | None:
    """The stored validator, if it is about the representation that we would be sent."""
    validator = stored.validator if stored is not None else None
    if validator is None or validator.accept != accept or validator.api_version != api_version:
        return None
    return validator


def condition(validator: Validator, stored: Stored, *, url: str, fingerprint: str, now: datetime) -> dict[str, str]:
    """The one conditional header to ask `url` with, or none.

    GitHub's ETags hold for one token only, `Last-Modified` for all. Never both: `If-None-Match` would win. A 304 to
    `If-Modified-Since` may hide changes that do not count as one, so a copy older than `TRUSTED` is fetched whole.
    """
    if validator.url != url:
        return {}
    if validator.etag and validator.principal == fingerprint:
        return {"If-None-Match": validator.etag}
    if validator.last_modified and stored.type_name.name in MODIFIED_KINDS and now - stored.observed_at < TRUSTED:
        return {"If-Modified-Since": validator.last_modified}
    return {}


def smaller_page(request: Request) -> str:
    """`request.url`, with `per_page` halved for every time that the platform broke while answering it.

    A numbered page starts where it started before, or a little earlier; its `Link` header goes on from there.
    """
    breakdowns = sum(failure.status in BREAKDOWNS for failure in request.failures)
    if not breakdowns:
        return request.url
    url = URL(request.url, encoded=True)
    size = url.query.get("per_page", "")
    if not size.isdecimal() or int(size) <= SMALLEST_PAGE:
        return request.url
    smaller = max(SMALLEST_PAGE, int(size) >> breakdowns)
    query = {"per_page": str(smaller)}
    page = url.query.get("page", "")
    if page.isdecimal():
        query["page"] = str((max(1, int(page)) - 1) * int(size) // smaller + 1)
    return str(url.update_query(query))
