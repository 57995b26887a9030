"""Request URIs: what a person asks of a platform of posts, as one line that is also the key of the request.

    platform:q/resources/sources?params          bluesky:q/post,profile/user=alice.test?limit=200
    platform://host/q/resources/sources?params   mastodon://social.example/q/post/query=%23python

    request-uri = prefix , "q/" , resources , "/" , sources , [ "?" , params ] ;
    prefix      = platform , ":" | platform , "://" , host , [ ":" , port ] , "/" ;
    resources   = resource , { "," , resource } ;                (* a set *)
    resource    = "post" | "profile" | "relations" ;
    sources     = source , { "," , source } ;                    (* an intersection *)
    source      = ( "query" | "user" | "related" | "location" ) , "=" , value ;
    params      = param , { "," , param } ;
    param       = key , [ "=" , value ] ;
    value       = vchar , { vchar } ;
    vchar       = ALPHA | DIGIT | "%" , HEXDIG , HEXDIG | any of  - . _ ~ ! $ ' ( ) * + ; : @

A value of `RequestUri` is canonical however it was made: equal requests are equal, and print the same text.
`ghcrawl.social.parsing` reads what people write.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple, TypeAlias, get_args
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import force_setattr

from ghcrawl.values.times import iso, moment

Resource: TypeAlias = Literal["post", "profile", "relations"]
SourceKind: TypeAlias = Literal["query", "user", "related", "location"]
RESOURCES: Final[tuple[Resource, ...]] = get_args(Resource)
SOURCES: Final[tuple[SourceKind, ...]] = get_args(SourceKind)
LITERAL: Final = "-._~!$'()*+;:@"
"""Stands for itself in a value, as letters and digits do; a plus is a plus."""
MARKER: Final = "q"


class Source(NamedTuple):
    """Where posts, profiles or relations are looked for."""

    kind: SourceKind
    value: str

    def __str__(self) -> str:
        return f"{self.kind}={encoded(self.value)}"


class RequestUri(Struct, frozen=True, kw_only=True):
    """resources: a set; sources: an intersection; both in their one order. params: by key; None: without a value.

    authority: `host` or `host:port` of a platform of many hosts; empty: the platform is one.
    Raises ValueError for a parameter whose value it cannot have.
    """

    platform: str
    resources: tuple[Resource, ...]
    sources: tuple[Source, ...]
    params: Mapping[str, str | None] = {}
    authority: str = ""

    def __post_init__(self) -> None:
        """Equal for every order of parameters, case and time zone."""
        resources = tuple(each for each in RESOURCES if each in self.resources)
        sources = tuple(sorted(set(self.sources), key=lambda each: (SOURCES.index(each.kind), each.value)))
        params = {key: canonical(key, self.params[key]) for key in sorted(self.params)}
        force_setattr(self, "resources", resources)
        force_setattr(self, "sources", sources)
        force_setattr(self, "params", params)
        if self.since and self.before and self.since >= self.before:
            raise ValueError("since must be earlier than before")

    def __str__(self) -> str:
        place = f"//{self.authority}/" if self.authority else ""
        asked = f"{','.join(self.resources)}/{','.join(map(str, self.sources))}"
        params = ",".join(_param(key, value) for key, value in self.params.items())
        return f"{self.platform}:{place}{MARKER}/{asked}{'?' if params else ''}{params}"

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def since(self) -> datetime | None:
        """Only what was created or changed at this moment or later."""
        return _moment(self.params.get("since"))

    @property
    def before(self) -> datetime | None:
        """Only what was created earlier than this, so that windows that share a bound tile."""
        return _moment(self.params.get("before"))

    @property
    def limit(self) -> int | None:
        """How many of each resource at the most."""
        text = self.params.get("limit")
        return int(text) if text else None

    @property
    def cursor(self) -> str:
        """The page that it asks for, in the platform's own text; empty: the first."""
        return self.params.get("cursor") or ""

    @property
    def stream(self) -> bool:
        """Whether what comes later is asked for, too."""
        return "stream" in self.params

    def with_params(self, **changes: str | int | None) -> RequestUri:
        """The same with these parameters; None takes one away."""
        params = {**self.params, **{key: None if value is None else str(value) for key, value in changes.items()}}
        kept = {key: value for key, value in params.items() if key not in changes or value is not None}
        return RequestUri(
            platform=self.platform,
            resources=self.resources,
            sources=self.sources,
            params=kept,
            authority=self.authority,
        )


def encoded(value: str) -> str:
    """`value` with as little percent-encoding as the grammar allows."""
    return quote(value, safe=LITERAL)


def canonical(key: str, value: str | None) -> str | None:
    """The one way to write this parameter. Raises ValueError with what is wrong."""
    if key == "stream":
        if value is not None:
            raise ValueError("stream takes no value")
        return None
    if key not in ("since", "before", "limit", "cursor"):
        return value
    if value is None:
        raise ValueError(f"{key} needs a value")
    if key == "cursor":
        return value
    return _limit(value) if key == "limit" else iso(date(value), "seconds")


def _limit(text: str) -> str:
    if not (text.isascii() and text.isdecimal() and len(text) <= 18 and int(text)):
        raise ValueError("limit must be a positive whole number")
    return str(int(text))


def date(text: str) -> datetime:
    """The moment that `2014-01-31` (its first second), `2014-01-31T12:34:56` (UTC) or one with an offset means.

    Raises ValueError.
    """
    wrong = f"{text!r} is not a date; write 2014-01-31 or 2014-01-31T12:34:56Z"
    if len(text) != 10 and (len(text) < 19 or text[10] != "T" or "." in text):
        raise ValueError(wrong)
    try:
        return moment(text, zone=UTC).replace(microsecond=0)
    except ValueError:
        raise ValueError(wrong) from None


def _moment(text: str | None) -> datetime | None:
    return moment(text) if text else None


def _param(key: str, value: str | None) -> str:
    return key if value is None else f"{key}={encoded(value)}"
