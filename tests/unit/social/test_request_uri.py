"""Request URIs: one test for each thing that the texts leave open, and one form for each request."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ghcrawl.social.parsing import RequestUriError, is_request_uri, parse
from ghcrawl.social.request_uri import RequestUri, Source


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("twitter:q/post/query=%23python?limit=100", "twitter:q/post/query=%23python?limit=100"),
        ("pinterest:q/relations/user=foo,relations=foo", "pinterest:q/relations/user=foo,related=foo"),
        ("bluesky:q/profile,post/user=alice.test", "bluesky:q/post,profile/user=alice.test"),
        ("mastodon://Social.Example:443/q/post/user=a", "mastodon://social.example:443/q/post/user=a"),
        ("mastodon://bücher.example/q/post/user=a", "mastodon://xn--bcher-kva.example/q/post/user=a"),
        ("mastodon://social.example:0443/q/post/user=a", "mastodon://social.example:443/q/post/user=a"),
        ("mastodon://[::0001]:80/q/post/user=a", "mastodon://[::1]:80/q/post/user=a"),
        ("b:q/post,post/user=a,query=x,user=a", "b:q/post/query=x,user=a"),
        ("b:q/post/user=b,user=a,related=c,query=z", "b:q/post/query=z,user=a,user=b,related=c"),
        ("b:q/post/location=x,query=y,relations=z", "b:q/post/query=y,related=z,location=x"),
        ("b:q/post/query=%61%2b%3a%7e%c3%a9%2c", "b:q/post/query=a+:~%C3%A9%2C"),
        ("b:q/post/query=az09-._~!$'()*+;:@", "b:q/post/query=az09-._~!$'()*+;:@"),
        ("b:q/post/user=a?stream,limit=2,cursor=x", "b:q/post/user=a?cursor=x,limit=2,stream"),
    ],
)
def test_equal_requests_have_one_form(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical
    assert str(parse(canonical)) == canonical


def test_1_parameters_are_optional() -> None:
    assert parse("b:q/post/user=a").params == {}


def test_2_related_may_be_written_relations() -> None:
    assert parse("b:q/post/relations=a") == parse("b:q/post/related=a")


def test_3_what_separates_is_percent_encoded_in_values_and_decoded_after_splitting() -> None:
    (source,) = parse("b:q/post/query=a%2Cb%3Fc%2Fd%3De%26f%23g%20%C3%A9").sources
    assert source == Source("query", "a,b?c/d=e&f#g é")
    with pytest.raises(RequestUriError, match="no UTF-8") as raised:
        parse("b:q/post/query=a%C3%A9%C3x")
    assert raised.value.position == len("b:q/post/query=a%C3%A9")


@pytest.mark.parametrize("character", [*',?/=&#% "', "é", "\n", "<"])
def test_3_what_must_be_encoded_is_never_read_bare_and_always_printed_encoded(character: str) -> None:
    made = RequestUri(platform="b", resources=("post",), sources=(Source("query", f"a{character}B"),))
    printed = "".join(f"%{byte:02X}" for byte in character.encode())
    assert str(made) == f"b:q/post/query=a{printed}B"
    with pytest.raises(RequestUriError) as raised:
        parse(f"b:q/post/query=a{character}B")
    assert 0 <= raised.value.position - len("b:q/post/query=a") <= 1, "it, or what follows what it separates"


def test_4_a_plus_is_a_plus() -> None:
    assert parse("b:q/post/query=c++").sources == (Source("query", "c++"),)
    assert parse("b:q/post/user=a?since=2014-01-31T12:34:56+01:00").since == datetime(
        2014, 1, 31, 11, 34, 56, tzinfo=UTC
    )


def test_5_colons_and_at_signs_stand_for_themselves() -> None:
    assert [source.value for source in parse("b:q/post/user=did:plc:abc,user=a@b.example").sources] == [
        "a@b.example",
        "did:plc:abc",
    ]


def test_6_an_ampersand_between_parameters_is_told_what_to_be_instead() -> None:
    with pytest.raises(RequestUriError, match=r"separated by commas.*'&', character 24") as raised:
        parse("b:q/post/user=a?limit=1&stream")
    assert raised.value.position == 23


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2014-01-31", "2014-01-31T00:00:00Z"),
        ("2014-01-31T12:34:56", "2014-01-31T12:34:56Z"),
        ("2014-01-31T12:34:56-02:00", "2014-01-31T14:34:56Z"),
    ],
)
def test_7_dates_are_utc_unless_they_say_otherwise(written: str, meant: str) -> None:
    assert parse(f"b:q/post/user=a?since={written}").params == {"since": meant}


@pytest.mark.parametrize("before", ["2014-01-31T00:00:00Z", "2014-01-30", "2014-01-31T01:00:00+01:00"])
def test_7_a_window_is_not_empty(before: str) -> None:
    with pytest.raises(RequestUriError, match="earlier"):
        parse(f"b:q/post/user=a?since=2014-01-31,before={before}")


@pytest.mark.parametrize(
    "date",
    ["yesterday", "2014-13-01", "2014-01-31T12:34", "20140131", "2014-01-31T12:34:56.5Z", "2014-01-31%2012:34:56"],
)
def test_7_what_is_no_date_is_said(date: str) -> None:
    with pytest.raises(RequestUriError, match="is not a date"):
        parse(f"b:q/post/user=a?before={date}")


@pytest.mark.parametrize("limit", ["0", "-1", "1.5", "ten", "²", "9" * 19])
def test_9_a_limit_is_a_positive_whole_number(limit: str) -> None:
    with pytest.raises(RequestUriError, match=r"positive whole number|percent-encoded"):
        parse(f"b:q/post/user=a?limit={limit}")


def test_9_a_limit_has_one_form() -> None:
    assert parse("b:q/post/user=a?limit=007").limit == 7


def test_10_stream_takes_no_value() -> None:
    assert parse("b:q/post/user=a?stream").stream
    with pytest.raises(RequestUriError, match="stream takes no value"):
        parse("b:q/post/user=a?stream=yes")


def test_11_parameters_that_are_not_known_here_are_kept() -> None:
    assert str(parse("b:q/post/user=a?x-y,lang=de")) == "b:q/post/user=a?lang=de,x-y"


def test_12_a_parameter_is_said_once() -> None:
    with pytest.raises(RequestUriError, match="limit is said twice"):
        parse("b:q/post/user=a?limit=1,limit=2")


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("twitter:q/status/1", False),
        ("twitter:q/post/user=a", True),
        ("twitter:q/post,profile/user=a?limit=1", True),
        ("twitter:q/post,status/user=a", False),
        ("twitter:q/post/7", False),
        ("twitter:anna/post/user=a", False),
        ("twitter:q/post/user=a/7", False),
        ("mastodon://h/q/post/user=a", True),
        ("mastodon://h/@q/post", False),
        ("bluesky:profile/did:plc:abc/post/3k", False),
        ("acme/web", False),
    ],
)
def test_15_a_uri_asks_for_something_only_in_the_form_of_a_request(text: str, asks: bool) -> None:
    assert is_request_uri(text) is asks


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("q/post/user=a", 0, "name of a platform"),
        ("Bluesky:q/post/user=a", 0, "name of a platform"),
        ("7b:q/post/user=a", 0, "name of a platform"),
        ("b:post/user=a", 2, "q/ is expected"),
        ("b:q/post", 8, "sources are expected"),
        ("b:q/posts/user=a", 4, "'posts' is no resource"),
        ("b:q//user=a", 4, "something is missing"),
        ("b:q/post,/user=a", 9, "something is missing"),
        ("b:q/post/by=a", 9, "'by' is no source"),
        ("b:q/post/user", 13, "user needs a value"),
        ("b:q/post/user=", 14, "a value is missing"),
        ("b:q/post/user=a/b", 15, "as %2F"),
        ("b:q/post/query=a b", 16, "as %20"),
        ("b:q/post/query=a%2", 16, "two hex digits"),
        ("b:q/post/query=é", 15, "as %C3%A9"),
        ("b:q/post/user=a?", 16, "something is missing"),
        ("b:q/post/user=a?Limit=1", 16, "as %4C"),
        ("b:q/post/user=a?_x=1", 16, "as %5F"),
        ("b:q/post/user=a?since", 16, "since needs a value"),
        ("m://user@h/q/post/user=a", 4, "a host has no user"),
        ("m://h:99999/q/post/user=a", 6, "a port is a number"),
        ("m://h:0/q/post/user=a", 6, "a port is a number"),
        ("m://h_/q/post/user=a", 4, "no name of a host"),
        ("m:///q/post/user=a", 4, "no name of a host"),
        ("m://[zz]/q/post/user=a", 4, "no IPv6 address"),
    ],
)
def test_errors_point_at_the_character(text: str, position: int, reason: str) -> None:
    with pytest.raises(RequestUriError, match=reason) as raised:
        parse(text)
    assert raised.value.position == position
    assert "\n" not in str(raised.value)


def test_a_following_page_is_a_request_of_its_own() -> None:
    uri = parse("b:q/post/user=a?limit=200")
    page = uri.with_params(limit=100, cursor="a,b")
    assert str(page) == "b:q/post/user=a?cursor=a%2Cb,limit=100"
    assert parse(str(page)).cursor == "a,b"
    assert page.with_params(cursor=None, limit=200) == uri


def test_a_request_that_was_made_and_not_read_is_the_same() -> None:
    made = RequestUri(
        platform="b",
        resources=("profile", "post"),
        sources=(Source("user", "a"), Source("query", "#x")),
        params={"limit": "08"},
    )
    assert made == parse("b:q/post,profile/query=%23x,user=a?limit=8")
    assert hash(made) == hash(parse(str(made)))
