"""Any sequence of pushes, pops, settlements and crashes on RabbitMQ, against what no sequence may lead to.

Looser than the machine of the other queues: a broker cannot take a copy back that a better one has overtaken, so that
may be popped too. What must hold all the same: nothing is lost, nothing comes before its moment, nothing comes from
nowhere, and the latest of all copies comes.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.queue import Delivery
from ghcrawl.values.lanes import QUEUES, Lane, QueueName
from ghcrawl.values.requests import Push
from tests.contracts.adapters import Rig
from tests.contracts.machine import RigMachine, case_of
from tests.integration.amqp.rig import AmqpRig
from tests.support.builders import NOW, a_request, at
from tests.support.lanes import LANES
from tests.support.services.rabbitmq import Server
from tests.support.services.wanted import AMQP_URL

LAST = datetime.max.replace(tzinfo=NOW.tzinfo)


@pytest.fixture(scope="module", autouse=True)
def _server(rabbitmq: Server) -> Any:
    """The broker of the run is where the machine looks for it; no other module's tests look there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(AMQP_URL, rabbitmq.url)
        yield


@asynccontextmanager
async def amqp(directory: Path) -> AsyncIterator[Rig]:
    async with AmqpRig.opened(Server(url=os.environ[AMQP_URL])) as rig:
        yield rig


class AmqpMachine(RigMachine):
    """owed: key → when the latest was asked for, of those that are not done. due: copy → not before."""

    def __init__(self) -> None:
        super().__init__()
        self.now = NOW
        self.owed: dict[bytes, datetime] = {}
        self.due: dict[str, datetime] = {}
        self.in_hand: list[Delivery] = []

    @rule(
        pushes=st.lists(
            st.tuples(
                st.integers(1, 3),
                st.sampled_from(QUEUES),
                st.sampled_from([None, at(0), at(1)]),
                st.sampled_from([None, 5]),
            ),
            max_size=4,
        )
    )
    def push(self, pushes: list[tuple[int, QueueName, datetime | None, int | None]]) -> None:
        batch = []
        for number, queue, asked_at, delay_s in pushes:
            root = f"copy {len(self.due)}"
            request = a_request(number, asked_at=asked_at, root=root)
            moment = None if delay_s is None else self.now + timedelta(seconds=delay_s)
            self.due[root] = moment or NOW
            self.owed[request.key] = max(self.owed.get(request.key, NOW), asked_at or LAST)
            batch.append(Push(request=request, queue=queue, not_before=moment))
        self.run(self.rig.queue.push(batch))

    @rule(order=st.permutations(LANES))
    def pop(self, order: list[Lane]) -> None:
        delivery = self.run(self.rig.queue.pop(order, patience_s=0))
        if delivery is not None:
            assert delivery.request.root in self.due, "nothing comes from nowhere"
            self.in_hand.append(delivery)

    @precondition(lambda self: self.in_hand)
    @rule(data=st.data(), end=st.sampled_from(["ack", "release"]))
    def settle(self, data: Any, end: str) -> None:
        delivery = self.in_hand.pop(data.draw(st.integers(0, len(self.in_hand) - 1)))
        self.run(getattr(delivery, end)())
        if end == "ack":
            self.done(delivery)

    def done(self, delivery: Delivery) -> None:
        request = delivery.request
        if (request.asked_at or LAST) >= self.owed.get(request.key, LAST):
            self.owed.pop(request.key, None)

    @rule()
    def crash(self) -> None:
        self.run(self.rig.crash())
        self.in_hand = []

    @rule(seconds=st.sampled_from([1, 5]))
    def time_passes(self, seconds: int) -> None:
        self.run(self.rig.advance(seconds))
        self.now += timedelta(seconds=seconds)

    def teardown(self) -> None:
        """Whatever happened: in the end everything that was asked for has come, as late as it was asked for."""
        try:
            self.run(self.rig.crash())
            self.run(self.rig.advance(60))
            while (delivery := self.run(self.rig.queue.pop(LANES, patience_s=0))) is not None:
                self.run(delivery.ack())
                self.done(delivery)
            for letter in self.run(self.rig.deadletters.list(DeadletterFilter(), limit=100)):
                assert letter.kind == "killed_worker", "whose worker crashed as often as it was popped"
                self.owed.pop(letter.request.key, None)
            assert not self.owed, "nothing is lost"
            assert self.run(self.rig.queue.is_empty())
        finally:
            super().teardown()


TestAmqp = case_of(AmqpMachine, amqp)
# Not shrunk: on a real broker that takes many minutes, and the steps are few.
TestAmqp.settings = settings(max_examples=5, stateful_step_count=15, phases=[Phase.generate])
