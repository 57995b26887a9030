"""The reference implementation of a stream: a list of what happened, which grows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from ghcrawl.ports.stream import Batch
from ghcrawl.values.errors import FetchError, StreamRefused
from ghcrawl.values.requests import Push

PER_BATCH = 10


class MemoryStream:
    """Tells what `tell` was given. A cursor is the number of items before it. forgotten: items no longer told."""

    def __init__(self, url: str = "memory:") -> None:
        self.forgotten = 0
        self.connections = 0
        self._url = url
        self._told: list[Push] = []
        self._changed = asyncio.Event()
        self._refusal = ""
        self._cuts = 0

    def tell(self, *pushes: Push) -> None:
        """These happened."""
        self._told += pushes
        self._wake()

    def cut(self) -> None:
        """Every connection breaks, once it has told what happened before."""
        self._cuts += 1
        self._wake()

    def refuse(self, why: str) -> None:
        """No connection is accepted any more, and those that are there end."""
        self._refusal = why
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def read(self, cursor: str) -> AsyncGenerator[Batch, None]:
        """As the port says."""
        at = int(cursor) if cursor else len(self._told)
        cuts, lost = self._cuts, ""
        self.connections += 1
        try:
            if not cursor:
                yield Batch(pushes=(), cursor=str(at))
            if at < self.forgotten:
                at, lost = self.forgotten, f"{self.forgotten - at} items are forgotten"
            while True:
                if self._refusal:
                    raise StreamRefused(self._refusal, status=403)
                if batch := self._told[at : at + PER_BATCH]:
                    at += len(batch)
                    yield Batch(pushes=tuple(batch), cursor=str(at), lost=lost)
                    lost = ""
                elif self._cuts > cuts:
                    raise FetchError("the connection broke", url=self._url)
                else:
                    await self._changed.wait()
        finally:
            self.connections -= 1
