"""Options shared by several commands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from msgspec import Struct

Db = Annotated[
    Path | None,
    typer.Option("--db", metavar="FILE", help="Database file. Default: ghcrawl.db.", show_default=False),
]
Platforms = Annotated[
    list[str] | None, typer.Option("--platform", metavar="NAME", help="Only this platform; repeatable.")
]
Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="Use a running service instead of a file. Reads its token from GHCRAWL_ADMIN_TOKEN.",
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", envvar="GHCRAWL_CONFIG", help="Settings file (TOML).", show_default=False),
]
ApiUrl = Annotated[
    str | None,
    typer.Option(
        "--api-url",
        metavar="URL",
        help="Base URL of the API: of a self-hosted server (https://HOST/api/v3) or a simulator.",
        show_default=False,
    ),
]
TokensFile = Annotated[
    Path | None,
    typer.Option("--tokens-file", metavar="FILE", help="Tokens file, one per line; adds to GHCRAWL_TOKENS."),
]


def flag(*names: str, help: str) -> Any:  # noqa: A002  # typer's name for it
    """A boolean option. Its help shows no value."""
    return typer.Option(*names, metavar="", help=help, show_default=False)


Json = Annotated[bool, flag("--json", help="Print JSON.")]
Yes = Annotated[bool, flag("--yes", "-y", help="Skip confirmation.")]
LogLevel = Annotated[
    str | None,
    typer.Option(
        "--log-level",
        metavar="LEVEL",
        help="Log level: debug, info, warning or error. Default: no logs.",
        show_default=False,
    ),
]
Verbose = Annotated[bool, flag("--verbose", "-v", help="Log at debug level.")]
Limit = Annotated[int, typer.Option("--limit", min=0, metavar="N", help="Maximum number of rows; 0: all.")]


class Place(Struct, frozen=True, kw_only=True):
    """The common options. None: use the settings. server: URL of a service to use instead of a file."""

    db: Path | None = None
    server: str | None = None
    config: Path | None = None
    api_url: str | None = None
    tokens_file: Path | None = None

    def overrides(self) -> Mapping[str, Any]:
        """Setting name → value, for the options that were given."""
        from ghcrawl.wiring import option_settings  # noqa: PLC0415  # `--help` need not wait for it

        found: dict[str, Any] = {} if self.db is None else {"sqlite.path": self.db}
        tokens_file = str(self.tokens_file) if self.tokens_file else None
        return {**found, **option_settings({"--api-url": self.api_url, "--tokens-file": tokens_file})}

    def typed(self) -> tuple[str, ...]:
        """The arguments that point another command at the same place."""
        words: list[str] = []
        for option, value in (("--server", self.server), ("--db", self.db), ("--config", self.config)):
            words += [option, str(value)] if value is not None else []
        return tuple(words)
