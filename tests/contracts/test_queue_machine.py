"""Any sequence of pushes, pops, settlements, crashes and purges, against a model of a few lines."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from ghcrawl.ports.queue import Delivery, Depth, Pushed
from ghcrawl.values.lanes import QUEUES, Lane, QueueName
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from tests.contracts.adapters import QUEUES as ADAPTERS
from tests.contracts.machine import RigMachine, case_of
from tests.support.builders import NOW, a_request, at

PLATFORMS = (LEGACY_PLATFORM, "other")
LANES = [Lane(platform, queue) for platform in PLATFORMS for queue in QUEUES]
LAST = datetime.max.replace(tzinfo=NOW.tzinfo)


@dataclass
class Waiting:
    """One request in the model. `due` NOW or earlier is ready."""

    request: Request
    queue: QueueName
    due: datetime

    @property
    def lane(self) -> Lane:
        return Lane(self.request.platform, self.queue)

    def is_in(self, queue: QueueName, platform: str | None) -> bool:
        return self.queue == queue and platform in (None, self.request.platform)

    @property
    def asked(self) -> datetime:
        return self.request.asked_at or LAST


class QueueMachine(RigMachine):
    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.copies = 0
        self.waiting: dict[bytes, Waiting] = {}
        self.in_hand: list[tuple[Delivery, Waiting]] = []
        self.over: list[Delivery] = []

    def ready(self, lane: Lane) -> list[Waiting]:
        return [held for held in self.waiting.values() if held.lane == lane and held.due <= self.now]

    def arrive(self, new: Waiting) -> bool:
        """The model's own words for what two copies come to."""
        old = self.waiting.get(new.request.key)
        if old is None:
            self.waiting[new.request.key] = new
            return True
        later = new.asked > old.asked
        more_urgent = QUEUES.index(new.queue) < QUEUES.index(old.queue)
        if later or more_urgent:
            self.waiting[new.request.key] = Waiting(
                request=new.request if later else old.request,
                queue=min(new.queue, old.queue, key=QUEUES.index),
                due=min(new.due, old.due),
            )
        return False

    @rule(
        pushes=st.lists(
            st.tuples(
                st.integers(1, 4),
                st.sampled_from(PLATFORMS),
                st.sampled_from(QUEUES),
                st.sampled_from([None, at(0), at(1), at(2)]),
                st.sampled_from([None, -1, 1, 5]),
            ),
            max_size=4,
        )
    )
    def push(self, pushes: list[tuple[int, str, QueueName, datetime | None, int | None]]) -> None:
        batch, queued = [], 0
        for number, platform, queue, asked_at, delay_s in pushes:
            self.copies += 1
            request = a_request(number, platform=platform, asked_at=asked_at, root=f"copy {self.copies}")
            due = None if delay_s is None else self.now + timedelta(seconds=delay_s)
            batch.append(Push(request=request, queue=queue, not_before=due))
            queued += self.arrive(Waiting(request, queue, max(due, NOW) if due else NOW))
        assert self.run(self.rig.queue.push(batch)) == Pushed(queued=queued, bounced=len(batch) - queued)

    @rule(order=st.permutations(LANES), length=st.integers(0, len(LANES)))
    def pop(self, order: list[Lane], length: int) -> None:
        order = order[:length]
        delivery = self.run(self.rig.queue.pop(order, patience_s=0))
        expected = next((lane for lane in order if self.ready(lane)), None)
        assert (Lane(delivery.request.platform, delivery.queue) if delivery else None) == expected
        if delivery is not None:
            held = self.waiting.pop(delivery.request.key)
            assert (delivery.request, delivery.queue) == (held.request, held.queue)
            assert held.due <= self.now
            self.in_hand.append((delivery, held))

    @precondition(lambda self: self.in_hand)
    @rule(data=st.data())
    def ack(self, data: Any) -> None:
        delivery, _ = self.taken(data)
        self.run(delivery.ack())

    @precondition(lambda self: self.in_hand)
    @rule(data=st.data())
    def release(self, data: Any) -> None:
        delivery, held = self.taken(data)
        self.run(delivery.release())
        self.arrive(Waiting(held.request, held.queue, NOW))

    @precondition(lambda self: self.over)
    @rule(data=st.data(), again=st.sampled_from(["ack", "release"]))
    def settle_again(self, data: Any, again: str) -> None:
        delivery = data.draw(st.sampled_from(self.over))
        self.run(getattr(delivery, again)())

    def taken(self, data: Any) -> tuple[Delivery, Waiting]:
        pair: tuple[Delivery, Waiting] = self.in_hand.pop(data.draw(st.integers(0, len(self.in_hand) - 1)))
        self.over.append(pair[0])
        return pair

    @rule()
    def crash(self) -> None:
        self.run(self.rig.crash())
        for _, held in self.in_hand:
            self.arrive(Waiting(held.request, held.queue, NOW))
        self.in_hand, self.over = [], []

    @rule(seconds=st.sampled_from([0.5, 1, 4]))
    def time_passes(self, seconds: float) -> None:
        self.run(self.rig.advance(seconds))
        self.now += timedelta(seconds=seconds)

    @rule(queue=st.sampled_from(QUEUES), platform=st.sampled_from([None, *PLATFORMS]))
    def purge(self, queue: QueueName, platform: str | None) -> None:
        gone = [key for key, held in self.waiting.items() if held.is_in(queue, platform)]
        assert self.run(self.rig.queue.purge(queue, platform=platform)) == len(gone)
        for key in gone:
            del self.waiting[key]

    @rule(queue=st.sampled_from(QUEUES), platform=st.sampled_from([None, *PLATFORMS]))
    def peek(self, queue: QueueName, platform: str | None) -> None:
        shown = self.run(self.rig.queue.peek(queue, limit=99, platform=platform))
        expected = {held.request.root for held in self.waiting.values() if held.is_in(queue, platform)}
        assert {request.root for request in shown} == expected
        assert len(shown) == len(expected)

    @invariant()
    def depths_are_the_models(self) -> None:
        depths = self.run(self.rig.queue.depths())
        for lane in LANES:
            ready = len(self.ready(lane))
            total = sum(held.lane == lane for held in self.waiting.values())
            in_flight = sum(held.lane == lane for _, held in self.in_hand)
            assert depths.get(lane, Depth()) == Depth(ready=ready, delayed=total - ready, in_flight=in_flight)
        busy = {held.request.platform for held in (*self.waiting.values(), *(held for _, held in self.in_hand))}
        assert self.run(self.rig.queue.is_empty()) == (not busy)
        for platform in PLATFORMS:
            assert self.run(self.rig.queue.is_empty([platform])) == (platform not in busy)


TestMemory = pytest.mark.slow(case_of(QueueMachine, ADAPTERS["memory"]))
TestSqlite = pytest.mark.slow(case_of(QueueMachine, ADAPTERS["sqlite"]))
