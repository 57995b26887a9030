"""What the routes of the documented API do, on memory adapters."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import ANY
from urllib.parse import quote

import pytest

from ghcrawl.admin import search
from ghcrawl.admin.openapi import document
from ghcrawl.admin.routing import Bounds
from ghcrawl.admin.server import DESCRIBED
from ghcrawl.engine import batch_mismatches
from ghcrawl.ports.deadletters import DeadletterCounts, DeadletterFilter
from ghcrawl.ports.queue import by_queue
from ghcrawl.ports.store import store_id
from ghcrawl.settings.live import Base, LiveSettings
from ghcrawl.telemetry.history import Seen
from ghcrawl.values.documents import Document
from ghcrawl.values.errors import QueueError, StoreError
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.requests import Push
from ghcrawl.values.type_names import TypeName
from ghcrawl.wiring import SETTINGS
from queues.memory import MemoryQueue
from stores.memory import MemoryStore
from tests.support.builders import API, NOW, a_deadletter, a_document, a_request, at, by_type
from tests.support.lanes import lanes
from tests.unit.admin.conftest import Asker, Peeked, Rig

# Queues and requests ------------------------------------------------------------------------------------------


async def test_the_queues_say_how_much_they_hold_and_how_fast_they_go(rig: Rig, asker: Asker):
    pushes = [Push(request=a_request(n), queue="soon", not_before=at(60) if n == 3 else None) for n in (1, 2, 3)]
    await rig.queue.push(pushes)
    await rig.queue.pop(lanes("soon"), patience_s=0)
    queues = (await asker.get("/api/v1/queues")).json["queues"]
    assert [queue["name"] for queue in queues] == ["event", "immediate", "soon", "normal", "later"]
    soon = {
        "name": "soon",
        "ready": 1,
        "delayed": 1,
        "in_flight": 1,
        "total": 3,
        "oldest_at": "2026-11-21T12:00:00.000Z",
        "settled_last_minute": 5,
        "platforms": {"github": {"ready": 1, "delayed": 1, "in_flight": 1}},
    }
    assert queues[2] == soon
    assert (await asker.get("/api/v1/queues/soon")).json == soon
    assert (await asker.get("/api/v1/queues/sooon")).status == 404


async def test_looking_changes_nothing_and_purging_forgets_one_queue(rig: Rig, asker: Asker):
    await rig.queue.push([Push(request=a_request(n), queue="soon") for n in range(3)])
    await rig.queue.push([Push(request=a_request(9), queue="later")])
    for _ in range(2):
        found = (await asker.get("/api/v1/queues/soon/requests?limit=2")).json["requests"]
        assert [request["type"] for request in found] == ["issue", "issue"]
    assert (await asker.ask("DELETE", "/api/v1/queues/soon/requests")).json == {"purged": 3}
    assert (await asker.ask("DELETE", "/api/v1/queues/later/requests?platform=other")).json == {"purged": 0}
    assert (await asker.get("/api/v1/queues/later/requests?platform=other")).json["requests"] == []
    depths = by_queue(await rig.queue.depths())
    assert (depths["soon"].total, depths["later"].total) == (0, 1)


async def test_what_a_person_types_and_what_a_program_writes_is_pushed(asker: Asker, waiting: Peeked):
    body = {
        "specs": ["acme", "acme/web"],
        "requests": [{"type": "issue", "url": "https://api.example.test/repos/acme/web/issues/1"}],
        "queue": "soon",
        "policy": "refresh",
    }
    dry = await asker.post("/api/v1/requests", {**body, "dry_run": True})
    assert (dry.status, dry.json["queued"], len(dry.json["requests"])) == (200, 0, 3)
    assert list(await waiting("soon")) == []
    answer = await asker.post("/api/v1/requests", body)
    assert (answer.status, answer.json["queued"], answer.json["bounced"]) == (201, 3, 0)
    assert {(one.type, one.policy, one.asked_at) for one in await waiting("soon")} == {
        ("org", "refresh", NOW),
        ("repo", "refresh", NOW),
        ("issue", "refresh", NOW),
    }
    assert (await asker.post("/api/v1/requests", body)).json["bounced"] == 3


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "specs or requests"),
        ({"specs": ["what is this"]}, "nobody can read 'what is this'"),
        ({"specs": ["acme"], "policy": "defualt"}, "unknown policy 'defualt'"),
        ({"specs": ["acme"], "policy": "default:nowhere"}, "unknown map 'nowhere'"),
        ({"specs": ["acme"], "queue": "soonish"}, "queue"),
        ({"specs": ["acme"], "que": "soon"}, "que"),
        ({"specs": "acme"}, "specs"),
        ({"specs": [""]}, "specs.0"),
        ({"requests": [{"type": "issue"}]}, "the message lacks 'url'"),
        ({"requests": [{"type": "isue", "url": "x"}]}, "unknown type 'isue'"),
        ({"requests": [{"type": "issue", "url": "x", "platform": "gitlab"}]}, "unknown platform 'gitlab'"),
        ({"requests": [{"type": "issue", "url": "x", "v": 99}]}, "a newer ghcrawl wrote it"),
        ({"requests": ["acme"]}, "requests.0"),
        ({"specs": ["a"] * 1001}, "specs"),
        ([], "body"),
    ],
)
async def test_a_push_with_a_mistake_pushes_nothing_and_says_where(rig: Rig, asker: Asker, body: Any, field: str):
    answer = await asker.post("/api/v1/requests", body)
    assert answer.status == 422
    assert field in answer.json["detail"]
    if "policy" in body:
        assert [error["field"] for error in answer.json["errors"]] == ["policy"]
    assert await rig.queue.is_empty()


# Deadletters --------------------------------------------------------------------------------------------------


async def bury(rig: Rig, *letters: Any) -> None:
    for letter in letters:
        await rig.deadletters.bury(letter)


async def test_deadletters_are_listed_in_pages_filtered_and_counted(rig: Rig, asker: Asker):
    letters = [a_deadletter(n, kind="Malformed" if n % 2 else "http_503", last_at=at(n)) for n in range(7)]
    await bury(rig, *letters)
    seen, after = [], ""
    while True:
        page = (await asker.get(f"/api/v1/deadletters?limit=3&after={after}")).json
        seen += [letter["urn"] for letter in page["deadletters"]]
        if page["next"] is None:
            break
        after = page["next"]
    assert seen == [letter.urn for letter in reversed(letters)]
    few = (await asker.get("/api/v1/deadletters?kind=Malformed&kind=Other")).json["deadletters"]
    assert [letter["kind"] for letter in few] == ["Malformed"] * 3
    counts = (await asker.get("/api/v1/deadletter-counts?reason=unavail")).json
    assert counts == {
        "total": 7,
        "types": shown(issue=7),
        "by_type": {"issue": 7},
        "by_kind": {"Malformed": 3, "http_503": 4},
    }
    rig.clock.advance(100)
    assert (await asker.get("/api/v1/deadletter-counts?older_than_s=98")).json["total"] == 2
    assert (await asker.get("/api/v1/deadletter-counts?before=2026-11-21T12:00:01Z")).json["total"] == 1
    assert (await asker.get("/api/v1/deadletter-counts?host=api.example.test")).json["total"] == 7


async def test_one_deadletter_tells_its_whole_story(rig: Rig, asker: Asker):
    letter = a_deadletter(traceback="Traceback: here", raw=b"\xff\x00")
    await bury(rig, letter)
    story = (await asker.get(f"/api/v1/deadletters/{letter.urn}")).json
    assert story["failures"][0] == {
        "at": "2026-11-21T12:00:00.000Z",
        "cause": "http_503",
        "message": "Service Unavailable",
        "status": 503,
        "worker": "",
    }
    assert (story["traceback"], story["raw"], story["request"]["v"]) == ("Traceback: here", "/wA=", 1)
    assert (await asker.get("/api/v1/deadletters/urn:deadletter:none")).status == 404


async def test_deadletters_are_requeued_one_many_and_all_and_first_in_words(rig: Rig, asker: Asker, waiting: Peeked):
    await bury(rig, *(a_deadletter(n, kind="Malformed" if n < 3 else "http_503") for n in range(6)))
    rig.clock.advance(1)
    dry = await asker.post("/api/v1/deadletters/requeue", {"kind": ["Malformed"], "dry_run": True})
    moment = "2026-11-21T12:00:01.000000Z"
    would = {"left": 3, "before": moment, "dry_run": True}
    assert dry.json == {"matched": 3, "queued": 0, "bounced": 0, "unreadable": 0, **would}
    assert await rig.queue.is_empty()
    one = await asker.post(f"/api/v1/deadletters/{a_deadletter(5).urn}/requeue?to=immediate")
    assert one.json["queued"] == 1
    assert len(await waiting("immediate")) == 1
    many = await asker.post("/api/v1/deadletters/requeue", {"kind": ["Malformed"], "to": "soon"})
    assert (many.json["queued"], len(await waiting("soon"))) == (3, 3)
    rest = await asker.post("/api/v1/deadletters/requeue", {"all": True})
    assert (rest.json["queued"], len(await waiting("normal"))) == (2, 2)
    assert (await rig.deadletters.count(DeadletterFilter())).total == 0


async def test_deadletters_are_deleted_one_many_and_all_and_first_in_words(rig: Rig, asker: Asker):
    await bury(rig, *(a_deadletter(n, kind="Malformed" if n < 3 else "http_503") for n in range(6)))
    rig.clock.advance(1)
    dry = await asker.post("/api/v1/deadletters/delete", {"all": True, "dry_run": True})
    moment = "2026-11-21T12:00:01.000000Z"
    assert dry.json == {"matched": 6, "deleted": 0, "left": 6, "before": moment, "dry_run": True}
    assert (await asker.ask("DELETE", f"/api/v1/deadletters/{a_deadletter(5).urn}")).json["deleted"] == 1
    some = await asker.post("/api/v1/deadletters/delete", {"urns": [a_deadletter(0).urn, "urn:deadletter:none"]})
    assert some.json["deleted"] == 1
    assert (await asker.post("/api/v1/deadletters/delete", {"kind": ["Malformed"]})).json["deleted"] == 2
    assert (await asker.post("/api/v1/deadletters/delete", {"all": True})).json["deleted"] == 2
    assert await rig.queue.is_empty()


@pytest.mark.parametrize("action", ["requeue", "delete"])
async def test_an_answer_that_has_no_time_for_all_says_what_is_left_and_how_to_go_on(
    rig: Rig, asker: Asker, action: str
):
    rig.pieces = 1
    await bury(rig, *(a_deadletter(n, last_at=at(n / 1e6)) for n in range(5)))
    rig.clock.advance(1)
    did = "queued" if action == "requeue" else "deleted"
    body: JsonObject = {"type": ["issue"]}
    seen = []
    while True:
        answer = (await asker.post(f"/api/v1/deadletters/{action}", body)).json
        seen.append((answer["matched"], answer[did], answer["left"]))
        await bury(rig, a_deadletter(10 + len(seen), last_at=rig.clock.now()))
        rig.clock.advance(1)
        if not answer["left"]:
            break
        body = {**body, "before": answer["before"]}
    assert seen == [(5, 2, 3), (3, 2, 1), (1, 1, 0)]
    assert answer["before"] is None
    assert (await rig.deadletters.count(DeadletterFilter())).total == 3, "what is given up meanwhile is not meant"


async def test_whoever_only_repeats_the_same_words_comes_to_the_end_too(rig: Rig, asker: Asker):
    rig.pieces = 1
    await bury(rig, *(a_deadletter(n, last_at=at(n / 1e6)) for n in range(5)))
    rig.clock.advance(1)
    left = [(await asker.post("/api/v1/deadletters/requeue", {"all": True})).json["left"] for _ in range(3)]
    assert left == [3, 1, 0]


@pytest.mark.parametrize("body", [{}, {"dry_run": True}, {"kind": []}, {"alll": True}, {"to": "nowhere", "all": True}])
@pytest.mark.parametrize("action", ["requeue", "delete"])
async def test_nothing_is_done_to_all_unless_all_is_said(rig: Rig, asker: Asker, action: str, body: Any):
    await bury(rig, a_deadletter())
    assert (await asker.post(f"/api/v1/deadletters/{action}", body)).status == 422
    assert (await rig.deadletters.count(DeadletterFilter())).total == 1


# Documents ----------------------------------------------------------------------------------------------------


async def test_documents_are_found_by_urn_by_url_and_by_type_in_pages(rig: Rig, asker: Asker):
    for number in range(5):
        await rig.store.save(a_document(number, aliases=(f"https://old.test/{number}",)))
    await rig.store.save(a_document(9, type="repo", urn="urn:repo:9", url="https://api.example.test/repos/acme/nine"))
    one = (await asker.get("/api/v1/documents/urn:repo:12:issue:3")).json
    assert Document.from_json(one).urn == "urn:repo:12:issue:3"
    assert (await asker.get("/api/v1/documents/urn:repo:12:issue:99")).status == 404
    by_url = (await asker.get("/api/v1/documents?url=https://old.test/2")).json
    assert [each["_metadata"]["urn"] for each in by_url["documents"]] == ["urn:repo:12:issue:2"]
    page = (await asker.get("/api/v1/documents?type=issue&limit=3")).json
    rest = (await asker.get(f"/api/v1/documents?type=issue&limit=3&after={page['next']}")).json
    assert (len(page["documents"]), len(rest["documents"]), rest["next"]) == (3, 2, None)
    scoped = (await asker.get("/api/v1/documents?scope=urn:repo:9")).json["documents"]
    assert [each["_metadata"]["type"] for each in scoped] == ["repo"]
    counts = (await asker.get("/api/v1/document-counts")).json
    known = {"issue": 5, "repo": 1}
    assert counts.pop("store") == await store_id(rig.store)
    assert counts == {"total": 6, "types": shown(issue=5, repo=1), "by_type": known, "entities": known}
    assert (await asker.get("/api/v1/documents?url=x&type=issue")).status == 422


async def test_list_pages_are_left_out_on_demand_unless_their_type_is_named(rig: Rig, asker: Asker):
    await rig.store.save(a_document(1))
    await rig.store.save(a_document(2, type="issues", urn="urn:repo:12:issues:page:1", body={"elements": []}))

    async def found(query: str) -> list[str]:
        documents = (await asker.get(f"/api/v1/documents?{query}")).json["documents"]
        return [each["_metadata"]["type"] for each in documents]

    assert await found("") == ["issue", "issues"]
    assert await found("lists=false") == ["issue"]
    assert await found("lists=false&type=issues") == ["issues"]
    counts = (await asker.get("/api/v1/document-counts")).json
    assert (counts["by_type"], counts["entities"]) == ({"issue": 1, "issues": 1}, {"issue": 1})


# The service itself -------------------------------------------------------------------------------------------


async def test_the_status_shows_everything_and_no_secret(rig: Rig, asker: Asker):
    status = (await asker.get("/api/v1/status")).json
    assert (status["worker"], status["loops"]["running"], len(status["queues"])) == ("w1", 2, 5)
    assert (status["platforms"], status["base_urls"]) == ([mount.name for mount in rig.site().mounts], {"github": API})
    assert status["figures"] == {"requests": {"done": 3}}
    busy, idle = (await asker.get("/api/v1/loops")).json["doing"]
    assert (busy["type"], busy["url"], busy["queue"]) == ("issue", a_request(7).url, "normal")
    assert (idle["type"], idle["since"]) == (None, "2026-11-21T12:00:00.000Z")
    (principal,) = (await asker.get("/api/v1/principals")).json["principals"]
    assert principal["budgets"][0]["remaining"] == 4000


async def test_principals_come_with_the_batches_that_are_off(rig: Rig, asker: Asker):
    assert (await asker.get("/api/v1/principals")).json["differences"] == []
    (mount,) = rig.site().mounts
    await batch_mismatches.remember(rig.store, mount.name, mount.base_url, {"user": ("company",)})
    found = (await asker.get("/api/v1/principals")).json["differences"]
    assert found == [{"platform": mount.name, "type": "user", "fields": ["company"]}]


def shown(**counts: int) -> list[dict[str, Any]]:
    return [{"platform": "github", "type": type, "count": count} for type, count in counts.items()]


async def test_the_status_counts_nothing_by_itself(rig: Rig):
    async def stored() -> Mapping[TypeName, int]:
        return by_type(repo=2, issue=3)

    async def buried() -> DeadletterCounts:
        return DeadletterCounts(total=4, by_type=by_type(repo=4), by_kind={"http_503": 4})

    rig.over |= {"stored": stored, "buried": buried}
    async with rig.running() as asker:
        status = (await asker.get("/api/v1/status")).json
    known = {"issue": 3, "repo": 2}
    assert status["documents"] == {
        "total": 5,
        "types": shown(issue=3, repo=2),
        "by_type": known,
        "entities": known,
    }
    assert (status["deadletters"]["total"], status["deadletters"]["by_kind"]) == (4, {"http_503": 4})


async def test_settings_are_changed_for_all_written_down_and_shown_with_their_origin(rig: Rig, asker: Asker):
    changed = (await asker.ask("PATCH", "/api/v1/settings", {"crawl.loops": 7, "crawl.weights.later": 0})).json
    assert [(each["name"], each["before"], each["after"]) for each in changed["changes"]] == [
        ("crawl.loops", None, 7),
        ("crawl.weights.later", None, 0),
    ]
    assert rig.applied == 1
    shown = (await asker.get("/api/v1/settings")).json
    assert (shown["settings"]["crawl"]["loops"], shown["origins"]["crawl.loops"]) == (7, "live")
    assert shown["live"] == {"crawl.loops": 7, "crawl.weights.later": 0}
    rig.clock.advance(5)
    await asker.ask("PATCH", "/api/v1/settings", {"crawl.loops": None})
    newest, *_ = (await asker.get("/api/v1/settings/audit")).json["changes"]
    assert newest["at"] == "2026-11-21T12:00:05.000Z"
    assert (newest["name"], newest["before"], newest["after"]) == ("crawl.loops", 7, None)
    assert newest["who"].startswith("token ")
    assert "operator-token" not in json.dumps(newest)


@pytest.mark.parametrize(
    ("wanted", "field", "sentence"),
    [
        ({"crawl.lops": 5}, "crawl.lops", "did you mean crawl.loops?"),
        ({"lops": 5}, "lops", "did you mean crawl.loops?"),
        ({"crawl.loops": 5, "crawl.weights.lter": 1}, "crawl.weights.lter", "did you mean crawl.weights.later?"),
        ({"crawl.loops": 0}, "crawl.loops", "greater than 0"),
        ({"crawl.loops": 5, "crawl.max_attempts": "x"}, "crawl.max_attempts", "valid integer"),
        ({"crawl.loops": [5]}, "crawl.loops", "valid integer"),
        ({"crawl.weights.soon": False}, "crawl.weights.soon", "a number, not False"),
        ({"crawl.paused": 1}, "crawl.paused", "true or false, not 1"),
        ({"github.concurrency": 101}, "github.concurrency", "less than or equal to 100"),
        ({"log.level": "loud"}, "log.level", "'debug'"),
        ({"store.provider": "memory"}, "store.provider", "cannot be changed at run time"),
        ({f"crawl.weights.{name}": 0 for name in ("event", "immediate", "soon", "normal", "later")}, "", "weight"),
    ],
)
async def test_a_patch_with_a_mistake_changes_nothing_and_says_which_field(
    rig: Rig, asker: Asker, wanted: Any, field: str, sentence: str
):
    answer = await asker.ask("PATCH", "/api/v1/settings", wanted)
    assert answer.status == 422
    assert sentence in answer.json["detail"]
    assert not field or field in [error["field"] for error in answer.json["errors"]]
    assert (await rig.live.read()).live == {}
    assert await rig.live.audit() == []


async def test_a_setting_of_a_newer_version_holds_nothing_up_is_shown_and_can_be_unset(rig: Rig, asker: Asker):
    await rig.store.write_state("live", {"crawl.newer_setting": 1})
    assert (await asker.post("/api/v1/pause")).status == 200
    shown = (await asker.get("/api/v1/settings")).json
    assert shown["live"] == {"crawl.paused": True}
    assert shown["not_understood"] == {"crawl.newer_setting": ANY}
    changed = (await asker.ask("PATCH", "/api/v1/settings", {"crawl.newer_setting": None})).json["changes"]
    assert [(each["name"], each["before"], each["after"]) for each in changed] == [("crawl.newer_setting", 1, None)]
    assert (await asker.get("/api/v1/settings")).json["not_understood"] == {}


async def test_a_pause_is_a_setting_of_all_replicas(rig: Rig, asker: Asker):
    await asker.post("/api/v1/pause")
    assert (await rig.live.read()).settings.crawl.paused
    await asker.post("/api/v1/resume")
    assert not (await rig.live.read()).settings.crawl.paused
    assert [entry.after for entry in await rig.live.audit()] == [False, True]


async def test_two_patches_at_once_both_hold(rig: Rig, asker: Asker):
    await asyncio.gather(
        *(asker.ask("PATCH", "/api/v1/settings", {f"crawl.weights.{name}": 9}) for name in ("event", "soon", "later"))
    )
    assert len((await rig.live.read()).live) == 3


# Bounds -------------------------------------------------------------------------------------------------------


async def test_a_request_is_bounded_in_size_and_time(rig: Rig):
    class Slow(MemoryQueue):
        async def depths(self) -> Any:
            await asyncio.Event().wait()

    rig.bounds = Bounds(max_bytes=1000, timeout_s=0.05)
    rig.over["queue"] = Slow(rig.clock)
    async with rig.running() as asker:
        large = await asker.post("/api/v1/requests", {"specs": ["x" * 1000]})
        slow = await asker.get("/api/v1/queues")
    assert (large.status, slow.status, slow.headers["Retry-After"]) == (413, 503, "5")


async def test_a_broker_that_is_away_is_no_bug(rig: Rig):
    class Away(MemoryQueue):
        async def depths(self) -> Any:
            raise QueueError("the broker is away")

    rig.over["queue"] = Away(rig.clock)
    async with rig.running() as asker:
        answer = await asker.get("/api/v1/queues")
    assert (answer.status, answer.json["detail"]) == (503, "the broker is away")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/nothing", 404),
        ("/api/v1/queues?limit=1", 422),
        ("/api/v1/queues/soon/requests?limit=0", 422),
        ("/api/v1/queues/soon/requests?limit=1&limit=2", 422),
        ("/api/v1/deadletters?before=yesterday", 422),
        ("/api/v1/deadletters?older_than_s=NaN", 422),
        ("/api/v1/deadletters?before=2026-01-01T00:00:00", 422),
    ],
)
async def test_what_cannot_be_answered_is_a_problem_document(asker: Asker, path: str, status: int):
    answer = await asker.get(path)
    assert (answer.status, answer.headers["Content-Type"]) == (status, "application/problem+json")
    assert answer.json["status"] == status


async def test_whoever_asks_for_what_there_is_not_is_told_where_to_look(asker: Asker):
    assert "/api/openapi.json" in (await asker.get("/api/v1/nothing")).json["detail"]
    answer = await asker.ask("DELETE", "/api/v1/queues")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET")
    assert answer.json["detail"] == "DELETE is not allowed; use GET"


@pytest.mark.parametrize(("text", "kind", "status"), [("{", "application/json", 400), ("{}", "text/plain", 415)])
async def test_a_body_that_is_not_json_is_refused(asker: Asker, text: str, kind: str, status: int):
    headers = {"Authorization": f"Bearer {asker.token}", "Content-Type": kind}
    response = await asker.client.post("/api/v1/requests", data=text, headers=headers)
    assert response.status == status


# The description ----------------------------------------------------------------------------------------------


async def test_the_api_is_described_by_what_answers_it(asker: Asker):
    described = (await Asker(asker.client, "").get("/api/openapi.json")).json
    assert described == json.loads(json.dumps(document(DESCRIBED, SETTINGS)))
    assert described["openapi"] == "3.1.0"
    operations = {(method.upper(), path) for path, methods in described["paths"].items() for method in methods}
    assert operations == {(route.method, route.path) for route in DESCRIBED}
    names = [found["operationId"] for methods in described["paths"].values() for found in methods.values()]
    assert len(names) == len(set(names))


def test_every_reference_in_the_description_leads_somewhere():
    described = document(DESCRIBED, SETTINGS)

    def references(value: Any) -> list[str]:
        if isinstance(value, dict):
            own = [value["$ref"]] if isinstance(value.get("$ref"), str) else []
            return own + [ref for item in value.values() for ref in references(item)]
        return [ref for item in value for ref in references(item)] if isinstance(value, list) else []

    schemas = described["components"]["schemas"]
    found = references(described)
    assert found
    assert {ref.removeprefix("#/components/schemas/") for ref in found} <= set(schemas)


async def test_a_change_that_others_always_outrun_is_a_conflict_and_changes_nothing():
    class Outrun(MemoryStore):
        async def swap_state(self, name: str, before: object, after: object) -> bool:
            return False

    rig = Rig()
    rig.live = LiveSettings(Outrun(), rig.clock, Base())
    async with rig.running() as asker:
        answer = await asker.ask("PATCH", "/api/v1/settings", {"crawl.loops": 7})
    assert (answer.status, rig.applied) == (409, 0)
    assert (await rig.live.read()).live == {}


def test_the_manual_names_every_route():
    manual = (Path(__file__).parents[3] / "docs/api.md").read_text(encoding="utf-8")
    words = {word for route in DESCRIBED for word in route.path.split("/") if word}
    assert [word for word in sorted(words) if f"/{word}" not in manual] == []


# Sources ------------------------------------------------------------------------------------------------------


async def test_a_source_is_watched_looked_at_and_removed(asker: Asker):
    added = await asker.post("/api/v1/sources", {"specs": ["acme", "acme"], "weight": 2, "every_d": 0.5})
    assert (added.status, added.json) == (201, {"added": 1, "changed": 0, "known": 0})
    again = await asker.post("/api/v1/sources", {"specs": ["acme"]})
    assert again.json == {"added": 0, "changed": 1, "known": 0}
    [listed] = (await asker.get("/api/v1/sources")).json["sources"]
    [named] = (await asker.get("/api/v1/sources?spec=acme")).json["sources"]
    assert listed == named
    assert (listed["due"], listed["why"], listed["weight"]) == (None, "never read", 1.0)
    [schedule] = (await asker.get("/api/v1/schedules")).json["schedules"]
    assert (schedule["sources"], schedule["ticked_at"]) == (1, None)
    assert (await asker.post("/api/v1/sources/remove", {"specs": ["acme"]})).json == {"removed": 1}
    assert (await asker.get("/api/v1/sources?spec=acme")).json["sources"] == []
    assert (await asker.get("/api/v1/schedules")).json["schedules"] == []


@pytest.mark.parametrize(
    "body",
    [{"specs": []}, {"specs": ["no spec"]}, {"specs": ["acme"], "weight": 0}, {"specs": ["acme"], "every_d": -1}, {}],
)
async def test_a_source_that_makes_no_sense_is_refused(asker: Asker, body: dict[str, Any]):
    assert (await asker.post("/api/v1/sources", body)).status == 422
    assert (await asker.get("/api/v1/sources")).json["sources"] == []


async def test_a_spec_excludes_the_other_parameters(asker: Asker):
    assert (await asker.get("/api/v1/sources?spec=acme&limit=3")).status == 422


# Nesting ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [260, 900])
async def test_a_document_nested_too_deep_leaves_its_page_readable(rig: Rig, asker: Asker, depth: int):
    body: JsonObject = {"number": 7}
    for _ in range(depth):
        body = {"a": body}
    deep = a_document(1, body=body)
    await rig.store.save(deep)
    await rig.store.save(a_document(2))
    page = await asker.get("/api/v1/documents")
    assert (page.status, len(page.json["documents"])) == (200, 2)
    assert (await asker.get(f"/api/v1/documents/{deep.urn}")).status == 200


async def test_a_body_nested_too_deep_is_refused(asker: Asker):
    deep: Any = {}
    for _ in range(120):
        deep = {"a": deep}
    answer = await asker.post("/api/v1/requests", {"requests": [{"type": "org", "url": "https://x", "payload": deep}]})
    assert (answer.status, answer.json["detail"]) == (422, "the body is nested deeper than 100 levels")


# Validation ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["0001-01-01T00:00:00%2B23:59", "9999-12-31T23:59:59-01:00"])
@pytest.mark.parametrize("path", ["/api/v1/documents?since=", "/api/v1/deadletters?before="])
async def test_a_date_at_the_edge_of_the_calendar_is_refused(asker: Asker, path: str, when: str):
    answer = await asker.get(f"{path}{when}")
    assert answer.status == 422
    assert "outside the years 1–9999" in answer.json["detail"]
    assert "Value error" not in answer.text


async def test_a_negative_attempt_is_refused(asker: Asker):
    asked = {"type": "org", "url": "https://x", "attempt": -5}
    assert (await asker.post("/api/v1/requests", {"requests": [asked]})).status == 422


BAD: Sequence[tuple[str, str]] = [
    ("https://evil.example/orgs/acme", "is not below"),
    (f"{API}/orgs/acme?access_token=sesame-1", "the URL has a credential as access_token"),
    ("https://me:sesame-1@api.example.test/orgs/acme", "the URL has a credential before the host"),
]


@pytest.mark.parametrize(("url", "sentence"), BAD)
@pytest.mark.parametrize("path", ["/api/v1/requests", "/requests"])
async def test_a_url_that_can_never_be_asked_is_refused_at_every_door(
    asker: Asker, rig: Rig, path: str, url: str, sentence: str
):
    asked = [{"type": "org", "url": url}]
    answer = await asker.post(path, {"requests": asked} if "api" in path else asked)
    assert (answer.status, sentence in answer.json["detail"]) == (422, True)
    assert "sesame" not in answer.text
    assert await rig.queue.is_empty()


async def test_an_unknown_type_is_answered_with_the_nearest(asker: Asker):
    answer = await asker.post("/api/v1/requests", {"requests": [{"type": "isue", "url": "https://x"}]})
    assert answer.json["detail"] == "unknown type 'isue'; did you mean issue?"


async def test_a_pause_that_could_not_be_stored_says_that_it_may_hold(rig: Rig):
    class Away(MemoryStore):
        async def swap_state(self, name: str, before: JsonObject | None, after: JsonObject) -> bool:
            raise StoreError("the database does not answer")

    rig.over["live"] = LiveSettings(Away(), rig.clock, Base(model=SETTINGS))
    async with rig.running() as asker:
        answer = await asker.post("/api/v1/pause")
    assert (answer.status, "may have been stored" in answer.json["detail"]) == (503, True)


def test_schemas_are_named_for_readers_and_each_is_used():
    described = document(DESCRIBED, SETTINGS)
    names = described["components"]["schemas"].keys()
    text = json.dumps(described)
    assert not [name for name in names if name.endswith(("Shape", "ing")) or "__" in name]
    assert [name for name in names if f"#/components/schemas/{name}" + '"' not in text] == []


def test_the_description_says_that_a_push_needs_something_to_push():
    body = document(DESCRIBED, SETTINGS)["components"]["schemas"]["PushBody"]
    assert [each["required"] for each in body["anyOf"]] == [["specs"], ["requests"]]
    assert body["properties"]["requests"]["items"]["required"] == ["type", "url"]


async def test_the_history_of_all_replicas_is_answered_step_by_step(rig: Rig, asker: Asker):
    rig.clock.advance(60)
    await rig.history.record(Seen(queues={"normal": 3}, documents=5, deadletters=1, kinds={"http_502": 1}, quota=0.5))
    answer = (await asker.get("/api/v1/history?span=24h")).json
    assert (answer["span"], answer["step_s"]) == ("24h", 600)
    assert answer["points"][-1] == {
        "at": ANY,
        "queues": {"normal": 3},
        "documents": 5,
        "deadletters": 1,
        "kinds": {"http_502": 1},
        "quota": 0.5,
        "done": dict.fromkeys(("settled", "saved", "calls", "failed", "throttled"), 0),
    }
    assert (await asker.get("/api/v1/history?span=1y")).status == 422


@pytest.mark.parametrize(
    ("words", "urns"),
    [
        ("acme/docs", ["urn:repo:12"]),
        ("urn:repo:12:issue:1", ["urn:repo:12:issue:1"]),
        (f"{API}/repos/acme/docs", ["urn:repo:12"]),
        ("WINDOW does", ["urn:repo:12:issue:2"]),
        ("no such words", []),
        ("https://api.example.test/nothing", []),
    ],
)
async def test_documents_are_found_by_what_a_person_calls_them(rig: Rig, asker: Asker, words: str, urns: list[str]):
    repo = a_document(type="repo", urn="urn:repo:12", url=f"{API}/repos/acme/docs", body={"full_name": "acme/docs"})
    page = a_document(urn="urn:repo:12:issues:page:1", url=f"{API}/p", body={"title": "window does", "elements": []})
    for one in (repo, page, a_document(1), a_document(2, title="The window does not close")):
        await rig.store.save(one)
    answer = (await asker.get(f"/api/v1/documents?q={quote(words)}")).json
    assert [document["_metadata"]["urn"] for document in answer["documents"]] == urns
    assert answer["complete"] is True


async def test_a_search_by_title_ends_in_time(rig: Rig, asker: Asker, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(search, "SEARCH_S", 0.0)
    monkeypatch.setattr(search, "AT_ONCE", 1)
    for number in range(3):
        await rig.store.save(a_document(number, title="other"))
    answer = (await asker.get("/api/v1/documents?q=window")).json
    assert (answer["documents"], answer["complete"]) == ([], False)
