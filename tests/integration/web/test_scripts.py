"""Pages that scripts write, by a real Chromium; the comments of one are in a real isso."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.integration.console.rig import chromium
from tests.support.blogs import Post, Site
from tests.support.services.debian import Unavailable
from tests.support.services.isso import Isso, a_port, isso
from tests.support.services.wanted import absent
from tests.support.waiting import until
from tests.support.web import Crawled, crawl, site

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
SANDBOXED = os.geteuid() != 0
"""Root has no sandbox to give."""
TEXT = "Water runs down, and stones do not. " * 20
PATH = "/2026/a-post/"
HEAD = '<link rel="alternate" type="application/rss+xml" href="/the.feed">'
COMMENTED = """<html><head><title>A post</title></head><body><article class="text"><p>{text}</p></article>
<section id="isso-thread"></section>
<script data-isso="{server}/" data-isso-max-comments-top="3" data-isso-max-comments-nested="2"
 data-isso-reveal-on-click="3" data-isso-reply-notifications="false" src="{server}/js/embed.min.js"></script>
</body></html>"""


@pytest.fixture(scope="module")
def program() -> str:
    try:
        return chromium()
    except Unavailable as error:
        absent(error)


@pytest.fixture(scope="module")
def browser(program: str) -> dict[str, Any]:
    """Settings."""
    return {"web__javascript": "needed", "web__chromium": program, "web__chromium_sandbox": SANDBOXED}


def blog(page: str) -> Site:
    """A front page, and one post."""
    front = f'<html><head>{HEAD}</head><body><a href="{PATH}">A post</a></body></html>'
    post = Post(path=PATH, title="A post", content=f"<p>{TEXT}</p>")
    return Site(name="A blog", pages={"/": front.encode(), PATH: page.encode()}, posts=[post])


@contextmanager
def commented(folder: Path, port: int, url: str) -> Iterator[Isso]:
    """Twelve comments on the post, and five replies to the first."""
    try:
        with isso(folder, port, url) as started:
            first = started.comment(PATH, "The first of all comments", "Ada")
            for number in range(2, 13):
                started.comment(PATH, f"Comment {number} is about rivers", f"Person {number}")
            for number in range(5):
                started.comment(PATH, f"Reply {number} is about stones", "Grace", parent=first)
            yield started
    except Unavailable as error:
        absent(error)


def texts(found: Crawled) -> set[str]:
    return {str(each.body["text"]) for each in found.of("comment")}


async def test_comments_of_an_isso_are_there_with_a_browser_and_not_without(browser: dict[str, Any], tmp_path: Path):
    port = a_port()
    page = COMMENTED.format(text=TEXT, server=f"http://127.0.0.1:{port}")
    async with blog(page).running() as url:
        with commented(tmp_path, port, url) as server:
            without = await crawl(tmp_path / "without.db", url, web__private_addresses="always")
            found = await crawl(tmp_path / "with.db", url, web__private_addresses="always", **browser)
            elsewhere = await crawl(tmp_path / "typed.db", url, **browser)
            assert len(found.of("comment")) == server.count(PATH) == 17
    assert without.of("comment") == elsewhere.of("comment") == []
    assert "The first of all comments" in texts(found)
    assert {f"Reply {number} is about stones" for number in range(5)} < texts(found)
    assert {each.body["author"] for each in found.of("comment")} >= {"Ada", "Grace", "Person 12"}
    (post,) = found.of("post")
    assert (post.body["comments"], post.body["rendered"]) == (17, True)
    assert found.deadletters == []


# A page that means harm ----------------------------------------------------------------------------------------


def scripted(script: str, body: str = "") -> str:
    """A page that is hardly more than a script."""
    return f"<html><head><title>A post</title></head><body>{body}<script>{script}</script></body></html>"


def answering(pages: dict[str, str]) -> Any:
    async def answer(request: web.Request) -> web.Response:
        if request.path not in pages:
            return web.Response(status=404)
        kind = "text/javascript" if request.path.endswith(".js") else "text/html"
        return web.Response(text=pages[request.path], content_type=kind)

    return answer


def of_text(found: Crawled, text: str) -> list[str]:
    """URLs of pages that have a link to `text`: only scripts make those."""
    return [each.url for each in found.of("page") if any(text in link for link in each.body.get("links", ()))]


async def test_scripts_are_not_run_unless_wanted(tmp_path: Path):
    page = scripted("document.body.innerHTML = '<a href=/made>x</a>'")
    async with site(answering({"/": page})) as (url, paths):
        found = await crawl(tmp_path / "a.db", url)
    assert of_text(found, "made") == []
    assert paths == ["/robots.txt", "/"]


async def test_a_page_is_loaded_once_and_its_links_are_followed(browser: dict[str, Any], tmp_path: Path):
    page = '<html><body><div id="app"></div><script src="/app.js"></script></body></html>'
    script = "document.getElementById('app').innerHTML = '<a href=/made>x</a>'"
    async with site(answering({"/": page, "/app.js": script})) as (url, paths):
        found = await crawl(tmp_path / "a.db", url, **browser)
    assert of_text(found, "made") == [url]
    assert sorted(paths) == ["/", "/app.js", "/made", "/robots.txt"]


async def test_a_page_that_shows_all_without_scripts_is_not_rendered(browser: dict[str, Any], tmp_path: Path):
    page = f"<html><body><p>{TEXT}</p><script src=/app.js></script></body></html>"
    async with site(answering({"/": page, "/app.js": "1"})) as (url, paths):
        await crawl(tmp_path / "a.db", url, **browser)
        assert paths == ["/robots.txt", "/"]
        await crawl(tmp_path / "b.db", url, **browser | {"web__javascript": "always"})
    assert paths[2:] == ["/robots.txt", "/", "/app.js"]


HARM = """
new WebSocket('ws://HOST/socket'); new EventSource('http://HOST/events');
navigator.sendBeacon('http://HOST/beacon', 'x'); new Image().src = 'http://HOST/image';
fetch('http://HOST/fetch'); fetch('http://HOST/nocors', {mode: 'no-cors'}); fetch('http://HOST/', {method: 'POST'});
for (const kind of ['preconnect', 'prefetch', 'dns-prefetch', 'stylesheet']) {
  const link = document.createElement('link'); link.rel = kind; link.href = 'http://HOST/' + kind;
  document.head.append(link);
}
const frame = document.createElement('iframe'); frame.src = 'http://HOST/frame'; document.body.append(frame);
open('http://HOST/popup');
new RTCPeerConnection({iceServers: [{urls: 'stun:HOST'}]}).createDataChannel('x');
setTimeout(() => { location.href = 'http://HOST/gone'; }, 50);
document.body.insertAdjacentHTML('beforeend', '<a href=/made>x</a>');
"""


async def test_nothing_in_a_page_reaches_our_own_network(browser: dict[str, Any], tmp_path: Path):
    connected = 0

    async def listening(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connected
        connected += 1
        writer.close()

    inner = await asyncio.start_server(listening, "127.0.0.1", 0)
    host = "{}:{}".format(*inner.sockets[0].getsockname())
    async with inner, site(answering({"/": scripted(HARM.replace("HOST", host))})) as (url, _):
        found = await crawl(tmp_path / "a.db", url, **browser)
        named = HARM.replace("HOST", host.replace("127.0.0.1", "localhost"))
        async with site(answering({"/": scripted(named)})) as (other, _):
            await crawl(tmp_path / "b.db", other, **browser)
        assert connected == 0
        _, writer = await asyncio.open_connection(*inner.sockets[0].getsockname())
        writer.close()
        await writer.wait_closed()
    assert connected == 1, "it does listen"
    assert of_text(found, "made") == [url]


async def test_a_script_that_never_ends_costs_no_more_than_its_time(browser: dict[str, Any], tmp_path: Path):
    page = scripted("while (true) {}", body="<a href=/made>x</a>")
    async with site(answering({"/": page})) as (url, paths):
        found = await crawl(tmp_path / "a.db", url, web__timeout_s=2.0, **browser)
    assert of_text(found, "made") == [url], "the page as it was sent"
    assert paths == ["/robots.txt", "/", "/made"]
    assert found.deadletters == []


async def test_a_page_that_asks_without_end_and_has_always_more_is_bounded(browser: dict[str, Any], tmp_path: Path):
    page = scripted(
        "let n = 0; setInterval(() => fetch('/part' + n++), 1);"
        "const more = document.createElement('button'); more.textContent = 'Load more'; document.body.append(more);"
        "more.onclick = () => document.body.insertAdjacentHTML('beforeend', `<a href=/made${n++}>x</a>`);"
    )
    async with site(answering({"/": page})) as (url, paths):
        found = await crawl(tmp_path / "a.db", url, web__timeout_s=4.0, web__max_pages=3, **browser)
    assert len([path for path in paths if path.startswith("/part")]) <= 100
    assert found.deadletters == []


async def test_more_is_shown_only_so_many_times(browser: dict[str, Any], tmp_path: Path):
    page = scripted(
        "let n = 0; const more = document.createElement('button'); more.textContent = 'Show more';"
        "more.onclick = () => document.body.insertAdjacentHTML('beforeend', `<a href=/made${n++}>x</a>`);"
        "document.body.append(more);"
    )
    async with site(answering({"/": page})) as (url, _):
        found = await crawl(tmp_path / "a.db", url, web__max_clicks=4, web__max_pages=1, **browser)
    (front,) = found.of("page")
    assert [link.removeprefix(url) for link in front.body["links"]] == [f"made{n}" for n in range(4)]


async def test_a_page_grown_too_large_is_taken_as_it_was_sent(browser: dict[str, Any], tmp_path: Path):
    page = scripted("document.body.append('x'.repeat(3_000_000))", body="<a href=/made>x</a>")
    async with site(answering({"/": page})) as (url, _):
        found = await crawl(tmp_path / "a.db", url, web__max_body_mb=1, **browser)
    assert of_text(found, "made") == [url]
    assert not any(each.body.get("rendered") for each in found.of("page"))


# The browser itself ---------------------------------------------------------------------------------------------


def ours(mark: str, program: bytes = b"chrom") -> list[int]:
    """Processes with `mark` in their environment that run `program`."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes() and program in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return found


@pytest.mark.parametrize("victim", [b"chrom", b"run-driver"])
async def test_a_browser_that_crashes_is_started_again_and_none_is_left(
    browser: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, victim: bytes
):
    monkeypatch.setenv("GHCRAWL_TEST_MARK", mark := f"mark-{tmp_path}")
    killed = 0

    async def answer(request: web.Request) -> web.Response:
        nonlocal killed
        if request.path == "/app.js":
            for process in ours(mark, victim) if not killed else ():
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                    killed += 1
            return web.Response(text="document.body.innerHTML = '<a href=/made>x</a>'", content_type="text/javascript")
        page = '<html><body><script src="/app.js"></script></body></html>'
        return web.Response(text=page, content_type="text/html") if request.path == "/" else web.Response(status=404)

    async with site(answer) as (url, paths):
        found = await crawl(tmp_path / "a.db", url, **browser)
    assert killed
    assert paths.count("/") >= 2, "it costs an attempt"
    assert of_text(found, "made") == [url]
    assert found.deadletters == []
    await until(lambda: not (ours(mark) or ours(mark, b"run-driver")), every_s=0.05)
