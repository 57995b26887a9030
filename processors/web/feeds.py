"""Feeds as plain data: RSS, Atom and JSON Feed, well formed or not."""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import feedparser

from ghcrawl.values.jsontext import loads
from ghcrawl.values.times import iso
from processors.web.html import fragment_text, squeezed
from processors.web.urls import canonical

MAX_ENTRIES: Final = 1_000
MAX_TEXT: Final = 20_000
"""Characters of an entry's text that are kept: enough to compare a page with."""
_ENTRY: Final = re.compile(rb"<(?:\w+:)?(?:item|entry)[\s>]", re.IGNORECASE)
_CUT: Final = re.compile(
    r"(?:\[?(?:…|\.\.\.|&hellip;)\]?|continue reading\W*.{0,80}|read more\W*"
    r"|the post .{0,200} appeared first on .{0,100})$",
    re.IGNORECASE,
)
"""Endings of entries that hold only an excerpt of the post."""


def parse(content: bytes, content_type: str, url: str) -> dict[str, Any]:
    """`{"title", "entries": […]}`; no entries and `refused` where it is no feed. Never raises for any bytes.

    `unnamed`: how many entries were left out because they name no page; missing where there are none.
    """
    if content.lstrip()[:1] == b"{":
        return _json(content, url)
    headers = {"content-location": url}
    if content_type:
        headers["content-type"] = content_type
    try:
        found = feedparser.parse(_bounded(content), response_headers=headers, sanitize_html=False)
    except (ValueError, LookupError, TypeError, AttributeError, AssertionError, KeyError, RecursionError) as error:
        return {"title": "", "entries": [], "refused": f"the feed cannot be read: {type(error).__name__}: {error}"}
    if not found.get("version") and not found.entries:
        return {"title": "", "entries": [], "refused": "it is no feed"}
    entries = [_entry(each, url) for each in found.entries[:MAX_ENTRIES]]
    return _found(str(found.feed.get("title", "")), entries)


def _found(title: str, entries: Sequence[dict[str, Any] | None]) -> dict[str, Any]:
    kept = [each for each in entries if each]
    unnamed = {"unnamed": len(entries) - len(kept)} if len(kept) < len(entries) else {}
    return {"title": squeezed(title)[:500], "entries": kept, **unnamed}


def _bounded(content: bytes) -> bytes:
    """The same without what is behind the last entry that is kept: a million entries cost as much as a thousand."""
    for count, match in enumerate(_ENTRY.finditer(content)):
        if count >= MAX_ENTRIES:
            return content[: match.start()]
    return content


def _entry(entry: dict[str, Any], base: str) -> dict[str, Any] | None:
    link = str(entry.get("feedburner_origlink") or entry.get("link") or "")
    url = canonical(link, base) if link else ""
    if not url:
        return None
    contents = [str(each.get("value", "")) for each in entry.get("content", ()) if isinstance(each, Mapping)]
    summary = str(entry.get("summary", ""))
    text = max((fragment_text(each) for each in (*contents, summary)), key=len, default="")
    return _kept(
        {
            "url": url,
            "id": str(entry.get("id", ""))[:500],
            "title": fragment_text(str(entry.get("title", "")))[:500],
            "text": text[:MAX_TEXT],
            "cut": bool(_CUT.search(text)),
            "author": squeezed(str(entry.get("author", "")))[:200],
            "published": _moment(entry.get("published_parsed")),
            "updated": _moment(dict.get(entry, "updated_parsed")),
            "comments_feed": canonical(str(entry.get("wfw_commentrss", "")), base)
            if entry.get("wfw_commentrss")
            else "",
            "comments": _number(entry.get("slash_comments")),
        }
    )


def _kept(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if value not in ("", None, False)}


def _number(value: object) -> int | None:
    text = str(value or "").strip()
    return int(text[:9]) if text.isascii() and text.isdecimal() else None


def _moment(parsed: Any) -> str:
    """UTC, as feedparser says it."""
    try:
        return iso(datetime.fromtimestamp(calendar.timegm(parsed), UTC), "seconds") if parsed else ""
    except (TypeError, ValueError, OverflowError, OSError):
        return ""


def _json(content: bytes, url: str) -> dict[str, Any]:
    """A JSON Feed, which feedparser does not read."""
    try:
        value = loads(content)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict) or "jsonfeed.org" not in str(value.get("version", "")):
        return {"title": "", "entries": [], "refused": "it is no feed"}
    items = value.get("items")
    found = [_item(item, url) for item in (items if isinstance(items, list) else [])[:MAX_ENTRIES]]
    return _found(str(value.get("title", "")), found)


def _item(item: object, base: str) -> dict[str, Any] | None:
    url = canonical(str(item.get("url", "")), base) if isinstance(item, dict) and item.get("url") else ""
    if not isinstance(item, dict) or not url:
        return None
    authors = item.get("authors")
    first = authors[0] if isinstance(authors, list) and authors and isinstance(authors[0], dict) else {}
    text = fragment_text(str(item.get("content_html") or item.get("content_text") or item.get("summary") or ""))
    return _kept(
        {
            "url": url,
            "id": str(item.get("id", ""))[:500],
            "title": squeezed(str(item.get("title") or ""))[:500],
            "text": text[:MAX_TEXT],
            "cut": bool(_CUT.search(text)),
            "author": squeezed(str(first.get("name") or ""))[:200],
            "published": _text_moment(item.get("date_published")),
            "updated": _text_moment(item.get("date_modified")),
        }
    )


def _text_moment(value: object) -> str:
    try:
        moment = datetime.fromisoformat(str(value))
        return iso(moment if moment.tzinfo else moment.replace(tzinfo=UTC), "seconds")
    except (ValueError, OverflowError):
        return ""
