"""Title, text, author and date of a post, each with where it comes from and how sure that is.

Sources, the surest first: `feed`, what the entry says; `rule`, an element of the page that the feed taught us to find;
`markup`, what the page declares about itself; `trafilatura`, which knows no blog in particular.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

import trafilatura
from lxml import etree

from processors.web import extraction_rules
from processors.web.extraction_rules import Vote
from processors.web.feeds import MAX_TEXT
from processors.web.html import Node, squeezed, text_of, title_of
from processors.web.urls import canonical

FIELDS: Final = ("text", "title", "author")
SURE: Final = 0.5
"""Below this Dice coefficient a rule is not believed: the paper's own measure of success."""
CERTAIN: Final = 0.9
"""From this on even a short text is found for certain."""
LONG_ENOUGH: Final = 20
"""Characters. Shorter texts say nothing about likeness."""
GENERIC: Final = 0.5
"""Confidence in what trafilatura says: it knows nothing of this blog."""
DECLARED: Final = 0.8
_DATES: Final = (
    "//meta[@property='article:published_time']/@content",
    "//meta[@itemprop='datePublished']/@content",
    "//*[@itemprop='datePublished']/@datetime",
    "//time[contains(@class, 'published')]/@datetime",
    "//article//time/@datetime",
    "//time/@datetime",
)


class Extraction:
    """Fields of one page. rules: of the blog, per field, best first. entry: of the feed; empty: none."""

    def __init__(
        self, root: Node, markup: str, url: str, entry: Mapping[str, Any], rules: Mapping[str, Sequence[Vote]]
    ) -> None:
        self.record: dict[str, Any] = {}
        self.fields: dict[str, dict[str, Any]] = {}
        self._root = root
        self._markup = markup
        self._url = url
        self._entry = entry
        self._rules = rules
        self.votes = extraction_rules.votes(root, {name: str(entry.get(name, "")) for name in FIELDS}) if entry else {}
        self._foreign = self._find_foreign()
        self.article = self._find_text()
        if self.votes.get("author"):
            self.votes["author"] = extraction_rules.near(root, self.votes["author"], self.article)
        self.confirmed = bool(entry) or (
            self.article is not None and not self._is_list() and not self._is_titled_elsewhere()
        )
        self._find_title()
        self._find_author()
        self._find_date()
        self._generic()

    def _set(self, field: str, value: str, source: str, confidence: float) -> bool:
        value = squeezed(value)
        if not value or field in self.record:
            return False
        self.record[field] = value
        self.fields[field] = {"source": source, "confidence": round(confidence, 4)}
        return True

    def _find_text(self) -> Node | None:
        """The element that holds the article, and its images: what is around a paragraph."""
        own = () if self._entry.get("cut") else self.votes.get("text", ())
        own = [vote for vote in own if self._whole or vote.score >= CERTAIN]
        own = extraction_rules.ranked(self._root, own, self._foreign, str(self._entry.get("text", "")))
        for vote in (*own, *self._rules.get("text", ())):
            nodes = extraction_rules.apply(self._root, vote.rule) if vote.score >= SURE else []
            if self._set("text", extraction_rules.text_by(self._root, vote.rule, self._foreign), "rule", vote.score):
                return nodes[0] if len(nodes) == 1 and nodes[0].tag != "p" else nodes[0].getparent()
        if self._whole:
            self._set("text", str(self._entry["text"]), "feed", SURE)
        return None

    def _is_list(self) -> bool:
        """Whether the blog's rules find several texts and several titles, as on a page with the latest posts."""
        return all(extraction_rules.places(self._root, self._rules.get(name, ())) > 1 for name in ("text", "title"))

    def _is_titled_elsewhere(self) -> bool:
        """Whether the title leads to another page of this host: a list that shows one post whole."""
        for vote in self._rules.get("title", ()):
            for node in extraction_rules.apply(self._root, vote.rule)[:1]:
                hrefs = node.xpath("ancestor-or-self::a/@href | .//a/@href")
                urls = [urlsplit(canonical(str(href), self._url)) for href in hrefs]
                here = urlsplit(self._url)
                paths = [url.path.rstrip("/") for url in urls if url.netloc == here.netloc]
                return bool(paths) and here.path.rstrip("/") not in paths
        return False

    @property
    def _whole(self) -> bool:
        """Whether the entry has all of the post, as far as it shows."""
        return len(self._entry.get("text", "")) > LONG_ENOUGH and not self._entry.get("cut")

    def _find_foreign(self) -> Sequence[Vote]:
        """Parts that the author did not write: of what the entry has nothing, else what the blog's rules say."""
        text = str(self._entry.get("text", ""))
        if not self._whole or len(text) >= MAX_TEXT:
            return self._rules.get("foreign", ())
        found = extraction_rules.foreign(self._root, self.votes.get("text", ()), text)
        self.votes["foreign"] = found
        return found

    def _find_title(self) -> None:
        if self._entry.get("title"):
            self._set("title", str(self._entry["title"]), "feed", 1.0)
        for vote in self._rules.get("title", ()):
            nodes = extraction_rules.apply(self._root, vote.rule)
            if nodes and vote.score >= SURE and len(text := text_of(nodes[0])) <= 500:
                self._set("title", text, "rule", vote.score)

    def _find_author(self) -> None:
        if self._entry.get("author"):
            self._set("author", str(self._entry["author"]), "feed", 1.0)
        for vote in self._rules.get("author", ()):
            nodes = extraction_rules.apply(self._root, vote.rule)
            if nodes and len(text := text_of(nodes[0])) <= 100:
                self._set("author", text, "rule", vote.score)

    def _find_date(self) -> None:
        for name in ("published", "updated"):
            self._set("published", str(self._entry.get(name, "")), "feed", 1.0)
        for path in _DATES:
            if "published" not in self.record and (found := self._root.xpath(path)):
                self._set("published", str(found[0]), "markup", DECLARED)

    def _generic(self) -> None:
        """Fill in missing fields by trafilatura, and the title by the page's own."""
        missing = [name for name in ("text", "title", "author", "published") if name not in self.record]
        if "text" in missing:
            self._by_trafilatura()
        elif missing and self._rules:
            self._by_metadata()
        self._set("title", title_of(self._root), "markup", SURE)

    def _by_trafilatura(self) -> None:
        found = _quietly(lambda: trafilatura.bare_extraction(self._markup, url=self._url, with_metadata=True))
        self._take(found)
        self._set("text", str(getattr(found, "text", None) or ""), "trafilatura", GENERIC)

    def _by_metadata(self) -> None:
        self._take(_quietly(lambda: trafilatura.extract_metadata(self._markup, default_url=self._url)))

    def _take(self, found: Any) -> None:
        for field, name in (("title", "title"), ("author", "author"), ("published", "date")):
            self._set(field, str(getattr(found, name, None) or ""), "trafilatura", GENERIC)


def _quietly(look: Any) -> Any:
    """Result of `look`; None if the page is too broken for it."""
    try:
        return look()
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError, AssertionError, etree.Error):
        return None
