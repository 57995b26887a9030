"""Looks at every replica's probes all the time, and says what was not the truth."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Final

from tests.rehearsal.fleet import Fleet, Pod
from tests.rehearsal.timeline import Timeline

EVERY_S: Final = 0.5
PATIENCE_S: Final = 10.0
"""What a readinessProbe forgives, two failures five seconds apart: a busy machine is slow now and then."""


@dataclass(kw_only=True)
class Watch:
    """What the probes said. untrue: sentences about what they should not have said."""

    fleet: Fleet
    timeline: Timeline
    looks: int = 0
    untrue: list[str] = field(default_factory=list)
    _last: dict[str, str] = field(default_factory=dict)
    _cut_off: bool = False
    _unsettled: bool = False
    _served_s: float = field(default=0.0)

    @contextmanager
    def cut_off(self) -> Iterator[None]:
        """While this lasts the broker is away: nobody may say that it is ready."""
        self._cut_off = True
        try:
            yield
        finally:
            self._cut_off = False

    @contextmanager
    def unsettled(self) -> Iterator[None]:
        """While this lasts nobody need be ready: a broker just went, or is coming back."""
        self._unsettled = True
        try:
            yield
        finally:
            self._unsettled = False

    @asynccontextmanager
    async def on(self) -> AsyncIterator[None]:
        """Looks until the block is left. Raises what looking raised."""

        self._served_s = self.timeline.now_s

        async def look_on() -> None:
            while True:
                await self.look()
                await asyncio.sleep(EVERY_S)

        task = asyncio.create_task(look_on())
        try:
            yield
            if task.done():
                task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def look(self) -> None:
        """Look once."""
        pods = await self.fleet.pods()
        self.looks += 1
        self._say(pods)
        for pod in pods:
            if pod.live.ok is False:
                self._note(f"{pod.name} asks to be started anew: {pod.live.why}")
            if self._cut_off and pod.ready.ok:
                self._note(f"{pod.name} says that it is ready while the broker is away")
        if self._unsettled or any(pod.ready.ok for pod in pods):
            self._served_s = self.timeline.now_s
        elif self.timeline.now_s - self._served_s > PATIENCE_S:
            self._note(f"nobody was ready for {PATIENCE_S:g} s")

    def _note(self, sentence: str) -> None:
        if sentence not in self.untrue:
            self.untrue.append(sentence)
            self.timeline.say(f"   UNTRUE: {sentence}")

    def _say(self, pods: Sequence[Pod]) -> None:
        """Whatever is different from last time."""
        now = {pod.name: _described(pod) for pod in pods}
        for name, state in now.items():
            if self._last.get(name) != state:
                self.timeline.say(f"   {name}  {state}")
        for name in self._last.keys() - now.keys():
            self.timeline.say(f"   {name}  gone")
        self._last = now


def _described(pod: Pod) -> str:
    ready = {True: "ready", False: "not ready", None: "silent"}[pod.ready.ok]
    why = f": {pod.ready.why}" if pod.ready.ok is False and pod.ready.why else ""
    starts = f", started {pod.starts} times" if pod.starts > 1 else ""
    return f"{'leaving, ' if pod.leaving else ''}{ready}{starts}{why[:140]}"
