"""How every store finds documents by their URLs, and what becomes of generations. Run by `test_contracts.py`."""

from __future__ import annotations

import itertools

import pytest

from ghcrawl.values.frozen import replace
from tests.contracts.adapters import Rig
from tests.contracts.store_contract import VALIDATOR, a_page, titled, urns
from tests.support.builders import API, NOW, a_document, a_type, at


class UrlContract:
    """A URL leads to one document of each type: the one that was truly there last."""

    # URLs

    async def test_a_look_up_tells_all_that_decides_how_to_fetch(self, rig: Rig) -> None:
        document = titled("x", 1.25, validator=VALIDATOR, visits={"default:issue": at(3.5)}, version=4)
        await rig.store.save(document)
        stored = await rig.store.look_up(a_type("issue"), document.url)
        assert stored is not None
        assert (stored.urn, stored.type_name, stored.url) == (document.urn, document.type_name, document.url)
        assert (stored.digest, stored.version, stored.validator) == (document.digest, 4, VALIDATOR)
        assert (stored.observed_at, stored.checked_at) == (at(1.25), at(1.25))
        assert (stored.processed_at, stored.deleted_at) == (document.processed_at, None)
        assert stored.visits == {"default:issue": at(3.5)}

    async def test_a_look_up_is_by_type_too(self, rig: Rig) -> None:
        await rig.store.save(a_document())
        assert await rig.store.look_up(a_type("pull_request"), a_document().url) is None

    async def test_a_document_is_found_by_its_aliases(self, rig: Rig) -> None:
        document = a_document(aliases=(f"{API}/repositories/12/issues/1",))
        await rig.store.save(document)
        stored = await rig.store.look_up(a_type("issue"), document.aliases[0])
        assert stored is not None
        assert (stored.urn, stored.url) == (document.urn, document.url)

    @pytest.mark.parametrize("order", [(0, 1), (1, 0)])
    async def test_a_renamed_thing_is_found_by_both_names(self, rig: Rig, order: tuple[int, int]) -> None:
        names = (titled("old", 1, url=f"{API}/old"), titled("new", 2, url=f"{API}/new"))
        for index in order:
            await rig.store.save(names[index])
        for url in (f"{API}/old", f"{API}/new"):
            stored = await rig.store.look_up(a_type("issue"), url)
            assert stored is not None
            assert stored.url == f"{API}/new"
        document = await rig.store.get(names[0].urn)
        assert document is not None
        assert document.aliases == (f"{API}/old",)

    async def test_an_alias_is_kept_for_ever(self, rig: Rig) -> None:
        await rig.store.save(titled("a", 1, aliases=("one",)))
        await rig.store.save(titled("b", 2, aliases=("two",)))
        await rig.store.save(titled("b", 3, aliases=("three",)))
        await rig.store.save(titled("old", 0, aliases=("four",)))
        for url in ("one", "two", "three", "four"):
            assert await rig.store.look_up(a_type("issue"), url) is not None, url
        document = await rig.store.get("urn:repo:12:issue:1")
        assert document is not None
        assert set(document.aliases) == {"one", "two", "three", "four"}

    @pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
    async def test_a_url_moves_to_the_document_that_was_truly_there_last(
        self, rig: Rig, order: tuple[int, ...]
    ) -> None:
        """A repository is renamed, and another one takes its name."""
        web = f"{API}/repos/acme/web"
        sights = [
            titled("here first", 1, urn="urn:repo:12", url=web),
            titled("moved", 2, urn="urn:repo:12", url=f"{API}/repos/acme/site", aliases=(web,)),
            titled("new tenant", 3, urn="urn:repo:99", url=web),
        ]
        for index in order:
            await rig.store.save(sights[index])
        stored = await rig.store.look_up(a_type("issue"), web)
        assert stored is not None
        assert stored.urn == "urn:repo:99"
        assert [document.urn for document in await rig.store.find(web)] == ["urn:repo:99"]
        moved = await rig.store.look_up(a_type("issue"), f"{API}/repos/acme/site")
        assert moved is not None
        assert moved.urn == "urn:repo:12"

    async def test_a_redirect_to_another_document_takes_the_url_along(self, rig: Rig) -> None:
        await rig.store.save(titled("a", 1, urn="urn:a", url="a"))
        await rig.store.save(titled("b", 2, urn="urn:b", url="b", aliases=("a",)))
        stored = await rig.store.look_up(a_type("issue"), "a")
        assert stored is not None
        assert stored.urn == "urn:b"

    async def test_a_tombstone_takes_no_url_from_the_living(self, rig: Rig) -> None:
        await rig.store.save(titled("old", 1, urn="urn:repo:12", url="web"))
        await rig.store.save(titled("new", 2, urn="urn:repo:99", url="web"))
        await rig.store.save(titled("old", 3, urn="urn:repo:12", url="web", deleted_at=at(3)))
        stored = await rig.store.look_up(a_type("issue"), "web")
        assert stored is not None
        assert stored.urn == "urn:repo:99"

    async def test_a_tombstone_of_something_never_seen_is_found(self, rig: Rig) -> None:
        await rig.store.save(a_document(deleted_at=NOW))
        assert await rig.store.look_up(a_type("issue"), a_document().url) is not None

    async def test_finding_goes_by_url_alone(self, rig: Rig) -> None:
        await rig.store.save(a_document(1, url="u", aliases=("v",)))
        await rig.store.save(a_document(2, url="u", type="pull_request"))
        assert {document.type for document in await rig.store.find("u")} == {"issue", "pull_request"}
        assert [document.type for document in await rig.store.find("v")] == ["issue"]

    # Generations

    async def test_pages_of_several_generations_share_a_url_and_the_newest_is_found(self, rig: Rig) -> None:
        for generation in (2, 3, 1):
            await rig.store.save(a_page(generation))
        stored = await rig.store.look_up(a_type("members"), a_page(1).url)
        assert stored is not None
        assert stored.urn == a_page(3).urn

    async def test_the_last_page_removes_the_older_generations_only(self, rig: Rig) -> None:
        keep = [a_page(3, 1), a_page(4, 1), a_document(urn="urn:org:9"), a_document(urn="urn:org:9:member:1", url="m")]
        for document in (*keep, a_page(1, 1, aliases=("old",)), a_page(1, 2), a_page(2, 1)):
            await rig.store.save(document)
        assert await rig.store.save(a_page(3, 2), supersede="urn:org:9:members:") == "saved"
        assert await urns(rig.store) == sorted(document.urn for document in (*keep, a_page(3, 2)))
        assert await rig.store.look_up(a_type("members"), "old") is None
        stored = await rig.store.look_up(a_type("members"), a_page(3, 2).url)
        assert stored is not None
        assert stored.urn == a_page(3, 2).urn

    async def test_superseding_again_changes_nothing(self, rig: Rig) -> None:
        for document in (a_page(1), a_page(2)):
            await rig.store.save(document, supersede="urn:org:9:members:")
        assert await rig.store.save(a_page(2), supersede="urn:org:9:members:") == "same"
        assert await urns(rig.store) == [a_page(2).urn]

    async def test_a_stale_page_supersedes_nothing(self, rig: Rig) -> None:
        await rig.store.save(a_page(1))
        await rig.store.save(a_page(2))
        old = replace(a_page(2), observed_at=NOW)
        assert await rig.store.save(old, supersede="urn:org:9:members:") == "stale"
        assert len(await urns(rig.store)) == 2
