"""Every view shows what the service says, and changes it where it may."""

from __future__ import annotations

import itertools
import json
import re
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Route, expect

from tests.integration.console.conftest import Open
from tests.integration.console.rig import OPERATOR, VIEWER, Service, until


@pytest.fixture(autouse=True)
def _done(served: Service) -> None:
    served.until_done()


def test_the_overview_has_the_numbers_of_the_service_and_moves_with_its_work(served: Service, open_at: Open):
    page = open_at("overview")
    documents = served.ask("GET", "/api/v1/document-counts")["total"]
    expect(page.get_by_role("link", name="Documents").filter(has_text=f"{documents:,}")).to_be_visible()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    for principal in served.ask("GET", "/api/v1/principals")["principals"]:
        if not principal["budgets"]:
            continue
        expect(page.get_by_role("meter", name=re.compile(principal["label"])).first).to_be_visible()
    chart = page.get_by_role("img", name=re.compile("^Work per minute"))
    idle = re.compile(r"settled \d(\.\d)?, saved 0,")  # the server remembers the minutes before
    expect(chart).to_have_attribute("aria-label", idle, timeout=90_000)
    served.ask("POST", "/api/v1/requests", {"specs": ["acme"], "policy": "always"})
    expect(chart).to_have_attribute("aria-label", re.compile(r"settled [1-9][\d,]{2,}, saved"))
    expect(chart.locator("polyline.t1")).to_have_attribute("points", re.compile(r"(\S+ ){2}"))


def test_loops_are_paused_and_go_on_in_all_replicas(served: Service, open_at: Open):
    page = open_at("overview")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Crawling is paused in all replicas.")).to_be_visible()
    assert served.ask("GET", "/api/v1/loops")["paused"] is True
    page.locator("#notices").get_by_role("button", name="Resume").click()
    expect(page.get_by_text("Crawling is paused in all replicas.")).to_be_hidden()
    assert served.ask("GET", "/api/v1/loops")["paused"] is False


def test_what_is_pushed_is_checked_first_and_complaints_are_at_their_field(served: Service, open_at: Open):
    page = open_at("queues")
    text = page.get_by_label("What to crawl")
    text.fill("acme\nno such thing")
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".field", has=text)).to_contain_text("'no such thing' is nothing to crawl")
    expect(text).to_be_focused()
    text.fill("acme/web")
    page.get_by_label("Policy").fill("relaod")
    page.get_by_role("button", name="Check").click()
    expect(page.locator(".field", has=page.get_by_label("Policy"))).to_contain_text("relaod")
    page.get_by_label("Policy").fill("reload")
    page.get_by_role("button", name="Check").click()
    expect(page.get_by_text("1 request would be queued on normal:")).to_be_visible()

    page.get_by_role("button", name="Requests").click()
    text.fill('{"type": "repo"')
    page.get_by_role("button", name="Push").click()
    expect(page.locator(".field", has=text)).to_contain_text("Invalid JSON")
    api = served.ask("GET", "/api/v1/status")["api_url"]
    text.fill(json.dumps({"type": "user", "url": f"{api}/users/nobody-there"}))
    page.get_by_label("Queue", exact=True).select_option("later")
    page.get_by_role("button", name="Push").click()
    expect(page.get_by_role("status").filter(has_text="1 queued on later.")).to_be_visible()


def test_a_queue_is_looked_into_and_emptied_only_when_its_name_is_typed(served: Service, open_at: Open):
    served.ask("POST", "/api/v1/pause")
    try:
        api = served.ask("GET", "/api/v1/status")["api_url"]
        asked = [{"type": "user", "url": f"{api}/users/{number}"} for number in range(9)]
        served.ask("POST", "/api/v1/requests", {"requests": asked, "queue": "soon"})
        page = open_at("queues/soon")
        expect(page.get_by_role("table", name="Requests in soon")).to_contain_text("/users/8")
        oldest = (
            page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="soon")).get_by_role("cell").nth(4)
        )
        expect(page.get_by_role("columnheader").nth(5)).to_have_text("Oldest")
        expect(oldest).to_have_text(re.compile(r"^\d+ (s|min)$"))
        expect(oldest).to_have_attribute("title", re.compile("^waiting since "))
        page.locator("#peeked .link").last.click()  # each loop that was waiting when it was paused takes one, still
        expect(page.get_by_role("dialog", name="Request")).to_contain_text(f"{api}/users/")
        page.keyboard.press("Escape")

        page.get_by_role("button", name="Remove: soon").click()
        page.get_by_label("Remove", exact=True).select_option("some")
        page.get_by_role("button", name="Continue").click()
        expect(page.get_by_role("dialog", name="1 removed from soon")).to_contain_text("/users/")
        page.keyboard.press("Escape")

        page.get_by_role("button", name="Remove: soon").click()
        page.get_by_role("button", name="Continue").click()
        go = page.get_by_role("button", name="Purge soon")
        expect(go).to_be_disabled()
        page.get_by_label("Type soon to confirm").fill("soon")
        go.click()
        expect(page.get_by_role("status").filter(has_text=re.compile("[678] removed from soon."))).to_be_visible()
        assert served.ask("GET", "/api/v1/queues/soon")["total"] == 0
    finally:
        served.ask("POST", "/api/v1/resume")


def test_documents_are_found_by_name_and_address_and_their_links_are_followed(served: Service, open_at: Open):
    (org,) = served.ask("GET", "/api/v1/documents?type=org")["documents"]
    urn, url = org["_metadata"]["urn"], org["_metadata"]["url"]
    page = open_at("documents")
    page.get_by_label("URN or URL").fill(url)
    page.keyboard.press("Enter")
    expect(page.locator(".story-reason")).to_have_text(org["login"])
    expect(page.locator(".facts").first).to_contain_text(urn)
    page.get_by_role("link", name=f"{urn}:repos", exact=True).click()
    expect(page.get_by_text(f"{urn}:repos is a collection.")).to_be_visible()
    page.locator(".row-link").first.click()
    page.locator(".tree summary").first.click()
    page.locator(".tree details[open] summary").nth(1).click()
    page.locator(".tree a", has_text="urn:repo:").first.click()
    expect(page.locator(".story-head .tag")).to_have_text("repo")

    page.get_by_label("URN or URL").fill("urn:repo:999999999")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No document urn:repo:999999999, and none below it.")).to_be_visible()
    page.get_by_label("URN or URL").fill("acme")
    page.keyboard.press("Enter")
    expect(page.locator(".story-reason")).to_have_text(org["login"])


def test_list_pages_are_hidden_until_asked_for(served: Service, open_at: Open):
    counts = served.ask("GET", "/api/v1/document-counts")
    entities = sum(counts["entities"].values())
    page = open_at("documents")
    hidden = counts["total"] - entities
    expect(page.get_by_text(f"{entities:,} documents; {hidden:,} list pages hidden")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^issues"))).to_have_count(0)
    page.get_by_label("List pages").select_option("Shown")
    expect(page.get_by_text(f"{counts['total']:,} documents", exact=True)).to_be_visible()
    assert "lists=true" in page.url
    page.get_by_label("List pages").select_option("Hidden")
    expect(page.get_by_text("list pages hidden")).to_be_visible()


def test_documents_of_a_type_are_gone_through_in_pages(served: Service, open_at: Open):
    counts = served.ask("GET", "/api/v1/document-counts")["by_type"]
    kind = max(counts, key=lambda name: counts[name])
    page = open_at(f"documents?type={kind}")
    expect(page.get_by_text(f"{counts[kind]:,} documents of type {kind.replace('_', ' ')}")).to_be_visible()
    first = page.locator(".row-link").first.get_attribute("href")
    page.get_by_role("button", name="More →").click()
    expect(page.get_by_text("31–")).to_be_visible()
    assert page.locator(".row-link").first.get_attribute("href") != first


def test_settings_change_live_say_at_the_field_what_is_wrong_and_who_changed_what(served: Service, open_at: Open):
    page = open_at("settings")
    loops, soon = page.get_by_role("textbox", name="Workers"), page.get_by_role("textbox", name="Weight of soon")
    loops.fill("0")
    soon.fill("many")
    page.get_by_role("button", name="Save 2 changes").click()
    expect(page.locator(".field", has=loops)).to_contain_text("greater than 0")
    expect(page.locator(".field", has=soon)).to_contain_text("valid integer")
    assert served.ask("GET", "/api/v1/settings")["live"].get("crawl.loops") is None
    page.get_by_role("button", name="Undo").click()
    loops.fill("3")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".field", has=loops)).to_contain_text("set live")
    expect(page.get_by_role("row", name=re.compile(r"crawl\.loops not set → 3 token"))).to_be_visible()
    until(lambda: served.ask("GET", "/api/v1/loops")["wanted"] == 3, "a third loop")

    page.get_by_role("button", name="Unset: Workers").click()
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".field", has=loops)).to_contain_text("from the command line")
    expect(loops).to_have_value("2")
    assert "crawl.loops" not in served.ask("GET", "/api/v1/settings")["live"]


def test_a_source_is_watched_shown_and_unwatched(served: Service, open_at: Open):
    page = open_at("sources")
    page.get_by_label("Spec to watch").fill("acme/nowhere")
    page.get_by_role("button", name="Watch", exact=True).click()
    row = page.get_by_role("row", name=re.compile(r"acme.nowhere"))
    expect(row).to_contain_text("never read")
    [schedule] = served.ask("GET", "/api/v1/schedules")["schedules"]
    expect(page.get_by_role("row", name=re.compile(r"^github"))).to_contain_text(str(schedule["sources"]))

    row.get_by_role("button", name="Unwatch").click()
    page.get_by_role("dialog").get_by_role("button", name="Unwatch").click()
    expect(row).to_have_count(0)
    assert served.ask("GET", "/api/v1/sources?spec=acme/nowhere")["sources"] == []

    reader = open_at("sources", token=VIEWER)
    expect(reader.get_by_role("heading", name="Sources", level=1)).to_be_visible()
    expect(reader.get_by_role("button", name="Watch", exact=True)).to_have_count(0)


def test_principals_show_what_is_left_and_never_a_secret(served: Service, open_at: Open):
    page = open_at("principals")
    for principal in served.ask("GET", "/api/v1/principals")["principals"]:
        row = page.get_by_role("row", name=re.compile(principal["label"]))
        for budget in principal["budgets"]:
            expect(row).to_contain_text(f"of {budget['limit']:,}")
    assert "ghp_" not in page.content()


def test_the_work_of_five_replicas_behind_a_balancer_is_summed_and_each_is_shown(served: Service, open_at: Open):
    page = open_at("overview", token="")
    turns = itertools.cycle(f"replica-{number}" for number in range(5))

    def another(route: Route) -> None:
        """The next replica answers, which settles ten requests a second."""
        status = route.fetch().json()
        status["worker"] = status["loops"]["worker"] = next(turns)
        status["figures"]["requests"] = status["figures"]["requests"] | {
            "settled": 10 * datetime.fromisoformat(status["at"]).timestamp(),
            "deferred": {},
        }
        route.fulfill(json=status)

    page.route("**/api/v1/status", another)
    nothing = {"span": "1h", "step_s": 60, "points": []}  # these replicas exist for the page alone
    page.route("**/api/v1/history*", lambda route: route.fulfill(json=nothing))
    page.get_by_label("Admin token").fill(OPERATOR)
    page.keyboard.press("Enter")
    for _ in range(10):
        with page.expect_response("**/api/v1/status"):
            page.keyboard.press("r")
    expect(page.get_by_text("of 5 active replicas")).to_be_visible()
    expect(page.locator(".workers li")).to_have_count(5)
    expect(page.locator(".tile", has_text="Settled / min").locator("b")).to_have_text(
        re.compile("^(2,99[0-9]|3,0[01]0)"),
        timeout=60_000,  # each of them answers every 15 s
    )


def test_what_waits_says_when_it_will_be_done_or_how_fast_it_grows(served: Service, open_at: Open):
    page = open_at("overview", token="")
    turns = itertools.count()
    per_turn = -100

    def draining(route: Route) -> None:
        """Ten seconds later each time, with so many more or fewer that wait."""
        turn, status = next(turns), route.fetch().json()
        status["at"] = (datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=10 * turn)).isoformat()
        waiting = 1000 + per_turn * turn
        status["queues"] = [queue | {"total": waiting * (queue["name"] == "soon")} for queue in status["queues"]]
        route.fulfill(json=status)

    page.route("**/api/v1/status", draining)
    page.get_by_label("Admin token").fill(OPERATOR)
    page.keyboard.press("Enter")
    tile = page.locator(".tile", has_text="Waiting").locator(".tile-note")
    expect(tile).to_have_text(re.compile("in flight"))
    for _ in range(3):
        with page.expect_response("**/api/v1/status"):
            page.keyboard.press("r")
    expect(tile).to_have_text(re.compile(r"^done in about (\d+ s|1 min)$"))
    per_turn = 100
    for _ in range(13):
        with page.expect_response("**/api/v1/status"):
            page.keyboard.press("r")
    expect(tile).to_have_text(re.compile(r"^\+600 / min$"))


@pytest.mark.parametrize(
    ("remaining", "state", "sentence"),
    [
        (4200, "Waiting", "The rate limit per minute is reached, or the API does not respond."),
        (250, "No quota", "The quota of all principals is exhausted."),
    ],
)
def test_why_nothing_is_asked_is_not_called_a_lack_of_quota_where_there_is_some(
    open_at: Open, remaining: int, state: str, sentence: str
):
    page = open_at("overview", token="")

    def held(route: Route) -> None:
        status = route.fetch().json()
        status["loops"]["blocked_until"] = "2126-01-01T00:00:00Z"
        left = {"limit": 5000, "remaining": remaining, "reset_at": "2126-01-01T00:00:00Z"}
        budget = {"resource": "core", "main": True} | left
        one = status["principals"][0] | {"budgets": [budget], "retired": "", "benched_until": None}
        status["principals"] = [one]
        route.fulfill(json=status)

    page.route("**/api/v1/status", held)
    page.get_by_label("Admin token").fill(OPERATOR)
    page.keyboard.press("Enter")
    expect(page.locator(".state-text")).to_have_text(state)
    expect(page.locator("#notices")).to_contain_text(sentence)


COUNTS = {"pages": 1, "lost": 3, "asked": 2, "refused": 1, "arrived": 1, "given_up": 0, "waiting": 1}
LAST = COUNTS | {"seconds": 0.2, "again": []}
LONG_AGO, LONG_AFTER = "2026-01-01T00:00:00Z", "2126-01-01T00:00:00Z"
LOST = {
    "enabled": True,
    "names": ["app:7"],
    "every_s": 300.0,
    "next_at": LONG_AFTER,
    "sweeping": None,
    "last": LAST | {"at": LONG_AGO, "worker": "replica-1", "troubles": ["acme: 403 Forbidden"]},
    "waiting": [
        {
            "delivery": "d-1",
            "hook": "app:7",
            "event": "issue_comment",
            "failed_at": LONG_AGO,
            "tries": 2,
            "due_at": LONG_AFTER,
        }
    ],
}


def test_webhooks_that_did_not_arrive_are_shown_where_anybody_looks_for_them(open_at: Open):
    page = open_at("queues", token="")
    page.route("**/api/v1/redelivery", lambda route: route.fulfill(json=LOST))
    page.get_by_label("Admin token").fill(OPERATOR)
    page.keyboard.press("Enter")
    lost = page.locator(".panel", has=page.get_by_role("heading", name="Failed webhook deliveries"))
    expect(lost).to_contain_text("by replica-1: 3 failed, 2 redeliveries requested, 1 arrived, 0 too old.")
    expect(lost).to_contain_text("acme: 403 Forbidden")
    expect(lost.get_by_role("row").last).to_contain_text("issue comment")
    expect(lost.get_by_role("row").last).to_contain_text("2 times")
    with page.expect_request(lambda request: request.method == "POST" and request.url.endswith("/redelivery")):
        lost.get_by_role("button", name="Check now").click()


def test_where_nobody_looks_for_lost_webhooks_the_console_does_not_speak_of_them(served: Service, open_at: Open):
    assert served.ask("GET", "/api/v1/redelivery")["enabled"] is False
    page = open_at("queues", token="")
    with page.expect_response("**/api/v1/redelivery"):
        page.get_by_label("Admin token").fill(OPERATOR)
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Push a request")).to_be_visible()
    expect(page.get_by_role("heading", name="Failed webhook deliveries")).to_have_count(0)


def test_on_a_phone_a_path_is_broken_between_its_parts_and_numbers_are_written_as_the_rest_is(open_at: Open):
    page = open_at("deadletters?kind=KeyError", width=400)
    lines = (
        "(code) => [...code.childNodes].filter((part) => part.data).map((part) => {"
        "const range = document.createRange(); range.selectNode(part); return range.getClientRects().length; })"
    )
    codes = page.locator("tbody .row-sub code")
    expect(codes.first).to_have_text(re.compile(r"^/repos/acme/\w+/issues/\d+$"))
    assert set(codes.first.evaluate(lines)) == {1}
    font = "(element) => getComputedStyle(element).fontFamily"
    assert page.locator(".bars-foot").evaluate(font) == page.locator("body").evaluate(font)
