"""The options that several commands share, and what they say together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

Db = Annotated[
    Path | None,
    typer.Option("--db", metavar="FILE", help="The file; ghcrawl.db if nothing else is set.", show_default=False),
]
Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="A running service instead of a file; its token in GHCRAWL_ADMIN_TOKEN.",
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", envvar="GHCRAWL_CONFIG", help="A TOML file with settings.", show_default=False
    ),
]
ApiUrl = Annotated[
    str | None,
    typer.Option(
        "--api-url",
        metavar="URL",
        help="Another API than https://api.github.com: https://HOST/api/v3 of GitHub Enterprise, or a simulator.",
        show_default=False,
    ),
]
TokensFile = Annotated[
    Path | None,
    typer.Option("--tokens-file", metavar="FILE", help="Tokens, one a line, besides those in GHCRAWL_TOKENS."),
]


def flag(*names: str, help: str) -> Any:  # noqa: A002  # typer's own word for it
    """An option that is there or not. Its help shows no value, since it takes none."""
    return typer.Option(*names, metavar="", help=help, show_default=False)


Json = Annotated[bool, flag("--json", help="Print JSON.")]
Yes = Annotated[bool, flag("--yes", "-y", help="Do not ask.")]
LogLevel = Annotated[
    str | None,
    typer.Option(
        "--log-level", metavar="LEVEL", help="debug, info, warning or error; none if not set.", show_default=False
    ),
]
Verbose = Annotated[bool, flag("--verbose", "-v", help="Log everything.")]
Limit = Annotated[int, typer.Option("--limit", min=0, metavar="N", help="How many at most; 0: all.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where to work: what the common options say. None: as the settings say. server: the URL of a service, instead."""

    db: Path | None = None
    server: str | None = None
    config: Path | None = None
    api_url: str | None = None
    tokens_file: Path | None = None

    def overrides(self) -> Mapping[str, Any]:
        """The settings that these options are."""
        wanted = {
            "sqlite.path": self.db,
            "github.api_url": self.api_url,
            "github.tokens_file": str(self.tokens_file) if self.tokens_file else None,
        }
        return {name: value for name, value in wanted.items() if value is not None}

    def typed(self) -> tuple[str, ...]:
        """What leads another command to the same file, as arguments."""
        words: list[str] = []
        for option, value in (("--server", self.server), ("--db", self.db), ("--config", self.config)):
            words += [option, str(value)] if value is not None else []
        return tuple(words)
