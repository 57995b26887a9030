from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.admin.running_shapes import PrincipalShape
from ghcrawl.cli.server import tokens as served
from ghcrawl.ports.source import BudgetView, PrincipalView
from tests.support.builders import NOW
from tests.unit.cli.conftest import Command

ONE, TWO = "ghp_one0000000000000000000000000000000000", "ghp_two0000000000000000000000000000000000"


def test_without_any_it_is_said_what_that_means_and_how_to_get_one(ghcrawl: Command) -> None:
    ran = ghcrawl("tokens")
    assert (ran.status, ran.out) == (0, "")
    assert "requests are unauthenticated, at 60 calls per hour" in ran.err
    assert ghcrawl("tokens", "--json").json == []


def test_they_are_listed_with_traits_and_where_they_come_from_and_never_shown(
    ghcrawl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHCRAWL_TOKENS", f"{ONE}#private,org:acme")
    Path("tokens").write_text(f"{TWO}\n")
    ran = ghcrawl("tokens", "--tokens-file", "tokens")
    assert ran.status == 0
    assert [row[1:] for row in ran.rows] == [["private, org:acme", "GHCRAWL_TOKENS"], ["any", "tokens"]]
    assert ran.err == "# check them with the API\nghcrawl tokens check --tokens-file tokens\n"
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
    assert ran.err == f"ghcrawl: cannot reach {url}: connection refused\n"


def principals(
    monkeypatch: pytest.MonkeyPatch, *found: PrincipalView, differing: Sequence[Mapping[str, Any]] = ()
) -> None:
    """A service answers with these."""

    async def answered(url: str) -> tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]:
        return [PrincipalShape.of(one).model_dump() for one in found], differing

    monkeypatch.setattr(served, "_answered", answered)


def test_a_service_tells_what_is_left_and_whom_it_no_longer_asks_as(
    ghcrawl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets = (
        BudgetView(resource="search", limit=30, remaining=1, reset_at=NOW),
        BudgetView(main=True, resource="core", limit=5000, remaining=4321, reset_at=NOW),
    )
    principals(
        monkeypatch,
        PrincipalView(id="p1", label="ghp_…one", traits=("public",), budgets=budgets),
        PrincipalView(id="p2", label="ghp_…two", retired="401 Bad credentials"),
    )
    url = "http://127.0.0.1:1"
    ran = ghcrawl("tokens", "check", "--server", url)
    assert ran.status == 2
    assert ran.err == "ghcrawl: ghp_…two does not work: 401 Bad credentials\n"
    (_, left, _, state), (_, nothing, _, why) = ran.rows
    assert (left, state, nothing, why) == ("4,321 of 5,000", "", "", "401 Bad credentials")
    good, bad = ghcrawl("tokens", "check", "--server", url, "--json").json
    assert (good["remaining"], good["limit"], good["trouble"], bad["trouble"]) == (
        4321,
        5000,
        None,
        "401 Bad credentials",
    )
    assert set(good) == {"label", "login", "limit", "remaining", "reset_at", "scopes", "expires_at", "trouble"}
    assert ghcrawl("tokens", "--server", url).rows == [["ghp_…one", "public"], ["ghp_…two", "any"]]


def test_a_service_tells_which_batches_are_off(ghcrawl: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    differing = [{"platform": "github", "type": "user", "fields": ["company", "blog"]}]
    principals(monkeypatch, PrincipalView(id="p1", label="ghp_…one"), differing=differing)
    ran = ghcrawl("tokens", "check", "--server", "http://127.0.0.1:1")
    assert ran.status == 0
    assert ran.err.startswith("github: batches of type user differ from single answers in company, blog; they are off")


def test_a_service_without_tokens_says_so_and_has_tokens_and_an_api_of_its_own(
    ghcrawl: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    principals(monkeypatch)
    url = "http://127.0.0.1:1"
    for words in (("tokens",), ("tokens", "check")):
        ran = ghcrawl(*words, "--server", url)
        assert (ran.status, ran.out) == (0, "")
        assert "unauthenticated" in ran.err
        assert ghcrawl(*words, "--server", url, "--json").json == []
        refused = ghcrawl(*words, "--server", url, "--tokens-file", "tokens")
        assert (refused.status, "--tokens-file cannot be combined with --server" in refused.err) == (2, True)
