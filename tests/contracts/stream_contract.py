"""What every stream does. Bind it by a class with a fixture `rig`."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from contextlib import aclosing, suppress

import pytest

from ghcrawl.ports.stream import Stream
from ghcrawl.values.errors import FetchError, StreamRefused
from ghcrawl.values.requests import Push

PATIENCE_S = 10.0


class StreamRig(ABC):
    """A stream, and the platform that it is of."""

    stream: Stream

    @abstractmethod
    async def happen(self, *names: str) -> None:
        """Items with these names happen, in this order."""

    @abstractmethod
    async def cut(self) -> None:
        """Every connection breaks."""

    @abstractmethod
    async def refuse(self) -> None:
        """From now on the platform refuses the stream, and says so by its protocol."""

    @abstractmethod
    async def connected(self) -> None:
        """Return once a reading is connected."""

    @abstractmethod
    async def idle(self) -> None:
        """Return once no connection is left."""

    @abstractmethod
    def name(self, push: Push) -> str:
        """Of the item that was pushed; empty for what is none."""


async def told(rig: StreamRig, cursor: str, count: int) -> list[tuple[str, str]]:
    """The names of the next items behind `cursor`, each with the cursor of its batch."""
    found: list[tuple[str, str]] = []
    async with asyncio.timeout(PATIENCE_S), aclosing(rig.stream.read(cursor)) as batches:
        async for batch in batches:
            found += [(rig.name(push), batch.cursor) for push in batch.pushes if rig.name(push)]
            if len(found) >= count:
                break
    return found


async def begun(rig: StreamRig, *names: str) -> list[tuple[str, str]]:
    """These happen while a reading from now on is connected: what it tells."""
    reading = asyncio.create_task(told(rig, "", len(names)))
    await rig.connected()
    await rig.happen(*names)
    return await reading


def names(found: list[tuple[str, str]]) -> list[str]:
    return [name for name, _ in found]


class StreamContract:
    """Items come in their order, and any cursor continues right behind what was told with it."""

    async def test_what_happens_is_told_in_its_order(self, rig: StreamRig) -> None:
        assert names(await begun(rig, "a", "b", "c")) == ["a", "b", "c"]

    async def test_a_reading_goes_on_right_behind_a_cursor(self, rig: StreamRig) -> None:
        *_, (_, cursor) = await begun(rig, "a", "b")
        await rig.happen("c", "d")
        assert names(await told(rig, cursor, 2)) == ["c", "d"]

    async def test_what_happens_while_nobody_reads_is_told_later(self, rig: StreamRig) -> None:
        *_, (_, cursor) = await begun(rig, "a")
        many = [f"n{number}" for number in range(25)]
        await rig.happen(*many)
        assert names(await told(rig, cursor, len(many))) == many

    async def test_a_cut_loses_nothing_and_tells_nothing_twice(self, rig: StreamRig) -> None:
        *found, (last, cursor) = await begun(rig, "a", "b")
        await rig.idle()
        reading = asyncio.create_task(told(rig, cursor, 99))
        await rig.connected()
        await rig.cut()
        with suppress(FetchError):
            assert await reading == []
        await rig.happen("c")
        assert [*names(found), last, *names(await told(rig, cursor, 1))] == ["a", "b", "c"]

    async def test_a_refusal_is_no_failure_that_passes(self, rig: StreamRig) -> None:
        await rig.refuse()
        with pytest.raises(StreamRefused):
            await told(rig, "", 1)

    async def test_closing_ends_the_connection_at_once(self, rig: StreamRig) -> None:
        reading = asyncio.create_task(told(rig, "", 1))
        await rig.connected()
        async with asyncio.timeout(1):
            reading.cancel()
            await asyncio.wait([reading])
        await rig.idle()
