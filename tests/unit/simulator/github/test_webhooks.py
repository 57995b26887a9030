"""What a GitHub remembers of the deliveries of its webhooks, and sends again when it is asked to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.github.live.hook import Hook
from ghcrawl.simulator.github.live.sending import Sender
from ghcrawl.simulator.github.live.webhooks import Webhook
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.server import Setup
from ghcrawl.simulator.github.world import World
from tests.support.keys import rsa_key
from tests.unit.simulator.github.conftest import Hub, Start, an_insider, an_outsider
from tests.unit.simulator.github.test_apps import APP, claim


@dataclass
class Endpoint:
    """Somebody who is told, and answers with `status`."""

    url: str = ""
    status: int = 202
    got: list[str] = field(default_factory=list)
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.got.append(request.headers["X-GitHub-Delivery"])
        self.came.set()
        return web.Response(status=self.status)


@asynccontextmanager
async def listening() -> AsyncIterator[Endpoint]:
    endpoint = Endpoint()
    app = web.Application()
    app.router.add_post("/webhook", endpoint.handle)
    async with TestServer(app) as server:
        endpoint.url = str(server.make_url("/webhook"))
        yield endpoint


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with listening() as found:
        yield found


async def tell(hub: Hub, hook: Webhook, count: int = 1) -> list[str]:
    """Send as many deliveries; returns their ids."""
    somebody = next(account for account in hub.world.accounts.values() if isinstance(account, User))
    what = Hook(event="watch", payload={"action": "started"}, sender=somebody)
    parcels = [hook.sender.pack(what) for _ in range(count)]
    for parcel in parcels:
        await hook.sender.send(hub.session, parcel)
    return [parcel.id for parcel in parcels]


def a_webhook(hub: Hub, endpoint: Endpoint, place: str = "orgs/acme") -> Webhook:
    return hub.server.webhooks.add(place, Sender(endpoint.url, "secret", Random(1)))


async def again(hub: Hub, path: str, endpoint: Endpoint, token: str | None = "") -> int:
    """Ask for an attempt; returns the status, and where it is good once the parcel has come."""
    endpoint.came.clear()
    status = (await hub.get(path, method="POST", token=token)).status
    if status == 202:
        await endpoint.came.wait()
    return status


async def test_an_owners_webhooks_are_shown_to_those_who_belong_to_it(tiny: World, start: Start, endpoint: Endpoint):
    tokens = {"token-a": tiny.principal(an_insider(tiny)), "stranger": tiny.principal(an_outsider(tiny))}
    hub = await start(tiny, Setup(tokens=tokens))
    hook, repo = a_webhook(hub, endpoint), tiny.repos_of(tiny.org("acme"))[0]
    of_repo = a_webhook(hub, endpoint, f"repos/{repo.full_name}")
    (shown,) = (await hub.get("/orgs/ACME/hooks")).json
    assert (shown["id"], shown["config"]["url"]) == (hook.id, endpoint.url)
    (shown,) = (await hub.get(f"/repos/{repo.full_name}/hooks")).json
    assert shown["id"] == of_repo.id
    for path in ("/orgs/acme/hooks", f"/orgs/acme/hooks/{hook.id}/deliveries"):
        assert (await hub.get(path)).status == 200
        assert (await hub.get(path, token="stranger")).status == 404
    assert (await hub.get(f"/orgs/acme/hooks/{hook.id}")).status == 404
    assert (await hub.get("/orgs/acme/hooks/1/deliveries")).status == 404


async def test_deliveries_are_listed_newest_first_and_a_cursor_stands_still_while_more_come(
    tiny: World, start: Start, endpoint: Endpoint
):
    hub = await start(tiny)
    hook = a_webhook(hub, endpoint)
    ids = await tell(hub, hook, 5)
    path = f"/orgs/acme/hooks/{hook.id}/deliveries"
    first = await hub.get(f"{path}?per_page=2")
    await tell(hub, hook, 3)
    rest = await hub.pagination(first.links["next"])
    assert [item["guid"] for item in [*first.json, *rest]] == ids[::-1]
    assert (await hub.get(f"{path}?cursor=nonsense")).status == 422
    assert len((await hub.get(path)).json) == 8


async def test_what_was_refused_is_shown_as_that_and_sent_again_to_whoever_asks(
    tiny: World, start: Start, endpoint: Endpoint
):
    hub = await start(tiny)
    hook = a_webhook(hub, endpoint)
    endpoint.status = 503
    (guid,) = await tell(hub, hook)
    path = f"/orgs/acme/hooks/{hook.id}/deliveries"
    (shown,) = (await hub.get(path)).json
    assert (shown["guid"], shown["status"], shown["status_code"]) == (guid, "Service Unavailable", 503)
    assert (shown["event"], shown["action"], shown["redelivery"]) == ("watch", "started", False)
    endpoint.status = 202
    assert await again(hub, f"{path}/{shown['id']}/attempts", endpoint) == 202
    assert endpoint.got == [guid, guid]
    assert await again(hub, f"{path}/1/attempts", endpoint) == 404
    assert await again(hub, path, endpoint) == 404


async def test_who_does_not_answer_at_all_is_shown_as_that(tiny: World, start: Start, endpoint: Endpoint):
    hub = await start(tiny)
    hook = hub.server.webhooks.add("orgs/acme", Sender("http://127.0.0.1:9/", "secret", Random(1)))
    await tell(hub, hook)
    (shown,) = (await hub.get(f"/orgs/acme/hooks/{hook.id}/deliveries")).json
    assert (shown["status"], shown["status_code"]) == ("failed to connect to host", 502)


async def test_after_three_days_a_delivery_is_neither_shown_nor_sent_again(
    tiny: World, start: Start, endpoint: Endpoint, clock: SimClock
):
    hub = await start(tiny)
    hook = a_webhook(hub, endpoint)
    await tell(hub, hook)
    clock.advance(3 * 86400 + 1)
    assert (await hub.get(f"/orgs/acme/hooks/{hook.id}/deliveries")).json == []
    path = f"/orgs/acme/hooks/{hook.id}/deliveries/{hook.sent[0].id}/attempts"
    assert await again(hub, path, endpoint) == 404


async def test_an_apps_deliveries_are_shown_to_its_signed_claim_alone(
    small: World, start: Start, endpoint: Endpoint, clock: SimClock
):
    hub = await start(small, Setup(app=APP))
    hook = a_webhook(hub, endpoint, "app")
    endpoint.status = 500
    (guid,) = await tell(hub, hook)
    signed = claim(clock.now())
    assert (await hub.get("/app/hook/deliveries")).status == 401
    assert (await hub.get("/app/hook/deliveries", token=claim(clock.now(), key=rsa_key("another's")))).status == 401
    (shown,) = (await hub.get("/app/hook/deliveries", token=signed)).json
    assert shown["guid"] == guid
    assert await again(hub, f"/app/hook/deliveries/{shown['id']}/attempts", endpoint, signed) == 202
    assert (await hub.get("/app/hooks/1/deliveries", token=signed)).status == 404
