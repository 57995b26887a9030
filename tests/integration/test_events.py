"""Every payload of octokit's webhook examples, through everything but the HTTP surface."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from ghcrawl.values.jsontext import JsonObject
from tests.support.backend import CrawlBackend
from tests.support.recordings import Hook, webhooks

pytestmark = pytest.mark.recordings


@pytest.fixture(scope="module")
def hooks() -> list[Hook]:
    return webhooks()


def accounts_in(value: Any) -> Iterator[JsonObject]:
    """Every user that is embedded anywhere."""
    if isinstance(value, dict):
        if isinstance(value.get("url"), str) and "/users/" in value["url"] and isinstance(value.get("id"), int):
            yield value
        for inner in value.values():
            yield from accounts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from accounts_in(inner)


def knowing_everybody(hook: Hook) -> CrawlBackend:
    """A desk whose platform answers for every account that the payload names, and for nothing else."""
    backend = CrawlBackend()
    backend.fetcher.bodies = {account["url"]: account for account in accounts_in(hook.payload)}
    return backend


COLUMNS = ("payloads", "whole", "things", "tombstones", "calls")
WHOLE = frozenset(
    {
        "check_run",
        "check_suite",
        "commit_comment",
        "dependabot_alert",
        "deployment",
        "deployment_status",
        "discussion",
        "issue_comment",
        "issues",
        "label",
        "milestone",
        "pull_request",
        "pull_request_review",
        "pull_request_review_comment",
        "release",
        "workflow_run",
    }
)


def is_whole(hook: Hook) -> bool:
    """Whether the payload holds all that has changed: not who closed an issue, nor how many comments are left."""
    if hook.event == "issue_comment" and hook.payload["action"] == "deleted":
        return False
    return hook.event in WHOLE and hook.payload.get("issue", {"state": "open"}).get("state") == "open"


async def test_every_payload_ends_as_documents_and_a_whole_one_costs_no_call(hooks: list[Hook]):
    table: dict[str, Counter[str]] = {}
    for hook in hooks:
        backend = knowing_everybody(hook)
        request = backend.delivery(hook.event, f"{hook.event}-{hook.number}", hook.payload)
        await backend.settle(request)
        documents = await backend.documents()
        calls = backend.calls(lambda asked: asked.type in ("user", "org"))
        row = table.setdefault(hook.event, Counter())
        row["payloads"] += 1
        row["things"] += sum(one.origin == "webhook" and one.type != request.type for one in documents.values())
        row["tombstones"] += sum(document.deleted_at is not None for document in documents.values())
        row["calls"] += len(calls)

        assert not await backend.letters(), hook.event
        assert not backend.tally.retried, hook.event
        event = next(document for document in documents.values() if document.type == request.type)
        assert event.body["payload"] == hook.payload
        row["whole"] += is_whole(hook)
        if is_whole(hook):
            assert calls == [], (hook.event, hook.payload.get("action"))

    assert len(hooks) == 329
    for name, row in sorted(table.items()):
        print(f"{name:32}", *(f"{row[column]:4} {column}" for column in COLUMNS))


async def test_delivered_again_in_another_order_they_change_nothing(hooks: list[Hook]):
    backend = CrawlBackend()
    backend.fetcher.bodies = {account["url"]: account for hook in hooks for account in accounts_in(hook.payload)}
    requests = [backend.delivery(hook.event, f"{hook.event}-{hook.number}", hook.payload) for hook in hooks]
    await backend.settle(*requests)
    before, asked = await backend.documents(), len(backend.fetcher.asked)
    for seed in range(3):
        await backend.settle_shuffled(requests, random.Random(seed))

    assert await backend.documents() == before
    assert len(backend.fetcher.asked) == asked
