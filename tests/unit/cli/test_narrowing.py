from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ghcrawl.cli.narrowing import Wanting
from ghcrawl.values.errors import SpecError
from ghcrawl.wiring import load
from processors.github.scenarios import floor_of

NOW = datetime(2026, 2, 7, 0, 30, tzinfo=UTC)


@pytest.mark.parametrize("typed", ["2026-01-31", "7d", "1w", "6d1h", "2026-01-31T12:00Z", "2026-02-01T00:30+01:00"])
def test_a_date_is_read_as_everywhere_and_counts_from_the_beginning_of_its_day(typed: str) -> None:
    settings, _ = load(None, {}, {})
    policy = Wanting(since=typed).applied(settings, NOW).crawl.policy
    assert floor_of(policy) == "2026-01-31T00:00:00Z"


@pytest.mark.parametrize("typed", ["yesterday", "7 parsecs", "2026-02-31", "99999999d"])
def test_what_is_no_date_is_refused_with_examples(typed: str) -> None:
    settings, _ = load(None, {}, {})
    with pytest.raises(SpecError, match=r"is not a date; write 2026-11-01, .* or 7d for 7 days ago"):
        Wanting(since=typed).applied(settings, NOW)
