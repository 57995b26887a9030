"""Every route with every kind of caller: closed by default, and to readers where something is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from ghcrawl.admin import legacy
from ghcrawl.admin.access import TOKENS
from ghcrawl.admin.routing import Route
from ghcrawl.admin.secret_lines import SecretLines
from ghcrawl.admin.server import DESCRIBED
from ghcrawl.ports.queue import by_queue
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.frozen import replace
from ghcrawl.values.requests import Push
from tests.support.builders import a_deadletter, a_document, a_request
from tests.unit.admin.conftest import READER, TOKEN, Asker, Rig

ROUTES = (*DESCRIBED, *legacy.ROUTES)
LETTER = a_deadletter()
VALUES = {"queue": "normal", "name": "normal"}
BODIES: dict[str, Any] = {
    "pushRequests": {"specs": ["acme"]},
    "requeueDeadletters": {"all": True},
    "deleteDeadletters": {"all": True},
    "watchSources": {"specs": ["acme"]},
    "unwatchSources": {"specs": ["acme"]},
    "changeSettings": {"crawl.loops": 3},
    "legacy PATCH /config": [{"op": "replace", "path": "/crawler/count", "value": 3}],
    "legacy PUT /config/tokens": "token#public",
    "legacy POST /config/tokens": "token#public",
    "legacy POST /requests": ["acme"],
    "legacy POST /requests/{queue}": "acme/web",
}


def named(route: Route) -> str:
    return route.name


def path_of(route: Route) -> str:
    urn = a_document().urn if "documents" in route.path else LETTER.urn
    return route.path.format(urn=urn, **VALUES)


async def asked(rig: Rig, asker: Asker, route: Route, **headers: str) -> int:
    await rig.deadletters.bury(LETTER)
    await rig.store.save(a_document())
    answer = await asker.ask(route.method, path_of(route), BODIES.get(route.name), **headers)
    return answer.status


@pytest.mark.parametrize("route", ROUTES, ids=named)
async def test_a_route_answers_who_may_and_nobody_else(rig: Rig, asker: Asker, route: Route):
    strangers = [
        await asked(rig, Asker(asker.client, ""), route),
        await asked(rig, Asker(asker.client, "wrong-token"), route),
        await asked(rig, Asker(asker.client, TOKEN[:-1]), route),
        await asked(rig, Asker(asker.client, f"{READER}#read"), route),
        await asked(rig, Asker(asker.client, ""), route, X_token="secret"),
    ]
    reader = await asked(rig, Asker(asker.client, READER), route)
    operator = await asked(rig, asker, route)
    old_way = await asked(rig, Asker(asker.client, ""), route, X_token=TOKEN)
    assert strangers == [401] * 5
    assert reader == (403 if route.role == "operate" else operator)
    assert (operator, old_way) == (operator, operator)
    assert operator < 300


@pytest.mark.parametrize("route", ROUTES, ids=named)
def test_whatever_changes_something_is_for_operators(route: Route):
    assert (route.role == "operate") == (route.method not in ("GET", "HEAD"))


async def test_the_refusal_is_a_problem_document_that_says_what_to_send(asker: Asker):
    answer = await Asker(asker.client, "").get("/api/v1/status")
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="ghcrawl"'
    assert answer.json == {
        "type": "about:blank",
        "title": "Unauthorized",
        "status": 401,
        "detail": "authentication required; send Authorization: Bearer TOKEN",
    }


async def test_without_any_token_this_machine_alone_is_answered(rig: Rig):
    rig.tokens = ""
    async with rig.running(token="") as asker:
        assert (await asker.get("/api/v1/status")).status == 200
        assert (await asker.post("/api/v1/pause")).status == 200
        assert (await asker.get("/api/v1/status", X_Forwarded_For="203.0.113.7")).status == 401
        assert (await asker.get("/api/v1/status", Forwarded="for=203.0.113.7")).status == 401
        assert (await asker.get("/api/v1/status", X_Forwarded_Host="ghcrawl.example.com")).status == 401
        assert (await asker.get("/api/v1/status", Host="rebound.example.com")).status == 401
        assert (await asker.get("/api/v1/status", Host="localhost:3000")).status == 200
        assert (await asker.get("/api/v1/status", Host="[::1]:3000")).status == 200
        assert (await asker.post("/api/v1/pause", Origin="https://evil.example")).status == 403
        assert (await asker.post("/api/v1/pause", Sec_Fetch_Site="cross-site")).status == 403
        assert (await asker.post("/api/v1/pause", Origin="http://localhost:1", Host="localhost:1")).status == 200


async def test_no_answer_lets_other_sites_read_it(asker: Asker):
    for answer in (await asker.get("/api/v1/status", Origin="https://evil.example"), await asker.get("/nothing")):
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
    assert (await asker.ask("OPTIONS", "/api/v1/status")).status == 405


def tokens(variable: str, file: Path | str = "") -> SecretLines:
    return SecretLines(variable, str(file), replace(TOKENS, variable="VARIABLE", what="file"))


@pytest.mark.parametrize("text", ["tiny", "abcd1234#efgh5678ijkl", "1234567#read", "#read"])
def test_a_token_that_cannot_be_used_is_refused_at_the_start_by_its_place(tmp_path: Path, text: str):
    file = tmp_path / "tokens"
    file.write_text(f"# ours\nlong-enough\n{text}\n")
    with pytest.raises(ConfigError, match=r"^line 3 of the file has") as by_file:
        tokens("", file)
    with pytest.raises(ConfigError, match=r"^entry 2 of VARIABLE has") as by_variable:
        tokens(f"long-enough;{text}")
    for part in (text, *text.split("#")):
        assert part in ("", "read") or part not in f"{by_file.value} {by_variable.value}"


async def test_a_token_that_is_added_with_a_typo_gives_no_rights(rig: Rig, tmp_path: Path):
    file = tmp_path / "tokens"
    file.write_text(f"{TOKEN}\n")
    rig.lines = tokens("", file)
    async with rig.running() as asker:
        with capture_logs() as logs:
            file.write_text(f"{TOKEN}\n{READER}#read\nviewer-of-the-team#viewer\nx\n")
            assert (await asker.get("/api/v1/whoami")).json["role"] == "operate"
        assert (await Asker(asker.client, READER).get("/api/v1/whoami")).json["role"] == "read"
        for ignored in ("viewer-of-the-team", "viewer-of-the-team#viewer", "x"):
            assert (await Asker(asker.client, ignored).get("/api/v1/whoami")).status == 401
    reasons = [line["reason"] for line in logs if line["event"] == "secret_ignored"]
    assert [reason.partition(" has ")[0] for reason in reasons] == ["line 3 of the file", "line 4 of the file"]
    assert "viewer" not in str(reasons)


async def test_a_file_of_tokens_that_is_emptied_opens_no_door(rig: Rig, tmp_path: Path):
    file = tmp_path / "tokens"
    file.write_text(f"{TOKEN}\n")
    rig.lines = tokens("", file)
    async with rig.running() as asker:
        for text in ("", "x\n"):
            file.write_text(text)
            assert (await Asker(asker.client, "").get("/api/v1/whoami")).status == 401
            assert (await asker.get("/api/v1/whoami")).status == 200


def test_a_file_of_tokens_may_be_emptied_where_the_environment_has_one(tmp_path: Path):
    file = tmp_path / "tokens"
    file.write_text(READER)
    secrets = tokens(TOKEN, file)
    file.write_text("")
    assert secrets.now() == (TOKEN,)


async def test_a_bug_in_a_route_shows_nothing_of_itself(rig: Rig, capsys: pytest.CaptureFixture[str]):
    def broken() -> Any:
        raise RuntimeError("the reason that nobody may see")

    rig.over["workers"] = broken
    async with rig.running() as asker:
        answer = await asker.get("/api/v1/loops")
    assert answer.status == 500
    assert "nobody may see" not in answer.text
    assert "nobody may see" in capsys.readouterr().out


async def test_what_waits_is_the_same_whoever_asks_in_vain(rig: Rig, asker: Asker):
    await rig.queue.push([Push(request=a_request(), queue="normal")])
    for method, path in (("DELETE", "/api/v1/queues/normal/requests"), ("PUT", "/queues/normal")):
        assert (await Asker(asker.client, READER).ask(method, path)).status == 403
        assert (await Asker(asker.client, "").ask(method, path)).status == 401
    assert by_queue(await rig.queue.depths())["normal"].ready == 1
