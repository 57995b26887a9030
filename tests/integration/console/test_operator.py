"""What an operator comes for: which failures grew, what one of them was, and trying them again."""

from __future__ import annotations

import json
import re
from typing import Any

from playwright.sync_api import Page, Route, expect

from tests.integration.console.conftest import Open
from tests.integration.console.rig import GREW, HOSTILE, MANY, Service, until


def facet(page: Page, name: str) -> re.Pattern[str]:
    return re.compile(rf"^{name}")


def test_an_operator_finds_the_class_that_grew_requeues_it_by_filter_and_sees_it_drain(served: Service, open_at: Open):
    page = open_at("overview")
    expect(page.get_by_role("link", name="HTTP 502", exact=True)).to_be_visible()
    expect(page.locator(".bar-list li", has_text="HTTP 502")).to_contain_text(f"+{GREW} in the last hour")
    page.get_by_role("link", name="HTTP 502", exact=True).click()
    expect(page.get_by_text(f"{GREW} deadletters of class HTTP 502")).to_be_visible()
    expect(page.get_by_role("button", name=facet(page, "HTTP 502"))).to_have_attribute("aria-pressed", "true")
    before = served.kinds()

    page.get_by_role("button", name=f"Requeue {GREW} matching …").click()
    dialog = page.get_by_role("dialog", name=f"Requeue {GREW}?")
    expect(dialog).to_contain_text(f"{GREW} deadletters of class HTTP 502 will be queued for retry.")
    assert served.kinds() == before
    dialog.get_by_label("Queue").select_option("immediate")
    dialog.get_by_role("button", name=f"Requeue {GREW}").click()

    expect(page.get_by_role("status").filter(has_text=f"{GREW} requeued")).to_be_visible()
    expect(page.get_by_text("No deadletters match.")).to_be_visible()
    assert served.kinds() == {name: number for name, number in before.items() if name != "http_502"}
    page.get_by_role("link", name="Show queues").click()
    row = page.get_by_role("row", name=re.compile("^immediate"))
    expect(row.get_by_role("cell").nth(3)).to_have_text("0", timeout=40_000)
    assert "http_502" not in served.kinds()


def test_the_whole_story_of_one_is_told_and_it_alone_can_be_requeued_or_deleted(served: Service, open_at: Open):
    page = open_at("deadletters?kind=KeyError")
    page.locator(".row-link").first.click()
    expect(page.get_by_role("heading", name="Deadletter", exact=True)).to_be_focused()
    for heading in ("Request", "How it was discovered", "Attempts"):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    expect(page.locator(".attempts")).to_contain_text("old:1")
    expect(page.locator(".facts").first).to_contain_text("/repos/acme/gone/issues/")
    before = served.kinds()["KeyError"]

    page.get_by_role("button", name="Delete …").click()
    dialog = page.get_by_role("dialog", name="Delete this deadletter?")
    expect(dialog).to_contain_text("permanently deleted")
    dialog.get_by_role("button", name="Delete 1").click()

    expect(page.get_by_role("heading", name="Deadletters", exact=True)).to_be_visible()
    assert served.kinds()["KeyError"] == before - 1


def test_ten_thousand_are_gone_through_in_pages_that_never_repeat(open_at: Open):
    page = open_at("deadletters")
    expect(page.get_by_role("button", name=re.compile(r"Requeue all \d,\d{3}|Requeue all 10,\d{3}"))).to_be_visible()
    seen: list[str] = []
    for first in (1, 51, 101):
        expect(page.get_by_role("navigation", name="Pages")).to_contain_text(f"{first}–{first + 49} of")
        links = page.locator(".row-link")
        expect(links).to_have_count(50)
        seen += [link.get_attribute("href") or "" for link in links.all()]
        page.get_by_role("button", name="Older →").click()
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("151–200")
    page.get_by_role("button", name="← Newer").click()
    expect(page.get_by_role("navigation", name="Pages")).to_contain_text("101–150")
    assert len(set(seen)) == 150


def test_those_that_are_ticked_are_requeued_and_no_others(served: Service, open_at: Open):
    page = open_at("deadletters?kind=http_404")
    expect(page.locator(".row-link")).to_have_count(50)
    before = served.kinds()["http_404"]
    page.locator(".row-link").first.focus()
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("e")
    dialog = page.get_by_role("dialog", name="Requeue 2?")
    dialog.get_by_role("button", name="Requeue 2").click()
    expect(page.get_by_role("status").filter(has_text="2 requeued")).to_be_visible()
    assert served.kinds()["http_404"] == before - 2


def test_a_filter_lives_in_the_address_and_deleting_by_it_has_to_be_typed(served: Service, open_at: Open):
    page = open_at("deadletters")
    page.get_by_label("Reason contains").fill("server error")
    page.get_by_label("Dead-lettered").select_option("604800")
    expect(page).to_have_url(re.compile(r"reason=server\+error&older_than_s=604800"))
    summary = "with a reason that contains “server error”, dead-lettered more than 7 d ago"
    expect(page.get_by_text(re.compile(f"deadletters {summary}"))).to_be_visible()
    page.reload()
    expect(page.get_by_text(re.compile(f"deadletters {summary}"))).to_be_visible()
    matched = served.ask("GET", "/api/v1/deadletter-counts?reason=server%20error&older_than_s=604800")["total"]
    assert 0 < matched < MANY

    page.get_by_role("button", name=re.compile("^Delete .* matching")).click()
    dialog = page.get_by_role("dialog")
    go = dialog.get_by_role("button", name=re.compile("^Delete [0-9,]+$"))
    expect(go).to_be_disabled()
    typed = dialog.get_by_label(re.compile("^Type delete"))
    typed.fill("delete")
    expect(go).to_be_disabled()
    words = re.search(r"delete \d+", dialog.inner_text())
    assert words is not None
    typed.fill(words[0])
    go.click()

    expect(page.get_by_text("No deadletters match.")).to_be_visible()
    until(lambda: "http_500" in served.kinds(), "the younger ones")


def test_what_takes_several_answers_is_followed_and_can_be_stopped(served: Service, open_at: Open):
    page, held, bound = open_at("deadletters?kind=http_404"), list[Route](), "2026-01-02T03:04:05.678901+00:00"
    before = served.kinds()["http_404"]

    def asked(route: Route) -> dict[str, Any]:
        return json.loads(route.request.post_data or "{}")  # type: ignore[no-any-return]  # a script wrote it

    def hold(route: Route) -> None:
        if asked(route).get("dry_run"):
            route.continue_()
        else:
            held.append(route)

    def answer(at: int, queued: int, left: int) -> None:
        said = {"matched": before, "queued": queued, "bounced": 0, "unreadable": 0, "left": left, "before": bound}
        held[at].fulfill(json=said | {"dry_run": False})

    page.route("**/api/v1/deadletters/requeue", hold)
    page.get_by_role("button", name=re.compile("^Requeue .* matching")).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=re.compile("^Requeue [0-9,]+$")).click()
    expect(dialog.get_by_role("status")).to_have_text(f"Requeueing {before:,} …")
    answer(0, 3, before - 3)
    expect(dialog.get_by_role("status")).to_have_text(f"3 of {before:,} processed …")
    dialog.get_by_role("button", name="Stop").click()
    expect(dialog).to_have_count(0)
    answer(1, 2, before - 5)

    expect(page.get_by_role("status").filter(has_text=f"5 requeued; {before - 5:,} left.")).to_be_visible()
    assert [asked(route)["kind"] for route in held] == [["http_404"]] * 2
    assert asked(held[1])["before"] == bound
    assert served.kinds()["http_404"] == before


def test_other_peoples_words_are_text_wherever_they_are_shown(open_at: Open):
    page = open_at("deadletters?kind=Malformed")
    page.get_by_role("link", name=HOSTILE).click()
    expect(page.get_by_role("region", name="Raw message")).to_have_text(HOSTILE)
    expect(page.locator(".attempts")).to_contain_text(HOSTILE)
    assert page.locator("main img, main script").count() == 0
    assert "broken in" not in page.title()


def test_the_bars_ask_for_all_their_counts_at_once(open_at: Open):
    page, held = open_at("overview"), list[Route]()

    def hold(route: Route) -> None:
        if re.search(r"older_than_s=3600\b", route.request.url):  # the facets ask for that, too
            route.continue_()
        else:
            held.append(route)

    page.route(re.compile(r"/deadletter-counts\?.*older_than_s="), hold)
    page.goto(page.url.partition("#")[0] + "#/deadletters?kind=http_404")
    until(lambda: page.locator(".bars-head").count() and len(held) == 11, "a question for each bar")
    expect(page.locator(".bars-foot")).to_have_count(0)
    for route in held:
        route.continue_()
    expect(page.locator(".bars-foot")).to_contain_text("of the last")
