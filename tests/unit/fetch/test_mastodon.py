"""How hosts of Mastodon are asked: tokens, schemes, limits in three dialects, and what each status means."""

from __future__ import annotations

from typing import Any

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from ghcrawl.fetch.client import Answer
from ghcrawl.fetch.mastodon.answers import Limit, Unauthorized, limit_of, read
from ghcrawl.fetch.mastodon.fetcher import place_of
from ghcrawl.fetch.mastodon.hosts import Hosts
from ghcrawl.fetch.mastodon.tokens import read_tokens
from ghcrawl.values.errors import ConfigError, FetchError
from ghcrawl.values.outcome import Denied, Fetched, Missing, Refused, Unchanged
from tests.support.builders import NOW, at

URL = "mastodon://social.example/api/v1/statuses/1"


def answered(status: int, body: bytes = b"{}", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    seconds = NOW.timestamp()
    return Answer(
        url=URL.replace("mastodon", "https"),
        status=status,
        headers=CIMultiDictProxy(CIMultiDict(named)),
        body=body,
        asked_at=NOW,
        started=seconds,
        ended=seconds,
    )


@pytest.mark.parametrize(
    ("url", "place"),
    [
        (URL, "https://social.example/api/v1/statuses/1"),
        ("mastodon://127.0.0.1:3000/api/v1/x?limit=4#mastodon:a", "http://127.0.0.1:3000/api/v1/x?limit=4"),
        ("mastodon://[::1]:3000/api/v1/x", "http://[::1]:3000/api/v1/x"),
        ("mastodon://localhost/api/v1/x", "http://localhost/api/v1/x"),
        (
            "mastodon://a.example/q/post/user=ada@b.example",
            "https://a.example/api/v1/accounts/lookup?acct=ada%40b.example",
        ),
        ("mastodon://a.example/q/post/query=rain", ""),
        ("https://a.example/api/v1/x", None),
    ],
)
def test_a_url_says_what_is_asked(url: str, place: str | None) -> None:
    assert place_of(url) == place


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (200, Fetched),
        (304, Unchanged),
        (401, Unauthorized),
        (403, Denied),
        (404, Missing),
        (410, Missing),
        (422, Refused),
    ],
)
def test_each_status_has_a_meaning(status: int, kind: type[Any]) -> None:
    assert type(read(answered(status), url=URL, principal="", conditional=True)) is kind


@pytest.mark.parametrize(("status", "body"), [(500, b""), (503, b"{}"), (200, b"<html>"), (304, b"")])
def test_what_is_broken_is_an_error_of_the_fetch(status: int, body: bytes) -> None:
    with pytest.raises(FetchError):
        read(answered(status, body), url=URL, principal="", conditional=False)


def test_the_hosts_own_words_are_told_and_a_404_to_nobody_proves_less() -> None:
    missing = read(answered(404, b'{"error":"Record not found"}'), url=URL, principal="", conditional=False)
    assert isinstance(missing, Missing)
    assert (missing.detail, missing.anonymous) == ("Record not found", True)


def test_links_lead_to_the_same_host_only() -> None:
    link = '<https://social.example/api/v1/x?max_id=1>; rel="next", <https://evil.example/a>; rel="prev"'
    fetched = read(answered(200, Link=link, ETag='W/"1"'), url=URL, principal="me", conditional=False)
    assert isinstance(fetched, Fetched)
    assert fetched.link == {"next": "mastodon://social.example/api/v1/x?max_id=1"}
    assert fetched.validator is not None
    assert fetched.validator.principal == "me"


@pytest.mark.parametrize(
    ("status", "headers", "limit"),
    [
        (200, {}, None),
        (
            200,
            {"X_RateLimit_Limit": "300", "X_RateLimit_Remaining": "7", "X_RateLimit_Reset": "2026-11-21T12:05:00.5Z"},
            Limit(at(300.5), 300, 7, hit=False),
        ),
        (429, {"X_RateLimit_Reset": str(int(NOW.timestamp()) + 60)}, Limit(at(60), 0, 0, hit=True)),
        (429, {"Retry_After": "30"}, Limit(at(30), 0, 0, hit=True)),
        (429, {}, Limit(at(300), 0, 0, hit=True)),
        (429, {"X_RateLimit_Reset": "soon"}, Limit(at(300), 0, 0, hit=True)),
        (
            200,
            {"X_RateLimit_Reset": "2026-11-21T13:05:00Z", "Date": "Sat, 21 Nov 2026 13:00:00 GMT"},
            Limit(at(300), 0, 0, hit=False),
        ),
    ],
)
def test_limits_are_read_as_moments_seconds_and_by_the_servers_clock(
    status: int, headers: dict[str, str], limit: Limit | None
) -> None:
    assert limit_of(answered(status, b"", **headers), NOW) == limit


def test_tokens_belong_to_hosts_and_never_show() -> None:
    found = read_tokens("A.example=secret-one; b.example secret-two\n# c.example=not-this\n", source="x")
    assert [each.host for each in found] == ["a.example", "b.example"]
    assert "secret" not in repr(found)
    assert len({each.principal_id for each in found}) == 2


@pytest.mark.parametrize("text", ["secret-without-a-host", "a.example=short", "a b c d"])
def test_what_is_no_token_of_a_host_is_refused_without_showing_it(text: str) -> None:
    with pytest.raises(ConfigError, match="entry 1") as raised:
        read_tokens(text, source="x")
    assert text not in str(raised.value)


def test_a_host_is_blocked_when_all_who_may_ask_it_are_and_hosts_do_not_mind_each_other() -> None:
    hosts = Hosts()
    hosts.use(read_tokens("a.example=secret-one\na.example=secret-two\n", source="x"))
    one, two = hosts.at("a.example").slots
    hosts.at("a.example").asked = hosts.at("b.example").asked = True
    one.wait(at(50), "budget")
    assert hosts.at("a.example").blocked(NOW) is None
    two.wait(at(30), "budget")
    assert hosts.at("a.example").blocked(NOW) == at(30)
    assert hosts.blocked_until(NOW) is None, "b.example can be asked"
    hosts.at("b.example").slots[0].wait(at(40), "primary")
    assert hosts.blocked_until(NOW) == at(30)


def test_a_host_that_lost_its_last_token_is_asked_without_one() -> None:
    hosts = Hosts()
    hosts.use(read_tokens("a.example=secret-one\nb.example=secret-two\n", source="x"))
    hosts.use(read_tokens("b.example=secret-two\n", source="x"))
    assert [slot.token for slot in hosts.at("a.example").order("")] == [None]


def test_what_is_left_counts_calls_in_flight_and_never_rises_in_a_period() -> None:
    slot = Hosts().at("a.example").slots[0]
    assert slot.take(NOW) is None
    slot.in_flight -= 1
    slot.heard(Limit(at(300), 10, 2, hit=False), NOW)
    assert [slot.take(NOW) for _ in range(3)] == [None, None, at(300)]
    slot.in_flight -= 1
    slot.heard(Limit(at(301), 10, 5, hit=False), NOW)
    assert slot.take(NOW) == at(300 + 1)
    assert slot.take(at(302)) is None


@pytest.mark.parametrize("refusal", [403, 410])
def test_a_host_that_refuses_everything_is_left_alone_for_an_hour_and_then_asked_once(refusal: int) -> None:
    hosts = Hosts()
    host = hosts.at("a.example")
    host.slots[0].calls = 1
    for status in (refusal,) * 9 + (404,) + (refusal,) * 9:
        host.answered(status, NOW)
    assert host.closed(NOW) is None, "something else was answered in between"
    host.answered(refusal, NOW)
    assert host.closed(NOW) == at(3600)
    (view,) = hosts.views(NOW)
    assert (view.benched_until, view.benched_for) == (at(3600), f"it answers {refusal} to everything")
    assert [view.benched_until for view in hosts.views(at(3600))] == [None]
    assert host.closed(at(3600)) is None
    host.answered(refusal, at(3600))
    assert host.closed(at(3600)) == at(7200)
    host.answered(200, at(7200))
    assert host.closed(at(7200)) is None
