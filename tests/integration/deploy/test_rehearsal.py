"""The rehearsal with plain processes: everything that a deployment meets, while it crawls and is told of changes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from stores.mongo.settings import MongoSettings
from tests.integration.mongo.rig import database
from tests.rehearsal import settings as rehearsed
from tests.rehearsal.github import GitHub, github
from tests.rehearsal.processes import Processes
from tests.rehearsal.sequence import Pace, Rehearsal
from tests.rehearsal.timeline import Timeline
from tests.rehearsal.truth import difference
from tests.rehearsal.watch import Watch
from tests.support.services.rabbitmq import Broker

pytestmark = [pytest.mark.slow, pytest.mark.faults, pytest.mark.timeout(600)]
PACE = Pace(away_s=14, settle_s=9, wrong_s=6)


@pytest.fixture
async def place() -> AsyncIterator[GitHub]:
    async with github("127.0.0.1") as it:
        yield it


@pytest.fixture
async def fleet(tmp_path: Path) -> AsyncIterator[Processes]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=15)) as session:
        fleet = Processes(folder=tmp_path, session=session)
        try:
            yield fleet
        finally:
            await fleet.close()


async def test_what_a_deployment_meets_in_a_year_leaves_no_trace_in_what_was_crawled(
    place: GitHub, fleet: Processes, broker: Broker, mongo_url: str
):
    timeline = Timeline()
    async with database(mongo_url) as store:
        secrets = rehearsed.secrets(amqp_url=broker.server.url, mongo_url=mongo_url)
        place.know(secrets["tokens"])
        place.secret = secrets["webhook-secrets"]
        watch = Watch(fleet=fleet, timeline=timeline)
        rehearsal = Rehearsal(
            fleet=fleet,
            github=place,
            broker=broker,
            watch=watch,
            timeline=timeline,
            config=lambda loops: rehearsed.config(loops=loops, api_url=place.server.url, database=store.database),
            secrets=secrets,
            pace=PACE,
        )
        await rehearsal.play()
        found = await difference(MongoSettings(url=mongo_url, database=store.database), place.expected())

    assert not found, found
    assert watch.untrue == []
    assert set(fleet.exits) == {0}
    assert fleet.saying("loop_died") == []
