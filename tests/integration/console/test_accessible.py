"""Axe finds no serious fault in any view, light or dark, wide or narrow; and nothing is wider than a phone."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Page, expect

from tests.integration.console.conftest import Open
from tests.integration.console.rig import Service, axe
from tests.support.services.debian import Unavailable
from tests.support.services.wanted import absent


@pytest.fixture(scope="module")
def script() -> str:
    try:
        return axe()
    except Unavailable as error:
        absent(error)


@pytest.fixture(scope="module")
def places(served: Service) -> list[str]:
    """Every view, and one of everything that has a view of its own."""
    letter = served.ask("GET", "/api/v1/deadletters?kind=Malformed&limit=1")["deadletters"][0]["urn"]
    document = served.ask("GET", "/api/v1/documents?type=repo&limit=1")["documents"][0]["_metadata"]["urn"]
    served.ask("POST", "/api/v1/sources", {"specs": ["acme"]})
    views = [
        "overview",
        "deadletters?kind=Malformed",
        "queues/normal",
        "documents?type=org",
        "sources",
        "settings",
        "principals",
    ]
    return [*views, f"deadletters/{letter}", f"documents/{document}", "documents?url=https://api.example.test/none"]


def faults(page: Page) -> list[str]:
    """What axe calls serious or worse, each with where it is."""
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then((found) => found.violations)")
    grave = [fault for fault in found if fault["impact"] in ("serious", "critical")]
    return [f"{fault['id']}: {json.dumps([node['html'][:200] for node in fault['nodes'][:3]])}" for fault in grave]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 400), ("dark", 400)])
def test_no_view_has_a_serious_fault(
    served: Service, open_at: Open, script: str, places: list[str], scheme: str, width: int
):
    page = open_at("overview", scheme=scheme, width=width, lax=True)  # axe is a script that the policy would refuse
    page.evaluate(script)
    for place in places:
        page.goto(f"{served.url}/#/{place}")
        expect(page.locator("main h1")).to_be_visible()
        expect(page.locator(".loading")).to_have_count(0)
        assert faults(page) == [], place
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), f"{place} is too wide"
    page.keyboard.press("?")
    assert faults(page) == []


def test_dialogs_and_the_way_in_have_none_either(served: Service, open_at: Open, script: str):
    page = open_at("overview", token="", lax=True)
    page.evaluate(script)
    assert faults(page) == []
    page = open_at("deadletters?kind=Malformed", lax=True)
    page.evaluate(script)
    page.get_by_role("button", name="Delete 1").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    assert faults(page) == []
