"""What people write for Mastodon, and what its statuses and accounts become."""

from __future__ import annotations

from typing import Any

import pytest

from ghcrawl.platforms.mastodon import MASTODON
from ghcrawl.social.plan import Unsupported
from ghcrawl.values.documents import Document, Origin
from ghcrawl.values.errors import Malformed, SpecError, UnknownSpec
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import Fetched, Save, Skip, Visit
from ghcrawl.values.requests import Request
from processors.mastodon.streams import channel, told
from stores.memory import MemoryStore
from tests.support.builders import NOW, a_document, at

HOST = "social.example"
ADA = {"id": "7", "acct": "ada", "username": "ada", "url": f"https://{HOST}/@ada", "uri": f"https://{HOST}/ap/users/7"}
POST: dict[str, Any] = {
    "id": "99",
    "created_at": "2026-11-21T10:00:00.000Z",
    "account": ADA,
    "content": '<p>See <a href="https://a.example/x">this</a> <a href="https://social.example/tags/b" class="mention '
    'hashtag">#b</a> & more</p>',
    "tags": [{"name": "b"}],
    "url": f"https://{HOST}/@ada/99",
    "uri": f"https://{HOST}/ap/users/7/statuses/99",
}


def read(spec: str) -> Request:
    return MASTODON.read_spec(spec, "", "default")


@pytest.mark.parametrize(
    ("typed", "type", "url"),
    [
        (f"//{HOST}/q/post/user=ada", "request", f"mastodon://{HOST}/q/post/user=ada"),
        (f"//{HOST}/q/post/relations=@ada", "request", f"mastodon://{HOST}/q/post/related=ada"),
        (f"//Social.Example/q/post/user=ada@{HOST}", "request", f"mastodon://{HOST}/q/post/user=ada"),
        (f"//{HOST}/q/post/user=ada@Other.Example", "request", f"mastodon://{HOST}/q/post/user=ada@other.example"),
        (f"//{HOST}/@ada", "request", f"mastodon://{HOST}/q/profile/user=ada"),
        (f"https://{HOST}/@ada", "request", f"mastodon://{HOST}/q/profile/user=ada"),
        (f"//{HOST}/@ada/followers", "request", f"mastodon://{HOST}/q/relations/user=ada"),
        (f"//{HOST}/@ada@other.example/99", "status", f"mastodon://{HOST}/api/v1/statuses/99"),
        (f"//{HOST}/tags/python", "request", f"mastodon://{HOST}/q/post/query=%23python"),
    ],
)
def test_what_is_written_is_read(typed: str, type: str, url: str) -> None:
    request = read(typed)
    assert (request.platform, request.type, request.url) == ("mastodon", type, url)


@pytest.mark.parametrize(
    ("typed", "error", "says"),
    [
        (f"//{HOST}/q/post/location=here", Unsupported, "does not tell where anybody is"),
        (f"//{HOST}/q/post/user=a,related=b", Unsupported, "related cannot narrow"),
        (f"//{HOST}/q/post/user=ada?colour=red", SpecError, "unknown parameter colour"),
        (f"//{HOST}/q/post/user=%3Cada%3E", SpecError, "is no account"),
        (f"//{HOST}/q/post/user=ada?limit=0", SpecError, "positive whole number"),
        ("//so cial/q/post/user=ada", SpecError, "no name of a host"),
        ("q/post/user=ada", UnknownSpec, "mastodon://social.example/@user"),
        ("acme/web", UnknownSpec, "nothing to crawl"),
    ],
)
def test_what_cannot_be_asked_is_said_in_one_line(typed: str, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says) as raised:
        read(typed)
    assert "\n" not in str(raised.value)


def saved(
    type: str, body: Any, *, url: str = f"mastodon://{HOST}/api/v1/x", policy: str = "", origin: Origin = "fetch"
) -> Save:
    outcome = processed(type, body, url=url, policy=policy, origin=origin)
    assert isinstance(outcome, Save)
    return outcome


def processed(
    type: str, body: Any, *, url: str = f"mastodon://{HOST}/api/v1/x", policy: str = "", origin: Origin = "fetch"
) -> Save | Skip:
    kind = MASTODON.kinds[type]
    spec = policy or f"default:{kind.position}"
    visit = Visit(
        request=Request(platform="mastodon", type=type, url=url, policy=spec),
        fetched=Fetched(body=body, url=url, observed_at=NOW, checked_at=NOW, origin=origin),
        next_hops=MASTODON.scenarios.next_hops(spec),
        version=1,
        processed_at=NOW,
    )
    outcome = kind.processor(visit)  # type: ignore[union-attr]
    assert isinstance(outcome, Save | Skip)
    return outcome


def document(type: str, body: Any) -> Document:
    return saved(type, body).document


def test_a_status_lies_in_its_author_and_links_to_what_it_answers_quotes_and_names() -> None:
    quoted = {"id": "5", "account": {"id": "8"}}
    body = {**POST, "in_reply_to_id": "4", "in_reply_to_account_id": "9", "quote": {"quoted_status": quoted}}
    found = document("status", {**body, "media_attachments": [{"url": "https://files.example/1.png"}]})
    assert found.urn == f"urn:mastodon:{HOST}:account:7:status:99"
    assert found.url == f"mastodon://{HOST}/api/v1/statuses/99"
    assert set(found.aliases) == {POST["uri"], POST["url"], f"mastodon://{HOST}/@ada/99"}
    links = {name: link.href or link.hrefs for name, link in found.links.items()}
    assert links == {
        "self": found.urn,
        "author": f"urn:mastodon:{HOST}:account:7",
        "reply_to": f"urn:mastodon:{HOST}:account:9:status:4",
        "quote": f"urn:mastodon:{HOST}:account:8:status:5",
        "outlinks": ("https://a.example/x",),
        "media": ("https://files.example/1.png",),
    }


async def test_an_edit_is_truer_than_an_older_body_that_was_read_later() -> None:
    store = MemoryStore()
    edited = document("status", {**POST, "edited_at": "2026-11-21T11:00:00.000Z"})
    before = replace(document("status", POST), observed_at=at(60))
    await store.save(edited)
    assert await store.save(before) == "stale"
    stored = await store.get(edited.urn)
    assert stored is not None
    assert stored.body["edited_at"] == "2026-11-21T11:00:00.000Z"


def test_an_account_links_to_its_pages() -> None:
    fields = [{"name": "web", "value": '<a href="https://ada.example/">me</a>'}]
    found = document("account", {**ADA, "note": '<p><a href="https://b.example/">b</a></p>', "fields": fields})
    assert found.urn == f"urn:mastodon:{HOST}:account:7"
    assert found.links["outlinks"].hrefs == ("https://b.example/", "https://ada.example/")


@pytest.mark.parametrize(
    ("type", "body"),
    [("status", {"id": "1"}), ("status", []), ("account", {}), ("statuses", [{"id": "../1"}]), ("stream", {})],
)
def test_what_has_no_identity_is_malformed(type: str, body: Any) -> None:
    with pytest.raises(Malformed):
        saved(type, body)


def carried(uri: str, *posts: dict[str, Any]) -> list[str]:
    url = f"mastodon://{HOST}/api/v1/accounts/7/statuses?limit=40#mastodon://{HOST}/q/post/{uri}"
    pushes = saved("statuses", list(posts), url=url).follow_ups
    return [
        push.request.payload.body["id"] for push in pushes if push.request.payload and push.request.type == "status"
    ]


@pytest.mark.parametrize(
    ("uri", "asked_for"),
    [
        ("user=ada", True),
        ("user=ada,query=more", True),
        ("user=ada,query=less", False),
        ("user=ada,query=%23b", True),
        ("user=ada,query=%23more", False),
        ("query=%23b", True),
        ("query=%23more", False),
        ("query=%23b,query=less", False),
        ("user=ada?since=2026-11-21T10:00:00Z", True),
        ("user=ada?since=2026-11-21T10:00:01Z", False),
        ("user=ada?before=2026-11-21T10:00:00Z", False),
        ("user=ada?before=2026-11-21T10:00:01Z", True),
    ],
)
def test_every_condition_is_checked_here_whatever_the_host_was_asked_for(uri: str, *, asked_for: bool) -> None:
    assert bool(carried(uri, POST)) is asked_for


def test_an_edit_counts_for_since_and_not_for_before() -> None:
    edited = {**POST, "edited_at": "2026-11-21T20:00:00.000Z"}
    assert carried("user=ada?since=2026-11-21T15:00:00Z", edited)
    assert carried("user=ada?before=2026-11-21T15:00:00Z", edited)


@pytest.mark.parametrize(
    ("uri", "whole"),
    [
        ("user=ada", True),
        ("related=ada", True),
        ("user=ada?limit=9", False),
        ("user=ada?since=2026-01-01", False),
        ("user=ada?before=2027-01-01", False),
        ("user=ada,query=more", False),
    ],
)
def test_only_a_whole_list_is_compared_with_what_is_stored(uri: str, *, whole: bool) -> None:
    url = f"mastodon://{HOST}/api/v1/accounts/7/statuses?limit=40#mastodon://{HOST}/q/post/{uri}"
    asked = [push.request.type for push in saved("statuses", [POST], url=url).follow_ups]
    assert ("listing" in asked) is whole


def test_a_page_that_leads_to_another_host_is_not_followed() -> None:
    url = f"mastodon://{HOST}/api/v1/accounts/7/statuses?limit=40"
    visit_url = "mastodon://evil.example/api/v1/accounts/7/statuses?max_id=1"
    kind = MASTODON.kinds["statuses"]
    visit = Visit(
        request=Request(platform="mastodon", type="statuses", url=url, policy="default:request@/statuses"),
        fetched=Fetched(body=[POST], url=url, observed_at=NOW, checked_at=NOW, link={"next": visit_url}),
        next_hops=MASTODON.scenarios.next_hops("default:request@/statuses"),
        version=1,
        processed_at=NOW,
    )
    outcome = kind.processor(visit)  # type: ignore[union-attr]
    assert isinstance(outcome, Save)
    assert all("evil" not in push.request.url for push in outcome.follow_ups)


SHY = {**ADA, "noindex": True}
UNINDEXED: dict[str, Any] = {**POST, "account": SHY}


@pytest.mark.parametrize("body", [UNINDEXED, {**POST, "reblog": {**UNINDEXED, "id": "98"}}])
def test_posts_of_whoever_asks_not_to_be_indexed_are_not_kept_wherever_they_are_shown(body: dict[str, Any]) -> None:
    assert processed("status", body) == Skip(reason="noindex")
    assert carried("user=ada", body, {**POST, "id": "97"}) == ["97"]
    page = saved("context", {"ancestors": [body], "descendants": [{**POST, "id": "97"}]}).document
    assert [each["url"] for each in page.body["elements"]] == [f"mastodon://{HOST}/api/v1/statuses/97"]


@pytest.mark.parametrize("account", [{**ADA, "noindex": value} for value in (False, None)])
def test_whoever_does_not_say_so_is_read(account: dict[str, Any]) -> None:
    assert carried("user=ada", {**POST, "account": account}) == ["99"]


def asked_for(account: dict[str, Any], resources: str) -> tuple[set[str], object]:
    """Types that follow from a request about an account, and the notes of its document; the same of our own copy."""
    url = f"mastodon://{HOST}/q/{resources}/user=ada"
    outcome = saved("request", account, url=url)
    found = {push.request.type for push in outcome.follow_ups}, outcome.document.body.get("notes")
    again = saved("request", dict(outcome.document.body), url=url, origin="storage")
    assert ({push.request.type for push in again.follow_ups}, again.document.body.get("notes")) == found
    return found


def test_a_request_says_whose_posts_it_does_not_read() -> None:
    everything = "post,profile,relations"
    assert asked_for(ADA, everything) == ({"account", "statuses", "followers", "following"}, None)
    notes = ["ada asks not to be indexed: its posts are not read"]
    assert asked_for(SHY, everything) == ({"account", "followers", "following"}, notes)
    assert asked_for(SHY, "relations") == ({"followers", "following"}, None)
    notes = ["ada is suspended: its host shows its name only"]
    assert asked_for({**ADA, "suspended": True}, everything) == ({"account"}, notes)


TWO = "nothing matches: what is asked for would have two authors"


@pytest.mark.parametrize(
    ("what", "note", "asked"),
    [
        ("post/user=ada,user=bob?stream", [TWO], set()),
        ("post,profile,relations/user=ada,query=ADA", None, {"statuses", "account", "followers", "following"}),
        (
            "post,profile,relations/user=ada,query=zebra",
            [
                f"{each} matches nothing: the account does not have the words of query"
                for each in ("profile", "relations")
            ],
            {"statuses"},
        ),
        ("profile/user=ada,query=lovelace", None, {"account"}),
        ("relations/user=ada?limit=5", ["limit is ignored for relations"], {"followers", "following"}),
        ("post/user=ada?stream", None, {"statuses", "stream"}),
        ("profile/user=ada?stream", ["stream is ignored: only posts are streamed"], {"account"}),
    ],
)
def test_a_request_records_what_of_it_matches_nothing_or_is_ignored(
    what: str, note: list[str] | None, asked: set[str]
) -> None:
    url = f"mastodon://{HOST}/q/{what}"
    outcome = saved("request", {**ADA, "display_name": "Ada Lovelace"}, url=url)
    assert outcome.document.body.get("notes") == note
    assert {push.request.type for push in outcome.follow_ups} == asked
    again = saved("request", dict(outcome.document.body), url=url, origin="storage")
    assert again.document.body.get("notes") == note, "our own copy, which does not show the account, keeps them"


@pytest.mark.parametrize(
    ("type", "what", "asked", "of_ada"),
    [
        ("members", "profile/related=ada,query=river", {"account"}, False),
        ("members", "profile/related=ada", {"account"}, True),
        ("fan_out", "relations/related=ada,query=river", {"followers", "following"}, False),
        ("fan_out", "post/related=ada,query=river", {"statuses"}, True),
        ("search", "profile/query=a,query=river", {"account"}, False),
    ],
)
def test_words_narrow_accounts_where_accounts_are_asked_for(
    type: str, what: str, asked: set[str], *, of_ada: bool
) -> None:
    people = [ADA, {**ADA, "id": "8", "acct": "bob", "note": "<p>By the River</p>"}]
    outcome = saved(
        type,
        {"accounts": people} if type == "search" else people,
        url=f"mastodon://{HOST}/x#mastodon://{HOST}/q/{what}",
    )
    follow_ups = [push.request for push in outcome.follow_ups if push.request.type != type]
    assert {each.type for each in follow_ups} == asked
    assert {each.url.split("/")[6].partition("?")[0] for each in follow_ups} == ({"7", "8"} if of_ada else {"8"})
    assert len(outcome.document.body["elements"]) == (2 if of_ada else 1)
    if type != "search":
        url = f"mastodon://{HOST}/x#mastodon://{HOST}/q/{what}"
        again = saved(type, dict(outcome.document.body), url=url, origin="storage")
        assert again.document.body["elements"] == outcome.document.body["elements"], "our own copy is of those already"


def test_of_many_the_posts_of_whoever_asks_not_to_be_indexed_are_not_asked_for() -> None:
    url = f"mastodon://{HOST}/api/v1/accounts/7/followers?limit=80#mastodon://{HOST}/q/RESOURCE/related=ada"
    both = [SHY, {**ADA, "id": "8", "acct": "bob"}]
    for resource, owners in (("post", ["8"]), ("relations", ["7", "7", "8", "8"])):
        outcome = saved("fan_out", both, url=url.replace("RESOURCE", resource))
        asked = [push.request.url for push in outcome.follow_ups if push.request.type != "fan_out"]
        assert [each.split("/")[6] for each in asked] == owners


# Streams ------------------------------------------------------------------------------------------------------


def subscription(sources: str, account: str = "") -> Document:
    request = f"mastodon://{HOST}/q/post/{sources}"
    return a_document(platform="mastodon", type="stream", url=request, body={"request": request, "account_id": account})


@pytest.mark.parametrize(
    ("sources", "account", "stream"),
    [
        ("query=%23b?stream", "", ("hashtag", "b", f"mastodon://{HOST}/api/v1/timelines/tag/b?limit=40")),
        ("query=rain?stream", "", ("public", "", f"mastodon://{HOST}/api/v1/timelines/public?limit=40")),
        ("user=ada?stream", "7", ("public", "", f"mastodon://{HOST}/api/v1/accounts/7/statuses?limit=40")),
    ],
)
def test_a_subscription_reads_the_narrowest_stream_and_the_timeline_that_shows_the_same(
    sources: str, account: str, stream: tuple[str, str, str]
) -> None:
    assert channel(subscription(sources, account)) == stream


@pytest.mark.parametrize("event", ["update", "status.update"])
@pytest.mark.parametrize(
    ("sources", "account", "is_asked_for"),
    [
        ("user=ada?stream", "7", True),
        ("user=ada?stream,limit=1", "7", True),
        ("user=bob?stream", "8", False),
        ("query=more?stream", "", True),
        ("query=less?stream", "", False),
        ("query=%23b?stream", "", True),
        ("query=%23more?stream", "", False),
        ("user=ada,query=more?stream", "7", True),
        ("user=ada,query=less?stream", "7", False),
        ("user=ada?stream,before=2026-11-21", "7", False),
    ],
)
def test_of_a_stream_only_what_is_asked_for_is_queued_with_its_body(
    event: str, sources: str, account: str, *, is_asked_for: bool
) -> None:
    pushes = told(subscription(sources, account), event, POST, NOW)
    assert [push.request.url for push in pushes] == [f"mastodon://{HOST}/api/v1/statuses/99"] * is_asked_for
    assert all((push.queue, push.request.payload and push.request.payload.body) == ("event", POST) for push in pushes)


def test_a_deletion_is_looked_at_later_where_the_post_is_known_and_other_events_are_nothing() -> None:
    (push,) = told(subscription("user=ada?stream", "7"), "delete", "99", NOW)
    assert (push.request.url, push.not_before) == (f"mastodon://{HOST}/api/v1/statuses/99", at(30))
    assert push.request.context.only_known
    for event, body in (("delete", "../1"), ("delete", {}), ("notification", POST), ("update", []), ("update", {})):
        assert told(subscription("user=ada?stream", "7"), event, body, NOW) == ()
