"""One service with 10,000 deadletters, one browser; and for each test a window of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, expect, sync_playwright

from tests.integration.console.rig import (
    OPERATOR,
    SIMULATED,
    Service,
    chromium,
    prepare,
    service,
    simulator,
)
from tests.support.services.debian import Unavailable
from tests.support.services.wanted import absent

expect.set_options(timeout=20_000)

Open = Callable[..., Page]
"""open(place, token=…, width=…, scheme=…, url=…): a window of its own, signed in, at a place of the console."""


@pytest.fixture(scope="module")
def playwright(served: Service) -> Iterator[Playwright]:
    """Ends with each module: while it runs, its thread has an event loop running, and no other can.

    served: made before, because that takes a loop as well.
    """
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    try:
        path = chromium()
    except Unavailable as error:
        absent(error)
    # --no-sandbox: root in a container has none to give; the only pages are our own.
    started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
    yield started
    started.close()


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that crawled a small world, with 10,000 deadletters."""
    folder: Path = tmp_path_factory.mktemp("console")
    with simulator(folder, 1_000) as api:
        prepare(folder / "console.db", api)
        words = ("--api-url", api, "--loops", "2")
        with service(folder / "console.db", *words, GHCRAWL_TOKENS=SIMULATED) as started:
            started.ask("POST", "/api/v1/requests", {"specs": ["acme"]})
            yield started


@pytest.fixture
def complaints() -> list[str]:
    """What the browser found wrong with the page: errors of scripts, and whatever its policy refused."""
    return []


@pytest.fixture
def open_at(browser: Browser, served: Service, complaints: list[str]) -> Iterator[Open]:
    """Opens windows; none of them may have complained when the test is over."""
    contexts = []

    def heard(message: ConsoleMessage) -> None:
        # An answer that is no good one is shown to the person; the browser logs it, too.
        if message.type in ("error", "warning") and "Failed to load resource" not in message.text:
            complaints.append(message.text)

    def opened(
        place: str = "overview",
        *,
        token: str = OPERATOR,
        width: int = 1280,
        scheme: str = "light",
        lax: bool = False,
        url: str = served.url,
    ) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce",
            bypass_csp=lax,
            locale="en-GB",
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(f"{url}/#/{place}")
        if token:
            page.get_by_label("Admin token").fill(token)
            page.get_by_role("button", name="Sign in").click()
            page.get_by_role("navigation", name="Views").wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
