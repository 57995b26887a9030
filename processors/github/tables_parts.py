"""Tables of what a repository has exactly one of, and of what it has one of a day: a README, languages, traffic."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ghcrawl.platforms.columns import POSITION, Column, columns, owned_by, person
from ghcrawl.platforms.tables import LinkTable, Table, table
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from processors.github.tables_fields import PLATFORM

REPO_ID: Final = Column(name="repo_id", type="integer", source="above_name", path=("repo",), about="its number")
"""No reference: a repository's own `id` is no key, and missing where only its URN is known."""
_ABOVE: Final = (
    REPO_ID,
    Column(name="repo_urn", type="text", source="above", path=("repo",), references="repos.urn"),
)


def _part(
    kind: str,
    own: tuple[Column, ...] = (),
    links: tuple[LinkTable, ...] = (),
    left_out: str = "",
    *,
    daily: bool = False,
) -> Table:
    day = (
        (Column(name="day", type="timestamp", source="above_name", path=(kind,), about="the day, in UTC"),)
        if daily
        else ()
    )
    people = (("elements", "author"),) if kind == "contributor_statistics" else ()
    return table(PLATFORM, kind, *_ABOVE, *day, *own, name=kind, links=links, people=people, left_out=left_out)


def _rows(
    kind: str,
    name: str,
    own: tuple[Column, ...],
    at: str = "elements",
    made: Callable[[JsonObject], Iterable[JsonObject]] | None = None,
) -> LinkTable:
    return LinkTable(name=name, path=(at,), columns=(owned_by(kind, kind), POSITION, *own), rows=made)


def _pairs(body: JsonObject) -> Iterable[JsonObject]:
    """GitHub answers languages as one object, by name."""
    return [{"language": name, "bytes": size} for name, size in body.items()]


def _tuples(*names: str) -> Callable[[JsonObject], Iterable[JsonObject]]:
    """Statistics come as arrays of numbers without names."""

    def rows(body: JsonObject) -> Iterable[JsonObject]:
        found = body.get("elements")
        for each in found if isinstance(found, list) else ():
            if isinstance(each, list) and len(each) == len(names):
                yield dict(zip(names, each, strict=True))

    return rows


def _weeks(body: JsonObject) -> Iterable[JsonObject]:
    """A row for each person and week in which they committed."""
    found = body.get("elements")
    for each in found if isinstance(found, list) else ():
        weeks = each.get("weeks") if isinstance(each, Mapping) else None
        for week in weeks if isinstance(weeks, list) else ():
            if isinstance(week, Mapping) and week.get("c"):
                yield {"author": each.get("author"), **week}


def _participation(body: JsonObject) -> Iterable[JsonObject]:
    everybody, owner = body.get("all"), body.get("owner")
    both = [each if isinstance(each, list) else [] for each in (everybody, owner)]
    return [{"everybody": each, "owner": own} for each, own in zip(*both, strict=False)]


_FILE: Final = (*columns("text", "name path sha html_url download_url content encoding"), *columns("integer", "size"))
_FILE_REST: Final = "url git_url type _links target submodule_git_url license"
_TRAFFIC: Final = (*columns("timestamp", "timestamp"), *columns("integer", "count uniques"))
_WEEK: Final = columns("timestamp", "week=w")
_TOTALS: Final = columns("integer", "count uniques")

_LANGUAGES: Final = _rows(
    "languages", "language_bytes", (*columns("text", "language"), *columns("integer", "bytes")), made=_pairs
)

PART_TABLES: Final[tuple[Table, ...]] = (
    _part("topics", links=(_rows("topics", "topic_names", columns("text", "name=value"), at="names"),)),
    replace(_part("languages", links=(_LANGUAGES,)), everything_known=True),
    _part(
        "license",
        (*_FILE, *columns("text", "license_key=license.key license_spdx_id=license.spdx_id")),
        left_out=_FILE_REST,
    ),
    _part("readme", _FILE, left_out=_FILE_REST),
    _part("codeowners", _FILE, left_out=_FILE_REST),
    _part("sbom", columns("json", "sbom")),
    _part(
        "community_profile",
        (
            *columns("integer", "health_percentage"),
            *columns("text", "description documentation"),
            *columns("boolean", "content_reports_enabled"),
            *columns("timestamp", "updated_at"),
            *columns("json", "files"),
        ),
    ),
    _part("views", _TOTALS, (_rows("views", "view_days", _TRAFFIC, at="views"),), daily=True),
    _part("clones", _TOTALS, (_rows("clones", "clone_days", _TRAFFIC, at="clones"),), daily=True),
    _part(
        "paths",
        links=(_rows("paths", "popular_paths", (*columns("text", "path title"), *_TOTALS)),),
        daily=True,
    ),
    _part(
        "referrers",
        links=(_rows("referrers", "popular_referrers", (*columns("text", "referrer"), *_TOTALS)),),
        daily=True,
    ),
    _part(
        "contributor_statistics",
        links=(
            _rows(
                "contributor_statistics",
                "contributor_weeks",
                (*person("author"), *_WEEK, *columns("integer", "additions=a deletions=d commits=c")),
                made=_weeks,
            ),
        ),
    ),
    _part(
        "commit_activity",
        links=(
            _rows(
                "commit_activity",
                "commit_weeks",
                (*columns("timestamp", "week"), *columns("integer", "total"), *columns("json", "days")),
            ),
        ),
    ),
    _part(
        "code_frequency",
        links=(
            _rows(
                "code_frequency",
                "code_weeks",
                (*columns("timestamp", "week"), *columns("integer", "additions deletions")),
                made=_tuples("week", "additions", "deletions"),
            ),
        ),
    ),
    _part(
        "participation",
        links=(
            _rows("participation", "participation_weeks", columns("integer", "everybody owner"), made=_participation),
        ),
        left_out="all owner",
    ),
    _part(
        "punch_card",
        links=(
            _rows(
                "punch_card",
                "punch_card_hours",
                columns("integer", "weekday hour commits"),
                made=_tuples("weekday", "hour", "commits"),
            ),
        ),
    ),
)
"""One for each of `PARTS`."""
