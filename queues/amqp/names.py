"""The names and arguments of everything that is declared in RabbitMQ.

    exchange P.work (direct)      → queue P.q.<lane>       keys are the lanes: normal, mastodon.normal
    exchange P.wait.<d> (fanout)  → queue P.wait.<d>       expires after d, and then by its own key back to P.work
    exchange P.dead (fanout)      → queue P.dead           what the broker itself set aside

A lane is `<queue>` for the first platform, so that what older versions left there is found, and `<platform>.<queue>`
for every other one. Arguments never change once declared: another topology is another prefix. Dead-lettering is
at-least-once, which needs quorum queues that reject publishes when they are full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, Literal

from msgspec import Struct

from ghcrawl.values.lanes import QUEUES, Lane
from ghcrawl.values.type_names import LEGACY_PLATFORM

DEAD: Final = Lane("", "normal")
"""Stands for what the broker set aside, which no platform's lane holds."""

_AT_LEAST_ONCE: Final[Mapping[str, str | int]] = {
    "x-queue-type": "quorum",
    "x-dead-letter-strategy": "at-least-once",
    "x-overflow": "reject-publish",
}


class QueueSpec(Struct, frozen=True):
    """A queue and its binding. The exchange is direct for work, else a fanout."""

    name: str
    exchange: str
    key: str
    role: Literal["work", "wait", "dead"]
    arguments: Mapping[str, str | int]


class Names(Struct, frozen=True, kw_only=True):
    """Names of queues and exchanges under a prefix, with wait queues for these delays."""

    prefix: str
    waits_s: tuple[float, ...]

    @property
    def work(self) -> str:
        """The exchange whose keys are the lanes' names."""
        return f"{self.prefix}.work"

    @property
    def dead(self) -> str:
        """Exchange and queue of what the broker set aside."""
        return f"{self.prefix}.dead"

    def queue(self, lane: Lane) -> str:
        """The queue of `lane`."""
        return self.dead if lane == DEAD else f"{self.prefix}.q.{key_of_lane(lane)}"

    def lane(self, queue: str) -> Lane | None:
        """The lane of this queue; None: it is not one of our work queues."""
        start = f"{self.prefix}.q."
        return lane_of(queue.removeprefix(start)) if queue.startswith(start) else None

    def wait(self, seconds: float) -> str:
        """Exchange and queue of what is delayed for that long."""
        return f"{self.prefix}.wait.{span(seconds)}"

    def place(self, wait_s: float) -> tuple[str, float]:
        """The exchange for a message that has to wait `wait_s`, and how much of that is left after its wait queue.

        Its delay is the longest that overshoots by a quarter at most, or else the shortest.
        """
        if wait_s <= 0:
            return self.work, 0.0
        hop_s = max([each for each in self.waits_s if each <= wait_s * 1.25], default=min(self.waits_s))
        return self.wait(hop_s), max(0.0, wait_s - hop_s)

    def specs(self, platforms: Iterable[str] = (LEGACY_PLATFORM,)) -> list[QueueSpec]:
        """Everything to declare for these platforms."""
        arguments = {"x-queue-type": "quorum"}
        dead = QueueSpec(self.dead, self.dead, "", role="dead", arguments=arguments)
        return [dead, *self.work_specs(platforms), *map(self._wait_spec, self.waits_s)]

    def work_specs(self, platforms: Iterable[str]) -> list[QueueSpec]:
        """The queues of these platforms' lanes."""
        arguments = {**_AT_LEAST_ONCE, "x-dead-letter-exchange": self.dead}
        return [
            QueueSpec(self.queue(lane), self.work, key_of_lane(lane), role="work", arguments=arguments)
            for lane in lanes(platforms)
        ]

    def _wait_spec(self, seconds: float) -> QueueSpec:
        name, ttl = self.wait(seconds), round(seconds * 1000)
        arguments = {**_AT_LEAST_ONCE, "x-message-ttl": ttl, "x-dead-letter-exchange": self.work}
        return QueueSpec(name, name, "", role="wait", arguments=arguments)


def lanes(platforms: Iterable[str]) -> list[Lane]:
    """All lanes of these platforms."""
    return [Lane(platform, queue) for platform in platforms for queue in QUEUES]


def key_of_lane(lane: Lane) -> str:
    """The routing key of what waits in `lane`."""
    return lane.queue if lane.platform == LEGACY_PLATFORM else f"{lane.platform}.{lane.queue}"


def lane_of(key: str) -> Lane | None:
    """The lane that has this routing key, if any."""
    platform, _, queue = key.rpartition(".")
    return next((Lane(platform or LEGACY_PLATFORM, name) for name in QUEUES if name == queue), None)


def span(seconds: float) -> str:
    """`5s`, `2m`, `250ms`: how a delay is written in a name."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    if seconds >= 60 and seconds % 60 == 0:
        return f"{round(seconds / 60)}m"
    return f"{seconds:g}s"
