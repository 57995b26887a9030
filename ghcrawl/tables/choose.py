"""Which target a path means, and what it needs to be installed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from ghcrawl.platforms.tables import Schema
from ghcrawl.tables.csvfiles import csv_target
from ghcrawl.tables.parquet import parquet_target
from ghcrawl.tables.sqlite import SqliteTarget
from ghcrawl.tables.target import Target
from ghcrawl.values.errors import ConfigError

SUFFIXES: Final[Mapping[str, str]] = {
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
}
NEEDS: Final[Mapping[str, tuple[str, ...]]] = {"duckdb": ("duckdb", "pyarrow"), "parquet": ("pyarrow",)}
CSV: Final = "csv-"


def format_of(where: Path) -> str:
    """What the name of a target means: a file by its ending; a folder of Parquet, or of CSV where it says so.

    Raises ConfigError for an ending that means nothing.
    """
    if not where.resolve().name:
        raise ConfigError(f"{where} cannot be a target; name a file, or a folder of its own")
    found = SUFFIXES.get(where.suffix.lower())
    if found is not None:
        return found
    if where.suffix and not where.is_dir():
        endings = ", ".join(SUFFIXES)
        raise ConfigError(
            f"{where} is no target; name a file that ends in {endings}, a folder without an ending for Parquet, or a "
            f"folder whose name starts with {CSV} for CSV"
        )
    return "csv" if where.name.startswith(CSV) else "parquet"


def target(where: Path, format: str, schema: Schema) -> Target:
    """The target at `where`, not opened yet. What it needs is installed: see `demand`."""
    match format:
        case "duckdb":
            from ghcrawl.tables.duck import DuckTarget  # noqa: PLC0415  # it needs an extra

            return DuckTarget(where, schema)
        case "parquet":
            return parquet_target(where, schema)
        case "csv":
            return csv_target(where, schema)
        case _:
            return SqliteTarget(where, schema)


def demand(format: str) -> None:
    """Raises ConfigError where a package that `format` needs is missing."""
    missing = [name for name in NEEDS.get(format, ()) if find_spec(name) is None]
    if missing:
        raise ConfigError(f"{format} needs {' and '.join(missing)}; install with: pip install 'ghcrawl[tables]'")
