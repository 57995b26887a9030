"""The protocol of markers, explored exhaustively: no order of steps, deaths and losses loses a request.

Protocols that look as good are explored too and found out, or else the explorer sees nothing.
GHCRAWL_TEST_DEEP=1 explores further, for some minutes.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import pytest

from ghcrawl.ports.dedup import DedupMarker
from ghcrawl.values.frozen import replace
from ghcrawl.values.type_names import LEGACY_PLATFORM
from queues.dedup_protocol import DedupProtocol
from tests.support.builders import NOW, a_request, at
from tests.unit.queues.interleavings import (
    KEY,
    OURS,
    Explorer,
    Lost,
    Message,
    Protocol,
    Want,
    World,
    nothing_is_renewed,
)

SAME = Want()
URGENT = Want(queue="immediate")
LATER = Want(asked_at=at(1))
ANYWAY = Want(queue="later", asked_at=None)

QUICK: list[Any] = [
    pytest.param([SAME, SAME], {"crashes": 1}, marks=pytest.mark.slow),
    pytest.param([URGENT, ANYWAY], {"crashes": 1}, marks=pytest.mark.slow),
    ([SAME, SAME], {"losses": 2}),
    ([SAME, LATER], {"losses": 1}),
    ([SAME, SAME], {"consumers": 2}),
    ([URGENT, LATER], {"consumers": 2}),
    ([SAME, ANYWAY], {"consumers": 2}),
]
DEEP: list[Any] = [
    ([SAME, URGENT], {"crashes": 1, "losses": 1}),
    ([SAME, LATER], {"crashes": 1, "losses": 1}),
    ([SAME, SAME], {"crashes": 2}),
    ([SAME, SAME], {"consumers": 2, "crashes": 1}),
    ([URGENT, ANYWAY], {"consumers": 2, "crashes": 1}),
    ([SAME, SAME, SAME], {}),
    ([SAME, URGENT, ANYWAY], {}),
    ([SAME, LATER, ANYWAY], {"losses": 1}),
]
BOUNDS = DEEP if os.environ.get("GHCRAWL_TEST_DEEP") else QUICK


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(("wants", "bounds"), BOUNDS)
def test_no_order_of_steps_loses_a_request(wants: list[Want], bounds: dict[str, Any]) -> None:
    explorer = Explorer(wants, **bounds)
    assert explorer.run() > 1000
    assert explorer.lies == 0, (
        "a queued marker's copy waits, or is in the hand of somebody who will delete the marker first"
    )


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_what_a_broker_loses_is_published_again_from_its_tags() -> None:
    """Its markers hold it. In between they tell of copies that are not there, and nobody relies on that for ever."""
    assert Explorer([SAME, SAME], wipes=1).run() > 1000


def test_what_a_broker_loses_is_lost_where_nobody_publishes_it_again() -> None:
    with pytest.raises(Lost):
        Explorer([SAME], wipes=1, protocol=replace(OURS, renew=nothing_is_renewed)).run()


# Protocols that look as good ---------------------------------------------------------------------------------


async def tag_once_then_publish(world: World, want: Want, token: str) -> None:
    """One state: whoever dies after dedup has told everybody that something waits."""
    if not await world.insert([a_tag(want, token, queued=True)]):
        await world.publish([a_tag(want, token, queued=False)])


async def publish_then_tag(world: World, want: Want, token: str) -> None:
    """No state before the copy is there: it may be gone again before it is marked."""
    if not await world.find([KEY]):
        await world.publish([a_tag(want, token, queued=False)])
        await world.insert([a_tag(want, token, queued=True)])


class AnyTokenWorld(World):
    """A database that is told neither whose marker to confirm nor whose to delete."""

    async def confirm(self, keys: Sequence[str], token: str) -> None:
        await super().confirm(keys, "any")


async def confirm_whatever_is_there(world: World, want: Want, token: str) -> None:
    """Confirming by key alone: the marker may be somebody else's by now, whose copy was never sent."""
    await OURS.push(AnyTokenWorld(), want, token)


async def tag_last(world: World, message: Message) -> None:
    """Working before untagging: others rely on work that began before they asked."""
    await world.work()
    await world.delete(KEY, message.token)


async def trust_pending(world: World, want: Want, token: str) -> None:
    """Bouncing off a marker whose copy nobody has confirmed."""
    if await world.insert([a_tag(want, token, queued=False)]):
        return
    await world.publish([a_tag(want, token, queued=False)])
    await world.confirm([KEY], token)


async def ignore_what_was_asked(world: World, message: Message) -> None:
    """Letting a copy go because any other one waits, even one that was asked for earlier."""
    dedup = DedupProtocol(markers=world, pack=world.pack, publish=world.publish, sleep=world.sleep)
    eager = replace(a_request(), asked_at=at(-100))
    if await dedup.take(eager, "later", token=message.token) != "superfluous":
        await world.work()


def a_tag(want: Want, token: str, *, queued: bool) -> DedupMarker:
    fields: dict[str, Any] = {
        "platform": LEGACY_PLATFORM,
        "queue": want.queue,
        "asked_at": want.asked_at,
        "not_before": None,
        "at": NOW,
    }
    return DedupMarker(key=KEY, token=token, queued=queued, **fields)


@pytest.mark.parametrize(
    ("protocol", "wants", "bounds"),
    [
        (replace(OURS, push=tag_once_then_publish), [SAME, SAME], {"crashes": 1}),
        (replace(OURS, push=publish_then_tag), [SAME, SAME], {}),
        (replace(OURS, push=trust_pending), [SAME, SAME], {"crashes": 1}),
        (replace(OURS, push=confirm_whatever_is_there), [SAME, SAME], {"crashes": 1}),
        (replace(OURS, consume=tag_last), [SAME, SAME], {}),
        (replace(OURS, consume=ignore_what_was_asked), [LATER, URGENT], {"crashes": 1}),
    ],
    ids=lambda value: value.push.__name__ + value.consume.__name__ if isinstance(value, Protocol) else None,
)
def test_a_protocol_that_looks_as_good_loses_requests(
    protocol: Protocol, wants: list[Want], bounds: dict[str, Any]
) -> None:
    with pytest.raises(Lost):
        Explorer(wants, protocol=protocol, **bounds).run()
