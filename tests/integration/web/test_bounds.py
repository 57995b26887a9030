"""Sites that mean harm, and sites that are merely broken, are bounded."""

from __future__ import annotations

import asyncio
import gzip
from pathlib import Path

from aiohttp import web

from ghcrawl.simulator.web import Blog
from tests.support.web import crawl, site


def html(body: str) -> web.Response:
    return web.Response(text=f"<html><body>{body}</body></html>", content_type="text/html")


async def test_an_endless_calendar_ends(tmp_path: Path):
    async def calendar(request: web.Request) -> web.Response:
        day = int(request.query.get("day", "0"))
        return html(f'<a href="/?day={day + 1}">tomorrow</a><a href="/x/?day={day + 1}">or so</a>')

    async with site(calendar) as (url, paths):
        found = await crawl(tmp_path / "a.db", url)
    assert len(paths) <= 25
    (blog,) = found.of("blog")
    assert blog.body["crawl"]["ended"] == "few posts"


async def test_a_crawl_has_a_limit_of_pages(tmp_path: Path):
    blog = Blog(size=30)
    async with blog.running() as url:
        await crawl(tmp_path / "a.db", url, web__max_pages=12)
    assert len(blog.calls) <= 15


async def test_redirects_that_lead_in_a_circle_are_given_up(tmp_path: Path):
    async def circle(_request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"Location": "/again"})

    async with site(circle) as (url, paths):
        found = await crawl(tmp_path / "a.db", url)
    assert len(paths) <= 8
    assert found.tally.refused_roots == []
    assert found.of("page")[0].body["refused"] == "more than 5 redirects"


async def test_a_body_without_end_is_cut_off(tmp_path: Path):
    sent = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse(headers={"Content-Type": "text/html"})
        await response.prepare(request)
        for _ in range(10_000):
            try:
                await response.write(b"x" * 1_000_000)
            except ConnectionError:
                break
            sent += 1
        return response

    async with site(endless) as (url, _):
        found = await crawl(tmp_path / "a.db", url, web__max_body_mb=2)
    assert sent < 100, "of ten thousand million bytes"
    assert found.of("page")[0].body["refused"] == "larger than 2,000,000 bytes"


async def test_a_gzip_bomb_is_not_unpacked(tmp_path: Path):
    bomb = gzip.compress(b"\0" * 200_000_000, 9)

    async def bombed(_request: web.Request) -> web.Response:
        return web.Response(body=bomb, headers={"Content-Encoding": "gzip", "Content-Type": "text/html"})

    async with site(bombed) as (url, _):
        found = await crawl(tmp_path / "a.db", url)
    assert len(bomb) < 1_000_000
    assert found.of("page")[0].body["refused"] == "larger than 5,000,000 bytes"


async def test_a_page_leads_to_no_other_address_of_our_own_network(tmp_path: Path):
    async def secret(_request: web.Request) -> web.Response:
        return html("the secret")

    async with site(secret) as (inner, asked):

        async def outer(request: web.Request) -> web.Response:
            if request.path == "/":
                feed = f'<link rel="alternate" type="application/rss+xml" href="{inner}feed">'
                return web.Response(
                    text=f'<html><head>{feed}</head><body><a href="/go">x</a></body></html>', content_type="text/html"
                )
            return web.Response(status=302, headers={"Location": f"{inner}admin"})

        async with site(outer) as (url, _):
            found = await crawl(tmp_path / "a.db", url)
    assert asked == []
    refused = [each.body["refused"] for each in found.documents.values() if each.body.get("refused")]
    assert refused == ["127.0.0.1 is not a public address"] * 2


async def test_a_feed_of_a_million_entries_costs_what_a_thousand_cost(tmp_path: Path):
    async def feed(request: web.Request) -> web.Response:
        if request.path != "/":
            return web.Response(status=404)
        items = "".join(f"<item><link>/p/{n}</link></item>" for n in range(1_000_000))
        return web.Response(
            text=f'<rss version="2.0"><channel>{items}</channel></rss>', content_type="application/rss+xml"
        )

    async with site(feed) as (url, paths):
        found = await crawl(tmp_path / "a.db", url, web__max_pages=10, web__max_body_mb=50)
    assert len(found.of("feed")[0].body["entries"]) == 1_000
    assert len(paths) <= 20


async def test_broken_encodings_are_read_as_far_as_they_go(tmp_path: Path):
    async def broken(_request: web.Request) -> web.Response:
        body = (
            b"<html><head><title>\xe9t\xe9 \xff\xfe</title></head><body><a href='/\xe9?\xff=\x00'>x</a></body></html>"
        )
        return web.Response(body=body, headers={"Content-Type": "text/html; charset=no-such-thing"})

    async with site(broken) as (url, _):
        found = await crawl(tmp_path / "a.db", url)
    assert "été" in {each.body["title"][:3] for each in found.of("page")}
    assert found.deadletters == []


async def test_a_host_that_is_slow_or_fails_slows_no_other(tmp_path: Path):
    release = asyncio.Event()

    async def slow(_request: web.Request) -> web.Response:
        await release.wait()
        return web.Response(status=500)

    async def failing(_request: web.Request) -> web.Response:
        return web.Response(status=500)

    blog = Blog(size=12)
    async with site(slow) as (first, _), site(failing) as (second, asked), blog.running() as third:
        crawling = asyncio.create_task(crawl(tmp_path / "a.db", first, second, third, web__timeout_s=5.0))
        async with asyncio.timeout(20):
            while len([path for path, _ in blog.calls if path.startswith("/20")]) < 12:  # noqa: ASYNC110  # nobody tells
                await asyncio.sleep(0.02)
        assert not release.is_set()
        release.set()
        crawling.cancel()
        await asyncio.wait([crawling])
    assert len(asked) <= 6, "five attempts, and the question for robots.txt"
