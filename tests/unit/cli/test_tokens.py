from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Command

ONE, TWO = "ghp_one0000000000000000000000000000000000", "ghp_two0000000000000000000000000000000000"


def test_without_any_it_is_said_what_that_means_and_how_to_get_one(ghcrawl: Command) -> None:
    ran = ghcrawl("tokens")
    assert (ran.status, ran.out) == (0, "")
    assert "everything is asked as nobody, which GitHub allows 60 times an hour" in ran.err
    assert ghcrawl("tokens", "--json").json == []


def test_they_are_listed_with_traits_and_where_they_come_from_and_never_shown(
    ghcrawl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHCRAWL_TOKENS", f"{ONE}#private,org:acme")
    Path("tokens").write_text(f"{TWO}\n")
    ran = ghcrawl("tokens", "--tokens-file", "tokens")
    assert ran.status == 0
    assert [row[1:] for row in ran.rows] == [["private, org:acme", "GHCRAWL_TOKENS"], ["any", "tokens"]]
    assert ran.err == "# asks the API about them\nghcrawl tokens check --tokens-file tokens\n"
    assert ONE not in ran.out + ran.err
    assert TWO not in ran.out + ran.err
    brief = ghcrawl("tokens", "--tokens-file", "tokens", "--json").json
    assert [one["from"] for one in brief] == ["GHCRAWL_TOKENS", "tokens"]


@pytest.mark.parametrize("text", [f"{ONE}#nonsense", "not a token at all", f"{ONE}#user:"])
def test_what_is_no_token_is_refused_without_being_shown(
    ghcrawl: Command, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("GHCRAWL_TOKENS", text)
    ran = ghcrawl("tokens")
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("ghcrawl: ")
    assert text not in ran.err
    assert ONE not in ran.err


def test_an_api_that_nobody_answers_at_is_told_of_as_a_crawl_does(
    ghcrawl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHCRAWL_TOKENS", ONE)
    with socket.socket() as bound:  # and nobody listens
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        ran = ghcrawl("tokens", "check", "--api-url", url)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err == f"ghcrawl: {url} cannot be reached: connection refused\n"
