"""The predecessor's client and dashboard, call by call as they make them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import pytest

from ghcrawl.admin import legacy_shapes
from ghcrawl.ports.deadletters import DeadletterFilter
from ghcrawl.ports.queue import by_queue
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.errors import SpecError
from ghcrawl.values.requests import Push
from stores.memory import MemoryDeadletters
from tests.support.builders import API, a_deadletter, a_payload, a_request, at
from tests.unit.admin.conftest import TOKEN, Asker, Peeked, Rig


@pytest.fixture
def client(asker: Asker) -> Asker:
    """As its client sends a token."""
    return Asker(asker.client, "")


async def call(client: Asker, method: str, path: str, body: Any = None) -> Any:
    return await client.ask(method, path, body, X_token=TOKEN)


# The command line ---------------------------------------------------------------------------------------------


async def test_start_and_stop(rig: Rig, client: Asker):
    stop = [{"op": "replace", "path": "/crawler/count", "value": 0}]
    assert (await call(client, "PATCH", "/config", stop)).status == 200
    assert (await rig.live.read()).settings.crawl.paused
    assert (await call(client, "GET", "/config")).json["crawler"]["count"] == 0
    start = [{"op": "replace", "path": "/crawler/count", "value": "4"}]  # commander passes what was typed
    assert (await call(client, "PATCH", "/config", start)).text == "OK"
    crawl = (await rig.live.read()).settings.crawl
    assert (crawl.paused, crawl.loops) == (False, 4)
    assert rig.applied == 2


async def test_queue_orgs_repos_users_and_objects(client: Asker, waiting: Peeked):
    event = {
        "type": "event",
        "url": f"{API}/repos/acme/web/events/7",
        "payload": {"body": {"id": "7"}, "etag": 1, "fetchedAt": "2026-11-21T12:00:07.000Z"},
        "policy": "default:self",
    }
    assert (await call(client, "POST", "/requests/soon", ["acme", "acme/web", event])).status == 201
    org, repo, found = await waiting("soon")
    assert [(one.type, one.policy) for one in (org, repo, found)] == [
        ("org", "default"),
        ("repo", "default"),
        ("event", "default:self"),
    ]
    assert found.payload is not None
    assert (found.payload.body, found.payload.observed_at) == ({"id": "7"}, at(7))
    assert (await call(client, "POST", "/requests", "users/octocat")).status == 201
    assert [one.url for one in await waiting("normal")] == [f"{API}/users/octocat"]


async def test_orgs_are_what_may_be_crawled(rig: Rig, client: Asker):
    await call(client, "PATCH", "/config", [{"op": "replace", "path": "/crawler/orgList", "value": ["acme", "globex"]}])
    assert (await rig.live.read()).settings.crawl.allow == ("acme", "globex")
    assert (await call(client, "GET", "/config")).json["crawler"]["orgList"] == ["acme", "globex"]


async def test_tokens_are_taken_and_never_shown(rig: Rig, client: Asker):
    assert (await call(client, "PUT", "/config/tokens", "ghp_abc#public;ghp_def#private,admin")).status == 200
    assert rig.used_tokens == ["ghp_abc#public;ghp_def#private,admin"]
    assert (await call(client, "GET", "/config/tokens")).json == ["ghp_…1234#public"]
    assert (await call(client, "PUT", "/config/tokens", ["ghp_abc"])).status == 422


async def test_deadletters_as_the_client_counts_lists_requeues_and_deletes_them(
    rig: Rig, client: Asker, waiting: Peeked
):
    for number in range(3):
        await rig.deadletters.bury(a_deadletter(number, last_at=at(number)))
    rig.clock.advance(60)
    head = await call(client, "HEAD", "/deadletters")
    assert (head.status, head.headers["X-Total-Count"]) == (204, "3")
    listed = await call(client, "GET", "/deadletters")
    assert listed.headers["X-Total-Count"] == "3"
    letter = listed.json[0]
    assert letter["extra"] == {
        "type": "issue",
        "url": f"{API}/repos/acme/web/issues/2",
        "reason": "http_503: Service Unavailable",
    }
    assert letter["processedAt"][2:19] == "26-11-21T12:00:02"  # how the dashboard shows a date
    assert letter["links"]["self"]["href"] == letter["urn"]
    shown = (await call(client, "GET", f"/deadletters/{letter['urn']}")).json
    assert shown["_metadata"]["extra"] == letter["extra"]
    assert (shown["type"], shown["policy"]["map"]["name"]) == ("issue", "issue")
    assert (await call(client, "DELETE", f"/deadletters/{letter['urn']}?requeue=soon")).status == 204
    assert len(await waiting("soon")) == 1
    assert (await call(client, "DELETE", f"/deadletters/{a_deadletter(0).urn}")).status == 204
    assert (await call(client, "DELETE", f"/deadletters/{a_deadletter(0).urn}")).status == 404
    assert (await rig.deadletters.count(DeadletterFilter())).total == 1


async def test_all_deadletters_are_listed_with_few_of_them_in_memory(rig: Rig):
    class Paged(MemoryDeadletters):
        limits: ClassVar[list[int]] = []

        async def list(self, which: DeadletterFilter, *, limit: int, after: str = "") -> Sequence[Deadletter]:
            self.limits.append(limit)
            return await super().list(which, limit=limit, after=after)

    rig.over["deadletters"] = kept = Paged()
    letters = [a_deadletter(number, last_at=at(number)) for number in range(250)]
    for letter in letters:
        await kept.bury(letter)
    async with rig.running() as asker:
        listed = await call(asker, "GET", "/deadletters")
    assert [each["urn"] for each in listed.json] == [letter.urn for letter in reversed(letters)]
    assert max(kept.limits) <= 200


async def test_a_list_of_deadletters_ends_also_where_some_are_forgotten_meanwhile(rig: Rig):
    class Shrinking(MemoryDeadletters):
        async def list(self, which: DeadletterFilter, *, limit: int, after: str = "") -> Sequence[Deadletter]:
            page = await super().list(which, limit=limit, after=after)
            await self.delete([letter.urn for letter in page[-1:]])
            return page

    rig.over["deadletters"] = kept = Shrinking()
    for number in range(150):
        await kept.bury(a_deadletter(number, last_at=at(number)))
    async with rig.running() as asker:
        found = [each["urn"] for each in (await call(asker, "GET", "/deadletters")).json]
    assert len(found) == len(set(found)) >= 100


# The dashboard ------------------------------------------------------------------------------------------------


async def test_what_the_dashboard_needs_of_the_configuration_is_there(client: Asker):
    config = (await call(client, "GET", "/config")).json
    assert (config["crawler"]["name"], config["crawler"]["count"]) == ("w1", 20)
    assert config["queuing"]["weights"] == {"event": 10, "immediate": 3, "soon": 2, "normal": 3, "later": 2}
    assert (await call(client, "GET", "/status")).json == {"actualCount": 2, "delay": 0}
    assert (await call(client, "GET", "/")).status == 204


async def test_requests_are_shown_without_taking_them_and_taken_when_that_is_meant(rig: Rig, client: Asker):
    requests = [a_request(1), a_request(2, policy="mutables+7d:issue@/comments", payload=a_payload({"id": 2}))]
    await rig.queue.push([Push(request=request, queue="soon") for request in requests])
    assert len((await call(client, "GET", "/requests/soon?count=5")).json) == 2
    first, second = (await call(client, "GET", "/requests/soon?count=5")).json
    assert (first["type"], first["attemptCount"]) == ("issue", 0)
    assert second["policy"] == {"fetch": "mutables", "freshness": 7, "map": {"name": "issue", "path": "/comments"}}
    assert second["payload"] == {"body": {"id": 2}, "fetchedAt": "2026-11-21T12:00:00.000Z"}
    assert (await call(client, "GET", "/requests/soon?count=0")).json == []
    assert len((await call(client, "DELETE", "/requests/soon?count=1")).json) == 1
    depth = by_queue(await rig.queue.depths())["soon"]
    assert (depth.ready, depth.in_flight) == (1, 0)
    assert len((await call(client, "DELETE", "/requests/soon?count=9")).json) == 1


async def test_a_flushed_queue_leaves_the_others_alone(rig: Rig, client: Asker):
    await rig.queue.push([Push(request=a_request(1), queue="soon"), Push(request=a_request(2), queue="later")])
    assert (await call(client, "GET", "/queues/soon/info")).json == {"count": 1, "metricsName": "soon"}
    assert (await call(client, "PUT", "/queues/soon")).status == 200
    depths = by_queue(await rig.queue.depths())
    assert (depths["soon"].total, depths["later"].total) == (0, 1)


# Mistakes -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("PATCH", "/config", [{"op": "replace", "path": "/crawler/cuont", "value": 3}], 422),
        ("PATCH", "/config", [{"op": "test", "path": "/crawler/count", "value": 3}], 422),
        ("PATCH", "/config", [{"op": "replace", "path": "/crawler/count", "value": "many"}], 422),
        ("PATCH", "/config", [{"op": "replace", "path": "/nothing/at/all", "value": 3}], 422),
        ("PATCH", "/config", [{"op": "replace", "path": "/queuing/weights", "value": {"sooon": 1}}], 422),
        ("PATCH", "/config", {"op": "replace"}, 422),
        ("PATCH", "/config", [3], 422),
        ("POST", "/requests/nowhere", ["acme"], 404),
        ("POST", "/requests", [], 422),
        ("POST", "/requests", [7], 422),
        ("POST", "/requests", [{"type": "constructor", "url": "x"}], 422),
        ("POST", "/requests", [{"type": "issue"}], 422),
        ("POST", "/requests", ["two words"], 422),
        ("POST", "/requests", [{"type": "issue", "url": "x", "payload": {"body": {}, "fetchedAt": "now"}}], 422),
        ("GET", "/requests/nowhere", None, 404),
        ("GET", "/requests/soon?count=101", None, 422),
        ("PUT", "/queues/nowhere", None, 404),
        ("GET", "/queues/nowhere/info", None, 404),
        ("GET", "/deadletters/urn:deadletter:none", None, 404),
        ("DELETE", "/deadletters/urn:deadletter:none?requeue=nowhere", None, 422),
    ],
)
async def test_a_mistake_is_said_and_changes_nothing(
    rig: Rig, client: Asker, method: str, path: str, body: Any, status: int
):
    answer = await call(client, method, path, body)
    assert answer.status == status
    assert answer.json["detail"]
    assert await rig.queue.is_empty()
    assert (await rig.live.read()).live == {}


async def test_one_bad_operation_among_good_ones_changes_nothing(rig: Rig, client: Asker):
    patch = [
        {"op": "replace", "path": "/crawler/count", "value": 3},
        {"op": "replace", "path": "/queuing/weights/later/value", "value": -1},
    ]
    assert (await call(client, "PATCH", "/config", patch)).status == 422
    assert (await rig.live.read()).live == {}
    patch[1]["value"] = 0
    await call(client, "PATCH", "/config", patch)
    assert (await rig.live.read()).live == {"crawl.loops": 3, "crawl.paused": False, "crawl.weights.later": 0}
    await call(client, "PATCH", "/config", [{"op": "remove", "path": "/queuing/weights"}])
    await call(client, "PATCH", "/config", [{"op": "remove", "path": "/crawler/count"}])
    assert (await rig.live.read()).live == {}


def test_a_policy_object_is_read_as_it_was_written():
    request = a_request(policy="originStorage+match:repo@/issues/comments")
    value = legacy_shapes.request_json(request)
    again = legacy_shapes.read_request(value, clock=None, policy="default")  # type: ignore[arg-type]  # never asked
    assert again.policy == request.policy
    with pytest.raises(SpecError, match="a request has a type and a url"):
        legacy_shapes.read_request({"type": 3}, clock=None, policy="default")  # type: ignore[arg-type]  # never asked


async def test_a_refusal_has_the_message_that_the_predecessors_client_shows(asker: Asker):
    for method, path in (("GET", "/queues/none/info"), ("GET", "/deadletters/urn:none"), ("PATCH", "/config")):
        answer = await asker.ask(method, path, None if method == "GET" else {})
        assert answer.status >= 400
        assert answer.json["message"] == answer.json["detail"]
    asker.token = "wrong-token"
    assert (await asker.get("/status")).json["message"] == "unknown token"
