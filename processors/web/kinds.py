"""The kinds of the web and what leads where. What parses pages is loaded when the first one is processed."""

# ruff: noqa: PLC0415  # the parsers are an extra, and slow to import
from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Final

from ghcrawl.platforms.kind import Kind, List, OtherSpelling, Planning, Prospect, Thing
from ghcrawl.values.errors import SpecError
from ghcrawl.values.outcome import Save, Skip, Visit
from ghcrawl.values.requests import Request
from ghcrawl.values.visitor_map import Node
from processors.web.urls import canonical, host_of

VERSION: Final = 1
POST_VERSION: Final = 2
"""2: `rendered`; images and outlinks are documents, and outlinks those of the article."""
SCENARIOS: Final[Mapping[str, Mapping[str, Node]]] = {
    "default": {
        "blog": {"feed": "feed", "posts": "post", "pages": "page"},
        "feed": {},
        "page": {},
        "post": {
            "comments": {"comment": "comment"},
            "comment": "comment",
            "image": "image",
            "outlink": "outlink",
        },
        "comment": {},
        "image": {},
        "outlink": {},
    }
}


def kinds(*, max_pages: int = 1_000, keep_pages: bool = False, image_kb: int = 0) -> Mapping[str, Kind]:
    """All kinds.

    max_pages: of one crawl of a blog. keep_pages: documents hold the page itself, compressed. image_kb: the largest
    image file that is kept; 0: none is fetched.
    """
    return {
        "blog": Planning(
            scope=_scope, types=("blog", "feed", "page", "post"), plan=partial(_plan, max_pages), position="blog"
        ),
        "feed": Thing(processor=_feed, position="feed", version=VERSION),
        "page": Thing(processor=partial(_page, keep_pages), position="page", version=VERSION),
        "post": Thing(processor=partial(_post, keep_pages, image_kb), position="post", version=POST_VERSION),
        "comments": List(processor=_comments, position="post@/comments", version=VERSION),
        "comment": Thing(processor=_comment, position="comment", version=VERSION, listed=True),
        "image": Thing(processor=partial(_image, image_kb), position="image", version=VERSION, listed=not image_kb),
        "outlink": Thing(processor=_outlink, position="outlink", version=VERSION, listed=True),
    }


def read_spec(typed: str, _base_url: str, policy: str) -> Request:
    """The blog at an address. Raises SpecError."""
    text = typed.strip()
    url = canonical(text if "://" in text else f"https://{text}")
    if not url or ("." not in host_of(url) and "localhost" not in host_of(url) and "[" not in host_of(url)):
        raise SpecError(f"{typed!r} is not the address of a blog; write it as https://HOST/PATH")
    return Request(platform="web", type="blog", url=url, policy=policy)


def read_page(url: str) -> Request | None:
    """One page, which leads nowhere. None: `url` is not that of a page."""
    found = canonical(url)
    return Request(platform="web", type="page", url=found) if found else None


def other_spelling(url: str) -> OtherSpelling | None:
    """For `Platform.other_spelling`: blogs answer the same with and without a slash at the end."""
    found = canonical(url)
    if not found or "?" in found:  # what a query means depends on the site
        return None
    return OtherSpelling(named=found.removesuffix("/") if url.endswith("/") else f"{found.removesuffix('/')}/")


def _scope(request: Request) -> str:
    return f"urn:web:{host_of(canonical(request.url) or request.url)}"


def _plan(max_pages: int, prospect: Prospect) -> Save | Skip:
    from processors.web.planning import Limits, plan

    return plan(prospect, Limits(max_pages=max_pages))


def _feed(visit: Visit) -> Save:
    from processors.web.pages import feed

    return feed(visit)


def _page(keep_pages: bool, visit: Visit) -> Save:  # bound by partial
    from processors.web.pages import page

    return page(visit, keeps=keep_pages)


def _post(keep_pages: bool, image_kb: int, visit: Visit) -> Save:  # the same
    from processors.web.pages import post

    return post(visit, keeps=keep_pages, fetches=image_kb > 0)


def _comments(visit: Visit) -> Save:
    from processors.web.pages import comments

    return comments(visit)


def _comment(visit: Visit) -> Save:
    from processors.web.pages import comment

    return comment(visit)


def _image(image_kb: int, visit: Visit) -> Save:
    from processors.web.media import image

    return image(visit, max_bytes=image_kb * 1_000)


def _outlink(visit: Visit) -> Save:
    from processors.web.media import outlink

    return outlink(visit)
