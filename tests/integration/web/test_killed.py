"""Crawls of several hosts that are killed: at any moment, nothing is lost, and hardly anything is asked twice."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest
from aiohttp import web

from ghcrawl.simulator.web import Blog
from tests.support.cli import Shell, shell
from tests.support.web import site

pytestmark = [pytest.mark.slow, pytest.mark.crawl, pytest.mark.timeout(300)]
KILLS = 10
EVERY = 8
"""Answers between two kills, of the hundred or so that the crawl takes."""
HASTY = {"GHCRAWL_CRAWL__RETRY_BASE_S": "0.1", "GHCRAWL_WEB__TIMEOUT_S": "1"}
"""What a killed process asked, it may still be asking: its hosts are left alone for twice the timeout."""


async def killed(sh: Shell, words: tuple[str, ...], blogs: tuple[Blog, ...], answers: int, wait_s: float) -> bool:
    """Whether a crawl was killed `wait_s` after the blogs gave so many answers in all; False: it ended before."""
    running = await sh.start(*words)
    assert running.said is not None
    while sum(len(blog.calls) for blog in blogs) < answers:
        if running.said.done():
            return False
        await asyncio.sleep(0.002)  # nobody tells
    await asyncio.sleep(wait_s)  # any moment: while an answer is read, processed or settled
    running.process.kill()
    await running.ended()
    return running.process.returncode == -9


def times(blog: Blog) -> Counter[str]:
    """How often each post was asked for."""
    return Counter(path for path, _ in blog.calls if path.startswith("/20"))


async def test_ten_kills_of_a_crawl_of_a_fast_a_slow_and_a_failing_host_lose_nothing(tmp_path: Path):
    async def failing(_request: web.Request) -> web.Response:
        return web.Response(status=500)

    fast, slow = Blog(size=40), Blog(size=30, seed=1, answer_s=0.1)
    blogs, moment = (fast, slow), random.Random(7)
    async with (
        fast.running() as first,
        slow.running() as second,
        site(failing) as (third, _),
        shell(tmp_path, **HASTY) as sh,
    ):
        words = ("crawl", third, second, first, "--platform", "web", "--db", "a.db", "--json")
        for kill in range(1, KILLS + 1):
            assert await killed(sh, words, blogs, answers=kill * EVERY, wait_s=moment.uniform(0, 0.05)), kill
        ran = await sh.run(*words)
        documents = await sh.export(Path("a.db"))
    assert (ran.status, ran.json["finished"]) == (1, True), "one host answers nothing but 500"
    assert ran.json["deadletters"]["left_by_class"] == {"http_500": 1}
    types = Counter((each["_metadata"]["type"], each["url"].split("/")[2]) for each in documents if "url" in each)
    for blog, url in ((fast, first), (slow, second)):
        here = url.split("/")[2]
        found = {each["url"]: each for each in documents if each["_metadata"]["type"] == "post" and here in each["url"]}
        assert found.keys() == {url.rstrip("/") + post.path for post in blog.posts}
        for post in blog.posts:
            assert found[url.rstrip("/") + post.path]["title"] == post.title
        assert types["comment", here] == sum(len(post.comments) for post in blog.posts)
    again = sum((times(fast) + times(slow)).values()) - len(fast.posts) - len(slow.posts)
    assert again <= 2 * KILLS, "of each host at most what was in hand"
