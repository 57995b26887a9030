from __future__ import annotations

import asyncio
import errno
import os
import signal
from pathlib import Path
from typing import NoReturn

import pytest

from ghcrawl.cli import documents, failures
from ghcrawl.cli.command_prefix import as_typed
from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.values.errors import ConfigError
from tests.unit.cli.conftest import Command

SECRET = "ghp_thisIsASecretThatNobodyMaySee00000000"


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    async def count(*_: object, **__: object) -> NoReturn:
        raise ZeroDivisionError(f"by {SECRET}")

    REDACTOR.add(SECRET)
    monkeypatch.setattr(documents, "count", count)


def test_a_bug_is_one_line_and_how_to_see_more(ghcrawl: Command, broken: None) -> None:
    ran = ghcrawl("documents", "count")
    assert (ran.status, ran.out) == (70, "")
    assert ran.err == (
        "ghcrawl: this is a bug in ghcrawl: ZeroDivisionError: by [redacted]\n"
        "ghcrawl: set GHCRAWL_DEBUG=1 for a traceback, and please report it\n"
    )


def test_who_asks_for_it_sees_where_without_any_secret(
    ghcrawl: Command, broken: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GHCRAWL_DEBUG", "1")
    ran = ghcrawl("documents", "count")
    assert ran.err.startswith("Traceback (most recent call last):")
    assert SECRET not in ran.err


def test_ctrl_c_ends_any_command_without_a_word(ghcrawl: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    async def count(*_: object, **__: object) -> None:
        signal.raise_signal(signal.SIGINT)  # in this thread: the loop would not notice one that another hears
        await asyncio.Event().wait()

    monkeypatch.setattr(documents, "count", count)
    ran = ghcrawl("documents", "count")
    assert (ran.status, ran.out, ran.err.strip()) == (130, "", "")


@pytest.mark.parametrize(
    ("raised", "expected"), [(errno.ENOSPC, ConfigError), (errno.EACCES, PermissionError)], ids=["full", "forbidden"]
)
def test_only_a_full_output_is_taken_for_one(raised: int, expected: type[Exception], capfd: object) -> None:
    async def work() -> NoReturn:
        raise OSError(raised, os.strerror(raised))

    with pytest.raises(expected):
        failures.perform(work())


# how to call it --------------------------------------------------------------------------------------------------


def test_a_command_is_suggested_by_its_name_where_it_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "ghcrawl").write_text("#!/bin/sh\n")
    (tmp_path / "ghcrawl").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert as_typed("ghcrawl crawl acme") == "ghcrawl crawl acme"


def test_else_by_its_path_from_here_if_it_is_beside_the_interpreter(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / "my venv" / "bin"
    folder.mkdir(parents=True)
    (folder / "ghcrawl").write_text("#!/bin/sh\n")
    (folder / "ghcrawl").chmod(0o755)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.executable", str(folder / "python"))
    monkeypatch.chdir(tmp_path)
    assert as_typed("ghcrawl crawl acme") == "'my venv/bin/ghcrawl' crawl acme"
    monkeypatch.chdir(folder.parent.parent / "my venv")
    assert as_typed("ghcrawl crawl acme") == "bin/ghcrawl crawl acme"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert as_typed("ghcrawl crawl acme") == f"'{folder / 'ghcrawl'}' crawl acme"


def test_else_as_a_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr("sys.executable", str(tmp_path / "python3.12"))
    assert as_typed("ghcrawl crawl acme") == "python3.12 -m ghcrawl crawl acme"
    assert as_typed("ls") == "ls"


def test_a_connection_that_broke_is_no_good_end(capfd: pytest.CaptureFixture[str]):
    async def work() -> int:
        raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(BrokenPipeError) as caught:
        failures.perform(work())

    assert failures.report(caught.value) == 2
    assert capfd.readouterr().err == "ghcrawl: connection lost: Broken pipe; run the command again\n"
