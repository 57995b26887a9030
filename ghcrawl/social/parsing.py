"""Reads request URIs: split first, then decode. Errors name the position of the offending character."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import AddressValueError, IPv6Address
from typing import Final
from urllib.parse import unquote_to_bytes

import idna

from ghcrawl.social.request_uri import LITERAL, MARKER, RESOURCES, SOURCES, RequestUri, Resource, Source, canonical
from ghcrawl.values.errors import SpecError

_PLATFORM: Final = re.compile(r"[a-z][a-z0-9+.-]*")
_KEY: Final = re.compile(r"[a-z][a-z0-9_-]*")
_RAW: Final = re.compile(rf"(?:[A-Za-z0-9{re.escape(LITERAL)}]|%[0-9A-Fa-f]{{2}})*")
_SAME: Final = {"relations": "related"}
"""The grammar that this follows calls the source `relations`, its prose `related`."""


class RequestUriError(SpecError):
    """A request URI that cannot be read. position: of the character that it is about, from 0."""

    def __init__(self, text: str, position: int, reason: str) -> None:
        where = f"{text[position]!r}, character {position + 1}" if position < len(text) else "the end"
        super().__init__(f"{text!r}: {reason}, at {where}")
        self.position = position


def is_request_uri(text: str) -> bool:
    """Whether `text` asks for something; any other URI of the platform names one thing."""
    _, colon, rest = text.partition(":")
    if rest.startswith("//"):
        rest = rest[2:].partition("/")[2]
    marker, *parts = rest.partition("?")[0].split("/")
    words = parts[0].split(",") if len(parts) == 2 else []
    return bool(colon) and marker == MARKER and bool(words) and "=" in parts[1] and set(words) <= set(RESOURCES)


def parse(text: str) -> RequestUri:
    """The request that `text` writes. Raises RequestUriError."""
    platform, colon, _ = text.partition(":")
    if not colon or not _PLATFORM.fullmatch(platform):
        raise RequestUriError(text, 0, "a request URI begins with the name of a platform and a colon")
    authority, start = _authority(text, len(platform) + 1)
    if not text.startswith(f"{MARKER}/", start):
        raise RequestUriError(text, start, f"{MARKER}/ is expected here")
    resources_at = start + len(MARKER) + 1
    slash = text.find("/", resources_at)
    if slash < 0:
        raise RequestUriError(text, len(text), "sources are expected after the resources, such as /user=NAME")
    mark = text.find("?", slash)
    end = len(text) if mark < 0 else mark
    resources = tuple(_resource(text, *piece) for piece in _pieces(text, resources_at, slash))
    sources = tuple(_source(text, *piece) for piece in _pieces(text, slash + 1, end))
    params = _params(text, end + 1) if mark >= 0 else {}
    try:
        return RequestUri(platform=platform, authority=authority, resources=resources, sources=sources, params=params)
    except ValueError as error:
        raise RequestUriError(text, end + 1, str(error)) from None


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Start and end of each comma-separated piece."""
    while True:
        comma = text.find(",", start, end)
        stop = end if comma < 0 else comma
        if stop == start:
            raise RequestUriError(text, start, "something is missing here")
        yield start, stop
        if comma < 0:
            return
        start = comma + 1


def _authority(text: str, start: int) -> tuple[str, int]:
    """Normalized host and port, and the position behind them."""
    if not text.startswith("//", start):
        return "", start
    start += 2
    end = text.find("/", start)
    end = len(text) if end < 0 else end
    written = text[start:end]
    if "@" in written:
        raise RequestUriError(text, start, "a host has no user")
    host, port_at = _host(text, start, end)
    port = text[port_at + 1 : end] if port_at < end else ""
    if port_at < end and not (port.isascii() and port.isdecimal() and 0 < int(port[:6]) < 65536):
        raise RequestUriError(text, port_at + 1, "a port is a number from 1 to 65535")
    return f"{host}:{int(port)}" if port else host, end + 1


def _host(text: str, start: int, end: int) -> tuple[str, int]:
    """The host in its one form, and where it ends."""
    if text.startswith("[", start):
        bracket = text.find("]", start, end)
        try:
            return f"[{IPv6Address(text[start + 1 : bracket]).compressed}]", bracket + 1
        except AddressValueError:
            raise RequestUriError(text, start, "this is no IPv6 address") from None
    colon = text.find(":", start, end)
    stop = end if colon < 0 else colon
    written = text[start:stop]
    try:
        return idna.encode(written, uts46=True).decode("ascii"), stop
    except idna.IDNAError:
        raise RequestUriError(text, start, "this is no name of a host") from None


def _resource(text: str, start: int, end: int) -> Resource:
    word = text[start:end]
    if word not in RESOURCES:
        raise RequestUriError(text, start, f"{word!r} is no resource; there are {', '.join(RESOURCES)}")
    return word


def _source(text: str, start: int, end: int) -> Source:
    equals = text.find("=", start, end)
    word = text[start : end if equals < 0 else equals]
    kind = _SAME.get(word, word)
    if kind not in SOURCES:
        raise RequestUriError(text, start, f"{word!r} is no source; there are {', '.join(SOURCES)}")
    if equals < 0:
        raise RequestUriError(text, end, f"{word} needs a value, {word}=…")
    return Source(kind, _value(text, equals + 1, end))


def _params(text: str, start: int) -> dict[str, str | None]:
    found: dict[str, str | None] = {}
    for begin, end in _pieces(text, start, len(text)):
        equals = text.find("=", begin, end)
        key = text[begin : end if equals < 0 else equals]
        matched = _KEY.match(key)
        stop = matched.end() if matched else 0
        if stop < len(key):
            raise RequestUriError(text, begin + stop, _instead(key[stop]))
        if key in found:
            raise RequestUriError(text, begin, f"{key} is said twice")
        value = None if equals < 0 else _value(text, equals + 1, end)
        try:
            found[key] = canonical(key, value)
        except ValueError as error:
            raise RequestUriError(text, begin, str(error)) from None
    return found


def _value(text: str, start: int, end: int) -> str:
    """The value between, decoded."""
    matched = _RAW.match(text, start, end)
    stop = matched.end() if matched else start
    if stop < end:
        raise RequestUriError(text, stop, _instead(text[stop]))
    if start == end:
        raise RequestUriError(text, start, "a value is missing")
    try:
        return unquote_to_bytes(text[start:end]).decode("utf-8")
    except UnicodeDecodeError as error:
        raise RequestUriError(text, _encoded_at(text, start, error.start), "these bytes are no UTF-8") from None


def _encoded_at(text: str, start: int, count: int) -> int:
    """Where the byte with this number stands."""
    for _ in range(count):
        start += 3 if text[start] == "%" else 1
    return start


def _instead(character: str) -> str:
    if character == "&":
        return "parameters are separated by commas, and an ampersand of a value is written %26"
    if character == "%":
        return "two hex digits are expected after a percent sign"
    return "this character must be percent-encoded, as " + "".join(
        f"%{byte:02X}" for byte in character.encode("utf-8", "replace")
    )
