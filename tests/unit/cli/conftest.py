from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ghcrawl.cli import main
from tests.support.cli import Ran, fill, program
from tests.support.logs import own_logging

Command = Callable[..., Ran]
Fill = Callable[..., Path]


@pytest.fixture(autouse=True)
def _own_logging() -> Iterator[None]:
    """What a command sets up for its process ends with the test."""
    with own_logging():
        yield


@pytest.fixture
def ghcrawl(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command in an empty folder: `ghcrawl("documents", "list")`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PATH", str(program(tmp_path)))

    def run(*words: str | Path) -> Ran:
        capsys.readouterr()
        status = main([str(word) for word in words])
        said = capsys.readouterr()
        return Ran(status, said.out, said.err)

    return run


@pytest.fixture
def filled(tmp_path: Path) -> Fill:
    """Puts things into `ghcrawl.db` of that folder."""

    def put(**things: Any) -> Path:
        db = tmp_path / "ghcrawl.db"
        asyncio.run(fill(db, **things))
        return db

    return put
