"""What a process remembers of the requests that it settled."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ghcrawl.engine.recent import RecentlySettled
from ghcrawl.values.model import Request
from ghcrawl.values.outcome import Skip, SkipReason

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("reason", "covered"), [("visited", True), ("not_known", False)])
def test_what_was_skipped_before_its_owner_was_stored_is_wanted_again(reason: SkipReason, covered: bool):
    """A unit of work pushes first and saves then. A database that dies between the two must not cost the list."""
    recent = RecentlySettled()
    request = Request(type="tags", url="https://api.example/repos/acme/web/tags", platform="test", asked_at=NOW)
    recent.add(request, Skip(reason=reason), NOW)
    assert recent.covers(request) is covered
