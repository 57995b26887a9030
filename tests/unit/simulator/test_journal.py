from __future__ import annotations

from ghcrawl.simulator.clock import SimClock
from ghcrawl.simulator.journal import Call, Journal


def test_the_journal_keeps_only_the_last_calls_and_counts_all() -> None:
    journal = Journal(size=3)
    for number in range(5):
        journal.write(
            Call(
                at=SimClock().now(),
                method="GET",
                target=f"/{number}",
                principal="x",
                status=200,
                charged=True,
                conditional=False,
            )
        )
    assert [call.target for call in journal.calls] == ["/2", "/3", "/4"]
    assert (journal.total, journal.charged) == (5, 5)
