"""Tokens as text, what their traits mean, and which of them a request is drawn to."""

from __future__ import annotations

from collections import Counter

import pytest

from ghcrawl.fetch.github.principals import Traits, affinity, fingerprint, read_tokens
from ghcrawl.values.errors import ConfigError


def test_tokens_are_separated_by_semicolons_and_lines_and_comments_are_skipped() -> None:
    text = "\n# mine; and a comment\n ghp_one#private ; ghp_two\r\n\n  # more\n"
    text += "ghp_three#org:Acme, org:Umbrella,user:Octocat;\n"
    one, two, three = read_tokens(text)
    assert [one.secret, two.secret, three.secret] == ["ghp_one", "ghp_two", "ghp_three"]
    assert one.traits == Traits(private=True)
    assert not two.traits.declared
    assert three.traits == Traits(orgs=frozenset({"acme", "umbrella"}))
    assert three.user == "octocat"


def test_no_text_is_no_token() -> None:
    assert read_tokens(" \n;;\n# nothing\n") == ()


def test_several_tokens_of_one_user_are_one_principal() -> None:
    one, two, other = read_tokens("ghp_one#user:octocat;ghp_two#user:OctoCat,private;ghp_three")
    assert one.principal_id == two.principal_id != other.principal_id


@pytest.mark.parametrize(
    "text",
    [
        "ghp_secretsecret#privat",
        "public#ghp_secretsecret",
        "ghp_secretsecret#org:",
        "ghp_secretsecret#user:a,user:b",
        "#ok\nghp_secretsecret extra",
        "Bearer ghp_secretsecret",
        "ghp_secretsecret\u00e9",
        "ghp_secretsecret;ghp_secretsecret",
        "ok;  ;#x;ghp_secret\x01secret",
    ],
)
def test_a_mistake_is_one_clear_line_without_the_token(text: str) -> None:
    with pytest.raises(ConfigError) as raised:
        read_tokens(text)
    message = str(raised.value)
    assert "entry " in message
    assert "secret" not in message
    assert "\n" not in message


def test_nothing_that_holds_a_token_shows_it() -> None:
    (token,) = read_tokens("ghp_secretsecret#private,user:octocat")
    for text in (repr(token), str(token), f"{token}", repr({"a": [token.secret]}), token.label, token.principal_id):
        assert "secretsecret" not in text


def test_a_fingerprint_is_short_and_stays() -> None:
    assert fingerprint("ghp_one") == fingerprint("ghp_one")
    assert len(fingerprint("ghp_one")) == 12
    assert fingerprint("ghp_one") != fingerprint("ghp_two")


def test_private_data_is_served_by_those_who_see_it() -> None:
    assert Traits(private=True).serves("acme", private=True)
    assert Traits(admin=True).serves("acme", private=True)
    assert Traits(orgs=frozenset({"acme"})).serves("acme", private=True)
    assert not Traits(public=True).serves("acme", private=True)


def test_a_credential_made_for_an_owner_serves_that_owner_and_others_only_if_it_is_public_too() -> None:
    assert not Traits(orgs=frozenset({"acme"})).serves("other", private=False)
    assert Traits(orgs=frozenset({"acme"}), public=True).serves("other", private=False)
    assert not Traits(orgs=frozenset({"acme"}), public=True).serves("other", private=True)
    assert not Traits(orgs=frozenset({"acme"})).serves("", private=False)


def test_scopes_spread_evenly() -> None:
    shares = Counter(max("abc", key=lambda name: affinity(f"acme/repo-{n}", name)) for n in range(3000))
    assert all(900 < share < 1100 for share in shares.values())


def test_a_principal_that_comes_or_goes_moves_only_its_own_scopes() -> None:
    scopes = [f"acme/repo-{n}" for n in range(500)]
    four = {scope: max("abcd", key=lambda name: affinity(scope, name)) for scope in scopes}
    three = {scope: max("abc", key=lambda name: affinity(scope, name)) for scope in scopes}
    assert all(three[scope] == four[scope] for scope in scopes if four[scope] != "d")
