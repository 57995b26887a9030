"""The sequence: everything that a deployment meets in a year, while it crawls, and what must be true in the end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from secrets import token_hex
from typing import Any, Final, Protocol

from msgspec import Struct

from tests.rehearsal.fleet import Answered, Fleet, Wanted
from tests.rehearsal.github import ORG, GitHub
from tests.rehearsal.timeline import Timeline
from tests.rehearsal.watch import Watch
from tests.support.waiting import until

CALM_S: Final = 180.0
CALM: Final = 7
"""Looks in a row, a second apart, that find nothing to do."""
LIFE_S: Final = 1.0
"""How often something happens in the world."""


class Broker(Protocol):
    """What is away for a while. Both block."""

    def stop(self) -> None:
        """It is gone, in good order."""

    def start(self) -> None:
        """It answers, with all that it held."""


class Pace(Struct, frozen=True, kw_only=True):
    """How long things are let last."""

    away_s: float = 60.0
    settle_s: float = 20.0
    wrong_s: float = 30.0


@dataclass(kw_only=True)
class Rehearsal:
    """One play of it. config: the settings file, for so many loops."""

    fleet: Fleet
    github: GitHub
    broker: Broker
    watch: Watch
    timeline: Timeline
    config: Callable[[int], str]
    secrets: Mapping[str, str] = field(repr=False)
    pace: Pace = field(default_factory=Pace)

    async def play(self) -> None:
        """Everything happened, and what was asked for has been crawled. Raises AssertionError."""
        with self.timeline.step("three replicas"):
            await self.fleet.start(Wanted(config=self.config(4), secrets=self.secrets, replicas=3))
        async with self.watch.on():
            async with self._life():
                await self._replaced()
                await self._killed()
                await self._changed()
                await self._scaled()
                await self._cut_off()
                await self._wrong()
            await self._come_to_rest()

    # The acts -------------------------------------------------------------------------------------------------

    async def _replaced(self) -> None:
        await self._crawl("default")
        with self.timeline.step("a rolling update during a crawl"):
            await self.fleet.roll()

    async def _killed(self) -> None:
        await self._crawl("refresh")
        with self.timeline.step("one deleted with no grace"):
            self.timeline.say(f"   it was {await self.fleet.delete()}")
        with self.timeline.step("the process of one killed where it runs"):
            self.timeline.say(f"   it was {await self.fleet.kill()}")

    async def _changed(self) -> None:
        await self._crawl("refresh")
        with self.timeline.step("another configuration"):
            await self.fleet.configure(self.config(5))
        with self.timeline.step("GitHub's token and the webhooks' secret rotated"):
            await self._rotate()

    async def _rotate(self) -> None:
        """Both of each are good while the new one spreads; then the old one is worth nothing."""
        old, token, secret = self.secrets["tokens"], f"ghp_rotated{token_hex(12)}", token_hex(16)
        self.github.know(token)
        both = {"tokens": token, "webhook-secrets": f"{self.github.secret}\n{secret}"}
        self.secrets = {**self.secrets, **both}
        await self.fleet.rotate(self.secrets)
        self.github.revoke(old)
        self.github.secret = secret
        accepted, answered = self.github.accepted, self.github.answered
        await self._crawl("refresh")

        async def believed() -> bool:
            return self.github.accepted >= accepted + 5 and self.github.answered >= answered + 10

        await until(believed, what="work with the new token and the new secret", within_s=60, every_s=0.3)
        self.timeline.say("   the old ones are worth nothing, and calls and deliveries go on with the new ones")

    async def _scaled(self) -> None:
        await self._crawl("refresh")
        for replicas in (1, 4):
            with self.timeline.step(f"scaled to {replicas}"):
                await self.fleet.scale(replicas)

    async def _cut_off(self) -> None:
        await self._crawl("refresh")
        with self.timeline.step(f"the broker away for {self.pace.away_s:g} s"), self.watch.unsettled():
            await asyncio.to_thread(self.broker.stop)
            await asyncio.sleep(self.pace.settle_s)
            with self.watch.cut_off():
                await asyncio.sleep(max(0.0, self.pace.away_s - self.pace.settle_s))
            await asyncio.to_thread(self.broker.start)
            await self._until_all_ready()

    async def _wrong(self) -> None:
        await self._crawl("refresh")
        wrong = {**self.secrets, "amqp-url": "amqp://nobody:wrong@127.0.0.1:1/%2F"}
        with self.timeline.step("a rollout with a wrong secret"):
            await self.fleet.roll_badly(wrong, self.pace.wrong_s)
            ready = [pod.name for pod in await self.fleet.pods() if pod.ready.ok]
            assert len(ready) >= 4, f"of the old replicas only {ready} serve"
            await self.fleet.give_up_rollout()

    async def _come_to_rest(self) -> None:
        with self.timeline.step("everything comes to rest"):
            while again := await self.github.deliver_again(self._deliver):
                self.timeline.say(f"   {again} deliveries that were refused are sent again")
                await asyncio.sleep(1)
            await self._until_calm()
            await self._crawl("refresh")
            await self._until_calm()

    # What they do ---------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _life(self) -> AsyncIterator[None]:
        """People go on working on GitHub."""

        async def live() -> None:
            while True:
                await self.github.something_happens(self._deliver)
                await asyncio.sleep(LIFE_S)

        task = asyncio.create_task(live())
        try:
            yield
            if task.done():
                task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _deliver(self, headers: Mapping[str, str], body: bytes) -> int:
        return (await self.fleet.ask("POST", "/webhook", headers=headers, body=body)).status

    async def _crawl(self, policy: str) -> None:
        """The organisation waits to be crawled."""
        wish = {"specs": [ORG], "queue": "immediate", "policy": policy}
        answer = await self._api("POST", "/api/v1/requests", wish)
        self.timeline.say(f"-- {ORG} is to be crawled ({policy}): {answer['queued']} queued")

    async def _api(self, method: str, path: str, body: object = None) -> Any:
        """The answer of the first replica that gives one. Raises AssertionError."""
        headers = {
            "Authorization": f"Bearer {self.secrets['admin-tokens'].strip()}",
            "Content-Type": "application/json",
        }
        sent, answer = json.dumps(body).encode() if body is not None else b"", Answered(status=0)
        for _ in range(20):
            answer = await self.fleet.ask(method, path, headers=headers, body=sent)
            if answer.status not in (0, 502, 503):
                break
            await asyncio.sleep(1)
        assert 200 <= answer.status < 300, f"{method} {path}: {answer.status} {answer.body[:500]}"
        return json.loads(answer.body)

    async def _until_calm(self) -> None:
        """Nothing waits to be popped or is in hand, for as long as a deferred request may take to come back.

        What webhooks asked to be looked at in some minutes need not be waited for: a crawl looks at all of it anyway.
        """
        calm, waiting = 0, ""

        async def is_calm() -> bool:
            nonlocal calm, waiting
            queues = (await self._api("GET", "/api/v1/queues"))["queues"]
            left = ", ".join(_left(queue) for queue in queues if queue["ready"] or queue["in_flight"])
            if left != waiting:
                self.timeline.say(f"   left: {left or 'nothing that may be popped'}")
            calm, waiting = 0 if left else calm + 1, left
            return calm == CALM

        await until(is_calm, what="the end of all work", within_s=CALM_S, every_s=1)

    async def _until_all_ready(self) -> None:
        async def ready() -> bool:
            return all(pod.ready.ok for pod in await self.fleet.pods())

        await until(ready, what="a state in which every replica is ready", within_s=180, every_s=0.3)


def _left(queue: Mapping[str, Any]) -> str:
    states = (f"{queue[state]} {state}" for state in ("ready", "delayed", "in_flight") if queue[state])
    return f"{queue['name']} {' '.join(states)}"
