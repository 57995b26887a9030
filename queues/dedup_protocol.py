"""How dedup markers are used by pushes and pops, where the broker cannot list its messages.

    push   1 find the markers of all keys: a push that is covered by a queued marker bounces off it
           2 every other key gets a pending marker of this push with its body, inserted or in place of the one found
           3 publish all; the broker confirms
           4 the pending markers that are still this push's are queued
    take   1 delete the marker of this very copy, before anything else is done with it
           2 if it had none: a queued marker of another copy that covers this one makes this one superfluous; without
           one,
             it may have been taken before, by a consumer that died of it
    renew  what a broker has lost is published again from its markers, as a push of a request that waits

A push that finds a pending marker gives its owner a moment to finish, and takes the marker over if it does not: the
owner may be dead. An owner that was only slow then confirms nothing, and its copy waits without a marker: one copy
more.

Nothing here looks at a clock except to write it down, and nothing is undone after a failure: at any step a process may
die. Explored exhaustively, with two protocols that look as good and lose requests, in
`tests/unit/queues/test_dedup_interleavings.py`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Final, Literal, TypeAlias

from msgspec import Struct

from ghcrawl.ports.dedup import DedupMarker, DedupMarkers
from ghcrawl.ports.queue import Pushed
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.requests import Push, Request
from queues.merging import Copy, merge

SETTLE_S: Final = (0.02, 0.05, 0.1, 0.25, 0.5)
"""How long a pending marker of another push is left to it, look by look: about a second in all."""
FEW: Final = 2
"""So few keys are inserted without a look first: hardly ever is one of them there."""


Publish: TypeAlias = Callable[[Sequence[DedupMarker]], Awaitable[None]]
"""Makes the copies that these markers tell of durable in the broker. Raises QueueError; then any of them may be."""

Taken = Literal["first", "again", "superfluous"]
"""The first delivery of this copy; perhaps a second one; a better copy waits."""


def key_of(request: Request) -> str:
    """The request's key as markers know it."""
    return request.key.hex()


class DedupProtocol(Struct, frozen=True, kw_only=True):
    """Pushes and takes by the protocol.

    pack: a request as it travels; raises Unstorable. sleep: waits that many seconds.
    settle_s: the pauses between reads of another process's pending marker.
    """

    markers: DedupMarkers
    pack: Callable[[Request], Awaitable[bytes]]
    publish: Publish
    sleep: Callable[[float], Awaitable[None]]
    settle_s: Sequence[float] = SETTLE_S

    async def push(self, pushes: Sequence[Push], *, token: str, now: datetime) -> Pushed:
        """All of `pushes` wait when this returns: as they are, or because something that covers them was waiting.

        token: never used before. Raises QueueError and StoreError; then any of them may wait, marked or not.
        """
        wanted = apart(pushes)
        found = await self._settled(list(wanted)) if len(wanted) > FEW else {}
        ours = {key: await self._marker(key, each, token, now) for key, each in wanted.items() if key not in found}
        raced = await self.markers.insert(list(ours.values())) if ours else frozenset[str]()
        if raced:
            found |= await self._settled(list(raced))
        for key, there in found.items():
            each = wanted[key]
            if not there.covers(each.queue, each.request.asked_at):
                ours[key] = await self._marker(key, _merged(there, each), token, now)
            else:
                ours.pop(key, None)
        await self._publish([(found[key], ours[key]) for key in found if key in ours], list(ours.values()))
        queued = sum(not (key in found and found[key].queued) for key in ours)
        return Pushed(queued=queued, bounced=len(pushes) - queued)

    async def renew(self, lost: Sequence[DedupMarker], *, token: str, now: datetime) -> None:
        """What these markers tell of waits again, although the broker has lost it. A marker without a body goes.

        The next discovery of that request pushes it. Raises QueueError and StoreError.
        """
        for marker in lost:
            if not marker.body:
                await self.markers.delete(marker.key, marker.token)
        pairs = [(marker, replace(marker, token=token, queued=False, at=now)) for marker in lost if marker.body]
        if not pairs:
            return
        await self.markers.replace(pairs)
        found = await self.markers.find([marker.key for _, marker in pairs])
        # What was popped, or renewed by another process, since it was read is theirs: a copy of ours would have no
        # marker.
        ours = [marker for _, marker in pairs if (there := found.get(marker.key)) is not None and there.token == token]
        await self._publish((), ours)

    async def _publish(self, over: Sequence[tuple[DedupMarker, DedupMarker]], markers: Sequence[DedupMarker]) -> None:
        """The copies of these pending markers wait. over: those of them that take another's place, with that one."""
        if over:
            await self.markers.replace(over)
        if markers:
            await self.publish(markers)
            await self.markers.confirm([marker.key for marker in markers], markers[0].token)

    async def _marker(self, key: str, push: Push, token: str, now: datetime) -> DedupMarker:
        return DedupMarker(
            key=key,
            token=token,
            queued=False,
            platform=push.request.platform,
            queue=push.queue,
            asked_at=push.request.asked_at,
            not_before=push.not_before,
            at=now,
            body=await self.pack(push.request),
        )

    async def _settled(self, keys: Sequence[str]) -> dict[str, DedupMarker]:
        """The markers on these keys, after concurrent pushes of the same had a moment to finish."""
        found = dict(await self.markers.find(keys))
        for seconds in self.settle_s:
            pending = [key for key, marker in found.items() if not marker.queued]
            if not pending:
                break
            await self.sleep(seconds)
            found = {key: marker for key, marker in found.items() if marker.queued} | dict(
                await self.markers.find(pending)
            )
        return found

    async def take(self, request: Request, queue: QueueName, *, token: str | None) -> Taken:
        """What to do with a copy that was popped from `queue`: work on it, or let it go because a better one waits.

        token: of the push that sent it; None: it came without. Raises StoreError; then it must not be worked on.
        """
        key = key_of(request)
        if token is not None and await self.markers.delete(key, token):
            return "first"
        other = (await self.markers.find([key])).get(key)
        return "superfluous" if other is not None and other.covers(queue, request.asked_at) else "again"

    async def twin(self, request: Request, queue: QueueName) -> DedupMarker | None:
        """The marker of another copy that says neither more nor less; None: there is none. Raises StoreError.

        It was pushed when this copy had no marker any more, or it would have bounced off that: this one had been taken.
        """
        key = key_of(request)
        other = (await self.markers.find([key])).get(key)
        same = other is not None and (other.queue, other.asked_at) == (queue, request.asked_at)
        return other if same else None


def apart(pushes: Iterable[Push]) -> dict[str, Push]:
    """One push a key: what the queue would make of them one after another."""
    wanted: dict[str, Push] = {}
    for each in pushes:
        key = key_of(each.request)
        twin = wanted.get(key)
        if twin is None:
            wanted[key] = each
        elif merged := merge(_copy(twin), _copy(each)):
            kept = each if merged.replaced else twin
            wanted[key] = replace(kept, queue=merged.queue, not_before=merged.not_before)
    return wanted


def _merged(marker: DedupMarker, push: Push) -> Push:
    """The copy to send where another one waits: it covers the other, which is let go when it is popped after it."""
    if not marker.queued:
        return push
    merged = merge(Copy(marker.queue, marker.asked_at, marker.not_before), _copy(push))
    if merged is None:
        return push
    request = push.request if merged.replaced else replace(push.request, asked_at=marker.asked_at)
    return replace(push, request=request, queue=merged.queue, not_before=merged.not_before)


def _copy(push: Push) -> Copy:
    return Copy(push.queue, push.request.asked_at, push.not_before)
