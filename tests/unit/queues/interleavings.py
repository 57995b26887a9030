"""Every order in which pushers and consumers of one key can take their steps, die, and be cut off: the real code.

A program is run one call at a time: each call on markers, broker or clock suspends it, the explorer carries the call
out on a state that is plain data, and whoever is next goes on. What a program remembers follows from the answers it
got, so a state is small, and no state is looked at twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Generator, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct

from ghcrawl.ports.dedup import DedupMarker
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import Lane, QueueName
from ghcrawl.values.requests import Push, Request
from queues.codec import encode
from queues.dedup_protocol import DedupProtocol, key_of
from tests.support.builders import NOW, a_request

Program: TypeAlias = Coroutine[Any, Any, Any]


class Call(NamedTuple):
    """What a program asks the world for."""

    name: str
    arguments: tuple[Any, ...]

    def __await__(self) -> Generator[Call, Any, Any]:
        return (yield self)


class World:
    """Markers, broker and clock as the programs see them: everything is a call that suspends."""

    async def find(self, keys: Sequence[str]) -> Mapping[str, DedupMarker]:
        return dict(await Call("find", ()))

    async def insert(self, markers: Sequence[DedupMarker]) -> frozenset[str]:
        return frozenset(await Call("insert", tuple(markers)))

    async def replace(self, pairs: Sequence[tuple[DedupMarker, DedupMarker]]) -> None:
        await Call("replace", tuple(pairs))

    async def confirm(self, keys: Sequence[str], token: str) -> None:
        await Call("confirm", (token,))

    async def delete(self, key: str, token: str) -> bool:
        return bool(await Call("delete", (token,)))

    async def pack(self, request: Request) -> bytes:
        return encode(request)

    async def publish(self, markers: Sequence[DedupMarker]) -> None:
        (marker,) = markers
        await Call("publish", (Message(marker.token, marker.queue, marker.asked_at),))

    async def sleep(self, seconds: float) -> None:
        """No step: what others do meanwhile, they may do before whatever comes next."""

    async def work(self) -> None:
        await Call("work", ())

    async def any_queued(self, platforms: Collection[str] | None = None) -> bool:
        raise NotImplementedError

    async def delayed(self, now: datetime) -> Mapping[Lane, int]:
        raise NotImplementedError

    def written(self, before: datetime, lane: Lane | None = None) -> AsyncIterator[DedupMarker]:
        raise NotImplementedError

    async def clear(self, lane: Lane) -> int:
        raise NotImplementedError

    async def sweep(self, before: datetime) -> int:
        raise NotImplementedError


class Message(NamedTuple):
    """A copy in the broker."""

    token: str
    queue: QueueName
    asked_at: datetime | None


class Want(NamedTuple):
    """What one pusher pushes."""

    queue: QueueName = "normal"
    asked_at: datetime | None = NOW

    def request(self) -> Request:
        return a_request(asked_at=self.asked_at)

    def is_served_by(self, message: Message) -> bool:
        if message.asked_at is None or self.asked_at is None:
            return message.asked_at is None
        return message.asked_at >= self.asked_at


class Protocol(Struct, frozen=True):
    """What a pusher and a consumer do, and whoever finds that the broker has lost everything.

    A consumer calls `work` when it begins to, and may not.
    """

    push: Callable[[World, Want, str], Program]
    consume: Callable[[World, Message], Program]
    renew: Callable[[World, str], Program]


async def _push(world: World, want: Want, token: str) -> None:
    dedup = DedupProtocol(markers=world, pack=world.pack, publish=world.publish, sleep=world.sleep, settle_s=(0.0,))
    await dedup.push([Push(request=want.request(), queue=want.queue)], token=token, now=NOW)


async def _consume(world: World, message: Message) -> None:
    dedup = DedupProtocol(markers=world, pack=world.pack, publish=world.publish, sleep=world.sleep)
    request = a_request(asked_at=message.asked_at)
    if await dedup.take(request, message.queue, token=message.token) != "superfluous":
        await world.work()


async def _renew(world: World, token: str) -> None:
    dedup = DedupProtocol(markers=world, pack=world.pack, publish=world.publish, sleep=world.sleep)
    if found := await world.find([KEY]):
        marker = replace(found[KEY], body=b"as it travels")
        await dedup.renew([marker], token=token, now=NOW)


async def nothing_is_renewed(world: World, token: str) -> None:
    """A broker that lost everything is left as it is."""


OURS = Protocol(push=_push, consume=_consume, renew=_renew)
KEY = key_of(a_request())


class Pusher(NamedTuple):
    """answers: to its calls so far; None: not begun. sent: its copy is in the broker and the confirm on its way."""

    attempt: int = 0
    answers: tuple[Any, ...] | None = None
    sent: bool = False
    done: bool = False
    served: bool = False


class Consumer(NamedTuple):
    """message: in hand, not acked. answers: to its calls about it."""

    message: Message | None = None
    answers: tuple[Any, ...] = ()


class State(NamedTuple):
    marker: DedupMarker | None
    broker: tuple[Message, ...]
    pushers: tuple[Pusher, ...]
    consumers: tuple[Consumer, ...]
    crashes: int
    losses: int
    wipes: int


class Lost(AssertionError):
    """A push returned, and nobody began to work on its request afterwards."""


class Explorer:
    """All reachable states of these pushers and that many consumers.

    crashes: how many times a pusher or a consumer may die; a pusher's work is then done again, with a new token, and
    what a consumer had in hand comes back. losses: how many times the marker may vanish. wipes: how many times the
    broker may lose all it has, which somebody finds then.

    lies: in how many states a marker was queued whose copy does not wait.
    """

    def __init__(
        self,
        wants: Sequence[Want],
        *,
        consumers: int = 1,
        crashes: int = 0,
        losses: int = 0,
        wipes: int = 0,
        protocol: Protocol = OURS,
    ) -> None:
        self.lies = 0
        self._wants = wants
        self._protocol = protocol
        self._world = World()
        renewer = Pusher(done=True)
        pushers, idle = tuple(Pusher() for _ in wants), tuple(Consumer() for _ in range(consumers))
        self._start = State(None, (), (*pushers, renewer), idle, crashes, losses, wipes)
        self._pushes_next = lru_cache(maxsize=None)(self._call_of_pusher)
        self._consumes_next = lru_cache(maxsize=None)(self._call_of_consumer)

    def run(self) -> int:
        """How many states there are. Raises Lost."""
        seen, stack = {self._start}, [self._start]
        while stack:
            state = stack.pop()
            self._check(state)
            following = list(self._following(state))
            if not following:
                self._check_end(state)
            for each in following:
                if each not in seen:
                    seen.add(each)
                    stack.append(each)
        return len(seen)

    # What holds

    def _check(self, state: State) -> None:
        """A queued marker's copy waits, or is in the hand of somebody who will delete the marker first."""
        marker = state.marker
        if marker is None or not marker.queued:
            return
        untaken = [c.message for c in state.consumers if c.message is not None and not c.answers]
        if Message(marker.token, marker.queue, marker.asked_at) not in (*state.broker, *untaken):
            self.lies += 1

    def _check_end(self, state: State) -> None:
        if not all(pusher.served for pusher in state.pushers[: len(self._wants)]):
            raise Lost(f"nobody works on what was pushed: {state}")

    # What can happen next

    def _following(self, state: State) -> Iterator[State]:
        for index, pusher in enumerate(state.pushers):
            if not pusher.done:
                yield self._pushed(state, index, pusher)
            if not pusher.done and pusher.answers is not None and state.crashes:
                dead = _with(state.pushers, index, Pusher(attempt=pusher.attempt + 1))
                yield state._replace(pushers=dead, crashes=state.crashes - 1)
        for index, consumer in enumerate(state.consumers):
            if consumer.message is None:
                yield from self._popped(state, index)
            else:
                yield self._consumed(state, index, consumer, consumer.message)
                if state.crashes:
                    back = _put(state.broker, consumer.message)
                    idle = _like(state.consumers, index, Consumer())
                    yield state._replace(broker=back, consumers=idle, crashes=state.crashes - 1)
        yield from self._harmed(state)

    def _harmed(self, state: State) -> Iterator[State]:
        if state.marker is not None and state.losses:
            yield state._replace(marker=None, losses=state.losses - 1)
        renewer = state.pushers[-1]
        if state.wipes and renewer.done:
            anew = _with(state.pushers, len(self._wants), Pusher(attempt=renewer.attempt + 1))
            yield state._replace(broker=(), pushers=anew, wipes=state.wipes - 1)

    def _popped(self, state: State, index: int) -> Iterator[State]:
        for message in set(state.broker):
            rest = list(state.broker)
            rest.remove(message)
            taken = _like(state.consumers, index, Consumer(message))
            yield state._replace(broker=tuple(rest), consumers=taken)

    def _pushed(self, state: State, index: int, pusher: Pusher) -> State:
        begun = pusher if pusher.answers is not None else pusher._replace(answers=(), served=False)
        call = self._pushes_next(index, begun.attempt, begun.answers or ())
        if call is None:
            return state._replace(pushers=_with(state.pushers, index, pusher._replace(answers=(), done=True)))
        if call.name == "publish" and not begun.sent:
            sent = _with(state.pushers, index, begun._replace(sent=True))
            return state._replace(broker=_put(state.broker, call.arguments[0]), pushers=sent)
        marker, answer = (state.marker, None) if call.name == "publish" else _applied(call, state.marker)
        gone_on = begun._replace(answers=(*(begun.answers or ()), answer), sent=False)
        return state._replace(marker=marker, pushers=_with(state.pushers, index, gone_on))

    def _consumed(self, state: State, index: int, consumer: Consumer, message: Message) -> State:
        call = self._consumes_next(message, consumer.answers)
        if call is None:
            return state._replace(consumers=_like(state.consumers, index, Consumer()))
        pushers, marker, answer = state.pushers, state.marker, None
        if call.name == "work":
            begun = [pusher.answers is not None for pusher in pushers]
            pushers = (
                tuple(
                    pusher._replace(served=pusher.served or (begun[n] and want.is_served_by(message)))
                    for n, (pusher, want) in enumerate(zip(pushers, self._wants, strict=False))
                )
                + pushers[-1:]
            )
        else:
            marker, answer = _applied(call, marker)
        gone_on = consumer._replace(answers=(*consumer.answers, answer))
        return state._replace(marker=marker, pushers=pushers, consumers=_like(state.consumers, index, gone_on))

    # The programs

    def _call_of_pusher(self, index: int, attempt: int, answers: tuple[Any, ...]) -> Call | None:
        token = f"{index}.{attempt}"
        if index == len(self._wants):
            return _next_call(self._protocol.renew(self._world, token), answers)
        return _next_call(self._protocol.push(self._world, self._wants[index], token), answers)

    def _call_of_consumer(self, message: Message, answers: tuple[Any, ...]) -> Call | None:
        return _next_call(self._protocol.consume(self._world, message), answers)


def _next_call(program: Program, answers: tuple[Any, ...]) -> Call | None:
    """What `program` asks for after these answers; None: it has returned."""
    try:
        call: Call = program.send(None)
        for answer in answers:
            call = program.send(answer)
    except StopIteration:
        return None
    program.close()
    return call


def _applied(call: Call, marker: DedupMarker | None) -> tuple[DedupMarker | None, Any]:
    """The marker after the call, and the answer to it."""
    match call:
        case Call("find", _):
            return marker, ((KEY, marker),) if marker is not None else ()
        case Call("insert", (new,)):
            return (new, ()) if marker is None else (marker, (KEY,))
        case Call("replace", ((old, new),)):
            return (new if marker is not None and marker.token == old.token else marker), None
        case Call("confirm", (token,)):
            return (
                replace(marker, queued=True) if marker is not None and token in (marker.token, "any") else marker
            ), None
        case Call("delete", (token,)):
            return (None, True) if marker is not None and token in (marker.token, "any") else (marker, False)
    return marker, None


def _put(broker: tuple[Message, ...], message: Message) -> tuple[Message, ...]:
    return tuple(sorted((*broker, message), key=repr))


def _with(actors: tuple[Any, ...], index: int, actor: Any) -> tuple[Any, ...]:
    return (*actors[:index], actor, *actors[index + 1 :])


def _like(consumers: tuple[Consumer, ...], index: int, consumer: Consumer) -> tuple[Consumer, ...]:
    """Consumers are all alike: which is which makes no state."""
    return tuple(sorted(_with(consumers, index, consumer), key=repr)) if len(consumers) > 1 else (consumer,)
