"""One page of a list, and the Link header that leads on."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as BadBase64
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlencode

from msgspec import Struct

from ghcrawl.simulator.answers import Refusal
from ghcrawl.simulator.github.refusals import refused
from ghcrawl.simulator.github.routes.ask import Ask, Key, Many

T = TypeVar("T")

DEFAULT_PER_PAGE: Final = 30
MAX_PER_PAGE: Final = 100
_CURSOR: Final = "cursor:v2:"
_CURSORS: Final = frozenset({"after", "before"})
_PAGING: Final = frozenset({"page", *_CURSORS})


class Page(Struct, Generic[T], frozen=True, kw_only=True):
    """The elements of one page. link: the value of the Link header; empty where everything fits on one page."""

    elements: Sequence[T]
    link: str = ""


def per_page(params: Mapping[str, str]) -> int:
    """How many elements were asked for: 30 where nothing sensible was said, never more than 100."""
    text = params.get("per_page", "")
    if not (text.isascii() and text.isdigit()) or int(text) == 0:
        return DEFAULT_PER_PAGE
    return min(int(text), MAX_PER_PAGE)


def cut(ask: Ask, many: Many[T]) -> Page[T]:
    """The page that `ask` wants. Raises Refusal (422) for a deep page of a list that is paged by cursor."""
    size = per_page(ask.params)
    text = ask.params.get("page", "")
    number = max(1, int(text)) if text.isascii() and text.isdigit() else 1
    if ask.manners.pages_cap is not None and number > ask.manners.pages_cap:
        raise Refusal(
            refused(422, "In order to keep the API fast for everyone, pagination is limited for this resource.")
        )
    if many.key is None or len(many.elements) <= ask.manners.cursor_above:
        return _numbered(ask, many.elements, number, size)
    if number * size > ask.manners.cursor_above and not _CURSORS & ask.params.keys():
        words = "Pagination with the page parameter is not supported for large datasets, please use cursor based"
        raise Refusal(refused(422, f"{words} pagination (after/before)"))
    return _by_cursor(ask, many, number, size)


def _numbered(ask: Ask, elements: Sequence[T], number: int, size: int) -> Page[T]:
    last = max(1, -(-len(elements) // size))
    rels = {}
    if number > 1:
        rels["prev"] = min(number - 1, last)
    if number < last:
        rels |= {"next": number + 1, "last": last}
    if number > 1:
        rels["first"] = 1
    links = {rel: _url(ask, page=page) for rel, page in rels.items()}
    return Page(elements=elements[(number - 1) * size : number * size], link=_header(links))


def _by_cursor(ask: Ask, many: Many[T], number: int, size: int) -> Page[T]:
    """Positions are named by the element they lie behind, so that what comes and goes meanwhile shifts nothing.

    Links count pages beside it, as GitHub's do; where there is a cursor, the count says nothing.
    """
    assert many.key is not None
    elements = many.elements
    if "after" in ask.params:
        start = _position(many, _read(ask.params["after"]), past=True)
    elif "before" in ask.params:
        start = max(0, _position(many, _read(ask.params["before"]), past=False) - size)
    else:
        start = (number - 1) * size
    part = elements[start : start + size]
    links = {}
    if part and start + size < len(elements):
        links["next"] = _url(ask, after=_write(many.key(part[-1])), page=number + 1)
    if part and start > 0:
        links["prev"] = _url(ask, before=_write(many.key(part[0])), page=max(1, number - 1))
    return Page(elements=part, link=_header(links))


def _position(many: Many[T], key: Key, *, past: bool) -> int:
    """Where the element with that key is, or would be; behind it if `past`."""
    assert many.key is not None
    before, behind = (bisect_left, bisect_right) if past else (bisect_right, bisect_left)
    if many.descending:
        return len(many.elements) - before(many.elements[::-1], key, key=many.key)
    return behind(many.elements, key, key=many.key)


def _write(key: Key) -> str:
    return urlsafe_b64encode(f"{_CURSOR}{json.dumps(key)}".encode()).decode()


def _read(cursor: str) -> Key:
    try:
        text = urlsafe_b64decode(cursor.encode()).decode()
        if text.startswith(_CURSOR):
            value, tie = json.loads(text.removeprefix(_CURSOR))
            return value, tie
    except (BadBase64, ValueError):
        pass
    raise Refusal(refused(422, "The cursor is invalid"))


def _url(ask: Ask, **where: Any) -> str:
    kept = [(name, value) for name, value in ask.params.items() if name not in _PAGING]
    return f"{ask.site.base}{ask.numeric}?{urlencode(kept + list(where.items()))}"


def _header(links: Mapping[str, str]) -> str:
    return ", ".join(f'<{url}>; rel="{rel}"' for rel, url in links.items())
