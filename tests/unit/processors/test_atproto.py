"""What things of the AT Protocol become: names, posts with their links, profiles, requests, and events of streams."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ghcrawl.platforms.atproto import BLUESKY
from ghcrawl.social.plan import Unsupported
from ghcrawl.values.documents import Origin
from ghcrawl.values.errors import Malformed, SpecError, UnknownSpec
from ghcrawl.values.outcome import Fetched, Save, Visit
from ghcrawl.values.requests import Context, Pagination, Push, Request
from processors.atproto.events import Subscription
from processors.atproto.names import POSTS, Record, did_in, is_did, is_handle, is_rkey, record_of
from tests.support.builders import NOW

ADA, BOB = "did:plc:ada234567abcdefghijklmno", "did:plc:bob234567abcdefghijklmno"
URI = f"at://{ADA}/{POSTS}/3kabc"
RECORD: dict[str, Any] = {"text": "The river rises", "createdAt": "2026-11-21T10:00:00Z"}
VIEW: dict[str, Any] = {"uri": URI, "cid": "bafy1", "author": {"did": ADA, "handle": "ada.test"}, "record": RECORD}


def saved(
    type: str,
    body: Any,
    *,
    url: str = f"bluesky:profile/{ADA}",
    policy: str = "",
    origin: Origin = "fetch",
    pagination: Pagination | None = None,
) -> Save:
    kind = BLUESKY.kinds[type]
    spec = policy or f"default:{kind.position}"
    visit = Visit(
        request=Request(
            platform="bluesky", type=type, url=url, policy=spec, context=Context(pagination=pagination or Pagination())
        ),
        fetched=Fetched(body=body, url=url, observed_at=NOW, checked_at=NOW, origin=origin),
        next_hops=BLUESKY.scenarios.next_hops(spec),
        version=1,
        processed_at=NOW,
    )
    outcome = kind.processor(visit)  # type: ignore[union-attr]
    assert isinstance(outcome, Save)
    return outcome


# Names --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("named", "text", "holds"),
    [
        (is_did, ADA, True),
        (is_did, "did:web:example.com", True),
        (is_did, "did:plc:", False),
        (is_did, "did:plc:abc:", False),
        (is_did, "DID:plc:abc", False),
        (is_did, "did:plc:a/b", False),
        (is_handle, "alice.test", True),
        (is_handle, "a.co", True),
        (is_handle, "alice", False),
        (is_handle, "alice..test", False),
        (is_handle, "-alice.test", False),
        (is_handle, "alice.123", False),
        (is_handle, f"{'a' * 64}.test", False),
        (is_rkey, "3kabc", True),
        (is_rkey, "self", True),
        (is_rkey, "..", False),
        (is_rkey, "a/b", False),
        (is_rkey, "", False),
    ],
)
def test_what_is_a_name(named: Any, text: str, holds: bool) -> None:
    assert named(text) is holds


@pytest.mark.parametrize(
    ("uri", "record"),
    [
        (URI, Record(ADA, POSTS, "3kabc")),
        ("at://alice.test/app.bsky.feed.post/3kabc", None),
        (f"at://{ADA}/{POSTS}/..", None),
        (f"at://{ADA}/{POSTS}", None),
        (f"https://bsky.app/profile/{ADA}", None),
        (None, None),
        ({}, None),
    ],
)
def test_records_are_named_by_did(uri: object, record: Record | None) -> None:
    assert record_of(uri) == record
    assert record is None or record.uri == uri


@pytest.mark.parametrize(
    ("url", "did"),
    [
        (f"bluesky:profile/{ADA}", ADA),
        (f"bluesky:profile/{ADA}/post/3kabc", ADA),
        (f"bluesky:profile/{ADA}/followers", ADA),
        (f"bluesky:q/post/user={ADA}?limit=5", ADA),
        (f"bluesky:q/post,profile/query=river,user={ADA}", ADA),
        ("bluesky:q/profile/user=did:web:host%2525", "did:web:host%25"),
        ("bluesky:q/post/user=ada.test", ""),
        (f"bluesky:q/post/related={ADA}#follows", ""),
        (f"bluesky:q/post/query=user%3D{ADA}", ""),
    ],
)
def test_what_belongs_to_an_account_says_so_in_its_url(url: str, did: str) -> None:
    assert did_in(url) == did


@pytest.mark.parametrize(
    ("typed", "type", "url"),
    [
        ("q/post/user=@Alice.Test", "request", "bluesky:q/post/user=alice.test"),
        ("profile/alice.test", "request", "bluesky:q/profile/user=alice.test"),
        ("https://bsky.app/profile/alice.test/", "request", "bluesky:q/profile/user=alice.test"),
        (f"https://bsky.app/profile/{ADA}/post/3kabc", "post", f"bluesky:profile/{ADA}/post/3kabc"),
        (URI, "post", f"bluesky:profile/{ADA}/post/3kabc"),
    ],
)
def test_what_is_written_is_read(typed: str, type: str, url: str) -> None:
    request = BLUESKY.read_spec(typed, "", "default")
    assert (request.type, request.url) == (type, url)


@pytest.mark.parametrize(
    ("typed", "error", "says"),
    [
        ("acme/web", UnknownSpec, "nothing to crawl"),
        ("q/post/user=alice", SpecError, "no handle such as"),
        ("q/post/user=did:plc:", SpecError, "no DID such as"),
        ("q/post/user=alice.test?colour=red", SpecError, "unknown parameter colour"),
        ("profile/alice.test/post/3kabc", SpecError, "named by the DID of its author"),
        ("q/post/location=here", Unsupported, "does not tell where"),
        ("q/post/user=a.test,related=b.test", Unsupported, "related cannot narrow"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(typed: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as raised:
        BLUESKY.read_spec(typed, "", "default")
    assert "\n" not in str(raised.value)


# Things -------------------------------------------------------------------------------------------------------


def test_a_post_links_to_what_it_answers_quotes_and_names_and_where_it_leads() -> None:
    theirs = {"uri": f"at://{BOB}/{POSTS}/3kparent"}
    link = {"$type": "app.bsky.richtext.facet#link", "uri": "https://a.example/x"}
    mention = {"$type": "app.bsky.richtext.facet#mention", "did": BOB}
    embed = {
        "record": {"record": {"uri": f"at://{BOB}/{POSTS}/3kquoted"}},
        "media": {"images": [{"image": {"ref": {"$link": "bafyimage"}}}], "external": {"uri": "https://b.example/"}},
    }
    record = {
        **RECORD,
        "reply": {"root": {"uri": f"at://{BOB}/{POSTS}/3kroot"}, "parent": theirs},
        "facets": [{"features": [link, mention]}],
        "embed": embed,
    }
    document = saved("post", {"posts": [{**VIEW, "record": record}]}).document
    assert (document.urn, document.url) == (f"urn:atproto:{ADA}:post:3kabc", f"bluesky:profile/{ADA}/post/3kabc")
    assert {URI, f"https://bsky.app/profile/{ADA}/post/3kabc"} <= set(document.aliases)
    links = {name: each.href or each.hrefs for name, each in document.links.items()}
    assert links == {
        "self": document.urn,
        "author": f"urn:atproto:{ADA}",
        "reply_to": f"urn:atproto:{BOB}:post:3kparent",
        "thread": f"urn:atproto:{BOB}:post:3kroot",
        "quotes": f"urn:atproto:{BOB}:post:3kquoted",
        "outlinks": ("https://a.example/x", "https://b.example/"),
        "media": (f"at://{ADA}#blob:bafyimage",),
        "mentions": (f"urn:atproto:{BOB}",),
    }


def test_a_bare_record_and_a_view_are_one_document() -> None:
    bare = saved("post", {"uri": URI, "cid": "bafy1", "value": RECORD}).document
    assert (bare.urn, bare.body["record"]) == (saved("post", VIEW).document.urn, RECORD)
    assert bare.body["author"] == {"did": ADA}


def test_a_profile_is_called_by_its_did_whatever_its_handle() -> None:
    shown = saved("profile", {"did": ADA, "handle": "ada.test", "website": "https://ada.example/"}).document
    renamed = saved("profile", {"did": ADA, "handle": "Lovelace.test"}).document
    record = saved("profile", {"uri": f"at://{ADA}/app.bsky.actor.profile/self", "value": {"displayName": "Ada"}})
    assert {shown.urn, renamed.urn, record.document.urn} == {f"urn:atproto:{ADA}"}
    assert shown.links["outlinks"].hrefs == ("https://ada.example/",)
    assert "https://bsky.app/profile/lovelace.test" in renamed.aliases


@pytest.mark.parametrize(
    ("type", "body"),
    [
        ("post", {"uri": f"at://{ADA}/app.bsky.feed.like/3kabc"}),
        ("post", {"posts": [{"uri": "nonsense"}]}),
        ("post", {}),
        ("profile", {"handle": "ada.test"}),
        ("profile", {"did": "nonsense"}),
    ],
)
def test_what_has_no_name_is_malformed(type: str, body: Any) -> None:
    with pytest.raises(Malformed):
        saved(type, body)


# Pages --------------------------------------------------------------------------------------------------------


def page(uri: str, *views: dict[str, Any], **more: Any) -> list[str]:
    """Keys of the posts that a page of the request leads to."""
    outcome = saved("posts", {"posts": [*views], **more}, url=f"bluesky:q/post/{uri}")
    return [push.request.url.rpartition("/")[2] for push in outcome.follow_ups if push.request.type == "post"]


THEIRS = {**VIEW, "uri": f"at://{BOB}/{POSTS}/3kbob", "author": {"did": BOB, "handle": "bob.test"}}


@pytest.mark.parametrize(
    ("uri", "keys"),
    [
        ("query=river", ["3kabc", "3kbob"]),
        (f"user={ADA},query=river", ["3kabc"]),
        ("user=bob.test,query=river", ["3kbob"]),
        ("query=river?limit=1", ["3kabc"]),
        ("query=river?since=2026-11-21T10:00:00Z", ["3kabc", "3kbob"]),
        ("query=river?since=2026-11-21T10:00:01Z", []),
        ("query=river?before=2026-11-21T10:00:00Z", []),
    ],
)
def test_every_condition_is_checked_here_whatever_the_server_did(uri: str, keys: list[str]) -> None:
    assert page(uri, VIEW, THEIRS) == keys


def test_what_was_reposted_is_not_its_own() -> None:
    feed = [{"post": VIEW}, {"post": THEIRS, "reason": {"$type": "app.bsky.feed.defs#reasonRepost"}}]
    outcome = saved("posts", {"feed": feed}, url=f"bluesky:q/post/user={ADA}")
    assert [each["url"] for each in outcome.document.body["elements"]] == [f"bluesky:profile/{ADA}/post/3kabc"]


def test_the_next_page_is_a_request_for_what_is_left_of_the_limit() -> None:
    outcome = saved("posts", {"posts": [VIEW], "cursor": "c 2"}, url="bluesky:q/post/query=river?limit=3")
    (following,) = [push.request for push in outcome.follow_ups if push.request.type == "posts"]
    assert following.url == "bluesky:q/post/query=river?cursor=c%202,limit=2"
    full = saved("posts", {"posts": [VIEW], "cursor": "c 2"}, url="bluesky:q/post/query=river?limit=1")
    assert [push for push in full.follow_ups if "cursor=c" in push.request.url] == []


@pytest.mark.parametrize(
    ("uri", "whole"),
    [
        (f"user={ADA}", True),
        (f"user={ADA}?cursor=c", False),
        (f"user={ADA}?limit=9", False),
        (f"user={ADA}?since=2026-01-01", False),
        (f"user={ADA}?before=2027-01-01", False),
        (f"user={ADA},query=river", False),
        ("query=river", False),
    ],
)
def test_only_a_whole_list_is_compared_with_what_is_stored(uri: str, *, whole: bool) -> None:
    outcome = saved("posts", {"posts": [VIEW]}, url=f"bluesky:q/post/{uri}")
    assert ("listing" in [push.request.type for push in outcome.follow_ups]) is whole
    unfinished = saved("posts", {"posts": [VIEW], "cursor": "d"}, url=f"bluesky:q/post/{uri}")
    assert "listing" not in [push.request.type for push in unfinished.follow_ups]


@pytest.mark.parametrize(
    ("first", "whole", "urn"),
    [
        (f"user={ADA}", True, f"urn:atproto:{ADA}:posts:page:2"),
        (f"user={ADA}?cursor=c", False, f"urn:atproto:search:bluesky:q/post/user={ADA}?cursor=c:page:2"),
    ],
)
def test_a_list_that_was_entered_at_a_cursor_is_another_and_not_compared(first: str, urn: str, *, whole: bool) -> None:
    url, pagination = f"bluesky:q/post/user={ADA}?cursor=d", Pagination(page=2, first=f"bluesky:q/post/{first}")
    outcome = saved("posts", {"posts": [VIEW]}, url=url, pagination=pagination)
    assert ("listing" in [push.request.type for push in outcome.follow_ups]) is whole
    assert outcome.document.urn == urn


PEOPLE = [{"did": f"did:plc:{name}"} for name in ("one", "two", "three")]


@pytest.mark.parametrize(
    ("what", "asked", "following"),
    [
        ("profile/query=a", 3, "profile/query=a?cursor=c"),
        ("profile/query=a?limit=4", 3, "profile/query=a?cursor=c,limit=1"),
        ("profile/query=a?limit=3", 3, ""),
        ("profile/query=a?limit=2", 2, ""),
        ("relations/query=a?limit=2", 3, "relations/query=a?cursor=c,limit=2"),
        ("post/related=ada.test?limit=2", 3, "post/related=ada.test?cursor=c,limit=2"),
    ],
)
def test_a_limit_is_of_the_profiles_that_a_search_finds(what: str, asked: int, following: str) -> None:
    outcome = saved("fan_out", {"actors": PEOPLE, "cursor": "c"}, url=f"bluesky:q/{what}#actors")
    of_type = [push.request.url for push in outcome.follow_ups if push.request.type == "fan_out"]
    assert of_type == ([f"bluesky:q/{following}#actors"] if following else [])
    assert len(outcome.follow_ups) - len(of_type) == asked
    assert len(outcome.document.body["elements"]) == asked


def test_of_a_search_with_two_conditions_each_account_is_checked() -> None:
    outcome = saved("fan_out", {"actors": PEOPLE[:1]}, url="bluesky:q/profile/query=a,query=b#actors")
    (push,) = outcome.follow_ups
    assert (push.request.type, push.request.url) == ("request", "bluesky:q/profile/query=b,user=did:plc:one")


@pytest.mark.parametrize(
    ("params", "lists"), [("", ["profile,relations/query=a"]), ("?limit=2", ["profile/query=a", "relations/query=a"])]
)
def test_relations_of_a_search_are_not_cut_off_by_the_limit_of_its_profiles(params: str, lists: list[str]) -> None:
    outcome = saved("request", {}, url=f"bluesky:q/profile,relations/query=a{params}")
    assert [push.request.url for push in outcome.follow_ups] == [f"bluesky:q/{each}{params}#actors" for each in lists]


# Requests -----------------------------------------------------------------------------------------------------


def test_a_request_leads_to_the_lists_of_the_account_it_means() -> None:
    profile = {"did": ADA, "handle": "Ada.test"}
    outcome = saved("request", profile, url="bluesky:q/post,profile,relations/user=ada.test")
    asked = {(push.request.type, push.request.url) for push in outcome.follow_ups}
    assert asked == {
        ("posts", f"bluesky:q/post/user={ADA}"),
        ("profile", f"bluesky:profile/{ADA}"),
        ("follows", f"bluesky:profile/{ADA}/follows"),
        ("followers", f"bluesky:profile/{ADA}/followers"),
    }
    assert (outcome.document.body["did"], outcome.document.body["handle"]) == (ADA, "ada.test")


TWO = "nothing matches: what is asked for would have two authors"


@pytest.mark.parametrize(
    ("what", "note", "asked"),
    [
        ("post/user=ada.test,user=bob.test?stream", [TWO], set()),
        (f"post/user=ada.test,user={ADA}", [], {"posts"}),
        ("profile/user=ada.test,query=ADA", [], {"profile"}),
        (
            "profile,relations/user=ada.test,query=zebra",
            [
                f"{each} matches nothing: the account does not have the words of query"
                for each in ("profile", "relations")
            ],
            set(),
        ),
        ("post,profile/user=ada.test?since=2026-01-01", ["since is ignored for profile"], {"posts", "profile"}),
        ("post/user=ada.test?stream", [], {"posts", "stream"}),
        ("profile/user=ada.test?stream", ["stream is ignored: only posts are streamed"], {"profile"}),
    ],
)
def test_a_request_records_what_of_it_matches_nothing_or_is_ignored(
    what: str, note: list[str], asked: set[str]
) -> None:
    url = f"bluesky:q/{what}"
    outcome = saved("request", {"did": ADA, "handle": "ada.test"}, url=url)
    assert outcome.document.body["notes"] == note
    assert {push.request.type for push in outcome.follow_ups} == asked
    assert ("stream" in outcome.document.links) is ("stream" in asked)
    again = saved("request", dict(outcome.document.body), url=url, origin="storage")
    assert again.document.body["notes"] == note, "our own copy, which does not show the profile, keeps them"


def test_a_request_with_stream_subscribes_to_the_account() -> None:
    outcome = saved("request", {"did": ADA, "handle": "ada.test"}, url="bluesky:q/post/user=ada.test?stream")
    (subscription,) = [push.request for push in outcome.follow_ups if push.request.type == "stream"]
    assert subscription.payload is not None
    assert subscription.payload.body["dids"] == [ADA]


def test_whoever_a_request_is_about_has_a_did() -> None:
    with pytest.raises(Malformed, match="has a DID"):
        saved("request", {"handle": "ada.test"}, url="bluesky:q/post/user=ada.test")


# Events -------------------------------------------------------------------------------------------------------


def event(operation: str = "create", **more: Any) -> dict[str, Any]:
    commit = {"operation": operation, "collection": POSTS, "rkey": "3kabc", "cid": "bafy1", "record": RECORD, **more}
    return {"did": ADA, "time_us": int(NOW.timestamp() * 1_000_000), "kind": "commit", "commit": commit}


def pushed(happened: dict[str, Any], *words: str) -> list[Push]:
    return [*Subscription(words=words, root="request@bluesky:x").pushes(happened)]


def test_a_post_is_queued_with_its_record() -> None:
    (push,) = pushed(event())
    assert (push.queue, push.request.type, push.request.root) == ("event", "post", "request@bluesky:x")
    assert push.request.payload is not None
    assert push.request.payload.observed_at == NOW
    body = dict(push.request.payload.body)
    assert saved("post", body).document.urn == f"urn:atproto:{ADA}:post:3kabc"


def test_a_deletion_is_a_tombstone_from_the_moment_it_happened() -> None:
    (push,) = pushed(event("delete"))
    assert (push.request.context.urn, push.request.context.deleted_at) == (f"urn:atproto:{ADA}:post:3kabc", NOW)
    assert pushed(event("delete"), "river") == [], "whether it had the words, nobody knows any more"


@pytest.mark.parametrize(("words", "found"), [(["RIVER"], 1), (["river", "rises"], 1), (["river", "falls"], 0)])
def test_words_are_looked_for_in_the_text(words: list[str], found: int) -> None:
    assert len(pushed(event(), *words)) == found


def test_an_account_that_is_gone_takes_its_profile_along_and_a_new_handle_is_looked_at() -> None:
    told = {"did": ADA, "time_us": int((NOW + timedelta(seconds=1)).timestamp() * 1_000_000)}
    (gone,) = pushed({**told, "kind": "account", "account": {"active": False, "status": "takendown"}})
    assert (gone.request.type, gone.request.context.urn) == ("profile", f"urn:atproto:{ADA}")
    assert gone.request.context.deleted_at is not None
    (renamed,) = pushed({**told, "kind": "identity", "identity": {"handle": "lovelace.test"}})
    assert (renamed.request.type, renamed.request.payload, renamed.queue) == ("profile", None, "soon")


@pytest.mark.parametrize(
    "happened",
    [
        {},
        {"did": "nonsense", "kind": "commit"},
        {"did": ADA, "kind": "commit"},
        {"did": ADA, "kind": "account", "account": {"active": True}},
        {"did": ADA, "kind": "account", "account": {"active": False, "status": "desynchronized"}},
        {"did": ADA, "kind": "labels"},
        event(collection="app.bsky.feed.like"),
        event(rkey="../x"),
        {**event(), "commit": "nonsense"},
    ],
)
def test_what_nobody_asked_for_becomes_nothing(happened: dict[str, Any]) -> None:
    assert pushed(happened) == []


def test_a_moment_that_is_none_is_long_ago() -> None:
    (push,) = pushed({**event(), "time_us": 10**30})
    assert push.request.payload is not None
    assert push.request.payload.observed_at.year == 1970
