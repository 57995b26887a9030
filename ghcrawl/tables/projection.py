"""A document's rows. Total: what does not fit its column goes to `extra`, and nothing is raised."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from msgspec import Struct

from ghcrawl.platforms.columns import Column, ColumnType
from ghcrawl.platforms.tables import LinkTable, Page, Schema, Table
from ghcrawl.values.documents import Document
from ghcrawl.values.jsontext import dumps
from ghcrawl.values.times import moment

Row: TypeAlias = tuple[Any, ...]
Moments: TypeAlias = Callable[[datetime], object]
"""How a target keeps a moment."""

MISFIT: Final = object()
_LARGEST: Final = 2**63
_REPLACED: Final = "\N{REPLACEMENT CHARACTER}"
_FIELD: Final = re.compile(r"\{(\w+)\}")


class Frame(Struct, frozen=True):
    """What a row is read from. element: the body, or an element of it."""

    document: Document
    element: Mapping[str, Any]
    above: Mapping[str, str]
    position: int = 0


Reader: TypeAlias = Callable[[Frame], Any]


class Projector:
    """Rows of documents by table. moments: how the target keeps them. bodies: fill `_body`."""

    def __init__(self, schema: Schema, *, moments: Moments, bodies: bool = False) -> None:
        self._plans = {table.name: _Plan(table, moments, bodies=bodies) for table in schema.tables}
        self._by_kind = {kind: self._plans[table.name] for kind, table in schema.by_kind.items()}
        self._last: Page | None = None

    def rows(self, document: Document) -> Iterator[tuple[Table | LinkTable, Row]]:
        """The document's own row first, then those of its link tables. Nothing for a kind without a table.

        A page of a relation has a row for each element. Documents come by URN: the first generation of a relation is
        the complete one, and the pages of later ones have no rows.
        """
        plan = self._by_kind.get(document.type_name)
        if plan is None:
            return iter(())
        if not plan.table.pages_of:
            return plan.rows(document)
        page, last = Page.read(document.urn, plan.table), self._last
        if page is None or (last and last.list == page.list and last.generation != page.generation):
            return iter(())
        self._last = page
        return plan.elements(document, page.position)

    def people(self, document: Document) -> Iterator[tuple[int, str, str | None, str | None]]:
        """Id, login, type and browser's URL of each account that the document names."""
        plan = self._by_kind.get(document.type_name)
        return plan.people(document) if plan is not None else iter(())


class _Plan:
    def __init__(self, table: Table, moments: Moments, *, bodies: bool) -> None:
        self.table, self._bodies = table, bodies
        casts = {**_CASTS, "timestamp": _timestamp(moments)}
        self._columns = [(column.name, _reader(column), casts[column.type]) for column in table.columns]
        self._links = [
            (link, [(_reader(column), casts[column.type]) for column in link.columns]) for link in table.links
        ]
        names = [column.name for column in table.columns]
        self._extra, self._body = names.index("extra"), names.index("_body")

    def rows(self, document: Document) -> Iterator[tuple[Table | LinkTable, Row]]:
        frame = Frame(document, document.body, ancestors(document.urn))
        yield self.table, self._row(frame)
        for link, plan in self._links:
            for position, element in enumerate(_elements(link, document)):
                inner = Frame(document, element, frame.above, position)
                values = (_fitting(read(inner), cast) for read, cast in plan)
                yield link, tuple(values)

    def elements(self, document: Document, first: int) -> Iterator[tuple[Table, Row]]:
        found, above = document.body.get("elements"), ancestors(document.urn)
        for position, element in enumerate(found if isinstance(found, list) else (), first):
            if not isinstance(element, Mapping):
                continue
            row = self._row(Frame(document, element, above, position))
            if row[0] is not None:  # else it is not known whose list it is
                yield self.table, row

    def _row(self, frame: Frame) -> Row:
        body, known = frame.element, self.table.known
        extra = {} if self.table.everything_known else {k: v for k, v in body.items() if k not in known}
        row: list[Any] = []
        for name, read, cast in self._columns:
            value = read(frame)
            if value is not None and (value := cast(value)) is MISFIT:
                extra[name], value = read(frame), None
            row.append(value)
        if extra:
            row[self._extra] = json_text(extra)
        if self._bodies:
            row[self._body] = json_text(body)
        return tuple(row)

    def people(self, document: Document) -> Iterator[tuple[int, str, str | None, str | None]]:
        for path in self.table.people:
            found = _at(document.body, path) if path else document.body
            for one in found if isinstance(found, list) else (found,):
                if not isinstance(one, Mapping):
                    continue
                id, login = one.get("id"), one.get("login")
                if type(id) is int and abs(id) < _LARGEST and type(login) is str:
                    yield id, clean(login), _text_or_none(one.get("type")), _text_or_none(one.get("html_url"))


def ancestors(urn: str) -> Mapping[str, str]:
    """Kind → URN of a thing and of what it lies in: `urn:repo:12:issue:34` → repo, issue."""
    parts, found, at = urn.split(":"), {}, 1
    while at + 1 < len(parts):
        found[parts[at]] = ":".join(parts[: at + 2])
        at += 2
    return found


def clean(text: str) -> str:
    """`text` with a replacement for each lone surrogate, which no file format can hold."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def json_text(value: Any) -> str:
    """`value` as JSON text that UTF-8 can hold; for lone surrogates, see `clean`."""
    text = dumps(value)
    if b"\\ud" not in text:
        return text.decode("utf-8")
    return clean(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def _elements(link: LinkTable, document: Document) -> Iterable[Mapping[str, Any]]:
    if link.rows is not None:
        return link.rows(document.body)
    if link.link:
        named = document.links.get(link.link)
        return ({"value": href} for href in (named.hrefs or filter(None, [named.href]) if named else ()))
    found = _at(document.body, link.path)
    if not isinstance(found, list):
        return ()
    return (one if isinstance(one, Mapping) else {"value": one} for one in found)


def _reader(column: Column) -> Reader:  # one for each source
    first = column.path[0] if column.path else column.name
    match column.source:
        case "body" if len(column.path) == 1:
            return lambda frame: frame.element.get(first)
        case "body":
            return lambda frame: _at(frame.element, column.path)
        case "above":
            return lambda frame: frame.above.get(first)
        case "above_name":
            whole = column.type == "integer"
            return lambda frame: _last(frame.above.get(first), whole=whole)
        case "link":
            return lambda frame: _href(frame.document, first)
        case "made":
            return lambda frame: _made(first, frame)
        case _:
            return _own(first)


def _own(name: str) -> Reader:
    if name in ("extra", "body"):
        return lambda _: None  # the plan fills these itself
    if name == "position":
        return lambda frame: frame.position
    if name == "deleted_reason":
        return lambda frame: frame.document.deleted_reason or None
    return lambda frame: getattr(frame.document, name)


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        if isinstance(value, list):
            value = [each.get(name) for each in value if isinstance(each, Mapping)]
        elif isinstance(value, Mapping):
            value = value.get(name)
        else:
            return None
    return value


def _last(urn: str | None, *, whole: bool) -> int | str | None:
    if urn is None:
        return None
    name = urn.rpartition(":")[2]
    return (int(name) if name.isdecimal() else None) if whole else name


def _href(document: Document, name: str) -> str | None:
    link = document.links.get(name)
    return link.href if link is not None else None


def _made(template: str, frame: Frame) -> str | None:
    parts = {}
    for name in _FIELD.findall(template):
        value = frame.above.get(name) or frame.element.get(name)
        if not isinstance(value, (str, int)):
            return None
        parts[name] = value
    return template.format(**parts)


def _fitting(value: Any, cast: Callable[[Any], Any]) -> Any:
    if value is None:
        return None
    fitted = cast(value)
    return None if fitted is MISFIT else fitted


def _text(value: Any) -> Any:
    return clean(value) if type(value) is str else MISFIT


def _text_or_none(value: Any) -> str | None:
    return clean(value) if type(value) is str else None


def _integer(value: Any) -> Any:
    return value if type(value) is int and -_LARGEST <= value < _LARGEST else MISFIT


def _real(value: Any) -> Any:
    return float(value) if type(value) in (int, float) and abs(value) < 1e300 else MISFIT


def _boolean(value: Any) -> Any:
    return value if type(value) is bool else MISFIT


def _timestamp(moments: Moments) -> Callable[[Any], Any]:
    def cast(value: Any) -> Any:
        try:
            if type(value) is str:
                value = moment(value, zone=UTC)
            elif type(value) is int:  # seconds since 1970
                value = datetime.fromtimestamp(value, UTC)
        except (ValueError, OverflowError, OSError):
            return MISFIT
        return moments(value) if isinstance(value, datetime) else MISFIT

    return cast


_CASTS: Final[Mapping[ColumnType, Callable[[Any], Any]]] = {
    "text": _text,
    "integer": _integer,
    "real": _real,
    "boolean": _boolean,
    "json": json_text,
}
