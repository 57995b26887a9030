"""Pages that posts link to: read by the platform for pages, when the scenario says so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from ghcrawl.platforms.atproto import BLUESKY
from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.mastodon import MASTODON
from ghcrawl.platforms.web import WEB
from ghcrawl.ports.clock import SystemClock
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.settings.loading import load
from ghcrawl.simulator.atproto import world as atproto
from ghcrawl.simulator.atproto.run import running as network
from ghcrawl.simulator.mastodon import world as mastodon
from ghcrawl.simulator.mastodon.server import running as host
from ghcrawl.simulator.web import Blog
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.documents import Document
from ghcrawl.values.requests import Push
from ghcrawl.wiring import open_service, settings_model


@dataclass
class Linking:
    """A network with posts that link to pages of a blog: two to the first, one to the second, one to no page."""

    blog: Blog
    blog_host: str
    platform: Platform
    spec: str
    settings: dict[str, Any]


@pytest.fixture(params=["bluesky", "mastodon"])
async def linking(request: pytest.FixtureRequest) -> AsyncIterator[Linking]:
    blog = Blog(size=15)
    async with blog.running() as url:
        one, two = (url.rstrip("/") + post.path for post in blog.posts[:2])
        hrefs = [one, f"{one}#comments", two, "mailto:alice@example.org"]
        if request.param == "bluesky":
            world = atproto.generate(posts=10, accounts=2)
            for href in hrefs:
                card = {"$type": "app.bsky.embed.external", "external": {"uri": href, "title": "A page"}}
                world.post(world.named("alice"), "look at this", embed=card)
            async with network(world) as server:
                yield Linking(
                    blog,
                    urlsplit(url).netloc,
                    BLUESKY,
                    "bluesky:q/post/user=alice.test",
                    {"bluesky.api_url": server.url},
                )
            return
        statuses = mastodon.generate(SystemClock(), accounts=2, statuses=10)
        author = statuses.named("user1")
        assert author is not None
        for href in hrefs:
            statuses.post(author, f"look at {href} today")
        async with host(statuses) as served:
            yield Linking(
                blog,
                urlsplit(url).netloc,
                MASTODON,
                f"mastodon://{served.host}/q/post/user=user1",
                {"mastodon.budgets": []},
            )


async def crawl(linking: Linking, db: Path, *platforms: Platform) -> list[Document]:
    """All documents that one crawl left in a file."""
    over = {
        "sqlite.path": db,
        "crawl.exclude": ["*.org", "*.example"],
        **({"web.private_addresses": "always"} if WEB in platforms else {}),
        **linking.settings,
    }
    loaded, _ = load(None, {}, over, model=settings_model((linking.platform, *platforms)))
    async with open_service(loaded, {}, Tally(), platforms=(linking.platform, *platforms)) as service:
        root = service.mounts.read_spec(linking.spec, "default")
        await service.backend.queue.push([Push(request=root, queue="immediate")])
        service.supervisor.start()
        await service.supervisor.until_empty(service.backend.queue, every_s=0.02)
        await service.supervisor.drain(5)
        return [one async for one in service.backend.store.list(DocumentFilter())]


def paths(blog: Blog) -> list[str]:
    return sorted(path for path, _ in blog.calls if path != "/robots.txt")


async def test_the_scenario_reads_each_page_that_posts_link_to_once_and_nothing_behind_it(
    linking: Linking, tmp_path: Path
):
    linking.settings["crawl.scenario"] = "outlinks"
    found = await crawl(linking, tmp_path / "a.db", WEB)
    assert paths(linking.blog) == [post.path for post in linking.blog.posts[:2]]
    pages = [one for one in found if one.platform == "web"]
    assert sorted((one.type, urlsplit(one.url).path) for one in pages) == [
        ("page", post.path) for post in linking.blog.posts[:2]
    ]


@pytest.mark.parametrize(
    ("platforms", "scenario", "excluded"),
    [((WEB,), "", False), ((), "outlinks", False), ((WEB,), "outlinks", True)],
    ids=["another scenario", "no platform reads pages", "excluded"],
)
async def test_otherwise_links_are_recorded_only(
    linking: Linking, tmp_path: Path, platforms: tuple[Platform, ...], scenario: str, *, excluded: bool
):
    linking.settings["crawl.scenario"] = scenario
    if excluded:
        linking.settings["crawl.exclude"] = ["*.org", linking.blog_host]
    found = await crawl(linking, tmp_path / "a.db", *platforms)
    assert linking.blog.calls == []
    assert sum("outlinks" in one.links for one in found) >= 3
