"""The loop: pop → decide → settle. It would stay word for word the same for another API, broker or database.

`decide` writes nothing and returns one outcome. `settle` makes the outcome durable and only then lets go of the
request, so a crash at any line means *again*, never *lost*. Waiting is always a delayed push: it holds neither a
loop nor an unacked message.
"""

from __future__ import annotations

import asyncio
import random
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, assert_never
from uuid import uuid4

import structlog

from ghcrawl.decision import Decider, Decision, Mounted, unasked
from ghcrawl.errors import CrawlError, QueueError, StoreError, Unstorable
from ghcrawl.finished import finished
from ghcrawl.model import Deadletter, Document, Failure, Push, QueueName, Request
from ghcrawl.outcome import Bury, Defer, Outcome, OutcomeName, Retry, Save, Skip
from ghcrawl.ports import Clock, Committed, Delivery, Effects, Ledger, Observer, Queue, Settled, Store
from ghcrawl.ties import question
from ghcrawl.tuning import FREE_QUEUES, Tuning

log = structlog.stdlib.get_logger(__name__)

IN_HAND_WAIT_S: Final = 0.2
MAX_TROUBLE_S: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The outside, as the engine needs it.

    draw: the order in which one pop tries the queues, drawn by their weights.
    """

    queue: Queue
    store: Store
    ledger: Ledger
    clock: Clock
    observer: Observer
    draw: Callable[[Mapping[QueueName, int]], Sequence[QueueName]]


class Answered:
    """The requests that this process settled lately: a cheap first look before one is queued again.

    Only a short cut to what `Document.visits` says, and bounded: forgetting one costs a look-up, nothing else.
    """

    def __init__(self, limit: int = 100_000) -> None:
        self._limit = limit
        self._at: OrderedDict[bytes | tuple[str, str], datetime] = OrderedDict()

    def add(self, request: Request, at: datetime, *, refused: bool) -> None:
        """`request` was settled by what was true at `at`, or later. refused: none for its URL would fare better."""
        if request.payload is not None:
            return
        self._remember(request.key, at)
        if refused:
            self._remember(_place(request), at)

    def _remember(self, key: bytes | tuple[str, str], at: datetime) -> None:
        self._at[key] = max(at, self._at.get(key, at))
        self._at.move_to_end(key)
        if len(self._at) > self._limit:
            self._at.popitem(last=False)

    def covers(self, request: Request) -> bool:
        """Whether this was settled since it was asked for."""
        if request.asked_at is None or request.payload is not None:
            return False
        at = self._at.get(request.key)
        return (at is not None and at >= request.asked_at) or self.refused(request)

    def refused(self, request: Request) -> bool:
        """Whether the platform refused this URL since it was asked for, whatever else was wanted of it."""
        at = self._at.get(_place(request))
        return at is not None and request.asked_at is not None and at >= request.asked_at


def _place(request: Request) -> tuple[str, str]:
    return request.type, request.url


def _refused(request: Request, outcome: Outcome) -> bool:
    if request.context.deleted_at is not None or not isinstance(outcome, Skip):
        return False  # whoever buries asks nobody
    return outcome.reason == "missing" or outcome.reason.startswith("denied_")


class Engine:
    """Runs any number of loops over the same ports. Holds nothing that a crash could lose.

    jitter: a number in [0, 1) at each call.
    """

    def __init__(
        self,
        platforms: Sequence[Mounted],
        ports: Ports,
        *,
        tuning: Tuning,
        worker: str = "",
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.tuning = tuning
        self.busy = 0
        self._ports = ports
        self._jitter = jitter
        self._mounted = {mounted.platform.name: mounted for mounted in platforms}
        self._decider = Decider(self._mounted, ports.store, ports.clock, worker=worker)
        self._answered = Answered()
        self._in_hand: set[tuple[str, str]] = set()

    async def run(self, stop: asyncio.Event) -> None:
        """Take deliveries until `stop` is set. A broken broker or store slows the loop; it never ends it."""
        troubles = 0
        while not stop.is_set():
            try:
                await self._turn()
                troubles = 0
            except CrawlError as error:
                troubles += 1
                log.warning("loop_slowed", error=str(error), kind=type(error).__name__, troubles=troubles)
                await self._ports.clock.sleep(self._delay_s(troubles, cap_s=MAX_TROUBLE_S))

    async def _turn(self) -> None:
        if self.tuning.paused:
            await self._ports.clock.sleep(self.tuning.patience_s)
            return
        weights = self.tuning.weights
        if self.blocked_until() is not None:
            weights = {name: weight for name, weight in weights.items() if name in FREE_QUEUES}
        delivery = await self._ports.queue.pop(self._ports.draw(weights), patience_s=self.tuning.patience_s)
        if delivery is None:
            return
        if self.tuning.paused:  # while we waited: whoever pauses means from now on
            await finished(delivery.release())
            return
        await self.step(delivery)

    def blocked_until(self) -> datetime | None:
        """While no platform can be asked anything: when the first can be again."""
        first: datetime | None = None
        for mounted in self._mounted.values():
            until = mounted.fetcher.blocked_until()
            if until is None:
                return None
            first = until if first is None else min(first, until)
        return first

    async def step(self, delivery: Delivery) -> None:
        """Decide one delivery and make the decision durable: it is acked, or released and will come again."""
        request, started_at = delivery.request, self._ports.clock.now()
        monotonic = asyncio.get_running_loop().time
        place = _place(request) if request.payload is None and _place(request) not in self._in_hand else None
        self.busy += 1
        acked = False
        try:
            began = monotonic()
            decision = await self._take_in_hand(request, place)
            decided = monotonic()
            outcome, committed = await self.settle(delivery, decision)
            acked = True
            if isinstance(outcome, Save | Skip):
                at = min(started_at, decision.as_of or started_at)
                self._answered.add(request, at, refused=_refused(request, outcome))
            written = monotonic()
            self._ports.observer.settled(
                _settled(delivery, outcome, committed, fetch_s=decided - began, write_s=written - decided)
            )
        finally:
            self.busy -= 1
            if place is not None:
                self._in_hand.discard(place)
            if not acked:
                await finished(delivery.release())

    async def _take_in_hand(self, request: Request, place: tuple[str, str] | None) -> Decision:
        """Decide, unless this very URL is in hand in another loop: then its answer will soon serve this one too."""
        if place is not None:
            self._in_hand.add(place)
        elif request.payload is None:
            return Decision(outcome=Defer(until=self._in(IN_HAND_WAIT_S), reason="in_hand"))
        return await self.decide(request)

    async def decide(self, request: Request) -> Decision:
        """What is to become of `request`. Raises QueueError or StoreError only: those are no request's fault."""
        if request.payload is None and self._answered.refused(request):
            return unasked(request, "visited")
        try:
            async with asyncio.timeout(self.tuning.timeout_s):
                return await self._decider.decide(request, self.tuning)
        except (QueueError, StoreError):
            raise
        except Exception as error:  # noqa: BLE001  # the one broad catch: a bug costs an attempt, not the loop
            return self._decider.verdict(error)

    async def settle(self, delivery: Delivery, decision: Decision) -> tuple[Outcome, Committed]:
        """Make the decision durable, then ack. Returns what it came to.

        What the store can never hold is buried with that reason, and what trips a bug in an adapter loses an attempt,
        instead of coming back for ever. Raises QueueError or StoreError, always before the ack.
        """
        outcome, effects = self._effects(delivery, decision)
        try:
            return outcome, await self._ports.ledger.commit(delivery, effects)
        except Unstorable as error:
            failed: Exception = error
        except (QueueError, StoreError):
            raise
        except Exception as error:  # noqa: BLE001  # a bug costs an attempt here, too
            failed = error
        outcome, effects = self._effects(delivery, self._decider.verdict(failed))
        return outcome, await self._ports.ledger.commit(delivery, effects)

    def _effects(self, delivery: Delivery, decision: Decision) -> tuple[Outcome, Effects]:
        """The outcome that counts (one retry too many is a burial) and what it leaves behind."""
        request, outcome = delivery.request, decision.outcome
        match outcome:
            case Save(document=document, follow_ups=follow_ups, supersede=supersede):
                return outcome, Effects(
                    pushes=self._wanted(follow_ups),
                    document=document,
                    supersede=supersede,
                    if_tied=self._question(document, request),
                )
            case Skip(follow_ups=follow_ups):
                return outcome, Effects(
                    pushes=self._wanted(follow_ups), touch=decision.touch, document=decision.refusal
                )
            case Defer(until=until):
                return outcome, Effects(pushes=(Push(request=request, queue=delivery.queue, not_before=until),))
            case Retry(failure=failure, wait_s=wait_s) if request.attempt + 1 < self.tuning.max_attempts:
                until = self._in(wait_s or self._delay_s(request.attempt, cap_s=self.tuning.retry_cap_s))
                again = Push(request=request.failed(failure), queue=delivery.queue, not_before=until)
                return outcome, Effects(pushes=(again,))
            case Retry(failure=failure, traceback=text) | Bury(failure=failure, traceback=text):
                buried = Bury(failure=failure, traceback=text)
                return buried, Effects(deadletter=_deadletter(delivery, failure, text))
            case _:
                assert_never(outcome)

    def _wanted(self, follow_ups: Sequence[Push]) -> tuple[Push, ...]:
        admits, covers = self.tuning.scope.admits, self._answered.covers
        return tuple(p for p in follow_ups if admits(p.request.context.scope) and not covers(p.request))

    def _question(self, document: Document, request: Request) -> Push | None:
        """What settles a tie; None where the platform cannot be asked for this thing alone."""
        kind = self._mounted[request.platform].platform.kinds.get(document.type)
        if kind is None or kind.listed or kind.happening:
            return None
        return question(document, request, self._ports.clock.now())

    def _delay_s(self, failures: int, *, cap_s: float) -> float:
        """Exponential, with jitter of half to one and a half, so that a herd does not come back as one."""
        delay = min(cap_s, self.tuning.retry_base_s * 2.0 ** min(failures, 32))
        return delay * (0.5 + self._jitter())

    def _in(self, seconds: float) -> datetime:
        return self._ports.clock.now() + timedelta(seconds=seconds)


def _deadletter(delivery: Delivery, failure: Failure, text: str) -> Deadletter:
    request = delivery.request.failed(failure)
    return Deadletter(
        urn=f"urn:deadletter:{uuid4()}",
        request=request,
        queue=delivery.queue,
        kind=failure.cause,
        reason=failure.message,
        failures=request.failures,
        first_at=request.failures[0].at,
        last_at=failure.at,
        traceback=text,
    )


_NAMES: Final[Mapping[type, OutcomeName]] = {
    Save: "save",
    Skip: "skip",
    Defer: "defer",
    Retry: "retry",
    Bury: "bury",
}


def _settled(delivery: Delivery, outcome: Outcome, committed: Committed, *, fetch_s: float, write_s: float) -> Settled:
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
        request=delivery.request,
        queue=delivery.queue,
        outcome=_NAMES[type(outcome)],
        reason=reason,
        detail=detail,
        cause=cause,
        saved=committed.saved if isinstance(outcome, Save) else None,
        pushed=committed.pushed,
        fetch_s=fetch_s,
        write_s=write_s,
    )
