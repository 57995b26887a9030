"""Chromium, for pages that scripts write. It has no network: the fetcher makes all requests of a page.

A page's document is handed over as it was fetched, so that it is loaded once. Its scripts and styles go through
`Ask`, one at a time, and with it through the same rules for addresses, sizes and time as everything else. Chromium is
started without network access (a proxy that does not exist, and no DNS), so it can load nothing by other ways.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from playwright.async_api import Browser as Chromium
from playwright.async_api import BrowserContext, CDPSession, Error, Page, Playwright, Route, async_playwright

from ghcrawl.fetch.web.client import Answer
from ghcrawl.fetch.web.scripts import program
from ghcrawl.fetch.web.settings import WebSettings
from ghcrawl.values.errors import FetchError

PAGES: Final = 2
"""Pages that are open at once."""
MAX_PARTS: Final = 100
"""Scripts, styles and answers to scripts of one page."""
QUIET_S: Final = 0.3
"""A page is done when it asked for nothing for so long."""
LOOK_S: Final = 0.05
CLOSE_S: Final = 5.0
START_S: Final = 30.0
_WANTED: Final = frozenset({"script", "stylesheet", "xhr", "fetch", "other"})
"""Images, fonts, media and frames add nothing to the text."""
_FLAGS: Final = (
    "--proxy-server=http://127.0.0.1:1",
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--js-flags=--max-old-space-size=256",
    "--disable-gpu",
)
_READ: Final = "document.documentElement ? document.documentElement.outerHTML.slice(0, {}) : ''"
_HOP: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection", "set-cookie"})

Ask = Callable[[str, dict[str, str]], Awaitable[Answer | None]]
"""One GET of a part of the page, redirects followed; None: it is not to be had."""


class Browser:
    """One Chromium, started when the first page needs it, and again after it crashed."""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._driver: Playwright | None = None
        self._chromium: Chromium | None = None
        self._starting = asyncio.Lock()
        self._room = asyncio.Semaphore(PAGES)

    async def render(self, url: str, answer: Answer, ask: Ask) -> str:
        """The page of `answer` after its scripts ran; empty where they left none within the limits.

        Raises FetchError where Chromium crashed or does not start: that may pass.
        """
        async with self._room:
            try:
                async with asyncio.timeout(START_S):
                    chromium = await self._started()
                    context = await chromium.new_context(
                        accept_downloads=False, service_workers="block", user_agent=self._settings.user_agent
                    )
            except (Error, OSError, TimeoutError) as error:
                await self.close()  # with its driver, which may be what died
                raise FetchError(f"Chromium does not start: {_first_line(error)}", url=url) from error
            try:
                return await _Visit(self._settings, context, url, answer, ask).text()
            except (Error, TimeoutError) as error:
                raise FetchError(f"Chromium failed at {url}: {_first_line(error)}", url=url) from error
            finally:
                await self._leave(context)

    async def _started(self) -> Chromium:
        async with self._starting:
            if self._driver is None:
                self._driver = await async_playwright().start()
            if self._chromium is None or not self._chromium.is_connected():
                self._chromium = await self._driver.chromium.launch(
                    executable_path=program(self._settings),
                    chromium_sandbox=self._settings.chromium_sandbox,
                    args=list(_FLAGS),
                    # Ctrl-C is handled here: the current page is finished.
                    handle_sigint=False,
                    handle_sigterm=False,
                    handle_sighup=False,
                )
            return self._chromium

    async def _leave(self, context: BrowserContext) -> None:
        """The page is gone; where it does not go, the browser is."""
        try:
            async with asyncio.timeout(CLOSE_S):
                await context.close()
        except (Error, TimeoutError):
            await self._stop()

    async def _stop(self) -> None:
        chromium, self._chromium = self._chromium, None
        if chromium is not None:
            with suppress(Error, TimeoutError):
                async with asyncio.timeout(CLOSE_S):
                    await chromium.close()

    async def close(self) -> None:
        """Chromium and its driver have ended."""
        driver, self._driver = self._driver, None
        if driver is None:
            return
        await self._stop()
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await driver.stop()


@dataclass
class _Traffic:
    """What a page asks for. waiting: answers that are still to come. at: of the last change, by the loop's clock."""

    waiting: int = 0
    asked: int = 0
    at: float = field(default_factory=lambda: asyncio.get_running_loop().time())

    def changed(self, by: int) -> None:
        self.waiting += by
        self.asked += max(0, by)
        self.at = asyncio.get_running_loop().time()

    async def quiet(self) -> None:
        clock = asyncio.get_running_loop().time
        while self.waiting or clock() - self.at < QUIET_S:  # noqa: ASYNC110  # silence has no event
            await asyncio.sleep(LOOK_S)


class _Visit:
    """One page."""

    def __init__(self, settings: WebSettings, context: BrowserContext, url: str, answer: Answer, ask: Ask) -> None:
        self._settings = settings
        self._context = context
        self._url = url
        self._answer: Answer | None = answer
        self._ask = ask
        self._one = asyncio.Lock()
        self._traffic = _Traffic()

    async def text(self) -> str:
        """Its HTML once it is quiet, or when its time is over; empty: it is too large, or never stood still."""
        async with asyncio.timeout(START_S):
            page = await self._context.new_page()
            inside = await self._context.new_cdp_session(page)
            await self._context.route("**/*", self._handed)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.timeout_s):
                await page.goto(self._url, wait_until="domcontentloaded", timeout=0)
                await self._traffic.quiet()
                await self._show_more(page)
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                found = await self._read(inside)
                return found if len(found.encode("utf-8", "replace")) <= self._settings.max_body_bytes else ""
        return ""

    async def _show_more(self, page: Page) -> None:
        """Click what shows more, as long as there is any."""
        more = page.locator(self._settings.load_more).filter(visible=True)
        vain = 0  # what did nothing when it was clicked is left alone
        for _ in range(self._settings.max_clicks):
            if await more.count() <= vain:
                return
            before = await page.content()
            await more.nth(vain).evaluate("node => node.click()")
            self._traffic.changed(0)
            await self._traffic.quiet()
            vain += await page.content() == before

    async def _read(self, inside: CDPSession) -> str:
        """In a world of its own, where the page's scripts changed nothing."""
        tree = await inside.send("Page.getFrameTree")
        world = await inside.send("Page.createIsolatedWorld", {"frameId": tree["frameTree"]["frame"]["id"]})
        said = {
            "expression": _READ.format(self._settings.max_body_bytes + 1),
            "contextId": world["executionContextId"],
            "returnByValue": True,
        }
        found = await inside.send("Runtime.evaluate", said)
        return str(found["result"].get("value", ""))

    async def _handed(self, route: Route) -> None:
        """What the page asks for, from us. Its document is there already; it goes to no other."""
        request = route.request
        self._traffic.changed(+1)
        try:
            navigates = request.is_navigation_request()
            if navigates:
                answer, self._answer = self._answer, None
            else:
                answer = await self._part(request.resource_type, request.method, request.url, request.headers)
            with suppress(Error):  # the page is gone, or no request waits any more
                if answer is not None:
                    await _give(route, answer)
                else:  # nothing to go to: the page stays, where a failure would put another in its place
                    await (route.fulfill(status=204) if navigates else route.abort())
        finally:
            self._traffic.changed(-1)

    async def _part(self, type: str, method: str, url: str, headers: dict[str, str]) -> Answer | None:
        if type not in _WANTED or method != "GET" or self._traffic.asked > MAX_PARTS:
            return None
        kept = {name.title(): headers[name] for name in ("accept", "origin", "referer") if name in headers}
        async with self._one:
            return await self._ask(url, kept)


async def _give(route: Route, answer: Answer) -> None:
    names = {name.lower() for name in answer.headers} - _HOP
    headers = {name: ", ".join(answer.headers.getall(name)) for name in names}
    await route.fulfill(status=answer.status, headers=headers, body=answer.body)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
