"""A list is continued from its cursor, and not at all where the walk that it remembers is answer enough."""

from __future__ import annotations

import pytest

from ghcrawl.engine.retrieval import Retrieval
from ghcrawl.platforms.kind import Batch, Planning, Reconciliation
from ghcrawl.ports.store import Stored
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Missing
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Context, Pagination, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM, TypeName
from stores.memory import MemoryStore
from tests.support.builders import API, NOW, a_document
from tests.support.clock import FakeClock
from tests.support.github import PLATFORM, REPO, a_user, an_issue
from tests.support.scripted import Rig, ScriptedFetcher, a_body

ISSUES = f"{REPO}/issues?state=all&sort=created&direction=asc&per_page=100"
CONTEXT = Context(qualifier="urn:repo:12", pagination=Pagination(first=ISSUES))
REQUEST = Request(
    platform=LEGACY_PLATFORM, type="issues", url=ISSUES, policy="default:repo@/issues", context=CONTEXT, asked_at=NOW
)
PAGE = "urn:repo:12:issues:page:1"


def a_rig() -> Rig:
    ada = f"{API}/users/ada"
    return Rig(PLATFORM, {ISSUES: a_body([an_issue(1)], ISSUES), ada: a_body(a_user(), ada)})


async def crawl(rig: Rig, request: Request = REQUEST) -> list[str]:
    """The URLs of lists of issues that were asked for."""
    before = len(rig.fetcher.asked)
    await rig.push(request)
    await rig.drain()
    return [url for url, _ in rig.fetcher.asked[before:] if "/issues" in url]


async def test_the_last_of_several_that_ask_for_a_list_costs_nothing():
    rig = a_rig()

    assert [await crawl(rig) for _ in range(2)] == [[ISSUES], []]
    assert await rig.store.get(PAGE) is not None


class CountingStore(MemoryStore):
    """Remembers what was looked up."""

    def __init__(self) -> None:
        super().__init__()
        self.looked_up: list[str] = []

    async def look_up(self, type: TypeName, url: str) -> Stored | None:
        self.looked_up.append(url)
        return await super().look_up(type, url)


async def test_what_never_changes_and_is_not_stored_is_looked_up_once():
    url = f"{REPO}/commits/abc"
    store = CountingStore()
    fetcher = ScriptedFetcher({url: Missing(status=404, detail="Not Found", observed_at=NOW)})
    retrieval = Retrieval(fetcher, store, FakeClock())
    request = Request(platform=LEGACY_PLATFORM, type="commit", url=url, asked_at=NOW)
    kind = PLATFORM.kinds["commit"]
    assert not isinstance(kind, Batch | Planning | Reconciliation)
    await retrieval.answer(request, kind, parse("default"))

    assert store.looked_up.count(request.url) == 1


async def test_a_page_that_was_not_kept_when_its_cursor_was_is_read_again():
    rig, crashed = a_rig(), a_rig()
    await crawl(rig)
    cursor = await rig.store.get("urn:repo:12:issues:cursor")
    assert cursor is not None
    await crashed.store.save(cursor)

    assert await crawl(crashed, replace(REQUEST, attempt=1)) == [ISSUES]
    assert await crashed.store.get(PAGE) is not None


@pytest.mark.parametrize(("holding", "asks"), [(False, False), (True, True)])
async def test_a_thing_that_is_to_be_known_is_asked_for_while_the_news_of_it_waits(holding: bool, asks: bool):
    pull = f"{REPO}/pulls/34"
    rig = Rig(PLATFORM, {pull: a_body({"number": 34, "url": pull}, pull)})
    if holding:
        await rig.store.save(a_document(type="repo", url=REPO, urn="urn:repo:12"))
    context = Context(qualifier="urn:repo:12", urn="urn:repo:12:pull_request:34", only_known=True)
    await rig.push(
        Request(
            platform=LEGACY_PLATFORM, type="pull_request", url=pull, policy="event:self", context=context, asked_at=NOW
        )
    )
    (settled,) = await rig.drain()

    assert settled.reason == ("saved" if asks else "not_known")
    assert bool(rig.fetcher.asked) is asks
