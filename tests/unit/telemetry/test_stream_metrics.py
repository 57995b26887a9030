"""What is counted of streams, by platform and never by stream."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from ghcrawl.telemetry.stream_metrics import StreamMetrics
from tests.support.builders import NOW, at


class Scraped:
    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.metrics = StreamMetrics(self.registry)

    def __call__(self, name: str, platform: str = "p") -> float | None:
        return self.registry.get_sample_value(f"ghcrawl_{name}", {"platform": platform})


def test_what_has_streams_counts_from_nothing_and_no_cursor_is_old_yet() -> None:
    scraped = Scraped()
    scraped.metrics.expect(["p"])
    names = ("streams_subscribed", "streams_held", "stream_items_total", "stream_disconnects_total")
    assert [scraped(name) for name in names] == [0, 0, 0, 0]
    assert scraped("stream_cursor_timestamp_seconds") is None
    assert scraped("streams_held", "q") is None


def test_the_cursor_that_is_shown_is_the_one_that_moved_longest_ago() -> None:
    scraped = Scraped()
    scraped.metrics.held("p", "one", since=NOW)
    scraped.metrics.held("p", "two", since=NOW)
    scraped.metrics.queued("p", "one", 3, at=at(50), happened_at=at(48))
    assert (scraped("streams_held"), scraped("stream_cursor_timestamp_seconds")) == (2, NOW.timestamp())
    assert (scraped("stream_items_total"), scraped("stream_lag_seconds")) == (3, 2)
    scraped.metrics.queued("p", "two", 0, at=at(60), happened_at=None)
    assert scraped("stream_cursor_timestamp_seconds") == at(50).timestamp()
    assert (scraped("stream_items_total"), scraped("stream_lag_seconds")) == (3, 2), "an empty batch is no item"


def test_what_is_read_no_longer_is_not_late_and_other_platforms_do_not_mind() -> None:
    scraped = Scraped()
    scraped.metrics.held("p", "one", since=NOW)
    scraped.metrics.held("q", "one", since=NOW)
    scraped.metrics.left("p", "one")
    assert (scraped("streams_held"), scraped("stream_cursor_timestamp_seconds")) == (0, None)
    assert (scraped("streams_held", "q"), scraped("stream_cursor_timestamp_seconds", "q")) == (1, NOW.timestamp())


def test_the_lag_is_that_of_streams_that_are_read_here() -> None:
    scraped = Scraped()
    for stream, late_s in (("one", 9), ("two", 4)):
        scraped.metrics.held("p", stream, since=NOW)
        scraped.metrics.queued("p", stream, 1, at=at(10), happened_at=at(10 - late_s))
    assert scraped("stream_lag_seconds") == 9
    scraped.metrics.left("p", "one")
    assert scraped("stream_lag_seconds") == 4
    scraped.metrics.left("p", "two")
    assert scraped("stream_lag_seconds") is None, "another replica says it now"
    scraped.metrics.held("p", "one", since=NOW)
    assert scraped("stream_lag_seconds") is None, "nothing was queued since"


def test_an_item_of_a_clock_ahead_of_ours_is_not_late() -> None:
    scraped = Scraped()
    scraped.metrics.queued("p", "one", 1, at=NOW, happened_at=at(5))
    assert scraped("stream_lag_seconds") == 0
