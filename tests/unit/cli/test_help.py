from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from ghcrawl import __version__
from ghcrawl.cli.app import app
from tests.unit.cli.conftest import Command


def leaves(command: Any, *path: str) -> Iterator[tuple[str, ...]]:
    """Every command that does something, as the words that one types."""
    below = getattr(command, "commands", {})
    if path and (not below or command.invoke_without_command):
        yield path
    for name, each in below.items():
        yield from leaves(each, *path, name)


ALL: Any = typer.main.get_command(app)
COMMANDS = list(leaves(ALL))


def test_there_are_all_commands_that_were_promised() -> None:
    assert {words[0] for words in COMMANDS} >= {
        "demo", "crawl", "documents", "deadletters", "queue", "requests", "status", "config", "tokens", "simulate",
    }  # fmt: skip


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_help_of_every_command_says_what_it_does_and_shows_how(ghcrawl: Command, words: tuple[str, ...]) -> None:
    ran = ghcrawl(*words, "--help")
    assert (ran.status, ran.err) == (0, "")
    assert f"Usage: ghcrawl {' '.join(words)}" in ran.out
    assert re.search(r"Examples?\b", ran.out)
    examples = ran.out.partition("Example")[2].partition("Options")[0]
    assert re.search(rf"ghcrawl {' '.join(words)}\b", examples), "the example is of this very command"
    assert max(map(len, ran.out.splitlines())) <= 80


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_what_the_help_tells_is_wrapped_where_it_says_and_leaves_no_stumps(words: tuple[str, ...]) -> None:
    command = ALL
    for word in words:
        command = command.commands[word]
    told = re.sub(r"\[/?bold\]", "", command.help).partition("Example")[0].splitlines()
    assert max(map(len, told[1:]), default=0) <= 78


@pytest.mark.parametrize("words", [("--help",), ("-h",), ()])
def test_the_first_help_shows_the_way_and_every_exit_status(ghcrawl: Command, words: tuple[str, ...]) -> None:
    ran = ghcrawl(*words)
    assert ran.status == 0
    for text in (
        "ghcrawl demo",
        "ghcrawl crawl acme",
        "export GHCRAWL_TOKENS=",
        "0 success",
        "1 deadletters",
        "130",
    ):
        assert text in " ".join(ran.out.split())


def test_the_version_is_said(ghcrawl: Command) -> None:
    ran = ghcrawl("--version")
    assert (ran.status, ran.out) == (0, f"ghcrawl {__version__}\n")


def test_a_group_without_a_command_shows_its_commands(ghcrawl: Command) -> None:
    ran = ghcrawl("documents")
    assert ran.status == 2
    assert "export" in ran.out
