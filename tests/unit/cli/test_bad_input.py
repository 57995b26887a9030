"""What is wrong before anybody is asked: said in one clear line, with exit status 2, and nothing is touched."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import Ran
from tests.unit.cli.conftest import Command


def complaint(ran: Ran) -> str:
    """The one line that says what is wrong, which is all that is said."""
    assert ran.status == 2, ran
    assert ran.out == ""
    (line,) = ran.err.splitlines()
    assert line.startswith("ghcrawl: ")
    return line.removeprefix("ghcrawl: ")


def not_a_database(db: Path) -> None:
    db.write_text("Dear diary, today I crawled nothing.\n" * 50)


def of_a_newer_version(db: Path) -> None:
    connection = sqlite3.connect(db)
    connection.execute("PRAGMA user_version = 999")
    connection.close()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("crawl", "two words"), "'two words' is nothing to crawl; write an organisation or user (acme), a repo"),
        (("crawl", "acme", "--policy", "foo"), "unknown policy 'foo'; known policies: default, event, refresh"),
        (("crawl", "acme", "--policy", "default:nowhere"), "unknown map 'nowhere'; known maps: "),
        (("crawl", "acme", "--db", "nowhere/x.db"), "nowhere/x.db cannot be made: there is no directory nowhere"),
        (("crawl", "acme", "--db", "."), ". is a directory; name a file"),
        (("crawl", "acme", "--tokens-file", "none"), "tokens file none not found"),
        (("crawl", "acme", "--config", "typo.toml"), "crawl.lops (typo.toml): unknown setting; did you mean"),
        (("crawl",), "no requests are queued in ghcrawl.db; give a SPEC: ghcrawl crawl ORG"),
        (("crawl", "--polcy", "x"), "no such option: --polcy"),
        (("crwal", "acme"), "no such command 'crwal'. Did you mean 'crawl'? (see ghcrawl --help)"),
    ],
)
def test_what_nobody_can_mean_is_said(ghcrawl: Command, words: tuple[str, ...], sentence: str):
    Path("typo.toml").write_text("[crawl]\nlops = 3\n")
    assert sentence in complaint(ghcrawl(*words))


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (not_a_database, "ghcrawl.db is no SQLite database; name another file"),
        (of_a_newer_version, "ghcrawl.db was written by a newer ghcrawl (schema 999, this one knows "),
    ],
)
@pytest.mark.parametrize("words", [("crawl", "acme"), ("status",), ("documents", "list"), ("requests", "push", "acme")])
def test_a_file_that_is_not_ours_is_left_as_it_is(
    ghcrawl: Command, words: tuple[str, ...], spoil: Callable[[Path], None], sentence: str
):
    db = Path("ghcrawl.db")
    spoil(db)
    before = db.read_bytes()
    assert complaint(ghcrawl(*words)).startswith(sentence)
    assert db.read_bytes() == before
