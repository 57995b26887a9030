"""Tables of the web: blogs, feeds, pages, posts, comments, images and links."""

from __future__ import annotations

from typing import Final

from ghcrawl.platforms.columns import Column, columns, linked
from ghcrawl.platforms.tables import Schema, several, table

NAME: Final = "web"
_URL: Final = columns("text", "url=value")
_BLOG: Final = Column(name="blog_urn", type="text", path=("blog",), references="web_blogs.urn")
_POST: Final = linked("post_urn", "post", "web_posts.urn")
_LEFT_OUT: Final = "url page crawl"

TABLES: Final = Schema(
    version=1,
    tables=(
        table(
            NAME,
            "blog",
            *columns("text", "title feed pattern"),
            *columns("integer", "posts"),
            *columns("json", "rules crawl"),
            left_out="url",
        ),
        table(
            NAME,
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
            NAME,
            "page",
            *columns("text", "title refused"),
            _BLOG,
            *columns("boolean", "rendered"),
            *columns("json", "feeds"),
            links=(
                several("page", "web_pages", "links", "links", *_URL),
                several("page", "web_pages", "outlinks", "outlinks", *_URL),
            ),
            left_out=_LEFT_OUT,
        ),
        table(
            NAME,
            "post",
            *columns("text", "title author text refused"),
            _BLOG,
            *columns("timestamp", "published updated"),
            *columns("integer", "comments"),
            *columns("boolean", "in_feed rendered"),
            *columns("json", "fields votes"),
            links=(
                several("post", "web_posts", "links", "links", *_URL),
                several("post", "web_posts", "outlinks", "outlinks", *_URL),
                several("post", "web_posts", "images", "images", *_URL),
            ),
            left_out=f"{_LEFT_OUT} feeds",
        ),
        table(
            NAME,
            "comment",
            *columns("text", "id author text"),
            *columns("timestamp", "published"),
            _POST,
            left_out="url post",
        ),
        table(
            NAME,
            "image",
            *columns("text", "title alt type sha256 refused"),
            *columns("integer", "width height bytes"),
            _POST,
            left_out="url post content",
        ),
        table(NAME, "outlink", *columns("text", "text"), _POST, left_out="url post"),
    ),
)
"""The web's schema."""
