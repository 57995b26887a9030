"""What every store does. Run on an adapter by `test_contracts.py`."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from ghcrawl.ports.store import DocumentFilter, Store, Touch, store_id
from ghcrawl.values.documents import Document, Link, Validator
from ghcrawl.values.errors import Unstorable
from ghcrawl.values.frozen import replace
from ghcrawl.values.times import iso
from ghcrawl.values.type_names import LEGACY_PLATFORM
from stores.memory import MemoryStore
from tests.contracts.adapters import Rig
from tests.support.builders import API, NOW, a_document, a_type, at, by_type

CHANGED = iso(NOW)
VALIDATOR = Validator(url=f"{API}/x", etag='W/"1"', last_modified="y", accept="z", api_version="v", principal="p")


def titled(title: str, seen_s: float, **over: Any) -> Document:
    return a_document(title=title, observed_at=at(seen_s), fetched_at=at(seen_s), **over)


def a_page(generation: int, page: int = 1, **over: Any) -> Document:
    """A page of the members of organisation 9; all generations share their URL."""
    return a_document(
        type="members",
        urn=f"urn:org:9:members:{generation}:page:{page}",
        url=f"{API}/orgs/9/members?page={page}",
        body={"elements": [generation]},
        observed_at=at(generation),
        **over,
    )


async def urns(store: Store, **which: Any) -> list[str]:
    return [document.urn async for document in store.list(DocumentFilter(**which))]


async def title(store: Store, urn: str = "urn:repo:12:issue:1") -> str:
    document = await store.get(urn)
    assert document is not None
    return str(document.body["title"])


class StoreContract:
    """Newer wins, equal content is left alone, URLs lead to documents, and JSON comes back as it went in."""

    # Coming back

    async def test_a_document_comes_back_as_it_was_saved(self, rig: Rig) -> None:
        document = a_document(
            platform="other",
            links={
                "self": Link(type="resource", href="urn:x"),
                "teams": Link(type="relation", hrefs=("urn:y", "urn:z")),
            },
            observed_at=at(0.000001),
            fetched_at=at(1.5),
            processed_at=at(2.000123),
            version=3,
            changed_at="2026-11-21T11:00:00Z",
            validator=VALIDATOR,
            link_header={"next": f"{API}/2"},
            root="org@x",
            origin="webhook",
            aliases=(f"{API}/old", f"{API}/older"),
            visits={"default:repo": at(3), "refresh:repo": at(4)},
            deleted_at=at(5),
            deleted_reason="404 Not Found",
        )
        assert await rig.store.save(document) == "saved"
        assert await rig.store.get(document.urn) == document
        await rig.crash()
        assert await rig.store.get(document.urn) == document

    @pytest.mark.parametrize(
        "body",
        [
            {"a.b": 1, "$set": {"$inc": 1}, "": {"": []}, "_id": 5, "_metadata": {"urn": "not ours"}},
            {"lone": "\ud800", "\udfff": "key", "text": "naïve 😀 \u2028"},
            {"nul": "a\0b", "\0": 1},
            {"big": 10**60, "negative": -(2**63) - 1, "float": 1.5e300, "minus": -0.0},
            {"deep": [[[[[[{}]]]]]], "none": None, "yes": True},
            {},
        ],
    )
    async def test_json_comes_back_as_it_went_in(self, rig: Rig, body: dict[str, Any]) -> None:
        document = a_document(body=body)
        await rig.store.save(document)
        stored = await rig.store.get(document.urn)
        assert stored is not None
        assert (stored.body, list(stored.body)) == (body, list(body))

    async def test_names_that_no_utf8_has_are_kept(self, rig: Rig) -> None:
        document = a_document(urn="urn:x:\ud800", url=f"{API}/\udfff\0", type="odd\ud83d", digest="\ud800")
        await rig.store.save(replace(document, aliases=("\ud801",)))
        assert await urns(rig.store) == [document.urn]
        for url in (document.url, "\ud801"):
            stored = await rig.store.look_up(document.type_name, url)
            assert stored is not None
            assert (stored.urn, stored.url, stored.type_name) == (document.urn, document.url, document.type_name)
        assert await rig.store.counts() == {document.type_name: 1}

    async def test_what_is_not_json_is_unstorable(self, rig: Rig) -> None:
        with pytest.raises(Unstorable):
            await rig.store.save(replace(a_document(), body={"bytes": b"x"}))
        assert await urns(rig.store) == []

    async def test_a_change_to_a_body_after_saving_reaches_nobody(self, rig: Rig) -> None:
        body: dict[str, Any] = {"title": "first", "labels": []}
        await rig.store.save(a_document(body=body))
        body["labels"].append("later")
        stored = await rig.store.get("urn:repo:12:issue:1")
        assert stored is not None
        assert stored.body["labels"] == []
        stored.body["labels"].append("mine")
        again = await rig.store.get("urn:repo:12:issue:1")
        assert again is not None
        assert again.body["labels"] == []

    async def test_what_is_not_there_is_none(self, rig: Rig) -> None:
        assert await rig.store.get("urn:x") is None
        assert await rig.store.look_up(a_type("issue"), "x") is None
        assert await rig.store.find("x") == []
        assert await rig.store.read_state("x") is None

    # Newer wins

    async def test_the_newest_stays_in_whatever_order_they_come(self, rig: Rig) -> None:
        texts = ["a", "b", "a", "c"]
        for number, order in enumerate(itertools.permutations(range(4))):
            for seen in order:
                await rig.store.save(titled(texts[seen], seen, urn=f"urn:{number}", url=f"{API}/{number}"))
            assert await title(rig.store, f"urn:{number}") == "c", order

    async def test_an_older_representation_is_stale(self, rig: Rig) -> None:
        await rig.store.save(titled("new", 2))
        assert await rig.store.save(titled("old", 1)) == "stale"
        assert await title(rig.store) == "new"

    async def test_the_platforms_own_moment_counts_more_than_when_it_was_seen(self, rig: Rig) -> None:
        await rig.store.save(titled("changed later", 1, changed_at="2026-11-21T11:00:01Z"))
        assert await rig.store.save(titled("seen later", 9, changed_at="2026-11-21T11:00:00Z")) == "stale"
        assert await title(rig.store) == "changed later"

    async def test_changes_within_a_second_are_put_in_order_where_both_say_the_fraction(self, rig: Rig) -> None:
        await rig.store.save(titled("changed later", 3, changed_at="2026-11-21T11:00:00.788Z"))
        assert await rig.store.save(titled("seen later", 9, changed_at="2026-11-21T11:00:00.727Z")) == "stale"
        assert await rig.store.save(titled("to the second", 10, changed_at="2026-11-21T11:00:00Z")) == "saved"
        assert await title(rig.store) == "to the second"

    @pytest.mark.parametrize("dated_first", [True, False])
    async def test_what_has_a_date_is_truer_than_what_had_none_yet(self, rig: Rig, dated_first: bool) -> None:
        """Whenever the two were seen: a review that was not submitted says no date at all."""
        pending, submitted = titled("pending", 5), titled("submitted", 3, changed_at=CHANGED)
        for document in (submitted, pending) if dated_first else (pending, submitted):
            await rig.store.save(document)
        assert await title(rig.store) == "submitted"
        assert await rig.store.save(titled("edited", 9, changed_at=CHANGED)) == "saved"

    @pytest.mark.parametrize("date", ["9999-12-31T23:59:59Z", "2031-01-01T00:00:00Z", "yesterday", "9999-99-99"])
    @pytest.mark.parametrize("date_first", [True, False])
    async def test_a_date_that_cannot_be_does_not_win(self, rig: Rig, date: str, date_first: bool) -> None:
        broken, sound = titled("broken", 1, changed_at=date), titled("sound", 2, changed_at=CHANGED)
        for document in (broken, sound) if date_first else (sound, broken):
            await rig.store.save(document)
        assert await title(rig.store) == "sound"

    @pytest.mark.parametrize("date", ["9999-12-31T23:59:59Z", "yesterday", ""])
    async def test_of_two_without_a_date_that_can_be_the_one_seen_later_stays(self, rig: Rig, date: str) -> None:
        await rig.store.save(titled("first", 1, changed_at=date))
        assert await rig.store.save(titled("second", 9)) == "saved"
        assert await rig.store.save(titled("third", 19, changed_at="9998-01-01T00:00:00Z")) == "saved"

    async def test_of_two_equally_true_ones_the_last_stays(self, rig: Rig) -> None:
        await rig.store.save(titled("first", 1))
        assert await rig.store.save(titled("second", 1)) == "saved"
        assert await title(rig.store) == "second"

    @pytest.mark.parametrize("seen", [(1, 1), (1, 2), (2, 1)])
    async def test_of_two_from_the_second_of_their_last_change_nobody_knows_which_is_newer(
        self, rig: Rig, seen: tuple[int, int]
    ) -> None:
        """A tie is found as often as it is met, until something is seen that is from after that second."""
        one, other = (
            titled(text, seen_s, changed_at=CHANGED, validator=VALIDATOR)
            for text, seen_s in zip(("one", "other"), seen, strict=True)
        )
        assert [await rig.store.save(each) for each in (one, one, other, other)] == ["saved", "same", "tied", "tied"]
        assert await title(rig.store) == ("one" if seen[0] > seen[1] else "other")
        assert await rig.store.save(titled("settled", 9, changed_at=CHANGED)) == "saved"
        assert [await rig.store.save(each) for each in (one, other)] == ["stale", "stale"]
        assert await title(rig.store) == "settled"

    async def test_what_won_a_tie_is_true_once_it_is_seen_again(self, rig: Rig) -> None:
        await rig.store.save(titled("one", 1, changed_at=CHANGED))
        await rig.store.save(titled("other", 2, changed_at=CHANGED))
        assert await rig.store.save(titled("other", 9, changed_at=CHANGED)) == "saved"
        assert await rig.store.save(titled("other", 10, changed_at=CHANGED)) == "same"

    async def test_nothing_ties_with_what_is_gone_or_has_another_date_or_none(self, rig: Rig) -> None:
        await rig.store.save(titled("no date", 1))
        assert await rig.store.save(titled("none either", 1)) == "saved"
        dated: dict[str, Any] = {"urn": "urn:dated", "changed_at": CHANGED}
        await rig.store.save(titled("alive", 1, **dated))
        assert await rig.store.save(titled("gone", 1, deleted_at=at(2), **dated)) == "saved"
        assert await rig.store.save(titled("alive", 1, **dated)) == "saved"
        assert await rig.store.save(titled("a later one", 1, **dated | {"changed_at": iso(at(1))})) == "saved"
        assert await rig.store.save(titled("no moment", 2, **dated | {"changed_at": "~"})) == "stale"
        assert await rig.store.save(titled("nor this", 3, **dated | {"changed_at": "~"})) == "stale"

    async def test_equal_content_is_not_written_again(self, rig: Rig) -> None:
        await rig.store.save(titled("text", 1, processed_at=at(1), root="first"))
        assert await rig.store.save(titled("text", 2, processed_at=at(2), root="second")) == "same"
        stored = await rig.store.get("urn:repo:12:issue:1")
        assert stored is not None
        assert (stored.processed_at, stored.root) == (at(1), "first")

    async def test_equal_content_is_known_to_be_true_for_longer(self, rig: Rig) -> None:
        """What was seen between two equal sights is older than the second."""
        await rig.store.save(titled("true", 1))
        await rig.store.save(titled("true", 3))
        assert await rig.store.save(titled("an old page", 2)) == "stale"
        stored = await rig.store.get("urn:repo:12:issue:1")
        assert stored is not None
        assert (stored.body["title"], stored.observed_at) == ("true", at(3))

    async def test_equal_content_of_a_newer_processor_is_written(self, rig: Rig) -> None:
        await rig.store.save(a_document(version=1))
        assert await rig.store.save(a_document(version=2)) == "saved"
        assert await rig.store.save(a_document(version=1)) == "same"
        stored = await rig.store.get("urn:repo:12:issue:1")
        assert stored is not None
        assert stored.version == 2

    async def test_a_page_that_got_a_next_page_is_written(self, rig: Rig) -> None:
        await rig.store.save(a_page(1))
        assert await rig.store.save(a_page(1, link_header={"next": "x"})) == "saved"
        stored = await rig.store.get(a_page(1).urn)
        assert stored is not None
        assert stored.link_header == {"next": "x"}

    # Tombstones

    async def test_a_tombstone_replaces_and_is_replaced_by_what_is_newer(self, rig: Rig) -> None:
        await rig.store.save(titled("alive", 1))
        assert await rig.store.save(titled("alive", 2, deleted_at=at(2), deleted_reason="404")) == "saved"
        assert await rig.store.save(titled("alive", 1)) == "stale"
        stored = await rig.store.look_up(a_type("issue"), a_document().url)
        assert stored is not None
        assert stored.deleted_at == at(2)
        assert await rig.store.save(titled("alive", 3)) == "saved"
        stored = await rig.store.look_up(a_type("issue"), a_document().url)
        assert stored is not None
        assert stored.deleted_at is None

    async def test_tombstones_are_listed_but_not_counted(self, rig: Rig) -> None:
        await rig.store.save(a_document(1))
        await rig.store.save(a_document(2, deleted_at=NOW))
        assert await rig.store.counts() == by_type(issue=1)
        assert len(await urns(rig.store)) == 2

    async def test_the_second_tombstone_says_nothing_new(self, rig: Rig) -> None:
        await rig.store.save(titled("x", 1, deleted_at=at(1)))
        assert await rig.store.save(titled("x", 2, deleted_at=at(2))) == "same"

    # Touches

    async def test_a_touch_remembers_the_visit_and_the_check_and_nothing_else(self, rig: Rig) -> None:
        document = a_document(validator=VALIDATOR, visits={"default:issue": at(1), "other": at(1)})
        await rig.store.save(document)
        touch = Touch(
            urn=document.urn,
            type_name=a_type("issue"),
            policy="default:issue",
            visited_at=at(9),
            checked_at=at(8),
            validator=None,
        )
        await rig.store.touch(touch)
        stored = await rig.store.look_up(a_type("issue"), document.url)
        assert stored is not None
        assert (stored.checked_at, stored.validator) == (at(8), VALIDATOR)
        assert stored.visits == {"default:issue": at(9), "other": at(1)}
        assert await rig.store.get(document.urn) == replace(document, visits=stored.visits)

    async def test_a_touch_never_takes_time_back(self, rig: Rig) -> None:
        document = a_document(fetched_at=at(9), visits={"p": at(9)})
        await rig.store.save(document)
        await rig.store.touch(
            Touch(urn=document.urn, type_name=a_type("issue"), policy="p", visited_at=at(1), checked_at=at(1))
        )
        await rig.store.touch(Touch(urn=document.urn, type_name=a_type("issue"), policy="p", visited_at=at(2)))
        stored = await rig.store.look_up(a_type("issue"), document.url)
        assert stored is not None
        assert (stored.checked_at, stored.visits) == (at(9), {"p": at(9)})

    async def test_a_touch_brings_a_fresh_validator(self, rig: Rig) -> None:
        await rig.store.save(a_document())
        await rig.store.touch(
            Touch(urn=a_document().urn, type_name=a_type("issue"), policy="p", visited_at=NOW, validator=VALIDATOR)
        )
        stored = await rig.store.look_up(a_type("issue"), a_document().url)
        assert stored is not None
        assert stored.validator == VALIDATOR

    async def test_a_touch_of_nothing_is_nothing(self, rig: Rig) -> None:
        await rig.store.touch(Touch(urn="urn:x", type_name=a_type("issue"), policy="p", visited_at=NOW))
        assert await urns(rig.store) == []

    async def test_what_has_another_url_every_time_is_known_by_the_latest(self, rig: Rig) -> None:
        urls = [f"{API}/issues?since={day}" for day in range(60)]
        for day, url in enumerate(urls):
            await rig.store.save(titled(f"day {day}", day, url=url))
        document = await rig.store.get(a_document().urn)
        assert document is not None
        assert (document.url, document.aliases) == (urls[-1], tuple(urls[-21:-1]))
        found = [url for url in urls if await rig.store.look_up(a_type("issue"), url)]
        assert found == urls[-21:]

    async def test_as_many_visits_are_kept_as_anybody_needs(self, rig: Rig) -> None:
        policies = [f"default:since={day}" for day in range(60)]
        await rig.store.save(titled("a", 1, visits={policies[0]: at(0)}))
        for day, policy in enumerate(policies[1:50], 1):
            await rig.store.save(titled("a", day, visits={policy: at(day)}))
        for day, policy in enumerate(policies[50:], 50):
            await rig.store.look_up(a_type("issue"), a_document().url)
            await rig.store.touch(
                Touch(urn=a_document().urn, type_name=a_type("issue"), policy=policy, visited_at=at(day))
            )
        document = await rig.store.get(a_document().urn)
        assert document is not None
        assert dict(document.visits) == {policy: at(day) for day, policy in enumerate(policies) if day >= 40}

    async def test_a_save_keeps_the_visits_of_others(self, rig: Rig) -> None:
        await rig.store.save(titled("a", 1, visits={"p": at(1), "q": at(5)}))
        await rig.store.save(titled("b", 2, visits={"q": at(2), "r": at(2)}))
        await rig.store.save(titled("b", 3, visits={"r": at(3)}))
        await rig.store.save(titled("stale", 0, visits={"s": at(4)}))
        stored = await rig.store.look_up(a_type("issue"), a_document().url)
        assert stored is not None
        assert stored.visits == {"p": at(1), "q": at(5), "r": at(3), "s": at(4)}

    async def test_a_tombstone_forgets_the_visits(self, rig: Rig) -> None:
        await rig.store.save(titled("a", 1, visits={"p": at(1)}))
        await rig.store.save(titled("a", 2, deleted_at=at(2)))
        stored = await rig.store.look_up(a_type("issue"), a_document().url)
        assert stored is not None
        assert stored.visits == {}

    async def test_a_stale_tombstone_forgets_nothing(self, rig: Rig) -> None:
        await rig.store.save(titled("a", 2, visits={"p": at(1)}))
        await rig.store.save(titled("a", 1, deleted_at=at(1)))
        stored = await rig.store.look_up(a_type("issue"), a_document().url)
        assert stored is not None
        assert stored.visits == {"p": at(1)}

    async def test_a_body_that_stays_keeps_its_validator_and_a_new_one_does_not(self, rig: Rig) -> None:
        await rig.store.save(titled("a", 1, validator=VALIDATOR))
        await rig.store.save(titled("a", 2, version=2))
        stored = await rig.store.look_up(a_type("issue"), a_document().url)
        assert stored is not None
        assert stored.validator == VALIDATOR
        await rig.store.save(titled("b", 3, version=2))
        stored = await rig.store.look_up(a_type("issue"), a_document().url)
        assert stored is not None
        assert stored.validator is None

    async def test_a_save_is_a_check(self, rig: Rig) -> None:
        await rig.store.save(titled("a", 5))
        await rig.store.save(titled("a", 7))
        await rig.store.save(titled("a", 6))
        stored = await rig.store.look_up(a_type("issue"), a_document().url)
        assert stored is not None
        assert stored.checked_at == at(7)

    # State

    async def test_state_is_replaced_whole(self, rig: Rig) -> None:
        await rig.store.write_state("crawl", {"a": 1, "b": {"c": ["\ud800"]}})
        await rig.store.write_state("crawl", {"b": {"c": ["\ud800", None]}})
        await rig.store.write_state("other", {})
        await rig.crash()
        assert await rig.store.read_state("crawl") == {"b": {"c": ["\ud800", None]}}
        assert await rig.store.read_state("other") == {}

    async def test_state_is_swapped_only_for_what_was_read(self, rig: Rig) -> None:
        store = rig.store
        first: dict[str, Any] = {"z": 1, "a.b": {"$c": ["\ud800", None, 1.5, True, 2**70]}, "e": {}}
        assert not await store.swap_state("x", {}, first)
        assert await store.swap_state("x", None, first)
        assert not await store.swap_state("x", None, {"late": 1})
        assert not await store.swap_state("x", {**first, "z": 2}, {"late": 1})
        await rig.crash()
        assert await rig.store.read_state("x") == first
        assert await rig.store.swap_state("x", await rig.store.read_state("x"), {})
        assert await rig.store.swap_state("x", {}, {"b": 1, "a": 2})
        assert not await rig.store.swap_state("x", first, {"late": 1})
        assert await rig.store.read_state("x") == {"a": 2, "b": 1}
        assert await rig.store.read_state("y") is None

    async def test_of_many_who_swap_at_once_each_sees_all_before_it(self, rig: Rig) -> None:
        async def add(number: int) -> None:
            while True:
                before = await rig.store.read_state("x")
                numbers: Any = (before or {}).get("numbers", [])
                if await rig.store.swap_state("x", before, {"numbers": [*numbers, number]}):
                    return

        await asyncio.gather(*(add(number) for number in range(8)))
        state: Any = await rig.store.read_state("x")
        assert sorted(state["numbers"]) == list(range(8))

    async def test_a_store_has_one_id_however_many_ask_for_it_first(self, rig: Rig) -> None:
        ids = set(await asyncio.gather(*(store_id(rig.store) for _ in range(8))))
        await rig.crash()
        ids.add(await store_id(rig.store))
        assert len(ids) == 1
        assert ids != {""}
        assert ids != {await store_id(MemoryStore())}

    # Several platforms

    async def test_two_platforms_with_the_same_type_and_url_stay_two_documents(self, rig: Rig) -> None:
        ours = a_document(type="user", urn="urn:user:5", title="ours")
        theirs = a_document(platform="mastodon", type="user", urn="urn:mastodon:user:5", title="theirs")
        for document in (ours, theirs):
            assert await rig.store.save(document) == "saved"
        assert await rig.store.counts() == by_type(user=1) | by_type("mastodon", user=1)
        for document in (ours, theirs):
            stored = await rig.store.look_up(document.type_name, document.url)
            assert stored is not None
            assert (stored.urn, stored.type_name) == (document.urn, document.type_name)
            assert await rig.store.get(document.urn) == document
        assert {found.urn for found in await rig.store.find(ours.url)} == {ours.urn, theirs.urn}
        assert await rig.store.look_up(a_type("user", "library"), ours.url) is None

    async def test_documents_are_listed_by_type_and_by_platform(self, rig: Rig) -> None:
        for platform, type in itertools.product((LEGACY_PLATFORM, "mastodon"), ("user", "list")):
            await rig.store.save(a_document(platform=platform, type=type, urn=f"urn:{platform}:{type}:5"))
        ours, theirs = a_type("user"), a_type("user", "mastodon")
        assert await urns(rig.store, types=(ours,)) == ["urn:github:user:5"]
        assert await urns(rig.store, types=(theirs,)) == ["urn:mastodon:user:5"]
        assert await urns(rig.store, types=(ours, theirs)) == ["urn:github:user:5", "urn:mastodon:user:5"]
        assert await urns(rig.store, platforms=("mastodon",)) == ["urn:mastodon:list:5", "urn:mastodon:user:5"]
        assert await urns(rig.store, platforms=("mastodon",), types=(ours, theirs)) == ["urn:mastodon:user:5"]
        assert await urns(rig.store, platforms=("library",)) == []
        assert await urns(rig.store, platforms=("library",), types=(ours,)) == []

    async def test_a_change_on_one_platform_leaves_the_other_alone(self, rig: Rig) -> None:
        ours = a_document(type="user", urn="urn:user:5", title="ours")
        theirs = a_document(platform="mastodon", type="user", urn="urn:mastodon:user:5", title="theirs")
        for document in (ours, theirs):
            await rig.store.save(document)
        await rig.store.touch(Touch(urn=ours.urn, type_name=ours.type_name, policy="p", visited_at=at(9)))
        await rig.store.save(replace(ours, deleted_at=at(9), observed_at=at(9)))
        assert await rig.store.counts() == by_type("mastodon", user=1)
        assert await rig.store.get(theirs.urn) == theirs
        stored = await rig.store.look_up(theirs.type_name, theirs.url)
        assert stored is not None
        assert (stored.visits, stored.deleted_at) == ({}, None)
