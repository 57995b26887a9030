"""Pages as trees: decoding, text, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from lxml import etree, html

from processors.web.urls import canonical, may_be_page

Node = Any
"""An lxml element."""
MAX_LINKS: Final = 2_000
MAX_DEPTH: Final = 200
_CHARSET: Final = re.compile(rb"charset\s*=\s*[\"']?\s*([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
_SPACE: Final = re.compile(r"\s+")
SILENT: Final = frozenset(["script", "style", "noscript", "template", "svg", "iframe", "object", "head", "textarea"])
_SECTIONS: Final = frozenset({"article", "aside", "blockquote", "body", "div", "figure", "footer", "form", "header"})
_PARTS: Final = frozenset(
    {"br", "dd", "dl", "dt", "figcaption", "hr", "li", "main", "nav", "ol", "p", "pre", "section", "ul"}
) | {"address"}
_BLOCKS: Final = _SECTIONS | _PARTS | {"h1", "h2", "h3", "h4", "h5", "h6", "table", "td", "th", "tr"}
FEED_TYPES: Final = (
    "application/atom+xml",
    "application/rss+xml",
    "application/rdf+xml",
    "application/feed+json",
    "application/xml",
    "text/xml",
)
"""In the order in which they are tried."""


def decoded(content: bytes, content_type: str) -> str:
    """A page's text: by its header, else by what it says itself, else UTF-8, else what browsers fall back to."""
    named = _CHARSET.search(content_type.encode("latin-1", "replace")) or _CHARSET.search(content[:2_048])
    names = ["utf-8-sig"] if content.startswith(b"\xef\xbb\xbf") else []
    names += [named[1].decode("ascii")] if named else []
    for name in (*names, "utf-8"):
        try:
            return content.decode(name)
        except (UnicodeDecodeError, LookupError, UnicodeError):
            continue
    return content.decode("cp1252", "replace")


def tree(text: str) -> Node | None:
    """The page's root; None where there is none. Nested no deeper than the parser allows, however it was written."""
    parser = html.HTMLParser(encoding="utf-8", huge_tree=False, remove_comments=True, remove_pis=True)
    try:
        return html.document_fromstring(text.replace("\x00", "").encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError):
        return None


def text_of(node: Node) -> str:
    """Its text without markup, with single spaces."""
    return squeezed("".join(_pieces(node)))


def _pieces(node: Node) -> Iterator[str]:
    for event, each in etree.iterwalk(node, events=("start", "end")):
        if event == "start":
            if each.tag in SILENT and each is not node:
                continue
            if each.tag in _BLOCKS:
                yield " "
            if not _silent(each, node):
                yield each.text or ""
        else:
            if each.tag in _BLOCKS:
                yield " "
            if each is not node and not _silent(each.getparent(), node):
                yield each.tail or ""


def _silent(each: Node, top: Node) -> bool:
    while each is not None:
        if each.tag in SILENT:
            return True
        if each is top:
            return False
        each = each.getparent()
    return False


def fragment_text(markup: str) -> str:
    """The text of a piece of HTML, such as a feed's content."""
    if "<" not in markup and "&" not in markup:
        return squeezed(markup)
    root = tree(f"<html><body><div>{markup}</div></body></html>")
    return squeezed(markup) if root is None else text_of(root)


def squeezed(text: str) -> str:
    """With single spaces between words and none around."""
    return _SPACE.sub(" ", text).strip()


def base_of(root: Node, url: str) -> str:
    """The base of relative links."""
    found = root.xpath("//base/@href")
    return canonical(str(found[0]), url) or url if found else url


def links(root: Node, base: str) -> list[str]:
    """The pages it links to, once each, in order; bounded."""
    found: dict[str, None] = {}
    for href in root.xpath("//a/@href[not(../@rel) or not(contains(../@rel, 'nofollow'))]"):
        url = canonical(str(href), base)
        if url and may_be_page(url):
            found.setdefault(url)
            if len(found) >= MAX_LINKS:
                break
    return list(found)


def feeds(root: Node, base: str) -> list[str]:
    """Feeds that it announces, the likeliest first: known types in their order, those of comments last."""
    found: list[tuple[int, int, str]] = []
    nodes = root.xpath("//link[@href and @type and contains(concat(' ', @rel, ' '), ' alternate ')]")
    for index, node in enumerate(nodes[:50]):
        type = str(node.get("type", "")).split(";")[0].strip().lower()
        url = canonical(str(node.get("href")), base)
        if type in FEED_TYPES and url:
            about = f"{node.get('title', '')} {url}".lower()
            found.append((100 if "comment" in about else FEED_TYPES.index(type), index, url))
    return list(dict.fromkeys(url for _, _, url in sorted(found)))


def title_of(root: Node) -> str:
    """The page's own title."""
    found = root.xpath("//title")
    return text_of(found[0])[:500] if found else ""
