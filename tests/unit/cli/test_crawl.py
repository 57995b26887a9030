from __future__ import annotations

import pytest

from ghcrawl.cli.crawl import Options
from ghcrawl.cli.options import Place
from ghcrawl.platforms.github import GITHUB
from ghcrawl.values.requests import Push
from tests.support.builders import NOW
from tests.unit.cli.conftest import Command, Fill

TOKEN = "ghp_one0000000000000000000000000000000000"


def test_the_command_that_goes_on_is_the_one_that_was_typed_but_does_not_begin_again() -> None:
    wish = Options(specs=("acme",), place=Place(), arguments=("crawl", "acme", "--afresh", "--db", "a b.db"))
    assert wish.command == "ghcrawl crawl acme --db 'a b.db'"


def test_a_token_in_place_of_a_spec_is_refused_and_not_shown(ghcrawl: Command) -> None:
    ran = ghcrawl("crawl", TOKEN)
    assert ran.status == 2
    assert "put tokens into the environment or a file" in ran.err
    assert TOKEN not in ran.err


@pytest.mark.parametrize("url", ["ftp://example.test", "example.test", "https://"])
def test_an_api_url_that_is_none_is_refused(ghcrawl: Command, url: str) -> None:
    ran = ghcrawl("crawl", "acme", "--api-url", url)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("ghcrawl: github.api_url (command line): ")


def test_an_event_without_a_url_of_the_api_is_worked_through(ghcrawl: Command, filled: Fill) -> None:
    """A security advisory lies in no repository: its request carries its payload, and names no API."""
    deliveries = GITHUB.deliveries
    assert deliveries is not None
    request = deliveries.request("security_advisory", "d-1", {"action": "published"}, NOW)
    assert request.url.startswith("webhook:")
    filled(pushes=[Push(request=request, queue="event")])
    ran = ghcrawl("crawl", "--json")
    assert ran.status == 0, ran.err
    assert ran.json["finished"] is True
