"""Comments that a page shows: by the marks that blog software gives them.

`id="comment-12"`, `id="isso-12"`, or schema.org's Comment.
"""

from __future__ import annotations

import re
from typing import Any, Final

from processors.web.html import Node, squeezed, text_of

MAX_COMMENTS: Final = 2_000
_ID: Final = re.compile(r"(?:(?:div-|li-)?comment|isso)-(\d+)")
_MARKED: Final = (
    "//*[starts-with(@id, 'comment-') or starts-with(@id, 'li-comment-') or starts-with(@id, 'isso-')"
    " or contains(@itemtype, '/Comment')]"
)
_AUTHORS: Final = (
    ".//*[contains(concat(' ', @class, ' '), ' fn ')]",
    ".//*[@itemprop='author' or @itemprop='creator']",
    ".//*[contains(@class, 'comment-author-name') or contains(@class, 'comment-author')]",
    ".//*[@class='isso-author']",
    ".//cite",
)
_TEXTS: Final = (
    ".//*[contains(@class, 'comment-content') or contains(@class, 'comment-text')]",
    ".//*[@itemprop='text']",
    ".//*[@class='isso-text']",
    ".//*[contains(@class, 'comment-body')]",
    ".//p",
)


def on_page(root: Node, url: str) -> list[dict[str, Any]]:
    """`{"id", "url", "author", "published", "text"}` of each, once, in the order of the page."""
    found: dict[str, dict[str, Any]] = {}
    for node in root.xpath(_MARKED)[:MAX_COMMENTS]:
        name = str(node.get("id", ""))
        match = _ID.fullmatch(name)
        if match is None and "/Comment" not in str(node.get("itemtype", "")):
            continue
        id = match[1] if match else name or str(len(found) + 1)
        if id not in found:
            found[id] = {"id": id, "url": f"{url}#{name}" if name else url, **_said(node)}
    return list(found.values())


def _said(node: Node) -> dict[str, str]:
    author, text = _first(node, _AUTHORS), _first(node, _TEXTS)
    times = node.xpath(".//time/@datetime")
    said = {
        "author": text_of(author)[:200] if author is not None else "",
        "published": str(times[0])[:40] if times else "",
        "text": text_of(text) if text is not None else "",
    }
    return {name: squeezed(value) for name, value in said.items() if value}


def _first(node: Node, paths: tuple[str, ...]) -> Node | None:
    for path in paths:
        found = node.xpath(path)
        if found:
            return found[0]
    return None
