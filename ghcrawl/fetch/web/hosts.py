"""One connection a host at a time, with pauses between calls, and what its robots.txt says."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from protego import Protego

Origin = tuple[str, str, int]
MAX_HOSTS: Final = 10_000
ROBOTS_HOLD: Final = timedelta(hours=24)
"""How long a robots.txt stands (RFC 9309, 2.4)."""
MAX_ROBOTS_BYTES: Final = 500_000
TURN_S: Final = 0.05
MAX_DELAY_S: Final = 120.0
"""A longer crawl delay is cut to this: waiting a day for a page is useless."""


@dataclass(slots=True)
class Host:
    """busy: a call is under way. free_at: the earliest moment of the next. robots: None while unknown.

    told_until: how long it asked us itself to wait. usual_s: how long an answer takes, smoothed.
    """

    busy: bool = False
    free_at: datetime | None = None
    told_until: datetime | None = None
    usual_s: float = TURN_S
    robots: Protego | None = None
    robots_at: datetime | None = None

    def turn(self, now: datetime) -> datetime | None:
        """When to come again; None: it is free now."""
        if self.busy:
            return now + timedelta(seconds=max(TURN_S, min(self.usual_s, 10.0)))
        return self.free_at if self.free_at is not None and self.free_at > now else None

    def done(self, now: datetime, seconds: float, pause_s: float) -> None:
        """A call took `seconds`; the next waits for `pause_s`, unless something longer was asked for."""
        self.usual_s += (seconds - self.usual_s) * 0.3
        self.rest(now + timedelta(seconds=pause_s))

    def rest(self, until: datetime) -> None:
        """Nothing is asked before `until`."""
        self.free_at = max(self.free_at, until) if self.free_at else until

    def told(self, until: datetime) -> None:
        """The host asked us to wait."""
        self.told_until = until
        self.rest(until)

    def fresh_robots(self, now: datetime) -> bool:
        """Whether robots.txt was read recently enough."""
        return self.robots_at is not None and now - self.robots_at < ROBOTS_HOLD

    def read_robots(self, body: bytes, now: datetime) -> None:
        """Take what its robots.txt says; empty: everything is allowed."""
        from protego import Protego  # noqa: PLC0415  # only installed with the extra `web`

        self.robots = Protego.parse(body[:MAX_ROBOTS_BYTES].decode("utf-8", "replace"))
        self.robots_at = now

    def allows(self, url: str, agent: str) -> bool:
        """Whether robots.txt lets `agent` ask for `url`."""
        return self.robots is None or bool(self.robots.can_fetch(url, agent))

    def pause_s(self, agent: str, least_s: float) -> float:
        """Seconds between two calls: what robots.txt asks for, at least `least_s`."""
        asked = self.robots.crawl_delay(agent) if self.robots is not None else None
        rate = self.robots.request_rate(agent) if self.robots is not None else None
        paced = rate.seconds / rate.requests if rate is not None and rate.requests else 0.0
        return max(least_s, min(max(asked or 0.0, paced), MAX_DELAY_S))


class Hosts:
    """The hosts that were asked, the least recently asked forgotten first."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[Origin, Host] = OrderedDict()

    def of(self, origin: Origin) -> Host:
        """The one at `origin`."""
        host = self._hosts.setdefault(origin, Host())
        self._hosts.move_to_end(origin)
        if len(self._hosts) > MAX_HOSTS:
            idle = next((name for name, each in self._hosts.items() if not each.busy), None)
            if idle is not None:
                del self._hosts[idle]
        return host
