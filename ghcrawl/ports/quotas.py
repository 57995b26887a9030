"""Calls that all replicas may make together in any period. Contract: `tests/contracts/quotas_contract.py`."""

from __future__ import annotations

from typing import Final, NamedTuple, Protocol

from msgspec import Struct

FORGOTTEN_AFTER_S: Final = 3600.0
"""A slot that has been free for this long need not be kept: a free slot is as good as none."""


class Slot(NamedTuple):
    """One call of a quota, taken until `until` (epoch seconds). number: which of the quota's calls, from 0."""

    quota: str
    number: int
    until: float


class Quotas(Protocol):
    """A quota of *n* calls is *n* slots. A call takes one, which is free again when the call's period is over.

    So no period holds more than *n* calls of all processes together. A process that dies leaves its
    slots taken until the moment it named. Moments are epoch seconds by the callers' clocks, which must agree.
    Slots of no use (`FORGOTTEN_AFTER_S`) are deleted, because many quotas are of hosts that are never asked again.
    Implementations raise StoreError.
    """

    async def take(self, quota: str, calls: int, *, now: float, until: float) -> Slot | float:
        """A slot of the quota of `calls` slots that is free at `now`, taken until `until`. One atomic step.

        Where none is free: the moment at which the first one will be.
        """

    async def release(self, slot: Slot, until: float) -> None:
        """The slot is free from `until` on, earlier than announced. A slot that was taken again stays taken."""

    async def extend(self, slot: Slot, until: float) -> Slot | None:
        """The slot, taken until then, later than announced. None: it was taken again meanwhile."""


class Egress(Struct, frozen=True, kw_only=True):
    """How this process calls out. address: names where its calls come from; replicas of one name share its quotas."""

    quotas: Quotas
    address: str = ""
