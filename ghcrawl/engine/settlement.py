"""Makes a decision durable: turns the outcome into effects, commits them and acks.

Waiting for a moment is always a delayed push: it holds neither a loop nor an unacked message.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Final, NamedTuple, assert_never

import structlog

from ghcrawl.engine.decision import Decider, Decision, Mounted
from ghcrawl.engine.recent import RecentlySettled
from ghcrawl.platforms.kind import Thing
from ghcrawl.ports.clock import Clock
from ghcrawl.ports.observer import Settled
from ghcrawl.ports.queue import Delivery
from ghcrawl.ports.store import Saved
from ghcrawl.ports.unit_of_work import Committed, Effects, UnitOfWork
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import QueueError, StoreError, Unstorable
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Bury, Defer, Outcome, OutcomeName, Retry, Save, Skip
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.ties import question, whole_again
from ghcrawl.values.tuning import Tuning

log = structlog.stdlib.get_logger(__name__)


class Prepared(NamedTuple):
    """A request that was popped, or an element that came with one: its outcome, and what that leaves behind."""

    source: Delivery | Push
    outcome: Outcome
    effects: Effects


class Settlement:
    """Settles decisions.

    decider: says what an error of the store costs. recent: follow-ups that it covers are not queued.
    jitter: a number in [0, 1) at each call.
    """

    def __init__(
        self,
        platforms: Mapping[str, Mounted],
        unit_of_work: UnitOfWork,
        clock: Clock,
        *,
        decider: Decider,
        recent: RecentlySettled,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._platforms = platforms
        self._unit_of_work = unit_of_work
        self._clock = clock
        self._decider = decider
        self._recent = recent
        self._jitter = jitter

    async def settle(
        self, delivery: Delivery, prepared: Prepared, tuning: Tuning, carried: Sequence[Prepared]
    ) -> tuple[Outcome, Committed]:
        """Make what was prepared durable, then ack. Returns the outcome that counts.

        A document that the store can never hold is dead-lettered with that reason, and a bug in an adapter costs an
        attempt. What was carried is queued instead if one of them may be the reason, so that each fails alone.
        Raises QueueError or StoreError, always before the ack.
        """
        _, outcome, effects = prepared
        if carried:
            try:
                return outcome, await self._unit_of_work.commit(delivery, _with(effects, carried))
            except Exception as error:
                if isinstance(error, QueueError | StoreError) and not isinstance(error, Unstorable):
                    raise
                log.warning("elements_queued", url=delivery.request.url, count=len(carried), error=str(error))
        try:
            return outcome, await self._unit_of_work.commit(delivery, effects)
        except Unstorable as error:
            failed: Exception = error
        except (QueueError, StoreError):
            raise
        except Exception as error:  # noqa: BLE001  # a bug costs an attempt here, too
            failed = error
        _, outcome, effects = self.prepare(delivery, self._decider.failed(failed), tuning)
        return outcome, await self._unit_of_work.commit(delivery, effects)

    def delay_s(self, failures: int, tuning: Tuning, *, cap_s: float) -> float:
        """Exponential, with jitter of half to one and a half, so that a herd does not come back as one."""
        delay = min(cap_s, tuning.retry_base_s * 2.0 ** min(failures, 32))
        return delay * (0.5 + self._jitter())

    def prepare(self, source: Delivery | Push, decision: Decision, tuning: Tuning) -> Prepared:
        """The outcome that counts (one retry too many is a dead letter) and what it leaves behind."""
        return Prepared(source, *self._effects(source, decision, tuning))

    def _effects(self, source: Delivery | Push, decision: Decision, tuning: Tuning) -> tuple[Outcome, Effects]:
        request, outcome = source.request, decision.outcome
        match outcome:
            case Save(document=document, follow_ups=follow_ups, supersede=supersede):
                pushes, asks = self._wanted(follow_ups, tuning), partial(self._question, document, request)
                return outcome, Effects(pushes=pushes, document=document, supersede=supersede, asks=asks)
            case Skip(follow_ups=follow_ups):
                pushes = self._wanted(follow_ups, tuning)
                return outcome, Effects(pushes=pushes, touch=decision.touch, document=decision.refusal)
            case Defer(until=until):
                return outcome, Effects(pushes=(Push(request=request, queue=source.queue, not_before=until),))
            case Retry(failure=failure, wait_s=wait_s) if request.attempt + 1 < tuning.max_attempts:
                delay_s = wait_s or self.delay_s(request.attempt, tuning, cap_s=tuning.retry_cap_s)
                until = self._clock.now() + timedelta(seconds=delay_s)
                again = Push(request=request.failed(failure), queue=source.queue, not_before=until)
                return outcome, Effects(pushes=(again,))
            case Retry(failure=failure, traceback=text) | Bury(failure=failure, traceback=text):
                deadletter = Deadletter.of(request, source.queue, failure, traceback=text)
                return Bury(failure=failure, traceback=text), Effects(deadletter=deadletter)
            case _:
                assert_never(outcome)

    def _wanted(self, follow_ups: Sequence[Push], tuning: Tuning) -> tuple[Push, ...]:
        covers = self._recent.covers
        return tuple(p for p in follow_ups if self._admits(p.request, tuning) and not covers(p.request))

    def _admits(self, request: Request, tuning: Tuning) -> bool:
        mounted = self._platforms.get(request.platform)
        return mounted is None or tuning.scope.admits(mounted.platform.scope(request))

    def _question(self, document: Document, request: Request, saved: Saved | None) -> Push | None:
        """What settles a tie, or makes one moment of two; None where the platform cannot be asked for it."""
        if saved not in ("tied", "mixed"):
            return None
        platform = self._platforms[request.platform].platform
        kind = platform.kinds.get(document.type)
        if not isinstance(kind, Thing) or kind.listed:
            return None
        if saved == "tied":
            return question(document, request, self._clock.now(), platform.tie_window)
        return None if kind.immutable else whole_again(document, request)


def _with(effects: Effects, carried: Sequence[Prepared]) -> Effects:
    """The effects of a request and of the elements that it carried, which are not queued then."""
    gone = {id(each.source) for each in carried}

    def rest(effects: Effects) -> Effects:
        return replace(effects, pushes=tuple(push for push in effects.pushes if id(push) not in gone))

    return replace(rest(effects), carried=tuple(rest(each.effects) for each in carried))


_NAMES: Final[Mapping[type, OutcomeName]] = {
    Save: "save",
    Skip: "skip",
    Defer: "defer",
    Retry: "retry",
    Bury: "bury",
}


def settled(
    source: Delivery | Push, outcome: Outcome, committed: Committed, *, fetch_s: float, write_s: float
) -> Settled:
    """What the observer gets."""
    reason, detail, cause = "", "", ""
    match outcome:
        case Skip():
            reason, detail = outcome.reason, outcome.detail
        case Defer():
            reason = outcome.reason
        case Retry() | Bury():
            cause, detail = outcome.failure.cause, outcome.failure.message
        case Save():
            reason = committed.saved or ""
    return Settled(
        request=source.request,
        queue=source.queue,
        outcome=_NAMES[type(outcome)],
        reason=reason,
        detail=detail,
        cause=cause,
        saved=committed.saved if isinstance(outcome, Save) else None,
        pushed=committed.pushed,
        fetch_s=fetch_s,
        write_s=write_s,
    )
