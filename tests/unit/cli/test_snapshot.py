from __future__ import annotations

from typing import Any

from ghcrawl.cli.snapshot import Pace, Quota, Snapshot, depth_line, estimate
from ghcrawl.fetch.circuit_breaker import Outage
from ghcrawl.ports.queue import Depth
from ghcrawl.values.lanes import QueueName
from tests.support.builders import NOW, at


def a_snapshot(**over: Any) -> Snapshot:
    fields: dict[str, Any] = {"now": NOW, "title": "Crawling acme", "elapsed_s": 80.0, "depths": {}}
    return Snapshot(**(fields | over))


def a_pace(*marks: tuple[float, int, int, int]) -> Pace:
    pace = Pace()
    for at_s, settled, saved, waiting in marks:
        pace.mark(at_s, settled=settled, saved=saved, waiting=waiting)
    return pace


def test_rates_are_those_of_the_last_fifteen_seconds() -> None:
    pace = a_pace((0, 0, 0, 100), (10, 5000, 900, 100), (20, 5100, 920, 90), (25, 5150, 930, 85))
    assert pace.settled_per_s == 10
    assert pace.saved_per_s == 2
    assert pace.drained_per_s == 1


def test_a_moment_is_too_short_for_a_rate() -> None:
    assert a_pace((0, 0, 0, 0)).settled_per_s == 0
    assert a_pace((0, 0, 0, 0), (1.9, 100, 0, 0)).settled_per_s == 0


def test_the_estimate_goes_by_how_fast_the_queues_drain() -> None:
    pace = a_pace((0, 0, 0, 1000), (10, 400, 0, 800))
    assert estimate(pace, waiting=800, calls=0, quota=None) == "about 40 s"


def test_while_the_queues_grow_the_estimate_is_a_lower_bound() -> None:
    pace = a_pace((0, 0, 0, 100), (10, 100, 0, 1000))
    assert estimate(pace, waiting=1000, calls=0, quota=5000) == "more than 1 min 40 s; still discovering requests"


def test_where_the_quota_does_not_suffice_the_estimate_says_so() -> None:
    pace = a_pace((0, 0, 0, 1000), (10, 400, 0, 800))
    text = estimate(pace, waiting=800, calls=1200, quota=40)
    assert text == "about 1,200 calls; 40 left in the quota"


def test_nobody_can_tell_before_anything_was_done() -> None:
    assert estimate(a_pace((0, 0, 0, 5)), waiting=5, calls=5, quota=None) == ""


def test_what_is_reserved_cannot_be_used() -> None:
    assert Quota(label="a", remaining=100, limit=1000, reserved=50).usable == 50
    assert Quota(label="a", remaining=20, limit=1000, reserved=50).usable == 0
    assert Quota(label="a", remaining=100, limit=1000, trouble="asked to pause").usable == 100, "a pause ends"
    assert Quota(label="a").usable == 0


def test_an_outage_is_told_with_its_reason_and_when_it_is_tried_again() -> None:
    outage = Outage(base_url="https://api.example.test", reason="connection refused", since=NOW, until=at(8))
    (note,) = a_snapshot(outage=outage).notes.values()
    assert note == (
        "cannot reach https://api.example.test (connection refused); next attempt in 8 s. "
        "Ctrl-C stops and loses nothing."
    )


def test_while_there_is_no_quota_it_is_told_until_when_and_what_waits() -> None:
    depths = {"event": Depth(ready=7), "soon": Depth(ready=1000, delayed=239), "later": Depth(in_flight=1)}
    (note,) = a_snapshot(depths=depths, quota_until=at(1800)).notes.values()
    clock = at(1800).astimezone().strftime("%H:%M")
    what = "1,247 requests wait, 7 of which need no API call"
    assert note == f"quota exhausted; waiting until {clock}; {what}. Ctrl-C stops and loses nothing."
    (alike,) = a_snapshot(depths={"soon": Depth(ready=1240)}, quota_until=at(1800)).notes.values()
    assert alike == f"quota exhausted; waiting until {clock}; 1,240 requests wait. Ctrl-C stops and loses nothing."


def test_while_every_credential_is_to_pause_that_is_told_and_not_that_the_quota_is_used_up() -> None:
    depths: dict[QueueName, Depth] = {"soon": Depth(ready=1)}
    quotas = [Quota(label="a", remaining=9, trouble="asked to pause"), Quota(label="b", trouble="asked to pause")]
    (note,) = a_snapshot(depths=depths, quota_until=at(1800), quotas=quotas).notes.values()
    assert note.startswith("asked to pause until ")
    (note,) = a_snapshot(depths=depths, quota_until=at(1800), quotas=[*quotas, Quota(label="c")]).notes.values()
    assert note.startswith("quota exhausted; waiting until ")


def test_while_a_minute_has_all_the_calls_it_may_have_the_quota_is_not_said_to_be_used_up() -> None:
    quotas = [Quota(label="a", remaining=3900, reserved=250), Quota(label="b", trouble="asked to pause")]
    (note,) = a_snapshot(depths={"soon": Depth(ready=364)}, quota_until=at(60), quotas=quotas).notes.values()
    assert note.startswith("rate limit per minute reached; waiting until ")
    quotas = [Quota(label="a", remaining=250, reserved=250)]
    (note,) = a_snapshot(depths={"soon": Depth(ready=364)}, quota_until=at(60), quotas=quotas).notes.values()
    assert note.startswith("quota exhausted; waiting until ")


def test_everything_else_that_is_in_the_way_is_told_too() -> None:
    notes = a_snapshot(paused="ghcrawl config set …", trouble="the disk is full", stopping="Stopping").notes
    assert notes == {
        "paused": "paused; resume with: ghcrawl config set …",
        "trouble": "the disk is full; retrying",
        "stopping": "Stopping",
    }


def test_depths_are_told_in_the_order_of_the_queues() -> None:
    depths: dict[QueueName, Depth] = {
        "later": Depth(ready=1, delayed=1000),
        "event": Depth(in_flight=3),
        "soon": Depth(ready=2),
    }
    assert depth_line(depths) == "event 0 · soon 2 · later 1,001"
    snapshot = a_snapshot(depths=depths)
    assert (snapshot.waiting, snapshot.delayed, snapshot.in_hand) == (1006, 1000, 3)
