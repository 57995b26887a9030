"""How servers of the AT Protocol are asked: which method, what errors mean by their names, budgets, accounts."""

from __future__ import annotations

import json
from typing import Any

import libipld
import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from ghcrawl.fetch.atproto.answers import DEFAULT_WAIT_S, Told, failure_of, told, wait_s
from ghcrawl.fetch.atproto.fetcher import _failed
from ghcrawl.fetch.atproto.sessions import DEFAULT_SERVICE, read_accounts
from ghcrawl.fetch.atproto.streams import Jetstream, stream_of
from ghcrawl.fetch.atproto.xrpc import method_of
from ghcrawl.fetch.client import Answer
from ghcrawl.social.plan import Unsupported
from ghcrawl.values.errors import ConfigError, FetchError, StreamRefused
from ghcrawl.values.outcome import Denied, Missing, Refused
from ghcrawl.values.requests import Request
from tests.support.builders import NOW

DID = "did:plc:ada234567abcdefghijklmno"
POST = "app.bsky.feed.post"


def answered(status: int, body: Any = None, **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    seconds = NOW.timestamp()
    return Answer(
        url="https://pds.example/xrpc/x",
        status=status,
        headers=CIMultiDictProxy(CIMultiDict(named)),
        body=json.dumps(body).encode(),
        asked_at=NOW,
        started=seconds,
        ended=seconds,
    )


def method(type: str, url: str, *, records: bool = False) -> tuple[str, dict[str, str]]:
    found = method_of(Request(platform="bluesky", type=type, url=url), records=records)
    return found.name.rpartition(".")[2], dict(found.params)


@pytest.mark.parametrize(
    ("type", "url", "name", "params"),
    [
        ("request", "bluesky:q/post/user=a.test", "getProfile", {"actor": "a.test"}),
        ("request", "bluesky:q/post/query=x", "", {}),
        ("posts", f"bluesky:q/post/user={DID}", "getAuthorFeed", {"actor": DID, "limit": "100"}),
        ("posts", "bluesky:q/post/query=x?limit=7,cursor=c", "searchPosts", {"q": "x", "limit": "7", "cursor": "c"}),
        (
            "posts",
            f"bluesky:q/post/user={DID},query=x?since=2026-01-01",
            "searchPosts",
            {"q": "x", "author": DID, "since": "2026-01-01T00:00:00.000Z"},
        ),
        ("fan_out", "bluesky:q/profile/query=x#actors", "searchActors", {"q": "x", "limit": "100"}),
        ("fan_out", f"bluesky:q/post/related={DID}#followers", "getFollowers", {"actor": DID}),
        ("follows", f"bluesky:profile/{DID}/follows?cursor=c%202", "getFollows", {"actor": DID, "cursor": "c 2"}),
        ("profile", f"bluesky:profile/{DID}", "getProfile", {"actor": DID}),
        ("post", f"bluesky:profile/{DID}/post/3k", "getPosts", {"uris": f"at://{DID}/{POST}/3k"}),
        ("thread", f"bluesky:profile/{DID}/post/3k/thread", "getPostThread", {"uri": f"at://{DID}/{POST}/3k"}),
    ],
)
def test_a_request_is_answered_by_a_method_of_an_appview(
    type: str, url: str, name: str, params: dict[str, str]
) -> None:
    asked, given = method(type, url)
    assert (asked, given | params) == (name, given)


@pytest.mark.parametrize(
    ("type", "url", "name", "params"),
    [
        ("request", "bluesky:q/post/user=a.test", "describeRepo", {"repo": "a.test"}),
        ("posts", f"bluesky:q/post/user={DID}?limit=5", "listRecords", {"collection": POST, "limit": "5"}),
        ("follows", f"bluesky:profile/{DID}/follows", "listRecords", {"collection": "app.bsky.graph.follow"}),
        ("profile", f"bluesky:profile/{DID}", "getRecord", {"repo": DID, "rkey": "self"}),
        ("post", f"bluesky:profile/{DID}/post/3k", "getRecord", {"repo": DID, "collection": POST, "rkey": "3k"}),
    ],
)
def test_a_repository_answers_without_an_appview(type: str, url: str, name: str, params: dict[str, str]) -> None:
    asked, given = method(type, url, records=True)
    assert (asked, given | params) == (name, given)


@pytest.mark.parametrize(
    ("type", "url", "records", "says"),
    [
        ("followers", f"bluesky:profile/{DID}/followers", True, "only an AppView shows followers"),
        ("request", "bluesky:q/post/query=x", True, "ask for user="),
        ("profile", "bluesky:nonsense", False, "no place of this platform"),
    ],
)
def test_what_a_server_cannot_tell_is_said(type: str, url: str, records: bool, says: str) -> None:
    with pytest.raises(Unsupported, match=says):
        method(type, url, records=records)


@pytest.mark.parametrize(
    ("status", "error", "message", "kind", "means"),
    [
        (400, "InvalidRequest", "Profile not found", Missing, 404),
        (400, "RecordNotFound", "Could not locate record", Missing, 404),
        (400, "AccountTakedown", "Account has been suspended", Missing, 410),
        (400, "RepoDeactivated", "", Missing, 410),
        (400, "BlockedByActor", "", Denied, "blocked"),
        (400, "ExpiredToken", "Token has expired", Denied, "unauthorized"),
        (401, "AuthMissing", "Authentication Required", Denied, "unauthorized"),
        (403, "", "", Denied, "forbidden"),
        (400, "InvalidRequest", "limit must be at most 100", Refused, "refused"),
        (501, "MethodNotImplemented", "Method Not Implemented", Refused, "refused"),
        (400, "", "", Refused, "refused"),
    ],
)
def test_errors_go_by_their_names(status: int, error: str, message: str, kind: type[Any], means: object) -> None:
    answer = answered(status, {"error": error, "message": message})
    outcome = _failed(failure_of(answer), answer)
    assert isinstance(outcome, kind)
    assert (outcome.status if isinstance(outcome, Missing) else outcome.reason) == means
    assert error in outcome.detail


@pytest.mark.parametrize("body", [None, [], "x", {"error": 7, "message": []}])
def test_an_error_that_names_nothing_is_one_all_the_same(body: Any) -> None:
    assert failure_of(answered(400, body)).text == ""


def test_a_budget_is_reckoned_by_the_servers_clock() -> None:
    date = {"Date": "Sat, 21 Nov 2026 13:00:00 GMT"}
    at_one = 1_795_266_000
    headers = {"RateLimit_Limit": "30", "RateLimit_Remaining": "-1", "RateLimit_Reset": str(at_one + 90), **date}
    assert told(answered(200, **headers)) == Told(30, 0, 90.0)
    assert wait_s(answered(429, **headers)) == 90.0
    assert wait_s(answered(429, **headers, Retry_After="12")) == 12.0
    assert wait_s(answered(429)) == DEFAULT_WAIT_S
    assert told(answered(200, **{**headers, "RateLimit_Reset": "9" * 15})) is None
    assert told(answered(200, **{**headers, "RateLimit_Limit": "many"})) is None


def test_accounts_are_read_and_passwords_never_show() -> None:
    text = "# ours\n@ada.test abcd-efgh\nbob.test ijkl-mnop https://pds.example/\n"
    ada, bob = read_accounts(text, source="x")
    assert [(each.identifier, each.service) for each in (ada, bob)] == [
        ("ada.test", DEFAULT_SERVICE),
        ("bob.test", "https://pds.example"),
    ]
    assert "abcd" not in repr(ada)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ada.test", "line 1: write HANDLE APP-PASSWORD"),
        ("ada.test secret ftp://x", "line 1: the server must be a URL"),
        ("ada.test secret\nada.test other-one", "line 2: ada.test is there twice"),
    ],
)
def test_a_line_that_is_no_account_is_refused_without_showing_it(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as raised:
        read_accounts(text, source="x")
    assert "secret" not in str(raised.value)


def jetstream(**more: Any) -> Jetstream:
    stream = stream_of("wss://j.example/subscribe", lambda _: iter(()), **more)
    assert isinstance(stream, Jetstream)
    return stream


def test_a_jetstream_is_asked_for_posts_of_accounts_behind_a_cursor() -> None:
    address = jetstream(dids=[DID], since=NOW)._address
    start = int(NOW.timestamp() * 1_000_000)
    asked = f"wss://j.example/subscribe?wantedCollections={POST}&wantedDids={DID.replace(':', '%3A')}"
    assert address("5") == f"{asked}&cursor=5"
    assert address("") == f"{asked}&cursor={start}"


def test_the_event_at_the_cursor_was_told_before_and_nonsense_breaks_the_connection() -> None:
    events = jetstream()._events
    behind = [told for time_us in (4, 5, 6) for told in events(json.dumps({"time_us": time_us}), "5")]
    assert behind == [("6", {"time_us": 6})]
    for nonsense in ("{", "[]", "{}", '{"time_us": "soon"}'):
        with pytest.raises(FetchError, match="no event"):
            list(events(nonsense, ""))


def frame(kind: str, body: Any, *, op: int = 1) -> bytes:
    return b"".join(libipld.encode_dag_cbor(part) for part in ({"op": op, "t": kind}, body))


def firehose(message: bytes) -> list[Any]:
    return list(
        stream_of("wss://r.example/xrpc/com.atproto.sync.subscribeRepos", lambda _: iter(()))._events(message, "4")
    )


AT = {"seq": 5, "time": "2026-11-21T12:00:00.000Z"}


def test_a_firehose_tells_what_a_jetstream_tells() -> None:
    told = {"did": DID, "time_us": int(NOW.timestamp() * 1_000_000)}
    account = {"did": DID, "active": False, "status": "deleted"}
    assert firehose(frame("#account", {**AT, **account})) == [
        ("5", {**told, "kind": "account", "account": {"active": False, "status": "deleted", "handle": None}})
    ]
    gone = {"action": "delete", "path": f"{POST}/3kabc", "cid": None}
    assert firehose(frame("#commit", {**AT, "repo": DID, "blocks": b"", "ops": [gone]})) == [
        ("5", {**told, "kind": "commit", "commit": {"operation": "delete", "collection": POST, "rkey": "3kabc"}})
    ]


def test_frames_of_kinds_that_are_not_known_here_are_passed_over() -> None:
    assert firehose(frame("#invented", {"seq": 5})) == []
    assert firehose(frame("#info", {"name": "OutdatedCursor"})) == ["the server forgot what came behind the cursor"]
    assert firehose(frame("#info", {"name": "Hello"})) == []


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"\xff",
        libipld.encode_dag_cbor([]) + libipld.encode_dag_cbor({}),
        libipld.encode_dag_cbor({"op": 1, "t": "#commit"}),
        frame("#commit", []),
        frame("#commit", {"seq": 5}),
        frame("#commit", {**AT, "time": "soon"}),
        frame("#commit", {**AT, "blocks": b"nonsense", "ops": []}),
        frame("#commit", {**AT, "ops": ["nonsense"]}),
    ],
)
def test_a_frame_that_cannot_be_read_breaks_the_connection(message: bytes) -> None:
    with pytest.raises(FetchError, match="no frame"):
        firehose(message)


def test_an_error_frame_ends_the_stream_for_good_only_where_the_cursor_is_of_the_future() -> None:
    with pytest.raises(StreamRefused, match="FutureCursor"):
        firehose(frame("", {"error": "FutureCursor"}, op=-1))
    with pytest.raises(FetchError, match="ConsumerTooSlow"):
        firehose(frame("", {"error": "ConsumerTooSlow"}, op=-1))
