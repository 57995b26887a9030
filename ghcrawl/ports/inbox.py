"""The port by which the replicas of a service take each delivery once.

A delivery has an id that its sender repeats when it sends it again. A replica *claims* the id, makes the event
durable and *confirms* the id. While a claim is held, no other replica works on the same delivery; a claim of a dead one
is taken over once it is old. So an event is never lost between its claim and its queue, and a delivery that was
confirmed is never queued again, by any replica and after any restart.

Implementations raise StoreError. Contract: `tests/contracts/idempotency_keys_contract.py`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal, Protocol

from ghcrawl.values.requests import Push

ClaimResult = Literal["ours", "theirs", "taken"]
"""Result of a claim: "ours", free or its holder died; "theirs", held by another; "taken", confirmed before."""


class IdempotencyKeys(Protocol):
    """The ids of deliveries. Each call is atomic; `claim` and `confirm` are durable when they return."""

    async def claim(self, id: str, token: str, at: datetime, *, stale_before: datetime) -> ClaimResult:
        """`id` is claimed under `token` if it was free, or was claimed before `stale_before` and not confirmed.

        token: never used before.
        """

    async def confirm(self, id: str, token: str) -> None:
        """The delivery is durable: `id` is taken for good, if it is still claimed under `token`."""

    async def release(self, id: str, token: str) -> None:
        """It did not become durable: `id` is free again, if it is still claimed under `token`."""

    async def sweep(self, before: datetime) -> int:
        """Forget the ids that were claimed before that moment. Returns how many."""


class Inbox(Protocol):
    """Takes deliveries in. Contract: `tests/contracts/test_inbox.py`."""

    async def take(self, id: str, push: Push) -> bool:
        """`push` waits durably and `id` is taken. False: that id was taken before, and nothing was pushed.

        Raises QueueError or StoreError; then the delivery may be sent again and is taken then.
        """
