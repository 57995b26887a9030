"""Tables of the web: blogs, feeds, pages, posts, comments, images and links."""

from __future__ import annotations

from typing import Final

from ghcrawl.platforms.columns import Column, columns, linked
from ghcrawl.platforms.tables import LinkTable, Schema, several, table
from processors.web.documents import PLATFORM

_BLOG: Final = Column(name="blog_urn", type="text", path=("blog",), references="web_blogs.urn")
_POST: Final = linked("post_urn", "post", "web_posts.urn")
_LEFT_OUT: Final = "url page crawl"


def _urls(kind: str, *names: str) -> tuple[LinkTable, ...]:
    """A link table for each list of URLs in a body."""
    return tuple(several(kind, f"web_{kind}s", name, name, *columns("text", "url=value")) for name in names)


TABLES: Final = Schema(
    version=1,
    tables=(
        table(
            PLATFORM,
            "blog",
            *columns("text", "title feed pattern"),
            *columns("integer", "posts"),
            *columns("json", "rules crawl"),
            left_out="url",
        ),
        table(
            PLATFORM,
            "feed",
            *columns("text", "title asked refused"),
            *columns("integer", "unnamed"),
            links=(
                several(
                    "feed",
                    "web_feeds",
                    "entries",
                    "entries",
                    *columns("text", "url id title author"),
                    *columns("timestamp", "published updated"),
                    *columns("integer", "comments"),
                    *columns("boolean", "cut"),
                    *columns("text", "text"),
                ),
            ),
            left_out=_LEFT_OUT,
        ),
        table(
            PLATFORM,
            "page",
            *columns("text", "title refused"),
            _BLOG,
            *columns("boolean", "rendered"),
            *columns("json", "feeds"),
            links=_urls("page", "links", "outlinks"),
            left_out=_LEFT_OUT,
        ),
        table(
            PLATFORM,
            "post",
            *columns("text", "title author text refused"),
            _BLOG,
            *columns("timestamp", "published updated"),
            *columns("integer", "comments"),
            *columns("boolean", "in_feed rendered"),
            *columns("json", "fields votes"),
            links=_urls("post", "links", "outlinks", "images"),
            left_out=f"{_LEFT_OUT} feeds",
        ),
        table(
            PLATFORM,
            "comment",
            *columns("text", "id author text"),
            *columns("timestamp", "published"),
            _POST,
            left_out="url post",
        ),
        table(
            PLATFORM,
            "image",
            *columns("text", "title alt type sha256 refused"),
            *columns("integer", "width height bytes"),
            _POST,
            left_out="url post content",
        ),
        table(PLATFORM, "outlink", *columns("text", "text"), _POST, left_out="url post"),
    ),
)
"""The web's schema."""
