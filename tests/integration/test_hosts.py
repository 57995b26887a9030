"""GitHub, Bluesky and several hosts of Mastodon in one process, into one file: the troubles of one are no other's."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from prometheus_client import generate_latest

from ghcrawl.fetch.github.principals import read_tokens
from ghcrawl.platforms.atproto import BLUESKY
from ghcrawl.platforms.github import GITHUB
from ghcrawl.platforms.mastodon import MASTODON
from ghcrawl.ports.clock import SystemClock
from ghcrawl.ports.store import DocumentFilter
from ghcrawl.settings.loading import load
from ghcrawl.simulator.atproto import world as atproto
from ghcrawl.simulator.atproto.run import running as network
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.simulator.mastodon.server import Server, Setup, running
from ghcrawl.simulator.mastodon.world import generate
from ghcrawl.telemetry.metrics import Metrics
from ghcrawl.values.frozen import replace
from ghcrawl.values.lanes import QUEUES
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.type_names import TypeName
from ghcrawl.wiring import Service, open_service, settings_model
from tests.support.crawling import TOKEN, stage
from tests.support.platforms import SIMULATED
from tests.support.waiting import until

ALL = (GITHUB, BLUESKY, MASTODON)


@asynccontextmanager
async def crawling(
    folder: Path, urls: Mapping[str, str], specs: Sequence[str], metrics: Metrics
) -> AsyncIterator[Service]:
    """One process that crawls them all, without budgets of its own."""
    for platform in ALL:
        metrics.expect(platform.name, platform.kinds)
    over: dict[str, Any] = {"sqlite.path": folder / "a.db", "sqlite.synchronous": "normal", **SIMULATED}
    over |= {**urls, "mastodon.budgets": []}
    settings, _ = load(None, {}, over, model=settings_model(ALL))
    async with open_service(settings, {"github": read_tokens(TOKEN)}, metrics, platforms=ALL) as service:
        now = SystemClock().now()
        roots = [replace(service.mounts.read_spec(spec, "default"), asked_at=now) for spec in specs]
        await service.backend.queue.push([Push(request=root, queue="immediate") for root in roots])
        service.supervisor.start()
        yield service
        await service.supervisor.drain(5)


async def waiting(service: Service) -> list[Request]:
    return [each for name in QUEUES for each in await service.backend.queue.peek(name, limit=9)]


async def test_github_bluesky_and_three_hosts_one_of_them_down_and_one_out_of_quota(tmp_path: Path) -> None:
    well, limited, down = (generate(SystemClock(), accounts=3, statuses=300, seed=seed) for seed in range(3))
    metrics = Metrics()
    async with (
        stage(tmp_path, TINY) as github,
        network(atproto.generate(posts=60, accounts=3)) as bluesky,
        running(well) as one,
        running(limited, Setup(limit=2)) as two,
    ):
        async with running(down) as gone:
            pass
        specs = ["acme", *(f"mastodon://{host.host}/q/post/user=user1" for host in (one, two, gone))]
        specs.append("bluesky:q/post/user=alice.test")
        urls = {"github.api_url": github.server.url, "bluesky.api_url": bluesky.url}
        written = len(bluesky.world.named("alice").posts)
        async with crawling(tmp_path, urls, specs, metrics) as service:

            async def only_the_two_wait() -> bool:
                left, counts = await waiting(service), await service.backend.store.counts()
                hosts = {each.url.split("/")[2] for each in left if each.platform == "mastodon"}
                done = counts.get(TypeName("mastodon", "status"), 0) >= 100 + 40
                return done and len(left) == 2 and hosts == {two.host, gone.host}

            await until(only_the_two_wait)
            _the_others_do_not_notice(service, one, two, gone.host)
            assert {each.attempt for each in await waiting(service)} == {0}, "no attempt was lost"
            documents = [each async for each in service.backend.store.list(DocumentFilter())]
    saved = Counter(":".join(each.urn.split(":")[2:4]) for each in documents if each.type == "status")
    assert saved == {one.host: 100, two.host: 40}
    assert sum(each.platform == "github" for each in documents) > 50
    assert sum(each.type_name == TypeName("bluesky", "post") for each in documents) == written > 10
    scraped = generate_latest(metrics.registry).decode()
    assert 'ghcrawl_documents_saved_total{platform="mastodon",type="status"} 140.0' in scraped
    assert 'ghcrawl_documents_saved_total{platform="github",type="org"} 1.0' in scraped
    assert f'ghcrawl_documents_saved_total{{platform="bluesky",type="post"}} {written}.0' in scraped
    assert 'ghcrawl_throttles_total{kind="primary",platform="mastodon"} 0.0' in scraped, "nobody was told to stop"


def _the_others_do_not_notice(service: Service, one: Server, two: Server, gone: str) -> None:
    mastodon = service.opened["mastodon"]
    assert service.opened["github"].fetcher.blocked_until() is None
    assert service.opened["bluesky"].fetcher.blocked_until() is None
    assert mastodon.fetcher.blocked_until() is None
    assert mastodon.breaker.outage is None
    assert [outage.base_url for outage in mastodon.breaker.outages] == [f"mastodon://{gone}"]
    views = {view.label: view for view in mastodon.source.principals()}
    assert views[f"{two.host} without a token"].benched_for == "primary"
    assert views[f"{one.host} without a token"].benched_until is None
