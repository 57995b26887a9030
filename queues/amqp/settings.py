"""How the RabbitMQ queue is set up, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil
from typing import Final

from ghcrawl.values.model import QUEUES, QueueName

SPARE: Final = 2
"""Messages a queue's consumer holds beyond what may be in hand: the next one is there when a loop asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AmqpSettings:
    """Where RabbitMQ is, what our names there begin with, and how hard it is leaned on.

    url: `amqp://user:password@host:port/vhost`, or `amqps://`. Never shown.
    management_url: `http://user:password@host:15672`; empty: what only it can tell is not known. Never shown.
    prefix: begins the name of everything we declare. Another prefix is another set of queues.
    loops: requests that this process has in hand at the most, to begin with; sizes what is prefetched.
    alone: this process alone knows what waits, so one process at a time pops; another one is refused.
    heartbeat_s: a peer that is silent is given up after about three times as long.
    confirm_timeout_s: for the broker to confirm one publish; in_flight: unconfirmed publishes at a time.
    waits_s: the delays there are wait queues for. The delay is part of their names, so changing these makes new ones;
    the old ones drain by themselves.
    delivery_limit: after how many returns the broker itself sets a message aside: a backstop, set as a policy.
    max_starts: work on a message that keeps killing its process is begun so many times.
    max_message_bytes: as it travels. RabbitMQ 4 refuses more than 16 MiB, and closes the channel over it; MongoDB takes
    as much for a whole tag.
    hand_back_s: what was prefetched from a queue that nobody pops from goes back after so long.
    orphaned_s: what has a tag so old, and an empty queue, is published again: the broker must have lost it.
    """

    url: str = field(repr=False)
    management_url: str = field(default="", repr=False)
    prefix: str = "ghc"
    loops: int = 20
    alone: bool = False
    heartbeat_s: int = 10
    connect_timeout_s: float = 10.0
    confirm_timeout_s: float = 30.0
    in_flight: int = 100
    waits_s: tuple[float, ...] = (1.0, 5.0, 30.0, 120.0, 600.0)
    delivery_limit: int = 20
    max_starts: int = 3
    max_message_bytes: int = 15 * 1024 * 1024
    hand_back_s: float = 60.0
    orphaned_s: float = 3600.0


def prefetch(loops: int) -> dict[QueueName, int]:
    """How many unsettled messages each queue's consumer may hold.

    In hand and waiting count together, so each must hold what may be in hand. `later` may never occupy more than half
    of the loops: a flood there must not keep the others waiting.
    """
    sizes: dict[QueueName, int] = dict.fromkeys(QUEUES, loops + SPARE)
    sizes["later"] = ceil(loops / 2) + SPARE
    return sizes
