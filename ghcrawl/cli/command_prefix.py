"""How the person who reads a suggestion can call ghcrawl, so that what is suggested works when it is copied."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

NAME: Final = "ghcrawl"


def as_typed(command: str) -> str:
    """`command`, which starts with `ghcrawl`, as it works here: found by its name, by its path, or as a module."""
    return f"{_program()}{command.removeprefix(NAME)}" if command.startswith(f"{NAME} ") else command


def _program() -> str:
    if shutil.which(NAME):
        return NAME
    beside = Path(sys.executable).with_name(NAME)
    if os.access(beside, os.X_OK):
        here = Path.cwd()
        return shlex.quote(str(beside.relative_to(here) if beside.is_relative_to(here) else beside))
    return f"{shlex.quote(Path(sys.executable).name)} -m {NAME}"
