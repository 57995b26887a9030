"""Who sweeps, and when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Final

import structlog

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.store import Store
from ghcrawl.ports.webhooks import Hooks
from ghcrawl.redelivery.state import STATE, Lease, Run, State
from ghcrawl.redelivery.sweep import Pace, Sweep
from ghcrawl.values.frozen import replace

log = structlog.stdlib.get_logger(__name__)

LEASE_S: Final = 900.0
"""Longer than a sweep may take. A replica that dies during a sweep delays the others by this much."""


class Redelivery:
    """Sweeps, as one of many who may. tell: told of every sweep of this one."""

    def __init__(
        self,
        hooks: Hooks,
        store: Store,
        clock: Clock,
        pace: Pace,
        *,
        worker: str = "",
        tell: Callable[[Run], None] = lambda _: None,
    ) -> None:
        self.names = tuple(hooks.names)
        self.pace = pace
        self._hooks = hooks
        self._store = store
        self._clock = clock
        self._worker = worker
        self._tell = tell

    async def read(self) -> State:
        """The stored state. Raises StoreError."""
        return State.from_json(await self._store.read_state(STATE) or {})

    async def soon(self) -> None:
        """The next sweep is due now, unless one is under way. Raises StoreError."""
        before = await self._store.read_state(STATE)
        state = State.from_json(before or {})
        if state.lease is None:
            await self._store.swap_state(STATE, before, replace(state, next_at=None).to_json())

    async def turn(self) -> Run | None:
        """Sweep, if it is time to and no other replica does. None: there was nothing to do. Raises StoreError."""
        before, now = await self._store.read_state(STATE), self._clock.now()
        state = State.from_json(before or {})
        leased = state.lease is not None and now < state.lease.until
        if leased or (state.next_at is not None and now < state.next_at):
            return None
        lease = Lease(worker=self._worker, until=now + timedelta(seconds=LEASE_S))
        taken = replace(state, lease=lease).to_json()
        if not await self._store.swap_state(STATE, before, taken):
            return None
        sweep = Sweep(self._hooks, self._clock, state, self.pace)
        try:
            await sweep.run()
        finally:  # also when this process is stopped in the middle of it
            after = sweep.state(self._worker)
            if not await self._store.swap_state(STATE, taken, after.to_json()):
                log.warning("redelivery_outrun", worker=self._worker)
        return self._done(after)

    def _done(self, state: State) -> Run:
        run = state.last
        assert run is not None, "a sweep has just ended"
        self._tell(run)
        level = log.warning if run.troubles else log.info
        level(
            "redelivery_swept",
            pages=run.pages,
            lost=run.lost,
            asked=run.asked,
            arrived=run.arrived,
            given_up=run.given_up,
            waiting=run.waiting,
            troubles=list(run.troubles),
        )
        return run
