"""A blog of a real WordPress, crawled from its address alone; what there is, its own REST API says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import ClientSession

from tests.support.services import wordpress
from tests.support.services.debian import Unavailable
from tests.support.services.fixtures import keeper
from tests.support.services.wanted import absent
from tests.support.services.wordpress import WordPress
from tests.support.web import Crawled, crawl

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
POSTS = 56


@pytest.fixture(scope="module")
def blog() -> Iterator[WordPress]:
    with keeper("wordpress") as kept:
        try:
            started = wordpress.start(kept)
        except Unavailable as error:
            absent(error)
        started.publish(1, POSTS, when="past")
        yield started


async def total(blog: WordPress, kind: str) -> int:
    """How many of a kind the site itself counts."""
    url = f"{blog.url}/?rest_route=/wp/v2/{kind}&per_page=1"
    async with ClientSession() as session, session.get(url) as response:
        assert response.status == 200, await response.text()
        return int(response.headers["X-WP-Total"])


def state(found: Crawled) -> str:
    (blog,) = found.of("blog")
    return str(blog.body["crawl"]["ended"])


async def test_a_wordpress_is_crawled_whole_and_then_only_for_what_is_new(blog: WordPress, tmp_path: Path):
    db = tmp_path / "a.db"
    found = await crawl(db, f"{blog.url}/", patience_s=200)
    assert len(found.of("post")) == await total(blog, "posts") == POSTS
    assert len(found.of("comment")) == await total(blog, "comments") > 0
    assert found.tally.calls <= 100
    print(f"{POSTS} posts by {found.tally.calls} calls; ended: {state(found)}")
    assert state(found)
    assert found.deadletters == []
    for each in found.of("post"):
        assert each.body["title"].startswith("Post ")
        assert each.body["author"] == "admin"
        assert each.body["text"].count(".") >= 8, each.url

    again = await crawl(db, f"{blog.url}/", patience_s=200)
    assert (again.tally.calls, again.tally.statuses[304]) == (1, 1)

    blog.publish(POSTS + 1, 1)
    again = await crawl(db, f"{blog.url}/", patience_s=200)
    assert len(again.of("post")) == POSTS + 1
    assert again.tally.calls <= 3

    blog.publish(POSTS + 2, 12)
    again = await crawl(db, f"{blog.url}/", patience_s=200)
    assert len(again.of("post")) == await total(blog, "posts") == POSTS + 13
