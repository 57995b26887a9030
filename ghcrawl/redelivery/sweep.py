"""One sweep: what was tried is read, and what did not arrive is asked for again."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import structlog

from ghcrawl.ports.clock import Clock
from ghcrawl.ports.webhooks import ApiFailure, Attempt, Hooks
from ghcrawl.redelivery.state import Checkpoint, Gap, Lost, Redelivered, Run, State
from ghcrawl.values.frozen import replace
from ghcrawl.values.times import iso

log = structlog.stdlib.get_logger(__name__)

HORIZON: Final = timedelta(days=3)
"""Older deliveries are not requested again: platforms keep them no longer."""
OVERLAP: Final = timedelta(seconds=60)
"""Each sweep reads this much of what the last one read: attempts are listed some time after they were made."""
MAX_PAGES: Final = 50
"""Of one list in one sweep; the next sweep goes on where this one stopped."""
MAX_GAPS: Final = 20
MAX_LOST: Final = 1000
"""Deliveries waited for at a time; others are looked for once some of these have arrived."""
MAX_AGAIN: Final = 200
MAX_TRIES: Final = 8
MAX_SHOWN: Final = 50
MAX_DETAIL: Final = 300
SWEEP_S: Final = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """every_s: from the end of one sweep to the next, of any replica. gap_s: between two redelivery requests."""

    every_s: float
    gap_s: float = 1.0


@dataclass(slots=True, kw_only=True)
class _Reading:
    """How much more of one list may be read in this sweep, and the newest that was seen."""

    seen: datetime
    pages: int
    stopped: bool = False


class Sweep:
    """One sweep over all lists."""

    def __init__(self, hooks: Hooks, clock: Clock, before: State, pace: Pace) -> None:
        self._hooks = hooks
        self._clock = clock
        self._pace = pace
        self._now = clock.now()
        horizon = self._now - HORIZON
        self._checkpoints = {each.hook: each for each in before.checkpoints if each.seen > horizon - OVERLAP}
        self._lost = {lost.guid: lost for lost in before.lost if lost.first_at > horizon}
        self._arrived: set[str] = set()
        self._failed: set[str] = set()
        self._run = Run(at=self._now, given_up=len(before.lost) - len(self._lost))
        self._asked: list[Redelivered] = []
        self._troubles: list[str] = []

    def state(self, worker: str) -> State:
        """The state after the sweep."""
        now = self._clock.now()
        run = replace(
            self._run,
            worker=worker,
            seconds=max(0.0, (now - self._now).total_seconds()),
            waiting=len(self._lost),
            again=tuple(self._asked[:MAX_SHOWN]),
            troubles=tuple(dict.fromkeys(self._troubles)),
        )
        next_at = now + timedelta(seconds=self._pace.every_s)
        return State(
            next_at=next_at, checkpoints=tuple(self._checkpoints.values()), lost=tuple(self._lost.values()), last=run
        )

    async def run(self) -> None:
        """Look, then ask again. What takes too long is left for the next sweep."""
        try:
            async with asyncio.timeout(SWEEP_S):
                for name in self._hooks.names:
                    hooks = await self._hooks.found(name)
                    if isinstance(hooks, ApiFailure):
                        self._note_failure(hooks)
                        continue
                    for hook in hooks:
                        await self._read_new(hook)
                await self._ask_again()
        except TimeoutError:
            self._troubles.append(f"it took longer than {SWEEP_S:g} s")

    def _note_failure(self, failure: ApiFailure) -> None:
        self._troubles.append(failure.detail[:MAX_DETAIL])

    # Looking

    async def _read_new(self, hook: str) -> None:
        """Read what is new, then the gaps that earlier sweeps left, as far as one sweep goes."""
        before = self._checkpoints.get(hook) or Checkpoint(hook=hook, seen=self._now - HORIZON)
        reading = _Reading(seen=before.seen, pages=MAX_PAGES // 2 if before.gaps else MAX_PAGES)
        head = await self._read(hook, Gap(since=before.seen - OVERLAP), reading)
        reading.pages += MAX_PAGES // 2 if before.gaps and not reading.stopped else 0
        rests = [await self._read(hook, gap, reading) for gap in reversed(before.gaps)]  # the oldest first
        left = [gap for gap in (head, *reversed(rests)) if gap is not None]
        if len(left) > MAX_GAPS:
            self._troubles.append(f"{hook}: more comes than can be looked at; some of it was not")
        again = [gap.since + OVERLAP for gap in left if not gap.cursor]
        seen = min([reading.seen, *again])
        self._checkpoints[hook] = Checkpoint(
            hook=hook, seen=seen, gaps=tuple(gap for gap in left if gap.cursor)[:MAX_GAPS]
        )

    async def _read(self, hook: str, gap: Gap, reading: _Reading) -> Gap | None:
        """The rest of `gap`."""
        while reading.pages > 0 and not reading.stopped:
            page = await self._hooks.page(hook, gap.cursor)
            if isinstance(page, ApiFailure):
                self._note_failure(page)
                reading.stopped = True
                return gap if page.kind == "away" else Gap(since=gap.since)  # a cursor expires
            reading.pages -= 1
            self._run = replace(self._run, pages=self._run.pages + 1)
            moments = [attempt.at for attempt in page.attempts]
            reading.seen = max([reading.seen, *moments])
            roomy = [self._note(hook, attempt) for attempt in page.attempts]
            if not all(roomy):
                self._troubles.append(f"{MAX_LOST} deliveries are waited for, and no more are looked for meanwhile")
                reading.stopped = True
            elif not page.next or (moments and min(moments) < gap.since):
                return None
            else:
                gap = replace(gap, cursor=page.next)
        return gap

    def _note(self, hook: str, attempt: Attempt) -> bool:
        """What an attempt says about its delivery, unless a later one said it already. False: there is no room."""
        guid, known = attempt.guid, self._lost.get(attempt.guid)
        if guid in self._arrived or guid in self._failed:
            return True
        if attempt.arrived:
            self._arrived.add(guid)
            if self._lost.pop(guid, None) is not None:
                self._run = replace(self._run, arrived=self._run.arrived + 1)
        elif known is not None:
            self._failed.add(guid)
            self._lost[guid] = replace(known, id=max(known.id, attempt.id))
        elif attempt.at > self._now - HORIZON:
            return self._add(hook, attempt)
        return True

    def _add(self, hook: str, attempt: Attempt) -> bool:
        if sum(lost.tries < MAX_TRIES for lost in self._lost.values()) >= MAX_LOST:
            return False
        guid = attempt.guid
        self._failed.add(guid)
        self._lost[guid] = Lost(
            guid=guid, hook=hook, id=attempt.id, event=attempt.event, first_at=attempt.at, due=self._now
        )
        self._run = replace(self._run, lost=self._run.lost + 1)
        return True

    # Asking

    async def _ask_again(self) -> None:
        due = [lost for lost in self._lost.values() if lost.due <= self._now and lost.tries < MAX_TRIES]
        for number, lost in enumerate(sorted(due, key=lambda lost: lost.first_at)[:MAX_AGAIN]):
            if number:
                await self._clock.sleep(self._pace.gap_s)
            failure = await self._hooks.redeliver(lost.hook, lost.id)
            if failure is not None:
                self._note_failure(failure)
                if failure.kind == "away":
                    return
            self._was_asked(lost, refused=failure is not None)

    def _was_asked(self, lost: Lost, *, refused: bool) -> None:
        """Once more only after twice as long as before: what is refused every time need not come all the time."""
        wait = timedelta(seconds=min(self._pace.every_s * 2.0**lost.tries, HORIZON.total_seconds()))
        self._lost[lost.guid] = after = replace(lost, tries=lost.tries + 1, due=self._now + wait)
        run = self._run
        if refused:
            self._run = replace(run, refused=run.refused + 1)
            return
        self._run = replace(run, asked=run.asked + 1)
        self._asked.append(
            Redelivered(guid=lost.guid, hook=lost.hook, event=lost.event, first_at=lost.first_at, tries=after.tries)
        )
        log.info("delivery_asked_again", delivery=lost.guid, hook_event=lost.event, failed_at=iso(lost.first_at))
