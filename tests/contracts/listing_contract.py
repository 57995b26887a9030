"""How every store lists and counts. Run on an adapter by `test_contracts.py`."""

from __future__ import annotations

from ghcrawl.ports.store import DocumentFilter
from tests.contracts.adapters import Rig
from tests.contracts.store_contract import a_page, urns
from tests.support.builders import a_document, a_type, at, by_type


class ListingContract:
    """Lists are complete, by URN, and as narrow as they are asked to be."""

    async def test_documents_are_listed_by_urn(self, rig: Rig) -> None:
        for number in (3, 1, 2):
            await rig.store.save(a_document(number))
        assert await urns(rig.store) == [f"urn:repo:12:issue:{n}" for n in (1, 2, 3)]

    async def test_a_long_list_is_complete(self, rig: Rig) -> None:
        expected = sorted(f"urn:{type}:{n}" for n in range(130) for type in ("issue", "repo"))
        for urn in expected:
            await rig.store.save(a_document(urn=urn, url=urn, type=urn.split(":")[1]))
        assert await urns(rig.store) == expected
        assert await urns(rig.store, types=tuple(map(a_type, ("repo", "issue", "issue", "none")))) == expected
        assert await urns(rig.store, types=(a_type("repo"),)) == expected[130:]
        assert await urns(rig.store, after=expected[100]) == expected[101:]
        assert await urns(rig.store, types=(a_type("repo"), a_type("issue")), after=expected[200]) == expected[201:]

    async def test_a_scope_is_a_thing_and_what_lies_below_it(self, rig: Rig) -> None:
        names = ["urn:repo:1", "urn:repo:12", "urn:repo:12:issue:1", "urn:repo:12:issue:1:issue_comment:2"]
        for urn in (*names, "urn:repo:120", "urn:repo:12-x", "urn:repo:13", "urn:repo:12;"):
            await rig.store.save(a_document(urn=urn, url=urn))
        assert await urns(rig.store, scope="urn:repo:12") == names[1:]
        assert await urns(rig.store, scope="urn:repo:12", after="urn:repo:12") == names[2:]
        assert await urns(rig.store, scope="urn:repo:12", after=names[2]) == names[3:]
        assert await urns(rig.store, scope="urn:repo:1") == names[:1]

    async def test_a_list_can_be_narrowed(self, rig: Rig) -> None:
        await rig.store.save(a_document(1, observed_at=at(1)))
        await rig.store.save(a_document(2, observed_at=at(2), deleted_at=at(2)))
        await rig.store.save(a_document(3, observed_at=at(3), type="repo"))
        one, two, three = (f"urn:repo:12:issue:{n}" for n in (1, 2, 3))
        assert await urns(rig.store, since=at(2)) == [two, three]
        assert await urns(rig.store, deleted=True) == [two]
        assert await urns(rig.store, deleted=False) == [one, three]
        assert await urns(rig.store, types=(a_type("issue"),), since=at(2)) == [two]

    async def test_what_was_processed_since_a_moment_is_listed(self, rig: Rig) -> None:
        for number in (1, 2, 3):
            await rig.store.save(a_document(number, processed_at=at(number)))
        gone = a_document(1, processed_at=at(4), observed_at=at(4), deleted_at=at(4))
        await rig.store.save(gone)
        one, two, three = (f"urn:repo:12:issue:{n}" for n in (1, 2, 3))
        assert await urns(rig.store, processed_since=at(3)) == [one, three]
        assert await urns(rig.store, processed_since=at(3), after=one) == [three]
        assert await urns(rig.store, processed_since=at(3), deleted=False) == [three]
        assert await urns(rig.store, processed_since=at(2), types=(a_type("issue"),)) == [one, two, three]
        assert await urns(rig.store, processed_since=at(2), types=(a_type("repo"),)) == []
        assert await urns(rig.store, processed_since=at(2), platforms=("none",)) == []
        assert await urns(rig.store, processed_since=at(2), scope=two) == [two]
        assert await urns(rig.store, processed_since=at(5)) == []

    async def test_many_that_were_processed_since_are_all_listed(self, rig: Rig) -> None:
        expected = sorted(f"urn:{type}:{n}" for n in range(130) for type in ("issue", "repo"))
        for urn in expected:
            await rig.store.save(a_document(urn=urn, url=urn, type=urn.split(":")[1]))
        assert await urns(rig.store, processed_since=at(-60)) == expected
        assert await urns(rig.store, processed_since=at(-60), types=(a_type("repo"),)) == expected[130:]

    async def test_a_list_stands_what_happens_meanwhile(self, rig: Rig) -> None:
        for number in range(3):
            await rig.store.save(a_page(number))
        seen = []
        async for document in rig.store.list(DocumentFilter()):
            seen.append(document.urn)
            await rig.store.save(a_page(5), supersede="urn:org:9:members:")
        assert seen[0] == a_page(0).urn

    async def test_counts_are_by_type(self, rig: Rig) -> None:
        assert await rig.store.counts() == {}
        for document in (a_document(1), a_document(2), a_page(1)):
            await rig.store.save(document)
        assert await rig.store.counts() == by_type(issue=2, members=1)
