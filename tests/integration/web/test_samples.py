"""Feeds and robots.txt that others collected: none is too broken, and what is not read says why."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime

import pytest

from ghcrawl.fetch.web.hosts import MAX_DELAY_S, Host
from ghcrawl.fetch.web.settings import WebSettings
from ghcrawl.values.jsontext import dumps, loads
from processors.web.feeds import parse
from tests.support.blogs import feeds, robots

pytestmark = pytest.mark.recordings
DECLARED = re.compile(rb"Header:\s*Content-type:\s*(.*)", re.IGNORECASE)
NOW = datetime(2026, 11, 23, tzinfo=UTC)
AGENT = WebSettings().user_agent


def test_every_feed_of_feedparsers_tests_is_read_or_refused_with_a_reason():
    refused: Counter[str] = Counter()
    entries = unnamed = 0
    for name, content in feeds().items():
        declared = DECLARED.search(content)
        found = parse(content, declared[1].decode().strip() if declared else "", "http://example.com/")
        assert loads(dumps(found)) == found, name
        refused[found.get("refused", "")] += 1
        entries += len(found["entries"])
        unnamed += found.get("unnamed", 0)
        assert all(entry["url"].startswith(("http://", "https://")) for entry in found["entries"]), name
    assert refused.total() >= 2_242
    assert refused.keys() == {"", "it is no feed"}
    assert refused["it is no feed"] <= 13, (
        "four that are still compressed, two that are empty, seven of Microsoft's CDF"
    )
    assert entries > 80
    assert unnamed > 500, "most of these files test one element, and have no links"


def test_every_robots_txt_of_protegos_tests_is_read_and_decides():
    decided: Counter[bool] = Counter()
    for name, content in robots().items():
        host = Host()
        host.read_robots(content, NOW)
        decided.update(host.allows(f"http://{name}{path}", AGENT) for path in ("/", "/2026/01/02/a-post.html?p=1"))
        assert 1.0 <= host.pause_s(AGENT, 1.0) <= MAX_DELAY_S, name
    assert decided.total() > 2 * 4_200
    assert decided[True] > 8_000
    assert decided[False] > 100
