"""The names and structural arguments of everything we declare in RabbitMQ.

    exchange P.work (direct)      → queue P.q.<name>       keys event, immediate, soon, normal, later
    exchange P.wait.<d> (fanout)  → queue P.wait.<d>       expires after d, and then by its own key back to P.work
    exchange P.dead (fanout)      → queue P.dead           what the broker itself set aside

The arguments never change once declared: another topology is another prefix. Dead-lettering is at-least-once, which
needs quorum queues that reject publishes when they are full.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from ghcrawl.model import QUEUES, QueueName

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
    """A queue with what it is bound to."""

    name: str
    exchange: str
    exchange_type: Literal["direct", "fanout"]
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
        """The exchange whose keys are the queues' names."""
        return f"{self.prefix}.work"

    @property
    def dead(self) -> str:
        """Exchange and queue of what the broker set aside."""
        return f"{self.prefix}.dead"

    def queue(self, name: QueueName) -> str:
        """The queue in which `name` waits."""
        return f"{self.prefix}.q.{name}"

    def wait(self, seconds: float) -> str:
        """Exchange and queue of what is delayed for that long."""
        return f"{self.prefix}.wait.{span(seconds)}"

    def wait_for(self, seconds: float) -> float:
        """How long to wait first when that much is left: as few hops as possible, and hardly ever too long.

        The longest delay that overshoots by a quarter at the most; where even the shortest does, that one.
        """
        return max([wait for wait in self.waits_s if wait <= seconds * 1.25], default=min(self.waits_s))

    def specs(self) -> list[QueueSpec]:
        """Everything there is to declare."""
        work: dict[str, Argument] = {**_AT_LEAST_ONCE, "x-dead-letter-exchange": self.dead}
        specs = [
            QueueSpec(name=self.dead, exchange=self.dead, exchange_type="fanout", key="", role="dead",
                      arguments={"x-queue-type": "quorum"})
        ]  # fmt: skip
        specs += [
            QueueSpec(name=self.queue(name), exchange=self.work, exchange_type="direct", key=name, role="work",
                      arguments=work)
            for name in QUEUES
        ]  # fmt: skip
        return specs + [self._wait_spec(seconds) for seconds in self.waits_s]

    def _wait_spec(self, seconds: float) -> QueueSpec:
        name, ttl = self.wait(seconds), round(seconds * 1000)
        arguments = {**_AT_LEAST_ONCE, "x-message-ttl": ttl, "x-dead-letter-exchange": self.work}
        return QueueSpec(name=name, exchange=name, exchange_type="fanout", key="", role="wait", arguments=arguments)


def span(seconds: float) -> str:
    """`5s`, `2m`, `250ms`: how a delay is written in a name."""
    if seconds < 1:
        return f"{round(seconds * 1000)}ms"
    if seconds >= 60 and seconds % 60 == 0:
        return f"{round(seconds / 60)}m"
    return f"{seconds:g}s"
