"""A crawl and a stream of one account of the AT Protocol, by processes that are killed one after the other."""

from __future__ import annotations

import asyncio
import json
import random
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any, Final

from ghcrawl.ports.store import DocumentFilter
from ghcrawl.streams.lease import read
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.documents import Document
from ghcrawl.values.type_names import TypeName
from tests.support.bluesky import killable, left
from tests.support.killed import killed
from tests.support.waiting import until

KILLS: Final = 10
IN_THE_CRAWL: Final = 3
"""This many of the kills come while lists are read; from then on, posts are told by the stream alone."""
LONGER_S: Final = 0.5
"""Each process lives this much longer than the one before; some end before their first events are durable."""
WITHIN_S: Final = 90.0
STREAM: Final = TypeName("bluesky", "stream")
CHILD: Final = "tests.support.bluesky_child"


class Place(ABC):
    """A network, and an account of it that writes. url: of its AppView. stream_url: of what happens."""

    url: str
    stream_url: str
    handle: str

    @abstractmethod
    def calls(self) -> int:
        """Grows when the AppView is asked."""

    @abstractmethod
    def streaming(self) -> int:
        """Readers of the stream."""

    @abstractmethod
    async def post(self, text: str) -> str:
        """The account writes. The key of the post."""

    @abstractmethod
    async def delete(self, key: str) -> None:
        """The account deletes that post."""

    @abstractmethod
    async def posts(self) -> Collection[str]:
        """The keys of all posts that it wrote."""


async def ten_kills_lose_nothing_and_save_nothing_twice(place: Place, backend: Mapping[str, Any]) -> None:
    """What was written before, during and between the lives of the processes is there once."""
    settings = {**backend, "bluesky.stream_url": place.stream_url}
    dice = random.Random(16)
    for moment in range(KILLS):
        await _one_life(place, settings, moment, dice)
    await place.delete(await place.post("soon gone"))
    wanted, tally = await place.posts(), Tally()
    async with killable(place.url, settings).open(tally) as service:
        (subscription,) = [one async for one in service.backend.store.list(DocumentFilter(types=(STREAM,)))]
        assert (await read(service.backend.store, subscription.urn)).cursor, "a killed process read the stream"
        service.supervisor.start()
        await service.look_again()

        async def all_here() -> bool:
            return {_key(each) for each in (await left(service, tally)).of("post")} == {*wanted}

        await until(all_here, within_s=WITHIN_S, every_s=0.1)
        await service.supervisor.until_empty(service.backend.queue, every_s=0.05)
        await service.supervisor.drain(5)
        found = await left(service, tally)
    assert found.deadletters == []
    assert Counter(map(_key, found.of("post"))) == Counter(wanted)
    assert len({each.url for each in found.of("post")}) == len(wanted), "each once"
    assert len(found.of("stream")) == len(found.of("profile")) == 1


def _key(post: Document) -> str:
    return post.urn.rpartition(":")[2]


async def _one_life(place: Place, settings: Mapping[str, Any], moment: int, dice: random.Random) -> None:
    """Kill it soon after it began to crawl, or in the middle of events; a post follows while no process runs."""
    crawling, before = moment < IN_THE_CRAWL, place.calls()
    specs = [f"bluesky:q/post,profile/user={place.handle}?stream"] if crawling else []
    async with killed(CHILD, place.url, json.dumps(settings), *specs):
        if crawling:
            await until(lambda: place.calls() > before, within_s=WITHIN_S)
            await asyncio.sleep(dice.uniform(0, 0.5))  # any moment: while an answer is read, processed or settled
        else:
            await until(lambda: place.streaming() > 0, within_s=WITHIN_S)
            end = asyncio.get_running_loop().time() + LONGER_S * (moment - IN_THE_CRAWL)
            while asyncio.get_running_loop().time() < end:
                await place.post(f"live {moment}")
                await asyncio.sleep(0.01)  # events come in several batches, and the kill falls between some
    await place.post(f"nobody looks {moment}")
    await until(lambda: place.streaming() == 0, within_s=WITHIN_S)
