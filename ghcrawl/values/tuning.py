"""Everything that may change while loops run, as one value that is swapped whole."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field

from ghcrawl.values.lanes import QueueName
from ghcrawl.values.scope import Scope

DEFAULT_WEIGHTS: Final[Mapping[QueueName, int]] = {
    "event": 10,
    "immediate": 3,
    "soon": 2,
    "normal": 3,
    "later": 2,
}
FREE_QUEUES: Final[tuple[QueueName, ...]] = ("event",)
"""What is popped while no credential has quota: requests there carry their payload."""


class Tuning(Struct, frozen=True, kw_only=True):
    """Swapped whole, so no loop ever sees half a change.

    scenario: for requests whose policy names none; empty: `default`.
    timeout_s: for deciding one request; well below the 30 minutes after which RabbitMQ takes a message back.
    retry_base_s, retry_cap_s: the n-th retry waits about base · 2ⁿ, at most cap, with jitter.
    patience_s: how long one pop waits for work before it looks at `paused`, weights and quota again.
    """

    loops: int = 20
    paused: bool = False
    weights: Mapping[QueueName, int] = field(default_factory=lambda: dict(DEFAULT_WEIGHTS))
    scope: Scope = Scope()
    scenario: str = ""
    max_attempts: int = 5
    retry_base_s: float = 2.0
    retry_cap_s: float = 600.0
    timeout_s: float = 600.0
    patience_s: float = 0.25
