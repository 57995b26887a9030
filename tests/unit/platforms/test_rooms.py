"""Nothing outside a platform's own rooms names it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
OWN: Final = ("ghcrawl/platforms/github.py", "ghcrawl/fetch/github/", "processors/github/", "ghcrawl/simulator/github/")
TEXTS: Final = (".py", ".js", ".html", ".css")
ALLOWED: Final = {
    "ghcrawl/platforms/registry.py": ("GITHUB", "github", "the only list of platforms"),
    "ghcrawl/values/type_names.py": (
        "LEGACY_PLATFORM: Final =",
        "owner of records that name no platform",
    ),
    "ghcrawl/fetch/redaction.py": ("github_pat_", "a token is masked before any platform is mounted"),
    "ghcrawl/cli/app.py": (
        "HELP = ",
        "GitHub allows",
        "a newcomer's first screen",
    ),
    "ghcrawl/cli/commands/config.py": ("GHCRAWL_GITHUB__API_URL", "section github", "an example"),
    "ghcrawl/cli/commands/crawl.py": ("docs/github.md", "https://github.com/acme", "an example"),
    "ghcrawl/cli/commands/documents.py": ("https://github.com/acme", "an example"),
    "ghcrawl/cli/commands/requests.py": ("https://api.github.com/repos/acme", "an example"),
    "ghcrawl/cli/commands/demo.py": ("simulated GitHub", "Default: GitHub.", "the default of an option"),
    "ghcrawl/cli/commands/simulate.py": ("Default: GitHub.", "the default of an option"),
}
"""File → what its lines that name GitHub contain, and why they may."""


ATPROTO: Final = (
    "ghcrawl/platforms/atproto.py",
    "ghcrawl/fetch/atproto/",
    "processors/atproto/",
    "ghcrawl/simulator/atproto/",
)
EXAMPLES: Final = frozenset({"ghcrawl/platforms/registry.py", "ghcrawl/social/request_uri.py"})
"""The only list of platforms, and the form of what is asked of one."""


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if "github" in line.lower()]


def _strange(name: str) -> list[str]:
    """Lines that are not allowed."""
    parts = ALLOWED.get(name, ())[:-1]
    return [line for line in _lines(ROOT / name) if not any(part in line for part in parts)]


def _sources() -> list[str]:
    found = [each for room in ("ghcrawl", "queues", "stores", "processors") for each in (ROOT / room).rglob("*")]
    names = sorted(each.relative_to(ROOT).as_posix() for each in found if each.suffix in TEXTS)
    return [name for name in names if not name.startswith(OWN)]


def test_no_other_room_names_github() -> None:
    strange = {name: lines for name in _sources() if (lines := _strange(name))}
    assert strange == {}


def test_no_other_room_names_the_at_protocol() -> None:
    found = [each for room in ("ghcrawl", "queues", "stores", "processors") for each in (ROOT / room).rglob("*")]
    names = {each.relative_to(ROOT).as_posix(): each for each in found if each.suffix in TEXTS}
    others = {name: path for name, path in names.items() if not name.startswith(ATPROTO)}
    naming = {name for name, path in others.items() if {"bluesky", "atproto"} & _words(path)}
    assert naming == EXAMPLES


def _words(path: Path) -> set[str]:
    return set(re.findall(r"[a-z]+", path.read_text(encoding="utf-8").lower()))


@pytest.mark.parametrize("name", ALLOWED)
def test_what_is_allowed_is_there(name: str) -> None:
    assert _lines(ROOT / name), f"{name} names GitHub no longer: take it off the list"
