"""What every store makes of one thing that is told in several forms. Run on an adapter by `test_contracts.py`."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from ghcrawl.ports.store import Store, Stored
from ghcrawl.values.documents import Document, Link, Validator
from ghcrawl.values.forms import Form, Known
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import Json
from ghcrawl.values.times import iso
from processors.github import ENTITIES
from processors.github.entity import Entity
from tests.contracts.adapters import Rig
from tests.support.builders import API, NOW, a_document, a_type, at
from tests.support.forms import forms_of, paths
from tests.support.forms import sight as sight_of

URN = "urn:repo:12:issue:1"
WHOLE = {"number": 1, "title": "first", "closed_by": {"id": 5}, "milestone": {"id": 3, "creator": {"id": 7}}}
LISTED = {"number": 1, "title": "first", "milestone": {"id": 3}}
VALIDATOR = Validator(url=f"{API}/x", etag='W/"1"')


def seen(form: Form, body: dict[str, Any], seen_s: float, *, partial: bool | None = None, **over: Any) -> Document:
    """A body in that form, seen then. partial: as it lacks `closed_by`, unless given."""
    document = a_document(body=body, observed_at=at(seen_s), fetched_at=at(seen_s), **over)
    lacks = "closed_by" not in body if partial is None else partial
    known = Known(
        changed_at=document.changed_at, observed_at=document.observed_at, digest=document.digest, partial=lacks
    )
    origin = "fetch" if form == "own" else form
    return replace(document, origin=origin, forms={form: known})


async def kept(store: Store) -> Document:
    document = await store.get(URN)
    assert document is not None
    return document


async def stored(store: Store) -> Stored:
    document = await kept(store)
    found = await store.look_up(a_type("issue"), document.url)
    assert found is not None
    return found


class FormsContract:
    """A document only becomes richer, in whatever order and form it is told."""

    async def test_a_poorer_form_leaves_what_it_does_not_mention(self, rig: Rig) -> None:
        await rig.store.save(seen("own", WHOLE, 1))
        await rig.store.save(seen("list", LISTED, 2))
        assert (await kept(rig.store)).body == WHOLE
        assert (await stored(rig.store)).answers

    async def test_what_comes_late_adds_what_is_missing(self, rig: Rig) -> None:
        own = seen("own", WHOLE, 1, links={"closed_by": Link(type="resource", href="urn:user:5")})
        await rig.store.save(seen("list", {**LISTED, "title": "second"}, 2))
        assert await rig.store.save(own) == "mixed"
        document = await kept(rig.store)
        assert document.body == {**WHOLE, "title": "second"}
        assert document.links["closed_by"].href == "urn:user:5"
        assert document.observed_at == at(2)

    async def test_forms_come_back_as_they_were_saved(self, rig: Rig) -> None:
        document = seen("webhook", LISTED, 1.000001, changed_at=iso(NOW, "seconds"))
        await rig.store.save(document)
        await rig.crash()
        assert await kept(rig.store) == document
        assert (await stored(rig.store)).forms == document.forms

    async def test_forms_that_come_again_and_again_write_once_each(self, rig: Rig) -> None:
        rounds = [
            [
                await rig.store.save(seen("list", LISTED, number)),
                await rig.store.save(seen("own", WHOLE, number + 0.25)),
                await rig.store.save(seen("webhook", LISTED, number + 0.5)),
            ]
            for number in range(3)
        ]
        assert rounds == [["saved", "saved", "same"], ["same"] * 3, ["same"] * 3]

    async def test_what_changed_since_it_was_wanted_whole_is_of_two_moments(self, rig: Rig) -> None:
        changed = seen("list", {**LISTED, "title": "second"}, 2)
        await rig.store.save(seen("own", WHOLE, 1, validator=VALIDATOR))
        assert await rig.store.save(changed) == "mixed"
        document = await kept(rig.store)
        assert document.body == {**WHOLE, "title": "second"}
        assert document.forms["own"].observed_at == at(1)
        assert document.validator is None
        assert not (await stored(rig.store)).answers
        await rig.crash()
        assert await rig.store.save(changed) == "mixed", "until the thing itself was asked"
        assert await rig.store.save(seen("own", {**WHOLE, "title": "second"}, 3)) != "mixed"
        assert (await stored(rig.store)).answers
        assert await rig.store.save(changed) == "stale"

    async def test_what_nobody_wanted_whole_costs_nothing(self, rig: Rig) -> None:
        await rig.store.save(seen("webhook", {**LISTED, "extra": 1}, 1))
        assert await rig.store.save(seen("list", {**LISTED, "title": "second"}, 2)) == "saved"
        assert (await kept(rig.store)).body == {**LISTED, "title": "second", "extra": 1}

    async def test_only_the_thing_itself_says_that_a_field_is_gone(self, rig: Rig) -> None:
        await rig.store.save(seen("list", {**LISTED, "extra": 1}, 1))
        await rig.store.save(seen("own", WHOLE, 2))
        assert (await kept(rig.store)).body == WHOLE
        assert await rig.store.save(seen("list", {**LISTED, "extra": 1}, 1)) == "stale"
        assert (await kept(rig.store)).body == WHOLE

    async def test_the_only_form_says_itself_what_is_gone(self, rig: Rig) -> None:
        await rig.store.save(seen("list", {**LISTED, "extra": 1}, 1, partial=False))
        await rig.store.save(seen("list", LISTED, 2, partial=False))
        assert (await kept(rig.store)).body == LISTED

    async def test_one_list_may_leave_out_what_another_tells(self, rig: Rig) -> None:
        bodies = (WHOLE, LISTED, {**LISTED, "title": "second"}, {**LISTED, "title": "third"})
        for number, body in enumerate(bodies):
            await rig.store.save(seen("list", body, number))
        assert (await kept(rig.store)).body == {**WHOLE, "title": "third"}

    async def test_an_answer_to_somebody_who_may_see_less_takes_nothing_away(self, rig: Rig) -> None:
        shown = {**WHOLE, "permissions": {"admin": True}}
        for order in ((shown, WHOLE), (WHOLE, shown)):
            for number, body in enumerate(order):
                await rig.store.save(seen("own", body, number, partial=body is WHOLE))
            assert (await kept(rig.store)).body == shown

    async def test_what_lies_in_it_is_joined_only_if_it_is_the_same(self, rig: Rig) -> None:
        await rig.store.save(seen("own", WHOLE, 1))
        await rig.store.save(seen("list", {**LISTED, "milestone": {"id": 4}}, 2))
        assert (await kept(rig.store)).body["milestone"] == {"id": 4}

    async def test_a_poorer_form_of_the_same_second_is_no_tie(self, rig: Rig) -> None:
        changed = iso(NOW, "seconds")
        await rig.store.save(seen("own", WHOLE, 1, changed_at=changed))
        assert await rig.store.save(seen("webhook", LISTED, 1, changed_at=changed)) == "same"
        other = seen("webhook", {**LISTED, "title": "second"}, 2, changed_at=changed)
        assert await rig.store.save(other) == "tied"
        assert await rig.store.save(other) == "tied", "until the platform was asked"

    async def test_what_was_saved_before_forms_were_told_apart_is_kept_until_the_thing_itself_is_asked(
        self, rig: Rig
    ) -> None:
        await rig.store.save(a_document(body=WHOLE, observed_at=at(1)))
        assert (await stored(rig.store)).answers
        assert await rig.store.save(seen("list", {**LISTED, "title": "second"}, 2)) == "saved"
        assert (await kept(rig.store)).body == {**WHOLE, "title": "second"}
        own = {**LISTED, "closed_by": None}
        await rig.store.save(seen("own", own, 3))
        assert (await kept(rig.store)).body == own

    async def test_the_same_of_before_is_not_written_again(self, rig: Rig) -> None:
        await rig.store.save(a_document(body=LISTED, observed_at=at(1)))
        assert await rig.store.save(seen("list", LISTED, 2)) == "same"
        assert set((await stored(rig.store)).forms) == {"list"}

    async def test_our_own_copy_keeps_its_forms(self, rig: Rig) -> None:
        await rig.store.save(seen("own", WHOLE, 1, changed_at=iso(NOW, "seconds"), validator=VALIDATOR))
        await rig.store.save(seen("list", LISTED, 2, changed_at=iso(NOW, "seconds")))
        before = await kept(rig.store)
        again = replace(before, origin="storage", forms={}, validator=None, version=2)
        assert await rig.store.save(again) == "saved"
        after = await kept(rig.store)
        assert (after.forms, after.body, after.version) == (before.forms, WHOLE, 2)
        assert after.validator == VALIDATOR

    async def test_what_comes_back_under_the_name_of_what_is_gone_inherits_nothing(self, rig: Rig) -> None:
        await rig.store.save(seen("own", WHOLE, 1))
        await rig.store.save(replace(await kept(rig.store), deleted_at=at(2), observed_at=at(2)))
        await rig.store.save(seen("list", LISTED, 3))
        assert (await kept(rig.store)).body == LISTED

    @pytest.mark.parametrize("moments", list(itertools.permutations((1.0, 2.0, 3.0))), ids=str)
    async def test_no_order_ends_with_less_than_was_seen(self, rig: Rig, moments: tuple[float, ...]) -> None:
        """Own, list and webhook at these moments, in every order of arrival; each has a field of its own."""
        forms: tuple[Form, ...] = ("own", "list", "webhook")
        bodies: dict[Form, dict[str, Json]] = {"own": WHOLE, "list": {**LISTED, "score": 1}, "webhook": LISTED}
        sights = [
            seen(form, {**bodies[form], "title": str(moment)}, moment)
            for form, moment in zip(forms, moments, strict=True)
        ]
        for number, order in enumerate(itertools.permutations(sights)):
            urn = f"{URN}{number}"
            for sight in order:
                await rig.store.save(replace(sight, urn=urn, url=f"{API}/{number}"))
            document = await rig.store.get(urn)
            assert document is not None
            assert document.body["title"] == "3.0", order
            assert document.body.keys() >= WHOLE.keys()
            assert document.body["milestone"] == WHOLE["milestone"]
            assert document.forms["own"].observed_at == at(moments[0])
            if moments[0] < moments[1]:
                assert document.body["score"] == 1

    @pytest.mark.slow
    @pytest.mark.parametrize("entity", ENTITIES, ids=lambda entity: entity.type)
    async def test_no_order_of_the_forms_of_a_kind_ends_with_less_than_was_seen(self, rig: Rig, entity: Entity) -> None:
        """Each form that the kind's row knows, at any moment, in every order of arrival."""
        forms = forms_of(entity)
        ages = list(itertools.permutations(range(1, len(forms) + 1)))
        for turn, moments in enumerate(ages[:: max(1, len(ages) // 6)]):
            told = [sight_of(entity, form, moment) for form, moment in zip(forms, moments, strict=True)]
            everything = set().union(*(paths(each.body) for each in told))
            for number, order in enumerate(itertools.permutations(told)):
                urn, url = f"{told[0].urn}:{turn}:{number}", f"{API}/{turn}/{number}"
                for each in order:
                    await rig.store.save(replace(each, urn=urn, url=url, aliases=()))
                document = await rig.store.get(urn)
                assert document is not None
                assert document.body["title"] == str(len(forms))
                assert paths(document.body) == everything, order
                assert "own" in document.forms
