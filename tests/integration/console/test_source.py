"""The console's scripts hold to the rules that a linter can check: nothing undefined, unused, shadowed or miscalled."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.support.services.debian import Unavailable, alone, cache
from tests.support.services.wanted import absent

LINTER: Final = "oxlint@1.29.0"
RULES: Final = Path(__file__).with_name("oxlint.json")
CONSOLE: Final = Path(__file__).parents[3] / "ghcrawl/admin/console"


@pytest.fixture(scope="module")
def oxlint() -> Path:
    """The linter: one program, fetched once."""
    try:
        return _fetched()
    except Unavailable as error:
        absent(error)


def _fetched() -> Path:
    folder = cache() / LINTER.replace("@", "-")
    program = folder / "node_modules/.bin/oxlint"
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable(f"npm is needed to fetch {LINTER} (apt-get install npm)")
    with alone(folder.with_suffix(".lock")):
        if not program.exists():
            command = [npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), LINTER]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Unavailable(f"npm install {LINTER} failed: {done.stderr.strip()[-500:]}")
    return program


def complaints(oxlint: Path, folder: Path) -> str:
    """What the linter says; empty where it has nothing to say."""
    command = [str(oxlint), "--config", str(RULES), "--deny-warnings", "--format", "unix", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


def test_the_linter_has_nothing_to_say(oxlint: Path):
    assert complaints(oxlint, CONSOLE) == ""


def test_a_name_that_another_script_does_not_have_is_found(oxlint: Path, tmp_path: Path):
    console = Path(shutil.copytree(CONSOLE, tmp_path / "console"))
    queues = console / "views/queues.js"
    queues.write_text(queues.read_text().replace("import { api }", "import { apis }"))
    said = complaints(oxlint, console)
    assert 'named import "apis" not found' in said
    assert "'api' is not defined" in said
