"""parse ∘ print is the identity, and print ∘ parse goes to one form and stays there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ghcrawl.social.parsing import RequestUriError, is_request_uri, parse
from ghcrawl.social.request_uri import RESOURCES, SOURCES, RequestUri, Source

pytestmark = pytest.mark.slow

characters = st.characters(exclude_categories=["Cs"])
values = st.text(characters, min_size=1, max_size=12)
keys = st.from_regex(r"[a-z][a-z0-9_-]{0,7}", fullmatch=True, alphabet=characters).filter(
    lambda key: key not in ("since", "before", "limit", "stream", "cursor")
)
moments = st.datetimes().map(lambda moment: moment.replace(microsecond=0).isoformat())
params = st.fixed_dictionaries(
    {},
    optional={
        "limit": st.integers(1, 10**9).map(str),
        "cursor": values,
        "stream": st.none(),
        "since": moments.filter(lambda text: text < "2026"),
        "before": moments.filter(lambda text: text >= "2026"),
    },
)
uris = st.builds(
    lambda platform, authority, resources, sources, known, others: RequestUri(
        platform=platform, authority=authority, resources=resources, sources=sources, params=known | others
    ),
    platform=st.sampled_from(["bluesky", "mastodon", "a+b-c.d"]),
    authority=st.sampled_from(["", "social.example", "xn--bcher-kva.example", "127.0.0.1:8080", "[::1]", "[::1]:80"]),
    resources=st.lists(st.sampled_from(RESOURCES), min_size=1).map(tuple),
    sources=st.lists(st.builds(Source, st.sampled_from(SOURCES), values), min_size=1, max_size=4).map(tuple),
    known=params,
    others=st.dictionaries(keys, st.none() | values, max_size=3),
)


@given(uris)
@settings(max_examples=400)
def test_what_is_printed_is_read_back(uri: RequestUri) -> None:
    printed = str(uri)
    assert parse(printed) == uri
    assert str(parse(printed)) == printed
    assert printed.isascii()
    assert is_request_uri(printed)


@given(
    st.text(characters, max_size=60)
    | st.from_regex(r"[ab]:(//h/)?q/[postrelainfu,]{1,12}/[a-z]+=[^/]{0,9}(\?.*)?", fullmatch=True, alphabet=characters)
)
@settings(max_examples=400)
def test_what_can_be_read_goes_to_one_form_and_anything_else_is_told_where(text: str) -> None:
    try:
        read = parse(text)
    except RequestUriError as error:
        assert 0 <= error.position <= len(text)  # noqa: PT017  # the property is about the error
        return
    assert parse(str(read)) == read


@given(
    st.datetimes(min_value=datetime(2, 1, 1), max_value=datetime(9998, 1, 1)),  # noqa: DTZ001  # hypothesis wants it so
    st.integers(-14 * 60, 14 * 60),
)
def test_a_date_is_read_as_the_moment_that_it_is(local: datetime, offset_min: int) -> None:
    written = local.replace(microsecond=0, tzinfo=timezone(timedelta(minutes=offset_min)))
    read = parse(f"b:q/post/user=a?since={written.isoformat()}").since
    assert read == written
    assert read.tzinfo is UTC
