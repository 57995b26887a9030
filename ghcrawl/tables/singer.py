"""Singer messages: SCHEMA for each table, RECORD for each row, STATE at the end, as any Singer target reads them.

A link table is not a stream of its own: its rows are an array in the record of their owner, so that a later record
replaces them all.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final, TextIO

from ghcrawl.platforms.columns import Column, ColumnType
from ghcrawl.platforms.tables import ACCOUNT_TABLE, LinkTable, Schema, Table, primary_key
from ghcrawl.tables.projection import Row, json_text
from ghcrawl.tables.target import Rows, State, by_name, not_ours
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.times import iso

TYPES: Final[Mapping[ColumnType, Mapping[str, Any]]] = {
    "text": {"type": ["null", "string"]},
    "integer": {"type": ["null", "integer"]},
    "real": {"type": ["null", "number"]},
    "boolean": {"type": ["null", "boolean"]},
    "timestamp": {"type": ["null", "string"], "format": "date-time"},
    "json": {"type": ["null", "string"]},
}


class SingerTarget:
    """Messages for the tables of `schema`, written to `file`. where: the state of the run before, if there is one."""

    def __init__(self, where: Path | None, schema: Schema, file: TextIO) -> None:
        self.where = where or Path("-")
        self._read_state, self._schema, self._tables = where is not None, schema, by_name(schema)
        self._file = file

    def moments(self, at: datetime) -> str:
        """As RFC 3339 text."""
        return iso(at)

    def state(self) -> State | None:
        """As the port says: the value of the last STATE message, as a runner of Singer keeps it."""
        if not self._read_state:
            return None
        try:
            text = self.where.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise not_ours(self.where) from error
        except OSError as error:
            raise ConfigError(f"cannot read the state {self.where}: {error.strerror}") from error
        lines = text.strip().splitlines()
        return State.read(lines[-1] if lines else "", self.where, self._schema)

    def begin(self, *, whole: bool) -> None:  # noqa: ARG002  # a Singer target replaces records by key in any case
        """As the port says."""
        tables: list[Table | LinkTable] = [ACCOUNT_TABLE, *self._schema.tables]
        for table in tables:
            message = {
                "type": "SCHEMA",
                "stream": table.name,
                "schema": {"type": "object", "properties": _properties(table)},
                "key_properties": list(primary_key(table)),
            }
            self._write(message)

    def replace(self, rows: Rows, _changed: Mapping[str, Sequence[str]]) -> None:
        """As the port says: a document's rows come together, and take the place of those before."""
        linked = {name: _by_owner(many, self._tables[name]) for name, many in rows.items()}
        for name, many in rows.items():
            table = self._tables[name]
            if isinstance(table, LinkTable) and table is not ACCOUNT_TABLE:
                continue
            links = table.links if isinstance(table, Table) else ()
            for row in many:
                record = _record(row, table.columns)
                for link in links:
                    record[link.name] = linked.get(link.name, {}).get(row[0], [])
                self._write({"type": "RECORD", "stream": name, "record": record})

    def commit(self, state: State) -> None:
        """As the port says."""
        self._write({"type": "STATE", "value": json.loads(state.text())})

    def abandon(self) -> None:
        """What was written is gone on its way; without a STATE it is sent again."""

    def _write(self, message: Mapping[str, Any]) -> None:
        self._file.write(f"{json_text(message)}\n")


def _properties(table: Table | LinkTable) -> Mapping[str, Any]:
    own = {column.name: TYPES[column.type] for column in table.columns}
    if not isinstance(table, Table):
        return own
    rows = {
        link.name: {
            "type": ["null", "array"],
            "items": {"type": "object", "properties": {each.name: TYPES[each.type] for each in link.columns[1:]}},
        }
        for link in table.links
    }
    return {**own, **rows}


def _by_owner(rows: Sequence[Row], table: Table | LinkTable) -> Mapping[Any, Sequence[Mapping[str, Any]]]:
    found: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
    if isinstance(table, LinkTable) and table is not ACCOUNT_TABLE:
        for row in rows:
            found[row[0]].append(_record(row[1:], table.columns[1:]))
    return found


def _record(row: Row, columns: Sequence[Column]) -> dict[str, Any]:
    return {column.name: value for column, value in zip(columns, row, strict=True)}
