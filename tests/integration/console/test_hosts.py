"""Several hosts in the console: why their requests wait, whose quota is whose, and what a post is called."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from tests.integration.console.conftest import Open
from tests.integration.console.rig import OPERATOR, Service, service, simulator, until


@pytest.fixture(scope="module")
def gone() -> str:
    """A host where nothing listens."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{closed.getsockname()[1]}"


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A host that allows ten calls."""
    with simulator(tmp_path_factory.mktemp("host"), 300, "--platform", "mastodon", "--limit", "10") as url:
        yield url.removeprefix("http://")


@pytest.fixture(scope="module")
def waiting(limited: str, gone: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service all of whose requests wait for these two."""
    token = f"{limited}=simulated-token-of-user1"
    db = tmp_path_factory.mktemp("hosts") / "hosts.db"
    with service(db, "--loops", "2", GHCRAWL_TOKENS="", GHCRAWL_MASTODON_TOKENS=token) as started:
        asked = [
            (gone, "q/post/user=user1"),
            (limited, "q/post/user=user1"),
            (limited, "q/post,relations/related=user1"),
        ]
        specs = [f"mastodon://{host}/{resources}" for host, resources in asked]
        started.ask("POST", "/api/v1/requests", {"specs": specs})

        def both_wait() -> bool:
            workers, queues = started.ask("GET", "/api/v1/loops"), started.ask("GET", "/api/v1/queues")["queues"]
            benched = [one["benched_until"] for one in started.ask("GET", "/api/v1/principals")["principals"]]
            ready = sum(queue["ready"] + queue["in_flight"] for queue in queues)
            return bool(workers["unreachable_hosts"] and any(benched) and not ready)

        until(both_wait, "two hosts that are waited for")
        yield started


@pytest.mark.parametrize("width", [1280, 400])
def test_the_overview_says_which_hosts_are_waited_for(
    waiting: Service, limited: str, gone: str, open_at: Open, width: int
):
    page = open_at(url=waiting.url, width=width)
    reason = page.get_by_role("status").filter(has_text="for a scheduled time")
    expect(reason).to_contain_text(
        re.compile(rf"mastodon://{re.escape(gone)} is unreachable since .* \(connection refused\)")
    )
    expect(reason).to_contain_text(re.compile(rf"No quota for {re.escape(limited)} token \w+ until"))
    wider = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wider <= 0, "long names of principals fit"


def test_posts_are_called_by_their_text_and_found_by_it(waiting: Service, open_at: Open):
    (post,) = waiting.ask("GET", "/api/v1/documents?platform=mastodon&type=status&limit=1")["documents"]
    text = re.sub("<[^>]+>", "", post["content"])
    page = open_at("documents?platform=mastodon&type=status", url=waiting.url)
    expect(page.locator(".row-link").first).to_have_text(text)
    word = max(text.split(), key=len)
    page.get_by_label("URN or URL").fill(word)
    page.keyboard.press("Enter")
    expect(page.locator(".row-link").first).to_contain_text(word)


@pytest.mark.parametrize(
    ("platform", "reason"),
    [
        ("mastodon", "3 ready, but no worker runs."),
        ("friendster", "3 requests of friendster, which this version cannot crawl."),
    ],
)
def test_a_platform_without_a_base_url_is_one_that_can_be_crawled(
    waiting: Service, open_at: Open, platform: str, reason: str
):
    page = open_at("overview", token="", url=waiting.url)

    def ready(route: Route) -> None:
        """Three requests of that platform are ready, and nothing is fetched."""
        status = route.fetch().json()
        status["loops"] |= {"running": 0, "busy": 0, "blocked": {}, "trouble": ""}
        lane = {"ready": 3, "delayed": 0, "total": 3, "in_flight": 0}
        for queue in status["queues"]:
            mine = {platform: lane} if queue["name"] == "normal" else {}
            queue |= {"ready": 3 * bool(mine), "delayed": 0, "platforms": mine}
        route.fulfill(json=status)

    page.route("**/api/v1/status", ready)
    page.get_by_label("Admin token").fill(OPERATOR)
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text=re.compile("^3 re"))).to_have_text(reason)


@pytest.mark.parametrize(("used", "shown"), [([], "status"), (["github"], "mastodon status")])
def test_types_are_shown_with_their_platform_where_several_are_in_use(
    waiting: Service, open_at: Open, used: list[str], shown: str
):
    page = open_at("documents?platform=mastodon&type=status", token="", url=waiting.url)

    def more(route: Route) -> None:
        """The same with a document of each of these platforms."""
        status = route.fetch().json()
        status["documents"]["types"] += [{"platform": name, "type": "issue", "count": 1} for name in used]
        route.fulfill(json=status)

    page.route("**/api/v1/status", more)
    page.get_by_label("Admin token").fill(OPERATOR)
    page.keyboard.press("Enter")
    expect(page.locator("tr", has=page.locator(".row-link")).first.locator("td").nth(1)).to_have_text(shown)
