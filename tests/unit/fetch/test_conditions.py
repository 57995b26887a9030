"""Validators, and smaller pages."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from ghcrawl.fetch.github.conditions import condition, smaller_page, usable
from ghcrawl.values.documents import Validator
from ghcrawl.values.frozen import replace
from tests.support.builders import NOW, a_failure, a_request
from tests.unit.fetch.scripted import a_stored

URL = "https://api.example.test/repos/acme/web/issues/1"
MODIFIED = "Sat, 21 Nov 2026 10:00:00 GMT"
HELD = Validator(
    url=URL, etag='W/"abc"', last_modified=MODIFIED, accept="json", api_version="2022-11-28", principal="mine"
)


def asked(
    validator: Validator | None = HELD, *, url: str = URL, fingerprint: str = "mine", **over: Any
) -> dict[str, str]:
    stored = a_stored(URL, validator=validator, **over)
    held = usable(stored, "json", "2022-11-28")
    return (
        {}
        if held is None
        else condition(
            held,
            stored,
            url=url,
            fingerprint=fingerprint,
            now=NOW,
        )
    )


def test_the_same_token_asks_by_etag_and_by_nothing_else() -> None:
    assert asked() == {"If-None-Match": 'W/"abc"'}


def test_another_token_asks_by_date() -> None:
    assert asked(fingerprint="other") == {"If-Modified-Since": MODIFIED}


def test_a_copy_without_an_etag_is_asked_for_by_date() -> None:
    assert asked(replace(HELD, etag=None)) == {"If-Modified-Since": MODIFIED}


@pytest.mark.parametrize("kind", ["pull_request", "release", "issues", "team"])
def test_kinds_whose_date_misses_changes_are_not_asked_for_by_it(kind: str) -> None:
    assert asked(fingerprint="other", type=kind) == {}


@pytest.mark.parametrize("kind", ["repo", "user", "org", "issue", "commit"])
def test_kinds_whose_date_can_be_trusted_are(kind: str) -> None:
    assert asked(fingerprint="other", type=kind) == {"If-Modified-Since": MODIFIED}


def test_an_old_copy_is_fetched_whole_rather_than_trusted_by_date() -> None:
    assert asked(fingerprint="other", observed_at=NOW - timedelta(days=31)) == {}
    assert asked(observed_at=NOW - timedelta(days=31)) == {"If-None-Match": 'W/"abc"'}


@pytest.mark.parametrize("other", [{"accept": "text"}, {"api_version": "2026-03-10"}, {"url": URL + "?page=2"}])
def test_a_validator_of_another_representation_says_nothing(other: dict[str, str]) -> None:
    assert asked(replace(HELD, **other)) == {}


def test_without_a_copy_nothing_is_conditional() -> None:
    assert usable(None, "json", "2022-11-28") is None
    assert asked(None) == {}


LIST = "https://api.example.test/repos/acme/web/issues?state=all&per_page=100"


def page(url: str, *statuses: int | None) -> str:
    return smaller_page(a_request(url=url, failures=tuple(a_failure(status=status) for status in statuses)))


@pytest.mark.parametrize(
    ("statuses", "per_page"),
    [((502,), 50), ((502, 504), 25), ((500, 503, 504), 12), ((502,) * 4, 10), ((502,) * 9, 10), ((502, None, 404), 50)],
)
def test_each_breakdown_halves_the_page(statuses: tuple[int | None, ...], per_page: int) -> None:
    assert page(LIST, *statuses).endswith(f"?state=all&per_page={per_page}")


@pytest.mark.parametrize("breakdowns", range(1, 6))
@pytest.mark.parametrize("number", [1, 2, 3, 7])
def test_a_smaller_numbered_page_begins_no_later_than_the_one_it_replaces(breakdowns: int, number: int) -> None:
    smaller = page(f"{LIST}&page={number}", *(502,) * breakdowns)
    query = dict(pair.split("=") for pair in smaller.partition("?")[2].split("&"))
    size, first = int(query["per_page"]), (int(query["page"]) - 1) * int(query["per_page"])
    assert (number - 1) * 100 - size < first <= (number - 1) * 100


def test_a_page_behind_a_cursor_keeps_its_cursor() -> None:
    smaller = page(f"{LIST}&after=Y3Vyc29yOnYyOpK5%3D%3D", 502)
    assert "per_page=50" in smaller
    assert "after=Y3Vyc29yOnYyOpK5%3D%3D" in smaller or "after=Y3Vyc29yOnYyOpK5==" in smaller


@pytest.mark.parametrize("url", [URL, URL + "?page=2", URL + "?per_page=10", URL + "?per_page=all"])
def test_what_has_no_page_size_to_halve_is_asked_as_it_is(url: str) -> None:
    assert page(url, 502) == url


def test_failures_that_are_no_breakdown_change_nothing() -> None:
    assert page(LIST, None, 403) == LIST
