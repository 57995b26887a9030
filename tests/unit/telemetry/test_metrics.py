"""Logs that can be read by machines and people and never show a credential; metrics with few labels."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
import structlog
from prometheus_client import generate_latest

from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.ports.observer import Call, Settled
from ghcrawl.ports.queue import Pushed
from ghcrawl.telemetry.logs import LogFormat, SettledLog, configure_logging
from ghcrawl.telemetry.metrics import Metrics, Observers
from tests.support.builders import a_request
from tests.support.logs import own_logging

SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    with own_logging():
        yield


def fail_with(secret: str) -> None:
    held = f"token {secret}"
    raise ValueError(f"refused: {held}")


@pytest.mark.parametrize("format", ["json", "console"])
def test_no_line_shows_a_credential_tracebacks_and_other_libraries_included(format: LogFormat):
    stream = io.StringIO()
    configure_logging(level="debug", format=format, redact=(REDACTOR,), stream=stream)

    structlog.get_logger("ours").warning("it_failed", header=f"Bearer {SECRET}", nested={"deep": [SECRET]})
    try:
        fail_with(SECRET)
    except ValueError:
        structlog.get_logger("ours").exception("it_broke")
        logging.getLogger("theirs").exception("broke with %s", SECRET)

    text = stream.getvalue()
    assert SECRET not in text
    assert text.count("fail_with") >= 2, "the tracebacks are there"


def test_every_line_of_json_is_one_object():
    stream = io.StringIO()
    configure_logging(level="info", format="json", stream=stream)

    structlog.get_logger("ours").info("something_done", count=3)
    logging.getLogger("theirs").warning("over there\nand here")

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["something_done", "over there\nand here"]
    assert {line["level"] for line in lines} == {"info", "warning"}


def settled(outcome: str = "save", **fields: object) -> Settled:
    whole: dict[str, object] = {
        "request": a_request(),
        "queue": "normal",
        "outcome": outcome,
        "pushed": Pushed(queued=2, bounced=1),
        "fetch_s": 0.02,
        "write_s": 0.001,
    }
    return Settled(**(whole | fields))  # type: ignore[arg-type]  # a test's shorthand


def test_a_settled_request_is_one_line_and_a_failure_is_louder():
    stream = io.StringIO()
    configure_logging(level="info", format="json", stream=stream)
    log = SettledLog()

    log.settled(settled(saved="saved"))
    log.settled(settled("retry", cause="HTTP502", detail="bad gateway"))
    log.settled(settled("bury", cause="HTTP502"))
    log.called(Call(platform="github", status=200, resource="core", principal="abc", seconds=0.1, charged=True))

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [(line["event"], line["level"]) for line in lines] == [
        ("request_settled", "info"),
        ("request_settled", "warning"),
        ("request_settled", "error"),
    ]
    assert lines[1]["cause"] == "HTTP502"


def test_a_type_that_nothing_here_processes_is_no_label():
    metrics = Metrics()
    metrics.expect("github", ["issue"])
    metrics.settled(settled("bury", cause="no_processor", request=a_request(type="whatever somebody typed")))
    metrics.settled(settled("save", request=a_request(type="issue")))

    text = generate_latest(metrics.registry).decode()
    assert 'ghcrawl_requests_settled_total{outcome="bury",platform="other",type="other"} 1.0' in text
    assert 'ghcrawl_deadletters_buried_total{cause="no_processor",platform="other"} 1.0' in text
    assert 'ghcrawl_requests_settled_total{outcome="save",platform="github",type="issue"} 1.0' in text
    assert "whatever" not in text


def test_what_an_alert_waits_for_is_counted_from_zero():
    metrics = Metrics()
    metrics.expect("github", ["issue"])

    kinds = ("primary", "secondary")
    found = [
        metrics.registry.get_sample_value("ghcrawl_throttles_total", {"platform": "github", "kind": kind})
        for kind in kinds
    ]
    assert found == [0, 0]


def test_metrics_count_what_they_are_told_and_label_nothing_that_has_no_end():
    metrics = Metrics()
    both = Observers(metrics, metrics)

    both.settled(settled(saved="saved"))
    both.settled(settled("skip", reason="unchanged"))
    both.settled(settled("bury", cause="HTTP502"))
    reset = datetime(2026, 1, 1, tzinfo=UTC)
    both.called(
        Call(
            platform="github",
            status=403,
            resource="core",
            principal="abc",
            seconds=0.1,
            charged=True,
            throttle="secondary",
            remaining=7,
            reset_at=reset,
        )
    )

    text = generate_latest(metrics.registry).decode()
    assert 'ghcrawl_requests_settled_total{outcome="save",platform="github",type="issue"} 2.0' in text
    assert 'ghcrawl_requests_skipped_total{platform="github",reason="unchanged"} 2.0' in text
    assert 'ghcrawl_deadletters_buried_total{cause="HTTP502",platform="github"} 2.0' in text
    assert 'ghcrawl_failures_total{cause="HTTP502",platform="github"} 2.0' in text
    assert 'ghcrawl_fetch_seconds_count{platform="github"} 6.0' in text
    assert 'ghcrawl_throttles_total{kind="secondary",platform="github"} 2.0' in text
    assert (
        'ghcrawl_quota_reset_timestamp_seconds{platform="github",principal="abc",resource="core"} 1.7672256e+09' in text
    )
    assert a_request().url not in text
