"""What GitHub remembers of webhook deliveries is asked as whoever may know, and nobody else's is touched."""

from __future__ import annotations

from typing import Any

import jwt
import pytest

from ghcrawl.fetch.github.fetcher import GitHubFetcher
from ghcrawl.fetch.github.hooks import GitHubHooks, demand_names
from ghcrawl.fetch.github.principals import Installation
from ghcrawl.fetch.redaction import Secret
from ghcrawl.ports.webhooks import ApiFailure, Attempt, Page
from ghcrawl.values.errors import ConfigError
from tests.support.builders import NOW
from tests.support.keys import as_pem, rsa_key
from tests.unit.fetch.conftest import Start
from tests.unit.fetch.scripted import HANG_UP, Reply, Scripted, Watching, no, ok, quota

OURS = "https://crawler.example/webhook"
ORG = "/orgs/acme/hooks"
ACCEPTED = Reply(status=202, body={}, headers=quota())
APP = Installation(app_id="12", installation_id=34, private_key=Secret(as_pem(rsa_key())))


def a_hook(id: int, url: str = OURS) -> dict[str, Any]:
    return {"id": id, "name": "web", "active": True, "config": {"url": url}}


def item(id: int, status: str | None = "OK", code: int | None = 202, **over: Any) -> dict[str, Any]:
    delivered = {"delivered_at": "2026-11-21T12:00:00Z", "redelivery": False, "event": "issues", "action": "opened"}
    return {"id": id, "guid": f"guid-{id}", "status": status, "status_code": code, **delivered, **over}


def hooks(fetcher: GitHubFetcher, server: Scripted, *names: str) -> GitHubHooks:
    return GitHubHooks(fetcher, server.url, names or ("acme",), OURS)


@pytest.mark.parametrize(
    ("name", "url", "sentence"),
    [
        ("acme", "", "service.redeliver contains acme, which requires service.webhook_url; set it"),
        ("app:13", OURS, "service.redeliver: app:13 is not in github.apps; add it there with its private key"),
        ("a/b/c", OURS, "service.redeliver: 'a/b/c' is not app:ID, the name of an organisation, or OWNER/REPO"),
    ],
)
def test_names_whose_webhooks_cannot_be_asked_for_are_refused(name: str, url: str, sentence: str):
    demand_names(("app:12",), "", apps=["12"])
    demand_names(("app:12", "acme", "acme/web.js"), OURS, apps=["12"])
    with pytest.raises(ConfigError) as refused:
        demand_names(("app:12", name), url, apps=["12"])
    assert str(refused.value) == sentence


async def test_of_an_owners_webhooks_only_those_that_lead_to_us_are_ours(start: Start, server: Scripted):
    second = f"{server.url}{ORG}?per_page=100&page=2"
    server.script(
        f"{ORG}?per_page=100", ok([a_hook(1, "https://other.example/webhook")], Link=f'<{second}>; rel="next"')
    )
    server.script(f"{ORG}?per_page=100&page=2", ok([a_hook(2, f"{OURS}/"), {"id": "3"}, 4, a_hook(5)]))
    found = await hooks(await start(), server).found("acme")
    assert found == [f"{server.url}{ORG}/2", f"{server.url}{ORG}/5"]
    server.script("/repos/acme/web/hooks?per_page=100", ok([a_hook(7)]))
    assert await hooks(await start(), server).found("acme/web") == [f"{server.url}/repos/acme/web/hooks/7"]


async def test_an_owner_without_a_webhook_of_ours_is_trouble_that_says_so(start: Start, server: Scripted):
    server.script(f"{ORG}?per_page=100", ok([a_hook(1, "https://other.example/webhook")]))
    found = await hooks(await start(), server).found("acme")
    assert found == ApiFailure(kind="refused", detail=f"acme has no webhook that leads to {OURS}")


async def test_a_page_says_what_was_tried_and_what_is_no_attempt_is_left_out(start: Start, server: Scripted):
    hook, cursor = f"{server.url}{ORG}/2", f"{server.url}{ORG}/2/deliveries?per_page=100&cursor=v1_7"
    odd = [None, {**item(0), "id": "x"}, item(4, guid=None), item(5, None, None), item(6, delivered_at="yesterday")]
    first = [item(9), item(8, "Service Unavailable", 503), item(7, "timed out", 0), item(3, "OK", None), *odd]
    server.script(f"{ORG}/2/deliveries?per_page=100", ok(first, Link=f'<{cursor}>; rel="next"'))
    server.script(f"{ORG}/2/deliveries?per_page=100&cursor=v1_7", ok([item(2, "Found", 302)]))
    ours = hooks(await start(), server)
    page = await ours.page(hook, "")
    assert isinstance(page, Page)
    assert page.attempts[0] == Attempt(id=9, guid="guid-9", at=NOW, arrived=True, event="issues")
    assert [(one.id, one.arrived) for one in page.attempts] == [(9, True), (8, False), (7, False), (3, True)]
    assert page.next == cursor
    last = await ours.page(hook, cursor)
    assert isinstance(last, Page)
    assert ([one.arrived for one in last.attempts], last.next) == ([False], "")


async def test_an_attempt_is_asked_for_once_with_the_owners_token(start: Start, server: Scripted, watching: Watching):
    path = f"{ORG}/2/deliveries/8/attempts"
    server.script(path, ACCEPTED)
    fetcher = await start("token-public#public;token-acme#org:acme")
    assert await hooks(fetcher, server).redeliver(f"{server.url}{ORG}/2", 8) is None
    assert [(hit.method, hit.token) for hit in server.asked(path)] == [("POST", "token-acme")]
    assert [(call.status, call.remaining) for call in watching.calls] == [(202, 4999)]


async def test_a_budget_that_is_used_up_is_not_overdrawn_for_it(start: Start, server: Scripted):
    server.script(f"{ORG}/2/deliveries?per_page=100", Reply(body=[], headers=quota(0)))
    ours, hook = hooks(await start(), server), f"{server.url}{ORG}/2"
    await ours.page(hook, "")
    for came in (await ours.page(hook, ""), await ours.redeliver(hook, 8), await ours.found("acme")):
        assert isinstance(came, ApiFailure)
        assert came.kind == "away"
    assert len(server.hits) == 1


@pytest.mark.parametrize(
    ("reply", "kind"),
    [(no(404), "refused"), (no(422, "cursor"), "refused"), (no(403, "Forbidden"), "refused"), (no(502), "away")],
)
async def test_what_github_says_no_to_is_told_apart_from_what_is_away(
    start: Start, server: Scripted, reply: Reply, kind: str
):
    server.script("*", reply)
    ours, hook = hooks(await start(), server), f"{server.url}{ORG}/2"
    for came in (await ours.page(hook, ""), await ours.redeliver(hook, 8), await ours.found("acme")):
        assert isinstance(came, ApiFailure)
        assert came.kind == kind
        assert "token-aaaa" not in came.detail


async def test_an_answer_that_is_no_list_holds_nothing(start: Start, server: Scripted):
    server.script("*", ok({"message": "hello"}))
    assert await hooks(await start(), server).page(f"{server.url}{ORG}/2", "") == Page(attempts=())


async def test_an_app_is_asked_as_itself(start: Start, server: Scripted, watching: Watching):
    listed, path = "/app/hook/deliveries?per_page=100", "/app/hook/deliveries/8/attempts"
    server.script(listed, ok([item(8, "Service Unavailable", 503)]))
    server.script(path, ACCEPTED)
    ours = hooks(await start(credentials=(APP,)), server, "app:12")
    assert await ours.found("app:12") == ("app:12",)
    page = await ours.page("app:12", "")
    assert isinstance(page, Page)
    assert [one.id for one in page.attempts] == [8]
    assert await ours.redeliver("app:12", 8) is None
    for hit in server.hits:
        claims = jwt.decode(
            hit.token, rsa_key().public_key(), algorithms=["RS256"], options={"verify_exp": False, "verify_iat": False}
        )
        assert claims["iss"] == "12"
    assert [(call.resource, call.status, call.charged) for call in watching.calls] == [
        ("app", 200, False),
        ("app", 202, False),
    ]


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (no(401, "A JSON web token could not be decoded"), "refused"),
        (no(404), "refused"),
        (Reply(status=301, headers={"Location": "https://elsewhere.example/"}), "refused"),
        (no(429, "You have exceeded a secondary rate limit", Retry_After="60"), "away"),
        (no(500), "away"),
        (HANG_UP, "away"),
    ],
)
async def test_what_an_app_is_refused_is_told_apart_from_what_is_away(
    start: Start, server: Scripted, reply: Reply, kind: str
):
    server.script("*", reply)
    ours = hooks(await start(credentials=(APP,)), server, "app:12")
    for came in (await ours.page("app:12", ""), await ours.redeliver("app:12", 8)):
        assert isinstance(came, ApiFailure)
        assert came.kind == kind


async def test_neither_token_nor_claim_is_sent_to_where_a_cursor_leads_that_is_not_githubs(
    start: Start, server: Scripted
):
    ours = hooks(await start("token-aaaa", credentials=(APP,)), server)
    for hook in ("app:12", f"{server.url}{ORG}/2"):
        came = await ours.page(hook, "http://127.0.0.1:9/steal")
        assert isinstance(came, ApiFailure)
        assert (came.kind, "not below" in came.detail) == ("refused", True)
    assert server.hits == []


async def test_an_app_that_is_not_among_the_credentials_is_refused(start: Start, server: Scripted):
    came = await hooks(await start(), server).page("app:99", "")
    assert isinstance(came, ApiFailure)
    assert "no GitHub App 99" in came.detail
