"""The blog and its server."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from hashlib import blake2b
from html import escape
from typing import Final

from aiohttp import web
from msgspec import Struct

IN_FEED: Final = 10
A_PAGE: Final = 5
EPOCH: Final = datetime(2026, 1, 5, 9, 30, tzinfo=UTC)
_NOUNS: Final = "river stone morning letter window copper garden signal harbour winter engine paper bridge lantern"
_MORE: Final = "market forest summer thread island compass orchard thunder canvas meadow pocket violin shadow candle"
_WORDS: Final = tuple(f"{_NOUNS} {_MORE}".split())
_AUTHORS: Final = ("Ada Brook", "Ben Marsh", "Cleo Hart")


class Post(Struct, frozen=True, kw_only=True):
    """One post. number: from 1, the oldest."""

    number: int
    title: str
    paragraphs: tuple[str, ...]
    author: str
    at: datetime
    comments: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """`/2026/01/05/river-stone-1/`."""
        return f"/{self.at:%Y/%m/%d}/{self.title.lower().replace(' ', '-')}-{self.number}/"

    @property
    def text(self) -> str:
        """What the article says."""
        return " ".join(self.paragraphs)


@dataclass
class Blog:
    """A blog with `size` posts.

    calls: path and status of each answer, in order. seed: of its texts. answer_s: how long each answer takes.
    """

    size: int
    seed: int = 0
    answer_s: float = 0.0
    robots: str = "User-agent: *\nDisallow: /private/\n"
    posts: list[Post] = field(default_factory=list)
    calls: list[tuple[str, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Writes the posts."""
        self.publish(self.size)

    def publish(self, count: int = 1) -> Sequence[Post]:
        """Add posts."""
        made = [self._written(number) for number in range(len(self.posts) + 1, len(self.posts) + 1 + count)]
        self.posts += made
        return made

    def _written(self, number: int) -> Post:
        chance = random.Random(f"{self.seed}/{number}")  # noqa: S311  # texts, not secrets
        sentence: Callable[[], str] = lambda: " ".join(chance.choices(_WORDS, k=12)).capitalize() + "."  # noqa: E731
        paragraphs = tuple(" ".join(sentence() for _ in range(4)) for _ in range(chance.randint(3, 6)))
        comments = tuple(sentence() for _ in range(chance.choice((0, 0, 1, 3))))
        title = " ".join(chance.sample(_WORDS, k=3)).title()
        author = chance.choice(_AUTHORS)
        at = EPOCH + timedelta(days=3 * number)
        return Post(number=number, title=title, paragraphs=paragraphs, author=author, at=at, comments=comments)

    @asynccontextmanager
    async def running(self, port: int = 0) -> AsyncIterator[str]:
        """Serves it; yields its URL."""
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", port).start()
            yield "http://{}:{}/".format(*runner.addresses[0][:2])
        finally:
            await runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        await asyncio.sleep(self.answer_s)
        body, type = self._body(request.path, f"http://{request.host}")
        if body is None:
            self.calls.append((request.path, 404))
            return web.Response(status=404)
        etag = f'"{blake2b(body.encode(), digest_size=8).hexdigest()}"'
        status = 304 if request.headers.get("If-None-Match") == etag else 200
        self.calls.append((request.path, status))
        if status == 304:
            return web.Response(status=304, headers={"ETag": etag})
        return web.Response(text=body, content_type=type, headers={"ETag": etag})

    def _body(self, path: str, here: str) -> tuple[str | None, str]:
        if path == "/robots.txt":
            return self.robots, "text/plain"
        if path == "/feed/":
            return self._feed(here), "application/rss+xml"
        by_path = {post.path: post for post in self.posts}
        if path in by_path:
            return self._page(by_path[path]), "text/html"
        if path in ("/", "/about/", "/private/"):
            return _html("A small blog", self._list(1)), "text/html"
        number = path.removeprefix("/page/").strip("/")
        if path.startswith("/page/") and number.isdecimal() and 1 < int(number) <= self._last_page:
            return _html(f"Page {number}", self._list(int(number))), "text/html"
        return None, ""

    @property
    def _last_page(self) -> int:
        return -(-len(self.posts) // A_PAGE)

    def _list(self, page: int) -> str:
        newest = self.posts[::-1][(page - 1) * A_PAGE : page * A_PAGE]
        items = "".join(
            f'<div class="teaser"><h2><a href="{post.path}">{escape(post.title)}</a></h2>'
            f"<p>{escape(post.paragraphs[0][:150])}</p></div>"
            for post in newest
        )
        older = f'<a href="/page/{page + 1}/">Older</a>' if page < self._last_page else ""
        return f'{items}{older}<a href="/about/">About</a><a href="/private/">Staff</a>'

    def _page(self, post: Post) -> str:
        text = "".join(f"<p>{escape(each)}</p>" for each in post.paragraphs)
        comments = "".join(
            f'<li id="comment-{post.number * 100 + number}"><cite class="fn">Reader {number}</cite>'
            f'<time datetime="{post.at.isoformat()}"></time>'
            f'<div class="comment-content"><p>{escape(said)}</p></div></li>'
            for number, said in enumerate(post.comments, start=1)
        )
        body = (
            f'<nav><a href="/">Home</a> <a href="/about/">About</a></nav><main><h1 class="entry-title">'
            f'{escape(post.title)}</h1><p class="meta">By <span class="author">{post.author}</span> on '
            f'<time datetime="{post.at.isoformat()}">{post.at:%d %B %Y}</time></p>'
            f'<div class="entry-content">{text}</div>'
            f'<ol class="comments">{comments}</ol></main><aside>{escape(self.posts[0].text[:400])}</aside>'
        )
        return _html(post.title, body)

    def _feed(self, here: str) -> str:
        items = "".join(
            f"<item><title>{escape(post.title)}</title><link>{here}{post.path}</link>"
            f'<guid isPermaLink="false">{post.number}</guid><dc:creator>{post.author}</dc:creator>'
            f"<pubDate>{format_datetime(post.at)}</pubDate><content:encoded><![CDATA["
            + "".join(f"<p>{escape(each)}</p>" for each in post.paragraphs)
            + f"]]></content:encoded><slash:comments>{len(post.comments)}</slash:comments></item>"
            for post in self.posts[::-1][:IN_FEED]
        )
        spaces = (
            'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:content="http://purl.org/rss/1.0/modules/content/" '
            'xmlns:slash="http://purl.org/rss/1.0/modules/slash/"'
        )
        return f'<rss version="2.0" {spaces}><channel><title>A small blog</title>{items}</channel></rss>'


def _html(title: str, body: str) -> str:
    return (
        f"<!doctype html><html><head><title>{escape(title)} | A small blog</title>"
        '<link rel="alternate" type="application/rss+xml" title="Feed" href="/feed/"></head>'
        f"<body>{body}<footer>Written by nobody, for tests and demonstrations.</footer></body></html>"
    )
