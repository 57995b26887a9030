"""Whoever changes something leaves in the log what it was and how much, and no secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from structlog.testing import capture_logs

from ghcrawl.admin.audit_log import asked_for
from ghcrawl.admin.deadletters import Choosing
from ghcrawl.admin.routing import Nothing
from ghcrawl.values.requests import Push
from tests.support.builders import a_deadletter, a_request
from tests.unit.admin.conftest import Asker, Rig

LETTER = a_deadletter()
ONE = f"/api/v1/deadletters/{LETTER.urn}"
QUEUE = {"queue": "normal"}
DELETED = {"matched": 1, "deleted": 1, "left": 0, "dry_run": False}
REQUEUED = {"matched": 1, "queued": 1, "bounced": 0, "unreadable": 0, "left": 0, "dry_run": False}


@pytest.mark.parametrize(
    ("method", "path", "body", "logged"),
    [
        ("DELETE", "/api/v1/queues/normal/requests", None, (QUEUE, {"purged": 2})),
        ("DELETE", "/requests/normal?count=5", None, (QUEUE | {"count": 5}, {"count": 2})),
        ("PUT", "/queues/normal", None, ({"name": "normal"}, {"purged": 2})),
        ("DELETE", ONE, None, ({"urn": LETTER.urn}, DELETED)),
        ("POST", f"{ONE}/requeue?to=soon", None, ({"urn": LETTER.urn, "to": "soon"}, REQUEUED)),
        ("POST", "/api/v1/deadletters/delete", {"all": True}, ({"all": True}, DELETED)),
        ("POST", "/api/v1/deadletters/requeue", {"urns": [LETTER.urn]}, ({"urns": [LETTER.urn]}, REQUEUED)),
        ("DELETE", f"/deadletters/{LETTER.urn}", None, ({"urn": LETTER.urn}, {"deleted": 1})),
        ("PUT", "/config/tokens", "ghp_abc#public", ({}, {"principals": 1})),
        ("PATCH", "/api/v1/settings", {"crawl.loops": 3}, ({}, {"changes": 1})),
        ("POST", "/requests/soon", ["acme"], ({"queue": "soon"}, {"queued": 1, "bounced": 0})),
    ],
)
async def test_an_act_is_logged_with_what_it_was_about_and_how_much_it_came_to(
    rig: Rig, asker: Asker, method: str, path: str, body: Any, logged: tuple[Mapping[str, Any], Mapping[str, int]]
):
    await rig.queue.push([Push(request=a_request(number), queue="normal") for number in (8, 9)])
    await rig.deadletters.bury(LETTER)
    rig.clock.advance(1)
    with capture_logs() as logs:
        assert (await asker.ask(method, path, body)).status < 300
    (line,) = [line for line in logs if line["event"] == "admin_acted"]
    assert (line["asked"], line["done"]) == logged
    assert "ghp_abc" not in str(logs)


def test_what_is_long_is_cut_and_counted():
    many = Choosing(urns=tuple(f"urn:{number}" for number in range(1000)), reason="x" * 300)
    asked = asked_for({"urn": "u" * 900}, Nothing(), many)
    assert (len(asked["urn"]), len(asked["reason"]), len(asked["urns"]), asked["urns_count"]) == (200, 200, 10, 1000)
