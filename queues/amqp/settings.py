"""How the RabbitMQ queue is set up, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class AmqpSettings:
    """Where RabbitMQ is, and how it is used.

    url: `amqp://user:password@host:port/vhost`, or `amqps://`. Never shown.
    management_url: `http://user:password@host:15672`; empty: what only it can tell is not known. Never shown.
    prefix: of all names. Another prefix is another set of queues.
    loops: concurrent workers of this process at first; sizes the prefetch.
    alone: the markers are this process's own, so only one process may pop.
    heartbeat_s: a silent connection is closed after about three times as long.
    confirm_timeout_s: for one publish; in_flight: unconfirmed publishes at a time.
    waits_s: the delays that have a wait queue. Other delays make other queues; the old ones drain.
    delivery_limit: returns after which the broker sets a message aside: a backstop, set as a policy.
    max_starts: attempts at a message that crashes its worker.
    max_message_bytes: as it travels. RabbitMQ 4 closes the channel above 16 MiB, the limit of a document in MongoDB.
    hand_back_s: prefetched messages of a lane that is not popped are returned after this time.
    orphaned_s: where a queue is empty, markers older than this are published again: the broker has lost their messages.
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
