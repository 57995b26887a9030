"""The five queues, and lanes: what one platform has in one queue."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

QueueName = Literal["event", "immediate", "soon", "normal", "later"]
QUEUES: Final[tuple[QueueName, ...]] = ("event", "immediate", "soon", "normal", "later")
"""The five queues, most urgent first. `event` holds requests that carry their payload and so need no call."""


class Lane(NamedTuple):
    """The requests of one platform in one queue: the unit by which work is popped, counted and blocked."""

    platform: str
    queue: QueueName
