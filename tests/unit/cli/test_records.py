from __future__ import annotations

from typing import Any

from ghcrawl.cli import records
from ghcrawl.cli.records import Record, Records
from ghcrawl.values.frozen import replace
from stores.memory import MemoryStore
from tests.support.builders import NOW, at


def a_record(*specs: str, **over: Any) -> Record:
    fields: dict[str, Any] = {
        "policy": "default",
        "bases": {"github": "https://api.example.test"},
        "asked_at": NOW,
        "command": "ghcrawl crawl acme",
    }
    return Record(specs=specs or ("acme",), **(fields | over))


async def test_a_crawl_that_was_interrupted_goes_on_as_it_was_asked_then() -> None:
    store = MemoryStore()
    first = await records.begin(store, a_record())
    again = await records.begin(store, a_record(asked_at=at(600)))
    assert not first.resumed
    assert again.resumed
    assert again.record.asked_at == NOW
    assert (await records.read(store)).unfinished == (a_record(),)


async def test_the_order_of_the_specs_is_no_matter_and_the_rest_is() -> None:
    store = MemoryStore()
    await records.begin(store, a_record("acme", "other"))
    assert (await records.begin(store, a_record("other", "acme"))).resumed
    for other in (
        a_record("acme"),
        a_record("acme", "other", policy="refresh"),
        a_record("acme", "other", bases={"github": "https://ghe.example.test"}),
    ):
        assert not (await records.begin(store, other)).resumed


async def test_another_crawl_leaves_the_unfinished_one_unfinished() -> None:
    store = MemoryStore()
    await records.begin(store, a_record("acme"))
    begun = await records.begin(store, a_record("other", asked_at=at(1)))
    assert begun.others == (a_record("acme"),)
    assert (await records.begin(store, a_record("acme", asked_at=at(2)))).record.asked_at == NOW


async def test_a_finished_crawl_begins_anew_and_everything_is_finished_with_it() -> None:
    store = MemoryStore()
    await records.begin(store, a_record("acme"))
    begun = await records.begin(store, a_record("other"))
    await records.finish(store, begun.record, at(60))
    assert await records.read(store) == Records(last=replace(begun.record, finished_at=at(60)))
    assert not (await records.begin(store, a_record("other", asked_at=at(61)))).resumed
    assert (await records.read(store)).last == replace(begun.record, finished_at=at(60))


async def test_working_through_what_waits_finishes_what_was_begun_last() -> None:
    store = MemoryStore()
    await records.begin(store, a_record("acme"))
    await records.finish(store, None, at(60))
    assert (await records.read(store)).last == a_record(finished_at=at(60))
    await records.finish(MemoryStore(), None, at(60))


async def test_beginning_afresh_forgets_when_it_was_asked_first() -> None:
    store = MemoryStore()
    await records.begin(store, a_record())
    begun = await records.begin(store, a_record(asked_at=at(600)), afresh=True)
    assert not begun.resumed
    assert begun.record.asked_at == at(600)
    assert begun.others == ()


async def test_only_so_many_are_remembered() -> None:
    store = MemoryStore()
    for number in range(30):
        await records.begin(store, a_record(f"org-{number}"))
    unfinished = (await records.read(store)).unfinished
    assert [record.specs for record in unfinished] == [(f"org-{number}",) for number in range(10, 30)]
    latest = (await records.read(store)).latest
    assert latest is not None
    assert latest.specs == ("org-29",)
