"""A pool as one small JSON object in the store: what the replicas share, and who ticks at the moment."""

from __future__ import annotations

from collections.abc import Container, Mapping
from math import ceil
from statistics import fmean
from typing import Any, Final

from msgspec import Struct

from ghcrawl.schedule.platform_statistics import Pool
from ghcrawl.values.source import DAY_S

OWN_D: Final = 3599.999 / DAY_S
WINDOW_D: Final = 3660.0 / DAY_S
"""How long spending counts: an hour, but for what is lost in rounding; with a minute more for clocks that differ."""


class PoolState(Struct, frozen=True, kw_only=True):
    """State that replicas share. All moments are days.

    ticked_at, surveyed_at: when any replica last did so. holder, until: whose turn it is, and for how long.
    spent: (moment, calls, calls an hour that were allowed then) of each tick of the last hour.
    rest: calls that are saved up for the next tick.
    types: of the requests that answer for sources. oldest: when the source was read that was read longest ago.
    """

    pool: Pool = Pool()
    ticked_at: float = 0.0
    surveyed_at: float = 0.0
    holder: str = ""
    until: float = 0.0
    spent: tuple[tuple[float, float, float], ...] = ()
    rest: float = 0.0
    types: frozenset[str] = frozenset()
    oldest: float = 0.0

    def left(self, now: float, rate: float, own: Container[float] = ()) -> float:
        """Calls of this hour's that are left: what was allowed on the mean, less what was spent.

        The mean is rounded up, because a call cannot be divided. own: moments that the clock wrote that says `now`; a
        tick by another clock counts for a minute longer.
        """
        last = [each for each in self.spent if each[0] > now - (OWN_D if each[0] in own else WINDOW_D)]
        mean = fmean([*(allowed for _, _, allowed in last), rate])
        return max(ceil(mean - 1e-6) - sum(calls for _, calls, _ in last), 0.0)


def state_name(platform: str) -> str:
    """Name of the object in the store."""
    return f"schedule.{platform}"


def to_json(state: PoolState) -> dict[str, Any]:
    """The object that `from_json` reads."""
    pool = state.pool
    return {
        "price": pool.price,
        "counts": [round(count, 3) for count in pool.counts],
        "countedAt": pool.counted_at,
        "prior": pool.prior,
        "reach": pool.reach,
        "rates": [round(rate, 6) for rate in pool.rates],
        "size": pool.size,
        "read": pool.read,
        "budget": pool.budget,
        "tickedAt": state.ticked_at,
        "surveyedAt": state.surveyed_at,
        "holder": state.holder,
        "until": state.until,
        "spent": [list(each) for each in state.spent],
        "rest": state.rest,
        "types": sorted(state.types),
        "oldest": state.oldest,
    }


def from_json(value: Mapping[str, Any] | None) -> PoolState:
    """The state in the store; a new one where there is none."""
    if value is None:
        return PoolState()
    pool = Pool(
        price=value["price"],
        counts=tuple(value["counts"]),
        counted_at=value["countedAt"],
        prior=value["prior"],
        reach=value["reach"],
        rates=tuple(value["rates"]),
        size=value["size"],
        read=value.get("read", value["size"]),  # written before this field was
        budget=value["budget"],
    )
    return PoolState(
        pool=pool,
        ticked_at=value["tickedAt"],
        surveyed_at=value["surveyedAt"],
        holder=value["holder"],
        until=value["until"],
        spent=tuple((at, calls, allowed) for at, calls, allowed in value["spent"]),
        rest=value["rest"],
        types=frozenset(value["types"]),
        oldest=value["oldest"],
    )
