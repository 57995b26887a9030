"""The order in which a pop tries the lanes: queues by their weights, within a queue every platform with equal chances.

Work that needs no call is popped for every platform; the rest only of platforms that can be asked, so that the backlog
of any other stays where it is and costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from ghcrawl.ports.fetcher import Fetcher
from ghcrawl.values.lanes import QUEUES, Lane, QueueName
from ghcrawl.values.tuning import FREE_QUEUES


class PopOrder:
    """The lanes of the platforms that `fetchers` serve, by name.

    draw: the queues in a random order by weight. jitter: a number in [0, 1) at each call.
    """

    def __init__(
        self,
        fetchers: Mapping[str, Fetcher],
        draw: Callable[[Mapping[QueueName, int]], Sequence[QueueName]],
        jitter: Callable[[], float],
    ) -> None:
        self._fetchers = fetchers
        self._draw = draw
        self._jitter = jitter
        self._lanes = {queue: {name: Lane(name, queue) for name in fetchers} for queue in QUEUES}

    def lanes(self, weights: Mapping[QueueName, int]) -> Sequence[Lane]:
        """The lanes of one pop, the first to be tried first."""
        everyone = sorted(self._fetchers, key=lambda _: self._jitter()) if len(self._fetchers) > 1 else self._fetchers
        blocked = self.blocked()
        asked = [platform for platform in everyone if platform not in blocked]
        return [
            self._lanes[queue][platform]
            for queue in self._draw(weights)
            for platform in (everyone if queue in FREE_QUEUES else asked)
        ]

    def blocked(self) -> Mapping[str, datetime]:
        """The platforms that cannot be asked anything now, and when each can be again."""
        fetchers = self._fetchers.items()
        return {name: until for name, each in fetchers if (until := each.blocked_until()) is not None}
