from __future__ import annotations

import pytest

from ghcrawl.cli.crawl import Wish
from ghcrawl.cli.options import Place
from tests.unit.cli.conftest import Command

TOKEN = "ghp_one0000000000000000000000000000000000"


def test_the_command_that_goes_on_is_the_one_that_was_typed_but_does_not_begin_again() -> None:
    wish = Wish(specs=("acme",), place=Place(), arguments=("crawl", "acme", "--afresh", "--db", "a b.db"))
    assert wish.command == "ghcrawl crawl acme --db 'a b.db'"


def test_a_token_in_place_of_a_spec_is_refused_and_not_shown(ghcrawl: Command) -> None:
    ran = ghcrawl("crawl", TOKEN)
    assert ran.status == 2
    assert "tokens belong in GHCRAWL_TOKENS" in ran.err
    assert TOKEN not in ran.err


@pytest.mark.parametrize("url", ["ftp://example.test", "example.test", "https://"])
def test_an_api_url_that_is_none_is_refused(ghcrawl: Command, url: str) -> None:
    ran = ghcrawl("crawl", "acme", "--api-url", url)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("ghcrawl: github.api_url (command line): ")
