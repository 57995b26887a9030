"""schemathesis sends what the description allows, and what it does not, to a service that answers for real."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from aiohttp.test_utils import TestServer
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from ghcrawl.admin.access import TOKENS, Access
from ghcrawl.admin.openapi import document
from ghcrawl.admin.secret_lines import SecretLines
from ghcrawl.admin.server import DESCRIBED, RUNNER, application
from ghcrawl.admin.webhook import Webhook
from ghcrawl.values.requests import Push
from ghcrawl.wiring import SETTINGS
from tests.support.builders import a_deadletter, a_document, a_request
from tests.unit.admin.conftest import TOKEN, Rig

MEANING = {
    "pushRequests", "changeSettings", "listDocuments", "listSources",
    "watchSources", "unwatchSources",
}  # fmt: skip
"""What these refuse depends on more than shapes: words that nobody can read, a filter that means all."""

schema = schemathesis.openapi.from_dict(document(DESCRIBED, SETTINGS))


async def start() -> TestServer:
    """A service with a little of everything in it."""
    rig = Rig()
    for number in range(5):
        await rig.deadletters.bury(a_deadletter(number))
        await rig.store.save(a_document(number))
        await rig.queue.push([Push(request=a_request(number), queue="later")])
    tokens = SecretLines(TOKEN, "", TOKENS)
    server = TestServer(application(rig.site(), Access(tokens), Webhook(rig.intake()), rig.bounds))
    await server.start_server(**RUNNER)
    return server


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A service on an event loop of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(start(), loop).result(20)
    yield str(server.make_url("")).rstrip("/")
    asyncio.run_coroutine_threadsafe(server.close(), loop).result(20)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(20)
    loop.close()


@schema.parametrize()
@settings(max_examples=25, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
def test_every_operation_keeps_what_the_description_says(case: schemathesis.Case[Any], url: str) -> None:
    means = case.operation.definition.raw["operationId"] in MEANING
    without: list[Any] = [positive_data_acceptance] if means else []
    case.call_and_validate(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}, excluded_checks=without)
