"""Who may see and do what; what a browser is allowed; and what the page does when nobody answers or looks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from tests.integration.console.conftest import Open
from tests.integration.console.rig import OPERATOR, VIEWER, Service

PLACES = ("overview", "deadletters", "queues/normal", "documents", "sources", "settings", "principals")
FILES = Path(__file__).parents[3] / "ghcrawl" / "admin" / "console"


def test_the_token_is_entered_once_and_kept_by_this_tab_alone(open_at: Open):
    page = open_at("queues", token="")
    page.get_by_label("Admin token").fill("not-the-token")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("Unknown token.")).to_be_visible()
    page.get_by_label("Admin token").fill(OPERATOR)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Queues")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Queues")).to_be_visible()
    assert page.evaluate("Object.values(localStorage).join() + document.cookie + location.href").find(OPERATOR) == -1
    another = page.context.new_page()
    another.goto(page.url)
    expect(another.get_by_label("Admin token")).to_be_visible()
    page.get_by_role("button", name="Sign out").click()
    page.reload()
    expect(page.get_by_label("Admin token")).to_be_visible()


def test_a_viewer_sees_everything_and_no_way_to_change_it(served: Service, open_at: Open):
    page = open_at("overview", token=VIEWER)
    expect(page.get_by_text("read only")).to_be_visible()
    for place in PLACES:
        page.goto(f"{served.url}/#/{place}")
        expect(page.locator(".loading")).to_have_count(0)
        for act in ("Pause", "Resume", "Requeue", "Delete", "Remove", "Push", "Save"):
            expect(page.get_by_role("button", name=re.compile(f"^{act}"))).to_have_count(0)
    page.goto(f"{served.url}/#/settings")
    expect(page.get_by_role("textbox", name="Workers")).to_be_disabled()
    page.goto(f"{served.url}/#/deadletters")
    page.locator(".row-link").first.click()
    expect(page.get_by_role("heading", name="Attempts")).to_be_visible()
    expect(page.get_by_role("button", name="Requeue …")).to_have_count(0)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "api/v1/deadletters/requeue", '{"all": true}'),
        ("POST", "api/v1/deadletters/delete", '{"all": true}'),
        ("DELETE", "api/v1/queues/normal/requests", None),
        ("DELETE", "requests/normal?count=1", None),
        ("POST", "api/v1/requests", '{"specs": ["acme"]}'),
        ("PATCH", "api/v1/settings", '{"crawl.loops": 1}'),
        ("POST", "api/v1/pause", None),
    ],
)
def test_and_the_service_refuses_a_viewer_who_tries_all_the_same(
    open_at: Open, method: str, path: str, body: str | None
):
    page = open_at("overview", token=VIEWER)
    asked = """([method, path, body, token]) => fetch(path, {method, body, headers:
      {Authorization: `Bearer ${token}`, "Content-Type": "application/json"}}).then((answer) => answer.status)"""
    assert page.evaluate(asked, [method, path, body, VIEWER]) == 403


def test_the_page_demands_that_nothing_but_its_own_files_is_used(served: Service):
    status, headers, _ = served.status_of("/", Accept="text/html")
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert status == 200
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["require-trusted-types-for"] == "'script'"


def test_no_file_of_it_has_anything_inline_or_names_another_host():
    page = (FILES / "index.html").read_text()
    assert not re.search(r"<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=", page)
    for path in FILES.rglob("*.*"):
        hosts = set(re.findall(r"https?://(\w[\w.-]*)", path.read_text())) - {"www.w3.org", "api.example.com"}
        assert hosts == set(), path.name


def test_what_is_inline_would_be_refused_and_markup_cannot_be_made(open_at: Open, complaints: list[str]):
    page = open_at("overview")
    made = (
        """() => { try { document.body.innerHTML = "<b>hi</b>"; return "made" } catch (error) { return error.name } }"""
    )
    assert page.evaluate(made) == "TypeError"
    page.evaluate("document.body.append(Object.assign(document.createElement('div'), {id: 'x'}))")
    page.evaluate("document.getElementById('x').setAttribute('style', 'color: red')")
    assert page.locator("#x").evaluate("element => getComputedStyle(element).color") != "rgb(255, 0, 0)"
    assert complaints
    complaints.clear()


def test_files_are_asked_for_anew_and_sent_only_when_they_changed(served: Service):
    status, headers, body = served.status_of("/console/main.js")
    assert (status, headers["content-type"]) == (200, "text/javascript; charset=utf-8")
    assert (headers["cache-control"], headers["x-content-type-options"]) == ("no-cache", "nosniff")
    assert body == (FILES / "main.js").read_bytes()
    assert served.status_of("/console/main.js", If_None_Match=headers["etag"])[0] == 304
    assert served.status_of("/console/main.js", If_None_Match='"another"')[0] == 200


@pytest.mark.parametrize("path", ["/console/", "/console/../access.py", "/console/%2e%2e/access.py", "/console/x.js"])
def test_nothing_beside_the_files_is_served(served: Service, path: str):
    assert served.status_of(path)[0] == 404


def test_the_predecessors_clients_still_get_what_they_know_at_the_root(served: Service):
    assert served.status_of("/", X_token=OPERATOR)[0] == 204
    assert served.status_of("/")[0] == 401
    assert served.status_of("/", Accept="text/html")[1]["vary"] == "Accept"


def test_when_nothing_answers_it_says_so_tries_less_often_and_comes_back_by_itself(open_at: Open):
    page = open_at("overview")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    page.context.set_offline(True)
    expect(page.get_by_text("Cannot reach the service. Retrying in")).to_be_visible()
    expect(page.get_by_text("Offline", exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile(r"Retrying in ([5-9]|1\d) s"))).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("button", name="Retry now").click()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    expect(page.get_by_text("Cannot reach the service.")).to_be_hidden()


def asked_of(page: Page) -> list[str]:
    """Whatever is asked for from now on."""
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    return asked


def test_a_hidden_tab_asks_nothing(open_at: Open):
    page = open_at("principals")
    hide = """(hidden) => { Object.defineProperty(document, "hidden", {value: hidden, configurable: true});
      document.dispatchEvent(new Event("visibilitychange")); }"""
    page.evaluate(hide, True)
    asked = asked_of(page)
    page.wait_for_timeout(4000)  # longer than the time between two questions, which is what is to be seen
    assert asked == []
    with page.expect_request("**/api/v1/status"):
        page.evaluate(hide, False)


def test_everything_is_reached_by_keys_which_a_list_tells(open_at: Open):
    page = open_at("overview")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_contain_text("Search or filter")
    page.keyboard.press("Escape")
    for key, heading in (
        ("d", "Deadletters"),
        ("q", "Queues"),
        ("c", "Documents"),
        ("s", "Settings"),
        ("o", "Overview"),
    ):
        page.keyboard.press("g")
        page.keyboard.press(key)
        expect(page.get_by_role("heading", name=heading, exact=True, level=1)).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("d")
    expect(page.get_by_role("heading", name="Deadletters", exact=True, level=1)).to_be_focused()
    page.keyboard.press("/")
    expect(page.get_by_label("Reason contains")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_label("Reason contains")).to_have_value("?")


def test_light_and_dark_follow_the_system_until_somebody_chooses(open_at: Open):
    page = open_at("overview", scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Toggle theme").click()
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    assert page.evaluate(ground) == light


def test_a_file_that_cannot_be_had_at_once_is_asked_for_again(open_at: Open):
    page = open_at("overview", token="")
    turned_away: list[str] = []

    def broken(route: Route) -> None:
        turned_away.append(route.request.url)
        route.abort() if len(turned_away) < 3 else route.continue_()

    page.route("**/console/views/queues.js", broken)
    page.reload()
    expect(page.get_by_label("Admin token")).to_be_visible()
    assert len(turned_away) == 3
