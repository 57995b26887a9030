"""What users read is plain: help, settings, manuals, console, API description, metrics, alerts, dashboard."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import typer

from ghcrawl.admin.openapi import document
from ghcrawl.admin.server import DESCRIBED
from ghcrawl.cli.app import app
from ghcrawl.telemetry.metrics import Metrics
from ghcrawl.telemetry.service_metrics import ServiceMetrics
from ghcrawl.wiring import SETTINGS

ROOT: Final = Path(__file__).parents[2]
BANNED: Final = (
    r"whoever|whatever|somebody|nobody|so many|so long|in hand|begun|begin(s|ning)?|comes? to|what is there|lately"
    r"|by itself|the like|what waits|what is waiting|given up|gives? up|for ever|anew|afresh|set no more|come upon"
    r"|nothing is (begun|lost)|is no (file|type|number|date)|are good at once|a (line|call|day) each|asked as"
)
FILES: Final = (
    "CONTRIBUTING.md",
    "README.md",
    "config/default.toml",
    "config/grafana/dashboards/ghcrawl.json",
    "config/prometheus/rules.yaml",
    "docs/api.md",
    "docs/architecture.md",
    "docs/blogs.md",
    "docs/documents.md",
    "docs/github.md",
    "docs/mastodon.md",
    "docs/operations.md",
    "docs/performance.md",
    "docs/python.md",
    "docs/scheduling.md",
    "docs/social.md",
    "docs/tables.md",
)
ROOMS: Final = (
    "ghcrawl/admin",
    "ghcrawl/api",
    "ghcrawl/cli",
    "ghcrawl/embedded",
    "ghcrawl/engine",
    "ghcrawl/fetch",
    "ghcrawl/platforms",
    "ghcrawl/ports",
    "ghcrawl/redelivery",
    "ghcrawl/schedule",
    "ghcrawl/settings",
    "ghcrawl/simulator",
    "ghcrawl/social",
    "ghcrawl/streams",
    "ghcrawl/tables",
    "ghcrawl/telemetry",
    "ghcrawl/values",
    "processors",
    "queues",
    "stores",
)
"""Their docstrings and comments are plain, too."""
HARD_TO_READ: Final = (
    r"whoever|whatever|somebody|nobody|so many|in hand|begun|begin(s|ning)?|lately|by itself|the like|given up"
    r"|gives? up|for ever|anew|come upon|set no more"
)
HELP_ALLOWED: Final = {"--afresh"}  # an option that scripts use


def _found(text: str, banned: str = BANNED) -> list[str]:
    return [found[0] for found in re.finditer(rf"\b({banned})\b", text, re.IGNORECASE)]


def _help(command: Any, path: str = "ghcrawl") -> Iterator[tuple[str, str]]:
    yield (
        path,
        "\n".join(
            [command.help or "", command.epilog or "", *(getattr(each, "help", "") or "" for each in command.params)]
        ),
    )
    for name, each in getattr(command, "commands", {}).items():
        yield from _help(each, f"{path} {name}")


HELP: Final = dict(_help(typer.main.get_command(app)))


def _prose(path: Path) -> str:
    """The docstrings and comments of a module."""
    source = path.read_text(encoding="utf-8")
    nodes = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr)]
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return "\n".join([*texts, *(token.string for token in tokens if token.type == tokenize.COMMENT)])


@pytest.mark.parametrize("room", ROOMS)
def test_docstrings_and_comments_are_plain(room: str) -> None:
    found = {path.name: _found(_prose(path), HARD_TO_READ) for path in (ROOT / room).rglob("*.py")}
    assert {name: words for name, words in found.items() if words} == {}


def test_the_check_finds_what_it_looks_for() -> None:
    assert _found("Nobody comes to what is in hand") == ["Nobody", "comes to", "in hand"]


@pytest.mark.parametrize("command", HELP)
def test_help_is_plain(command: str) -> None:
    text = HELP[command]
    for allowed in HELP_ALLOWED:
        text = text.replace(allowed, "")
    assert _found(text) == []


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_users_read_is_plain(name: str) -> None:
    assert _found((ROOT / name).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", sorted((ROOT / "ghcrawl/admin/console").rglob("*.js")), ids=lambda path: path.name)
def test_the_console_is_plain(path: Path) -> None:
    code = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    strings = re.findall(r'"[^"\n]*"|`[^`]*`', code)
    assert _found("\n".join(strings)) == []


def test_the_api_description_is_plain() -> None:
    text = json.dumps(document(DESCRIBED, SETTINGS))
    assert _found("\n".join(re.findall(r'"(?:summary|description)": "[^"]*"', text))) == []


def test_help_of_metrics_is_plain() -> None:
    metrics = Metrics()
    ServiceMetrics(metrics.registry)
    assert _found("\n".join(each.documentation for each in metrics.registry.collect())) == []
