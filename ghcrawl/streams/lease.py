"""Which replica produces a stream, and its cursor: one object in the store, replaced atomically."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

from msgspec import Struct, convert, to_builtins

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.store import Store
from ghcrawl.values.frozen import replace
from ghcrawl.values.times import iso

LEASE: Final = timedelta(seconds=60)
"""How long a dead replica holds up its stream."""


class StreamState(Struct, frozen=True, kw_only=True):
    """cursor: everything before it is durable. holder, until: the replica that produces it, and the end of its lease.

    items: queued so far, of which a few may be counted twice. error: why it is not connected; lost: what was missed.
    """

    cursor: str = ""
    holder: str = ""
    until: str = ""
    items: int = 0
    error: str = ""
    lost: str = ""


def state_name(urn: str) -> str:
    """Of the stream that the document `urn` subscribes to."""
    return f"stream:{urn}"


async def read(store: Store, urn: str) -> StreamState:
    """The stored state of that stream. Raises StoreError."""
    return _from_json(await store.read_state(state_name(urn)))


def _from_json(value: Mapping[str, object] | None) -> StreamState:
    return convert(value or {}, StreamState)


class Lease:
    """The right to produce one stream, while `keep` says so."""

    def __init__(self, store: Store, clock: Clock, urn: str, worker: str) -> None:
        self.state = StreamState()
        self._store = store
        self._clock = clock
        self._name = state_name(urn)
        self._worker = worker
        self._stored: Mapping[str, object] | None = None

    async def take(self) -> bool:
        """Whether this replica produces the stream from now on. Raises StoreError."""
        self._stored = await self._store.read_state(self._name)
        self.state = _from_json(self._stored)
        others = self.state.holder not in ("", self._worker) and self.state.until > iso(self._clock.now())
        return not others and await self.keep()

    async def keep(
        self, *, cursor: str | None = None, items: int = 0, error: str | None = None, lost: str = ""
    ) -> bool:
        """Hold on, and remember this much more. False: another replica took over. Raises StoreError."""
        state = replace(
            self.state,
            holder=self._worker,
            until=iso(self._clock.now() + LEASE),
            cursor=self.state.cursor if cursor is None else cursor,
            items=self.state.items + items,
            error=self.state.error if error is None else error,
            lost=lost or self.state.lost,
        )
        return await self._swap(state)

    async def leave(self) -> None:
        """Anybody may take it, now. Raises StoreError."""
        await self._swap(replace(self.state, holder="", until=""))

    async def _swap(self, state: StreamState) -> bool:
        after = to_builtins(state)
        if not await self._store.swap_state(self._name, self._stored, after):
            return False
        self.state, self._stored = state, after
        return True
