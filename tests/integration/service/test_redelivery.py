"""Webhooks that were refused, or met a closed door: GitHub is asked to send them again, and nothing is missing then."""

from __future__ import annotations

import socket
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from aiohttp import ClientSession

from ghcrawl.fetch.github.fetcher import GitHubFetcher
from ghcrawl.fetch.github.hooks import GitHubHooks
from ghcrawl.fetch.github.principals import Installation
from ghcrawl.fetch.github.settings import GitHubSettings
from ghcrawl.fetch.redaction import Secret
from ghcrawl.ports.clock import SystemClock
from ghcrawl.redelivery.sweep import Pace
from ghcrawl.redelivery.sweep_schedule import Redelivery
from ghcrawl.simulator.github.apps import App
from ghcrawl.simulator.github.generation.generate import generate
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.simulator.github.live.hook import Hook
from ghcrawl.simulator.github.live.sending import Sender
from ghcrawl.simulator.github.people import User
from ghcrawl.simulator.github.run import running
from ghcrawl.simulator.github.server import Setup
from ghcrawl.simulator.github.world import World
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.frozen import replace
from ghcrawl.wiring import Service
from stores.memory import MemoryStore
from tests.integration.service.conftest import Serve
from tests.support.builders import an_egress
from tests.support.crawling import TOKEN, stage
from tests.support.door import SECRET, Door, standing, webhook
from tests.support.keys import as_pem, public_pem, rsa_key
from tests.support.living import ORGS, living

pytestmark = pytest.mark.crawl
CHANGES = 45
SECONDS_BETWEEN = 3


def github_of(service: Service) -> GitHubFetcher:
    source = service.opened["github"].source
    assert isinstance(source, GitHubFetcher)
    return source


async def until_all_arrived(found: Redelivery) -> Counter[str]:
    """Sweeps until nothing is missing; what they did, added up."""
    done: Counter[str] = Counter()
    while not done["sweeps"] or (await found.read()).lost:
        await found.soon()
        run = await found.turn()
        assert run is not None
        assert run.troubles == ()
        done.update(sweeps=1, lost=run.lost, asked=run.asked, arrived=run.arrived)
    return done


async def test_what_was_refused_for_a_while_is_sent_again_and_the_store_is_equal_to_the_world(tmp_path: Path):
    async with living(tmp_path, replace(TINY, quirks=False), seed=5) as it, ClientSession() as session:
        async with standing(Door(webhook(it))) as door:
            senders = {login: Sender(door.url, SECRET, Random(number)) for number, login in enumerate(ORGS)}
            for login, sender in senders.items():
                it.stage.server.webhooks.add(f"orgs/{login}", sender)
            await it.crawl("default")
            await it.assert_equal_before()
            for number in range(CHANGES):
                door.open = not CHANGES // 3 <= number < 2 * CHANGES // 3
                await it.clock.sleep(SECONDS_BETWEEN)
                change, hooks = it.life.step()
                sender = senders[change.owner.login]
                for hook in hooks:
                    await sender.send(session, sender.pack(hook, target=change.owner.id))
            await it.settle()
            refused, stale = door.answers[503], await it.differences()
            names = GitHubHooks(github_of(it.service), it.stage.server.url, ORGS, door.url)
            done = await until_all_arrived(
                Redelivery(names, it.service.backend.store, it.clock, Pace(every_s=3600, gap_s=0))
            )
            await it.settle()
        assert refused > CHANGES // 4
        assert stale.total() > 0
        assert (done["lost"], done["arrived"], door.answers[503]) == (refused, refused, refused)
        assert door.answers[202] == sum(sender.answers[202] for sender in senders.values())
        assert await it.deadletters() == []
        assert await it.differences() == {}, it.problems[:20]


def somebody(world: World) -> User:
    return next(account for account in world.accounts.values() if isinstance(account, User))


async def test_an_apps_deliveries_are_sent_again_too():
    world, clock = generate(TINY, seed=1), SystemClock()
    app = Installation(app_id="12", installation_id=7, private_key=Secret(as_pem(rsa_key())))
    async with (
        running(world, Setup(app=App(id=12, public_key=public_pem(rsa_key())))) as server,
        standing(Door(open=False)) as door,
        ClientSession() as session,
        GitHubFetcher(GitHubSettings(api_url=server.url), (app,), clock, Tally(), an_egress()) as fetcher,
    ):
        sender = Sender(door.url, SECRET, Random(1))
        server.webhooks.add("app", sender)
        what = Hook(event="watch", payload={"action": "started"}, sender=somebody(world))
        for _ in range(3):
            await sender.send(session, sender.pack(what))
        door.open = True
        hooks = GitHubHooks(fetcher, server.url, ("app:12",), "")
        done = await until_all_arrived(Redelivery(hooks, MemoryStore(), clock, Pace(every_s=3600, gap_s=0)))
        assert (done["lost"], done["arrived"], door.answers) == (3, 3, {503: 3, 202: 3})


def a_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


async def test_a_service_that_was_down_asks_for_what_it_missed_by_itself(tmp_path: Path, serve: Serve):
    port = a_free_port()
    url = f"http://127.0.0.1:{port}/webhook"
    async with stage(tmp_path, TINY) as it, ClientSession() as session:
        sender = Sender(url, SECRET, Random(1))
        it.server.webhooks.add("orgs/acme", sender)
        shape = {"id": it.repo.id, "name": it.repo.name, "url": f"{it.server.url}/repos/{it.repo.full_name}"}
        for number in range(3):
            payload = {"action": "created", "number": number, "repository": shape}
            await sender.send(session, sender.pack(Hook(event="gollum", payload=payload, sender=somebody(it.world))))
        assert sender.answers == {0: 3}
        environ = {
            "GHCRAWL_SERVICE__REDELIVER": "acme",
            "GHCRAWL_SERVICE__REDELIVER_EVERY_S": "1",
            "GHCRAWL_SERVICE__WEBHOOK_URL": url,
            "GHCRAWL_TOKENS": TOKEN,
        }
        async with serve("--api-url", it.server.url, "--port", str(port), **environ) as served:
            await served.holds("/api/v1/document-counts", lambda counts: counts["by_type"].get("GollumEvent") == 3)
            await served.holds("/api/v1/redelivery", lambda found: found["last"] and not found["waiting"])
            metrics = (await served.probe("/metrics"))[1]
        assert 'ghcrawl_redelivery_deliveries_total{result="asked"} 3.0' in metrics
        assert 'ghcrawl_redelivery_deliveries_total{result="arrived"} 3.0' in metrics
        assert "ghcrawl_redelivery_waiting 0.0" in metrics
        asked = [line["delivery"] for line in served.logged() if line["event"] == "delivery_asked_again"]
        assert len(asked) == len(set(asked)) == 3
