"""What the API says of deliveries that did not arrive."""

from __future__ import annotations

from ghcrawl.redelivery.state import STATE, Lease, State
from tests.support.builders import at
from tests.unit.admin.conftest import Asker, Rig

PATH = "/api/v1/redelivery"


async def test_the_last_look_and_what_was_sent_again_are_shown(rig: Rig, asker: Asker):
    shown = (await asker.get(PATH)).json
    assert (shown["enabled"], shown["names"], shown["every_s"], shown["last"]) == (True, ["acme"], 300.0, None)
    rig.tried.try_("lost-1")
    await rig.redelivery.turn()
    shown = (await asker.get(PATH)).json
    told = {"delivery": "lost-1", "hook": "acme", "event": "issues", "failed_at": "2026-11-21T12:00:00.000Z"}
    assert shown["last"]["again"] == [told | {"tries": 1}]
    assert shown["waiting"] == [told | {"tries": 1, "due_at": "2026-11-21T12:05:00.000Z"}]
    assert (shown["last"]["lost"], shown["last"]["asked"], shown["last"]["worker"]) == (1, 1, "w1")
    assert (shown["next_at"], shown["sweeping"]) == ("2026-11-21T12:05:00.000Z", None)


async def test_who_sweeps_is_shown_as_long_as_that_may_be(rig: Rig, asker: Asker):
    await rig.store.write_state(STATE, State(lease=Lease(worker="w2", until=at(60))).to_json())
    assert (await asker.get(PATH)).json["sweeping"] == "w2"
    rig.clock.advance(60)
    assert (await asker.get(PATH)).json["sweeping"] is None


async def test_an_operator_has_it_looked_at_once(rig: Rig, asker: Asker):
    await rig.redelivery.turn()
    assert await rig.redelivery.turn() is None
    assert (await asker.post(PATH)).json["next_at"] is None
    assert await rig.redelivery.turn() is not None


async def test_where_nobody_is_asked_that_is_said(rig: Rig):
    rig.over["redelivery"] = None
    async with rig.running() as asker:
        shown, refused = (await asker.get(PATH)).json, await asker.post(PATH)
    assert (shown["enabled"], shown["names"], shown["last"]) == (False, [], None)
    assert (refused.status, "service.redeliver" in refused.json["detail"]) == (409, True)
