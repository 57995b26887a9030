"""The management API helps where it can; nothing depends on it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import structlog
from aiohttp import web
from aiohttp.test_utils import TestServer

from ghcrawl.values.errors import ConfigError
from queues.amqp import management as amqp_management
from queues.amqp.connection import parsed
from queues.amqp.management import Management, managed
from queues.amqp.settings import AmqpSettings
from tests.support.listening import saying_nothing


@dataclass
class Api:
    """RabbitMQ's, as far as it is asked. status: of every answer."""

    status: int = 200
    rows: Any = field(default_factory=lambda: [{"name": "ghc.q.soon", "messages_unacknowledged": 3}, {"name": "x"}])
    chunked: bool = False
    asked: list[str] = field(default_factory=list)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.rel_url.raw_path}")
        answer = web.json_response(self.rows, status=self.status)
        if self.chunked:
            answer.enable_chunked_encoding()
        return answer


@asynccontextmanager
async def serving(api: Api) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", api.answer)
    async with TestServer(app) as server:
        yield f"http://me:p%2Fw@127.0.0.1:{server.port}"


@pytest.mark.parametrize("chunked", [False, True])
async def test_what_others_hold_is_known_whatever_a_proxy_makes_of_the_answer(chunked: bool) -> None:
    async with serving(Api(chunked=chunked)) as url:
        assert await Management(url, "/").unsettled() == {"ghc.q.soon": 3, "x": 0}


@pytest.mark.parametrize("broken", [Api(status=500), Api(status=401), Api(rows={"error": "x"}), Api(rows=[5])])
async def test_what_cannot_be_known_is_not_and_is_said_once(broken: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    async with serving(broken) as url:
        management = Management(url, "/")
        with structlog.testing.capture_logs() as logs:
            assert [await management.unsettled() for _ in range(3)] == [{}, {}, {}]
            assert len(broken.asked) == 1, "it is left alone for a while"
            monkeypatch.setattr(amqp_management, "AGAIN_S", 0.0)
            assert await management.unsettled() == {}
            broken.status, broken.rows = 200, []
            assert await management.unsettled() == {}
    assert [entry["event"] for entry in logs] == ["management_lost", "management_back"]


async def test_an_api_that_says_nothing_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(amqp_management, "LOOK_S", 0.02)
    async with saying_nothing() as port:
        assert await Management(f"http://127.0.0.1:{port}", "/").unsettled() == {}


async def test_who_may_not_set_policies_is_told_which_right_that_takes() -> None:
    async with serving(Api(status=401)) as url:
        with structlog.testing.capture_logs() as logs:
            await Management(url, "/").limit_deliveries("ghc", 20)
    (entry,) = logs
    assert (entry["event"], entry["log_level"]) == ("delivery_limit_not_set", "warning")
    assert "does not let 'me' do that" in entry["error"]
    assert "the tag 'policymaker'" in entry["error"]


@pytest.mark.parametrize(
    ("path", "vhost", "asked"),
    [
        ("", "prod", "/api/queues/prod"),
        ("/prod", "prod", "/api/queues/prod"),
        ("/prod/", "prod", "/api/queues/prod"),
        ("/%2F", "/", "/api/queues/%2F"),
        ("/", "/", "/api/queues/%2F"),
        ("/a%2Fb", "a/b", "/api/queues/a%2Fb"),
        ("/rabbit/", "prod", "/rabbit/api/queues/prod"),
    ],
)
async def test_a_url_that_names_the_virtual_host_serves_as_well(path: str, vhost: str, asked: str) -> None:
    api = Api()
    async with serving(api) as url:
        await Management(f"{url}{path}", vhost).unsettled()
    assert api.asked == [f"GET {asked}"]


@pytest.mark.parametrize("url", ["http://me:s/cret@h:1", "http://me:s#cret@h:1", "http://me:s[cret@h:1"])
async def test_a_password_that_is_not_encoded_is_what_is_wrong_and_is_not_shown(url: str) -> None:
    for settings in (
        AmqpSettings(url="amqp://h", management_url=url),
        AmqpSettings(url=url.replace("http", "amqp")),
    ):
        with pytest.raises(ConfigError, match="must be percent-encoded") as refused:
            managed(settings)
        assert "cret" not in str(refused.value)


def test_the_virtual_host_is_that_of_the_broker_s_url() -> None:
    for url, vhost in (("amqp://h/%2F", "/"), ("amqp://h", "/"), ("amqp://h/", "/"), ("amqp://h/a%2Fb", "a/b")):
        management = managed(AmqpSettings(url=url, management_url="http://h:1"))
        assert management is not None
        assert management._vhost == vhost.replace("/", "%2F"), parsed(AmqpSettings(url=url))
