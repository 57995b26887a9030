"""What every implementation of receipts does. Bind it by a class with a fixture `receipts`."""

from __future__ import annotations

import asyncio

from ghcrawl.ports.inbox import ClaimResult, IdempotencyKeys
from tests.support.builders import NOW, at

ID = "5d3c1f80-0000-11ef-8000-0242ac120002"
STALE = at(-30)


async def claim(
    idempotency_keys: IdempotencyKeys, token: str = "mine", *, seconds: float = 0.0, id: str = ID
) -> ClaimResult:
    return await idempotency_keys.claim(id, token, at(seconds), stale_before=at(seconds - 30))


class ReceiptsContract:
    """A delivery is somebody's, and then it is taken."""

    async def test_whoever_comes_first_has_it_until_it_is_confirmed_and_then_it_is_taken(
        self, idempotency_keys: IdempotencyKeys
    ):
        assert await claim(idempotency_keys) == "ours"
        assert await claim(idempotency_keys, "other") == "theirs"
        await idempotency_keys.confirm(ID, "mine")
        assert await claim(idempotency_keys, "other") == "taken"
        assert await claim(idempotency_keys, "later", seconds=1000) == "taken"
        assert await claim(idempotency_keys, "other", id="another") == "ours"

    async def test_a_delivery_that_came_to_nothing_may_be_claimed_again(self, idempotency_keys: IdempotencyKeys):
        await claim(idempotency_keys)
        await idempotency_keys.release(ID, "somebody else")
        assert await claim(idempotency_keys, "other") == "theirs"
        await idempotency_keys.release(ID, "mine")
        assert await claim(idempotency_keys, "other") == "ours"

    async def test_what_is_taken_cannot_be_released(self, idempotency_keys: IdempotencyKeys):
        await claim(idempotency_keys)
        await idempotency_keys.confirm(ID, "mine")
        await idempotency_keys.release(ID, "other")
        assert await claim(idempotency_keys, "other") == "taken"

    async def test_a_claim_whose_owner_died_is_taken_over_and_no_longer_confirmed_by_them(
        self, idempotency_keys: IdempotencyKeys
    ):
        await claim(idempotency_keys, "dead")
        assert await claim(idempotency_keys, "heir", seconds=29) == "theirs"
        assert await claim(idempotency_keys, "heir", seconds=31) == "ours"
        await idempotency_keys.confirm(ID, "dead")
        assert await claim(idempotency_keys, "third", seconds=32) == "theirs"
        await idempotency_keys.confirm(ID, "heir")
        assert await claim(idempotency_keys, "third", seconds=33) == "taken"

    async def test_of_many_at_once_one_has_it(self, idempotency_keys: IdempotencyKeys):
        claims = await asyncio.gather(*(claim(idempotency_keys, f"token {number}") for number in range(20)))
        assert sorted(claims) == ["ours"] + ["theirs"] * 19

    async def test_old_ones_are_forgotten(self, idempotency_keys: IdempotencyKeys):
        await idempotency_keys.claim("old", "a", at(-100), stale_before=STALE)
        await idempotency_keys.confirm("old", "a")
        await claim(idempotency_keys)
        assert await idempotency_keys.sweep(at(-50)) == 1
        assert await idempotency_keys.claim("old", "b", NOW, stale_before=STALE) == "ours"
        assert await claim(idempotency_keys, "other") == "theirs"
