"""What others collected, from source distributions: blogs, served on loopback, and feeds and robots.txt as files.

Nothing of them is kept in this repository; see `tests.support.recordings`. What a post says is taken from Pelican's own
feeds, read by feedparser alone, and from the texts that newspaper4k's authors expect.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import quote, unquote, urljoin, urlsplit

import feedparser
from aiohttp import web
from lxml import html
from msgspec import Struct

from tests.support.recordings import download_sdist, installed

PELICAN = "pelican==4.12.0 --hash=sha256:3983b5d2dc84c7bdf967154359077a2b78c0bbd2f7dcc55292133a7779609458"
NEWSPAPER = "newspaper4k==0.9.6 --hash=sha256:a3f2f0e017dddb6f1019ee77aaa8980e13e6ecea0b949abc7167aae4770d2d0e"
TRAFILATURA = "trafilatura==2.3.1 --hash=sha256:2e5557aeab32d33b9da7ff0debbb677a676c5b648a927e50d91b8277011e1105"
FEEDPARSER = "feedparser==6.0.14 --hash=sha256:088679b0c4b543ee211a820dd544698c76a402122eae7473c04a43425f283d06"
PROTEGO = "protego==0.7.0 --hash=sha256:2c032d9736a1f4f0c4318f3558353ae34da5cd038f1a5e064ded7548df315e5a"
SITES = ("basic", "custom", "custom_locale")
"""The sites that Pelican's own tests generate: its plain theme, its usual one, and that with dates in URLs."""
_ORIGIN = "http://blog.notmyidea.org"
_BLOCK = re.compile(r"\n\s*\n|\n")
_DUPLICATES = frozenset({"video_article_01"})
"""The same page as cleveland.com1."""


class Post(Struct, frozen=True, kw_only=True):
    """One post, as its feed has it. path: percent-encoded."""

    path: str
    title: str
    content: str
    author: str = ""
    at: str = "2024-01-01T00:00:00Z"

    @property
    def text(self) -> str:
        """What a person reads of it."""
        root = html.fragment_fromstring(self.content, create_parent="div")
        for each in root.iter("script", "style"):
            each.text = ""
        for each in root.iter("p", "div", "li", "br", "h1", "h2", "h3", "h4", "pre", "dd", "dt", "tr", "td"):
            each.tail = f" {each.tail or ''}"
        return " ".join(root.text_content().split())


@dataclass
class Site:
    """Pages by percent-encoded path, and the posts among them. asked: paths, in order."""

    name: str
    pages: Mapping[str, bytes]
    posts: Sequence[Post]
    in_feed: Collection[str] = ()
    asked: list[str] = field(default_factory=list)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        """Serves it with its feed; yields its URL."""
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield "http://{}:{}/".format(*runner.addresses[0][:2])
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        here, path = f"http://{request.host}", quote(unquote(request.raw_path.partition("?")[0]))
        self.asked.append(path)
        if path == "/the.feed":
            return web.Response(text=self._feed(here), content_type="application/rss+xml")
        body = self.pages.get(path)
        if body is None:
            return web.Response(status=404)
        return web.Response(body=body.replace(_ORIGIN.encode(), here.encode()), content_type="text/html")

    def _feed(self, here: str) -> str:
        items = "".join(
            f"<item><title>{escape(post.title)}</title><link>{here}{post.path}</link>"
            f"<dc:creator>{escape(post.author)}</dc:creator><dc:date>{post.at}</dc:date>"
            f"<content:encoded>{escape(post.content.replace(_ORIGIN, here))}</content:encoded></item>"
            for post in self.posts
            if not self.in_feed or post.path in self.in_feed
        )
        spaces = 'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/"'
        return f'<rss version="2.0" {spaces}><channel><title>{self.name}</title>{items}</channel></rss>'


def pelican(name: str) -> Site:
    """One of `SITES`: all pages that were generated, with one feed of everything in its feeds."""
    folder = _only(installed("pelican", lambda into: download_sdist(PELICAN, into)), f"pelican/tests/output/{name}")
    pages = {f"/{quote(path.relative_to(folder).as_posix())}": path.read_bytes() for path in folder.rglob("*.html")}
    pages |= {path.removesuffix("index.html"): body for path, body in pages.items() if path.endswith("/index.html")}
    announced = b'<link rel="alternate" type="application/rss+xml" href="/the.feed"></head>'
    others = re.compile(rb"<link[^>]+(?:atom|rss)\+xml[^>]*>")
    pages = {path: others.sub(b"", body).replace(b"</head>", announced) for path, body in pages.items()}
    posts: dict[str, Post] = {}
    for path in sorted(folder.glob("feeds/*.atom.xml")):
        for entry in feedparser.parse(path.read_bytes(), sanitize_html=False).entries:
            post = _of_entry(entry)
            posts.setdefault(post.path, post)
    return Site(name=f"pelican {name}", pages=pages, posts=list(posts.values()))


def _of_entry(entry: Mapping[str, str]) -> Post:
    path = quote(unquote(urlsplit(urljoin(_ORIGIN, entry["link"])).path))
    content = str(entry["content"][0]["value"]) if "content" in entry else entry["summary"]  # type: ignore[index]
    at = entry["published"]
    return Post(path=path, title=entry["title"], content=content, author=entry.get("author", ""), at=at)


def newspaper() -> Site:
    """The pages of newspaper4k's tests that have an expected text: one each of two dozen sites, in nine languages."""
    data = _only(installed("newspaper4k", lambda into: download_sdist(NEWSPAPER, into)), "tests/data")
    posts, pages = [], {}
    for path in sorted(data.glob("html/*.html")):
        expected, told = data / f"txt/{path.stem}.txt", data / f"metadata/{path.stem}.json"
        if not expected.exists() or path.stem in _DUPLICATES:
            continue
        said = json.loads(told.read_text(encoding="utf-8")) if told.exists() else {}
        paragraphs = [each for each in _BLOCK.split(expected.read_text(encoding="utf-8")) if each.strip()]
        content = "".join(f"<p>{escape(each)}</p>" for each in paragraphs)
        posts.append(Post(path=f"/{quote(path.name)}", title=said.get("title", ""), content=content))
        pages[posts[-1].path] = path.read_bytes()
    return Site(name="newspaper4k", pages={**pages, "/": _front(pages)}, posts=posts)


def without_truth() -> Site:
    """What else the two have: pages with no text that anybody expects of them, such as front pages and fragments."""
    data = _only(installed("newspaper4k", lambda into: download_sdist(NEWSPAPER, into)), "tests/data")
    pages = {f"/{path.name}": path.read_bytes() for path in data.glob("html/*.html")}
    pages = {path: body for path, body in pages.items() if path not in newspaper().pages}
    resources = _only(installed("trafilatura", lambda into: download_sdist(TRAFILATURA, into)), "tests/resources")
    pages |= {f"/{path.name}": path.read_bytes() for path in resources.glob("*.html")}
    pages |= {f"/{path.stem}": gzip.decompress(path.read_bytes()) for path in resources.glob("*.html.gz")}
    return Site(name="no truth", pages={**pages, "/": _front(pages)}, posts=[])


def feeds() -> Mapping[str, bytes]:
    """The feeds of feedparser's own tests, whole and broken, by name."""
    folder = _only(installed("feedparser", lambda into: download_sdist(FEEDPARSER, into)), "tests")
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".py"]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def robots() -> Mapping[str, bytes]:
    """The robots.txt of four thousand hosts, as protego's authors fetched them."""
    folder = _only(installed("protego", lambda into: download_sdist(PROTEGO, into)), "tests/test_data")
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def _front(pages: Collection[str]) -> bytes:
    links = "".join(f'<li><a href="{path}">{path}</a></li>' for path in pages)
    announced = '<link rel="alternate" type="application/rss+xml" href="/the.feed">'
    return f"<!doctype html><html><head>{announced}</head><body><ul>{links}</ul></body></html>".encode()


def _only(folder: Path, below: str) -> Path:
    (found,) = folder.glob(f"*/{below}")
    return found
