"""The names and structural arguments of everything we declare in RabbitMQ.

    exchange P.work (direct)      → queue P.q.<lane>       keys are the lanes: normal, mastodon.normal
    exchange P.wait.<d> (fanout)  → queue P.wait.<d>       expires after d, and then by its own key back to P.work
    exchange P.dead (fanout)      → queue P.dead           what the broker itself set aside

A lane is written `<queue>` for the platform that was there before there were others, so that what an older version
left there is found, and `<platform>.<queue>` for every other one. Delays are shared by all: what comes back from there
finds its lane by its key.

The arguments never change once declared: another topology is another prefix. Dead-lettering is at-least-once, which
needs quorum queues that reject publishes when they are full.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ghcrawl.values.model import LEGACY_PLATFORM, QUEUES, Lane

Argument: TypeAlias = str | int

TOKEN: Final = "ghc-token"  # noqa: S105  # the name of a header
NOT_BEFORE: Final = "ghc-not-before"
LEFT: Final = "ghc-left"
PARDONS: Final = "ghc-pardons"
SPARED: Final = "ghc-spared"
"""Headers of ours: the token of the push; the moment before which nobody may pop it, in microseconds since 1970, for
people; how much longer it has to wait when its wait queue lets it go, in milliseconds; how often it was let off its
delivery limit, and how often it was while nobody had ever popped it."""

_AT_LEAST_ONCE: Final[Mapping[str, Argument]] = {
    "x-queue-type": "quorum",
    "x-dead-letter-strategy": "at-least-once",
    "x-overflow": "reject-publish",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueSpec:
    """A queue with what it is bound to. kind: of its exchange."""

    name: str
    exchange: str
    kind: Literal["direct", "fanout"]
    key: str
    role: Literal["work", "wait", "dead"]
    arguments: Mapping[str, Argument] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What things are called under a prefix, with wait queues for these delays."""

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
        """The queue in which what `lane` holds waits."""
        return f"{self.prefix}.q.{key_of_lane(lane)}"

    def lane(self, queue: str) -> Lane | None:
        """The lane whose queue that is; None: it is none of ours."""
        start = f"{self.prefix}.q."
        return lane_of(queue.removeprefix(start)) if queue.startswith(start) else None

    def wait(self, seconds: float) -> str:
        """Exchange and queue of what is delayed for that long."""
        return f"{self.prefix}.wait.{span(seconds)}"

    def wait_for(self, seconds: float) -> float:
        """How long to wait first when that much is left: as few hops as possible, and hardly ever too long.

        The longest delay that overshoots by a quarter at the most; where even the shortest does, that one.
        """
        return max([wait for wait in self.waits_s if wait <= seconds * 1.25], default=min(self.waits_s))

    def specs(self) -> list[QueueSpec]:
        """Everything there is to declare, whatever platforms there are."""
        dead = QueueSpec(
            name=self.dead, exchange=self.dead, kind="fanout", key="", role="dead",
            arguments={"x-queue-type": "quorum"},
        )  # fmt: skip
        return [dead, *self.work_specs([LEGACY_PLATFORM]), *map(self._wait_spec, self.waits_s)]

    def work_specs(self, platforms: Iterable[str]) -> list[QueueSpec]:
        """The queues in which requests of these platforms wait."""
        arguments = {**_AT_LEAST_ONCE, "x-dead-letter-exchange": self.dead}
        return [
            QueueSpec(
                name=self.queue(lane), exchange=self.work, kind="direct", key=key_of_lane(lane), role="work",
                arguments=arguments,
            )
            for lane in lanes(platforms)
        ]  # fmt: skip

    def _wait_spec(self, seconds: float) -> QueueSpec:
        name, ttl = self.wait(seconds), round(seconds * 1000)
        arguments = {**_AT_LEAST_ONCE, "x-message-ttl": ttl, "x-dead-letter-exchange": self.work}
        return QueueSpec(name=name, exchange=name, kind="fanout", key="", role="wait", arguments=arguments)


def lanes(platforms: Iterable[str]) -> list[Lane]:
    """All lanes of these platforms."""
    return [Lane(platform, queue) for platform in platforms for queue in QUEUES]


def key_of_lane(lane: Lane) -> str:
    """The routing key of what waits in `lane`."""
    return lane.queue if lane.platform == LEGACY_PLATFORM else f"{lane.platform}.{lane.queue}"


def lane_of(key: str) -> Lane | None:
    """The lane that has this routing key; None: none has."""
    platform, _, queue = key.rpartition(".")
    return next((Lane(platform or LEGACY_PLATFORM, name) for name in QUEUES if name == queue), None)


def span(seconds: float) -> str:
    """`5s`, `2m`, `250ms`: how a delay is written in a name."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    if seconds >= 60 and seconds % 60 == 0:
        return f"{round(seconds / 60)}m"
    return f"{seconds:g}s"
