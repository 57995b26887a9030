"""What a complete list left out is asked for; nothing else is."""

from __future__ import annotations

from typing import Any

import pytest

from ghcrawl.engine.reconciliation import reconcile
from ghcrawl.platforms.kind import Comparison
from ghcrawl.values.documents import Link
from stores.memory import MemoryStore
from tests.support.builders import NOW, a_document, a_request

PAGES = "urn:repo:12:labels:page"


async def a_store(*labels: str) -> MemoryStore:
    store = MemoryStore()
    for name in labels:
        urn = f"urn:repo:12:label:{name}"
        await store.save(a_document(urn=urn, type="label", url=f"https://api.example.test/labels/{name}"))
    return store


async def a_page(store: MemoryStore, number: int, *labels: str, nameless: tuple[str, ...] = ()) -> None:
    """A page of a collection. nameless: elements whose URN nobody could tell."""
    elements: list[dict[str, Any]] = [{"urn": urn, "url": url} for urn, url in listed(*labels).items()]
    elements += [{"urn": None, "url": url} for url in listed(*nameless).values()]
    await keep_page(store, number, elements, named=tuple(listed(*labels)))


async def keep_page(store: MemoryStore, number: int, elements: list[dict[str, Any]], *, named: tuple[str, ...]) -> None:
    urn = f"{PAGES}:{number}"
    links = {"resources": Link(type="resource", hrefs=named)} if named else {}
    url = f"https://api.example.test/{urn}"
    await store.save(a_document(urn=urn, type="labels", url=url, body={"elements": elements}, links=links))


def listed(*labels: str) -> dict[str, str]:
    """URN → URL. After a colon, a name that is not what it is called by: `d2:d`."""
    pairs = [label.partition(":") for label in labels]
    return {f"urn:repo:12:label:{urn}": f"https://api.example.test/labels/{name or urn}" for urn, _, name in pairs}


def a_comparison(*last: str, pages: int = 1, below: bool = True) -> Comparison:
    return Comparison(
        pages=tuple(f"{PAGES}:{number}" for number in range(1, pages + 1)),
        listed=listed(*last),
        type="label",
        owner="urn:repo:12",
        below=below,
    )


async def test_what_is_stored_and_on_no_page_is_asked_for_by_what_it_is_called():
    store = await a_store("a", "b", "c", "d")
    await a_page(store, 1, "a")
    await a_page(store, 2, "b")
    outcome = await reconcile(a_comparison("c", pages=2), a_request(type="reconciliation"), store)

    (push,) = outcome.follow_ups
    assert push.request.url == "https://api.example.test/labels/d"
    assert push.request.context.urn == "urn:repo:12:label:d"
    assert push.request.context.qualifier == "urn:repo:12"
    assert push.request.policy == "audit:self"
    assert push.request.asked_at == NOW


async def test_a_great_deal_that_is_missing_is_asked_for_a_number_at_a_time(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("ghcrawl.engine.reconciliation.AT_ONCE", 2)
    store = await a_store(*"abcdef")
    await a_page(store, 1, "b")
    request, asked = a_request(type="reconciliation"), list[str]()
    for turn in (3, 3, 1):
        follow_ups = (await reconcile(a_comparison(pages=1), request, store)).follow_ups
        assert len(follow_ups) == turn
        asked += [push.request.context.urn for push in follow_ups if push.request.context.urn]
        request = follow_ups[-1].request

    assert asked == [f"urn:repo:12:label:{name}" for name in "acdef"]


async def test_what_is_on_no_page_while_another_has_its_name_is_gone():
    store = await a_store("a", "b", "c")
    await a_page(store, 1, "a", "b2:b")
    outcome = await reconcile(a_comparison("c2:C", pages=1), a_request(type="reconciliation"), store)

    buried = [(push.request.context.urn, push.request.context.deleted_at) for push in outcome.follow_ups]
    assert buried == [("urn:repo:12:label:b", NOW), ("urn:repo:12:label:c", NOW)]


async def test_what_an_element_without_a_name_has_the_url_of_is_asked_for_and_not_buried():
    store = await a_store("a", "b")
    await a_page(store, 1, "a", nameless=("b",))
    (push,) = (await reconcile(a_comparison(), a_request(type="reconciliation"), store)).follow_ups

    assert push.request.url == "https://api.example.test/labels/b"
    assert (push.request.context.deleted_at, push.queue) == (None, "soon")


async def test_pages_that_keep_the_things_themselves_say_by_their_link_what_they_list():
    store = await a_store("a", "b")
    await keep_page(store, 1, [{"name": "a", "url": "https://api.example.test/labels/a"}], named=tuple(listed("a")))
    outcome = await reconcile(a_comparison(), a_request(type="reconciliation"), store)

    assert [push.request.context.urn for push in outcome.follow_ups] == ["urn:repo:12:label:b"]


async def test_without_every_page_nothing_is_concluded():
    store = await a_store("a", "b")
    await a_page(store, 1, "a")
    outcome = await reconcile(a_comparison("a", pages=2), a_request(type="reconciliation"), store)

    assert (outcome.reason, outcome.follow_ups) == ("not_reconciled", ())


@pytest.mark.parametrize("elements", [[], [{"urn": None, "url": "https://api.example.test/labels/a"}]])
async def test_from_a_page_that_says_nothing_of_what_it_lists_nothing_is_concluded(elements: list[dict[str, Any]]):
    store = await a_store("a", "b")
    await keep_page(store, 1, elements, named=())
    outcome = await reconcile(a_comparison("b"), a_request(type="reconciliation"), store)

    assert (outcome.reason, outcome.follow_ups) == ("not_reconciled", ())


async def test_what_does_not_lie_below_its_owner_is_counted_where_it_links_to_it():
    store = MemoryStore()
    for number, owner in ((1, "urn:repo:12"), (2, "urn:repo:13")):
        links = {"owner": Link(type="resource", href=owner)}
        url = f"https://api.example.test/{number}"
        await store.save(a_document(urn=f"urn:label:{number}", type="label", url=url, links=links))
    outcome = await reconcile(a_comparison(pages=0, below=False), a_request(type="reconciliation"), store)

    assert [push.request.context.urn for push in outcome.follow_ups] == ["urn:label:1"]
    assert outcome.follow_ups[0].request.context.qualifier == ""
