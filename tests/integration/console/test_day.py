"""A day of an operator: what grew, why, requeue, see it drain, find a document by name, see yesterday's curve."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.integration.console.rig import (
    GREW,
    OPERATOR,
    SIMULATED,
    Service,
    prepare,
    service,
    simulator,
    until,
)

CURVE = re.compile("^Queue depth")


@pytest.fixture(scope="module")
def morning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that crawled a small world, with a day behind it that another replica remembers."""
    folder: Path = tmp_path_factory.mktemp("day")
    with simulator(folder, 1_000) as api:
        prepare(folder / "day.db", api)
        with service(folder / "day.db", "--api-url", api, "--loops", "2", GHCRAWL_TOKENS=SIMULATED) as started:
            started.ask("POST", "/api/v1/requests", {"specs": ["acme"]})
            started.until_done()
            yield started


@pytest.fixture
def page(morning: Service, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = context.new_page()
    page.goto(morning.url)
    page.get_by_label("Admin token").fill(OPERATOR)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    yield page
    context.close()


def points(page: Page) -> list[float]:
    """Where the highest line of the chart of depths has its points, from left to right."""
    line = page.get_by_role("img", name=CURVE).locator("polyline.line").first.get_attribute("points") or ""
    return [float(pair.partition(",")[0]) for pair in line.split()]


def test_a_day_of_an_operator(morning: Service, page: Page):
    # What grew, and why.
    expect(page.locator(".bar-list li", has_text="HTTP 502")).to_contain_text(f"+{GREW} in the last hour")
    page.get_by_role("link", name="HTTP 502", exact=True).click()
    page.locator(".row-link").first.click()
    expect(page.locator(".attempts li")).to_have_count(5)
    expect(page.locator(".story-reason")).to_have_text("Bad Gateway")
    expect(page.get_by_text("Show traceback")).to_be_visible()
    expect(page.get_by_role("region", name="Traceback")).to_be_hidden()
    page.go_back()
    assert page.url.endswith("kind=http_502")
    # Requeue, and see it drain.
    page.get_by_role("button", name=f"Requeue {GREW} matching …").click()
    page.get_by_role("dialog").get_by_role("button", name=f"Requeue {GREW}").click()
    expect(page.get_by_role("status").filter(has_text=f"{GREW} requeued")).to_be_visible()
    until(lambda: "http_502" not in morning.kinds(), "the end of the class")
    morning.until_done()
    # Find a document by its name.
    page.get_by_role("link", name="Documents", exact=True).click()
    page.get_by_label("Name, title, URN or URL").fill("acme/web")
    page.keyboard.press("Enter")
    expect(page.locator(".story-reason")).to_have_text("acme/web")
    # Yesterday's curve, after a reload too.
    page.get_by_role("link", name="Overview", exact=True).click()
    for _ in range(2):
        page.get_by_role("button", name="24 h", exact=True).click()
        until(lambda: len(points(page)) > 100, "the curve of a day")
        found = points(page)
        assert found[-1] - found[0] > 500
        page.reload()
        expect(page.get_by_role("heading", name="Overview")).to_be_visible()


def test_it_says_why_nothing_is_fetched(morning: Service, page: Page):
    morning.ask("POST", "/api/v1/pause")
    try:
        morning.ask("POST", "/api/v1/requests", {"specs": ["acme/web", "acme/api"], "queue": "later"})
        expect(page.get_by_text("Paused: 2 requests held until crawling is resumed.")).to_be_visible()
    finally:
        morning.ask("POST", "/api/v1/resume")
    expect(page.get_by_text("held until crawling is resumed")).to_be_hidden()


def test_the_state_is_not_live_when_nothing_answers(page: Page):
    expect(page.locator(".state-text")).to_have_text("Live")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/api/v1/status", hold)
    expect(page.locator(".state-text")).to_have_text(re.compile(r"^No answer for \d+ s$"), timeout=12_000)
    page.unroute("**/api/v1/status")  # what was held goes on
    expect(page.locator(".state-text")).to_have_text("Live")


def test_a_list_that_could_not_be_read_is_read_again_when_the_service_is_back(page: Page):
    page.get_by_role("link", name="Deadletters").first.click()
    expect(page.locator(".row-link").first).to_be_visible()
    page.route("**/api/v1/**", lambda route: route.abort())
    page.locator(".facet-item").first.click()
    expect(page.get_by_text("Offline")).to_be_visible()
    expect(page.get_by_text("Cannot reach the service.").first).to_be_visible()
    page.unroute("**/api/v1/**")
    expect(page.get_by_text("Live", exact=True)).to_be_visible(timeout=40_000)
    expect(page.locator(".empty.wrong")).to_have_count(0)
    expect(page.locator(".row-link").first).to_be_visible()
