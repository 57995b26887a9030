"""What every implementation of receipts does. Bind it by a class with a fixture `receipts`."""

from __future__ import annotations

import asyncio

from ghcrawl.receipts import Claim, Receipts
from tests.support.builders import NOW, at

ID = "5d3c1f80-0000-11ef-8000-0242ac120002"
STALE = at(-30)


async def claim(receipts: Receipts, token: str = "mine", *, seconds: float = 0.0, id: str = ID) -> Claim:
    return await receipts.claim(id, token, at(seconds), stale_before=at(seconds - 30))


class ReceiptsContract:
    """A delivery is somebody's, and then it is taken."""

    async def test_whoever_comes_first_has_it_until_it_is_confirmed_and_then_it_is_taken(self, receipts: Receipts):
        assert await claim(receipts) == "ours"
        assert await claim(receipts, "other") == "theirs"
        await receipts.confirm(ID, "mine")
        assert await claim(receipts, "other") == "taken"
        assert await claim(receipts, "later", seconds=1000) == "taken"
        assert await claim(receipts, "other", id="another") == "ours"

    async def test_a_delivery_that_came_to_nothing_may_be_claimed_again(self, receipts: Receipts):
        await claim(receipts)
        await receipts.release(ID, "somebody else")
        assert await claim(receipts, "other") == "theirs"
        await receipts.release(ID, "mine")
        assert await claim(receipts, "other") == "ours"

    async def test_what_is_taken_cannot_be_released(self, receipts: Receipts):
        await claim(receipts)
        await receipts.confirm(ID, "mine")
        await receipts.release(ID, "other")
        assert await claim(receipts, "other") == "taken"

    async def test_a_claim_whose_owner_died_is_taken_over_and_no_longer_confirmed_by_them(self, receipts: Receipts):
        await claim(receipts, "dead")
        assert await claim(receipts, "heir", seconds=29) == "theirs"
        assert await claim(receipts, "heir", seconds=31) == "ours"
        await receipts.confirm(ID, "dead")
        assert await claim(receipts, "third", seconds=32) == "theirs"
        await receipts.confirm(ID, "heir")
        assert await claim(receipts, "third", seconds=33) == "taken"

    async def test_of_many_at_once_one_has_it(self, receipts: Receipts):
        claims = await asyncio.gather(*(claim(receipts, f"token {number}") for number in range(20)))
        assert sorted(claims) == ["ours"] + ["theirs"] * 19

    async def test_old_ones_are_forgotten(self, receipts: Receipts):
        await receipts.claim("old", "a", at(-100), stale_before=STALE)
        await receipts.confirm("old", "a")
        await claim(receipts)
        assert await receipts.sweep(at(-50)) == 1
        assert await receipts.claim("old", "b", NOW, stale_before=STALE) == "ours"
        assert await claim(receipts, "other") == "theirs"
