"""The declared schema, held to the kinds and to GitHub's published schemas."""

from __future__ import annotations

from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from ghcrawl.platforms.columns import AFTER
from ghcrawl.platforms.contract import Platform
from ghcrawl.platforms.kind import Event, Thing
from ghcrawl.platforms.tables import LinkTable, Table, primary_key
from ghcrawl.values.type_names import TypeName
from ghcrawl.wiring import PLATFORMS
from processors.github import ENTITIES, PARTS
from processors.github.listings import LISTINGS
from processors.github.tables import ABOUT, OUTSIDE, TABLES
from processors.github.tables_fields import FIELDS
from processors.github.tables_relations import NO_TABLE
from tests.support import tables_page
from tests.support.all_tables import EVERYTHING
from tests.support.github import PLATFORM
from tests.support.official import OFFICIAL, leaves, models

FITS: dict[str, set[type]] = {
    "text": {str},
    "integer": {int, float},  # ids of projects are said to be numbers, and are whole
    "real": {int, float},
    "boolean": {bool},
    "timestamp": {datetime, date, str},
}


def official(kind: str) -> dict[str, set[Any]]:
    fields: dict[str, set[Any]] = {}
    for name in OFFICIAL[kind]:
        for field, info in getattr(models(), name).model_fields.items():
            fields.setdefault(info.alias or field, set()).update(leaves(info.annotation))
    return fields


def below(kind: str, path: tuple[str, ...]) -> set[Any]:
    """The official types of what stands at `path`; empty where nothing is known."""
    found = official(kind).get(path[0], set())
    for name in path[1:]:
        inner: set[Any] = set()
        for each in found:
            if isinstance(each, type) and issubclass(each, BaseModel):
                for field, info in each.model_fields.items():
                    if (info.alias or field) == name:
                        inner.update(leaves(info.annotation))
        found = inner
    return found


def own(kind: str) -> Table:
    return TABLES.by_kind[TypeName("github", kind)]


def test_every_thing_that_is_crawled_has_a_table_and_nothing_else_has() -> None:
    things = {row.type for row in ENTITIES} | {row.type for row in PARTS}
    happened = {name for name, kind in PLATFORM.kinds.items() if isinstance(kind, Event)}
    related = {row.type for row in LISTINGS if row.relation} - NO_TABLE.keys()
    assert {type.name for type in TABLES.by_kind} == things | happened | related
    assert NO_TABLE.keys() <= {row.type for row in LISTINGS if row.relation}


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: platform.name)
def test_every_thing_of_a_platform_has_a_table(platform: Platform) -> None:
    things = {name for name, kind in platform.kinds.items() if isinstance(kind, Thing)}
    assert things - {kind.name for kind in platform.tables.by_kind} <= {"request", "stream"}  # what was asked for
    assert platform.tables.by_kind.keys() <= {*platform.types}


def test_names_are_told_apart_by_more_than_case_and_no_table_has_two_columns_of_one_name() -> None:
    names = [table.name.lower() for table in EVERYTHING.everything]
    assert len(names) == len(set(names))
    for table in EVERYTHING.everything:
        columns = [column.name.lower() for column in table.columns]
        assert len(columns) == len(set(columns)), table.name
        assert set(primary_key(table)) <= {column.name for column in table.columns}


def test_whatever_a_column_refers_to_is_there() -> None:
    there = {f"{table.name}.{column.name}" for table in EVERYTHING.everything for column in table.columns}
    wanted = {column.references for table in EVERYTHING.everything for column in table.columns if column.references}
    assert wanted <= there


@pytest.mark.parametrize("kind", OFFICIAL)
def test_every_field_that_github_describes_has_a_column_or_is_left_out_on_purpose(kind: str) -> None:
    assert sorted(official(kind).keys() - own(kind).known) == []


@pytest.mark.parametrize("kind", sorted(OFFICIAL.keys() - {"org", "user"}))  # these two share what is left out
def test_nothing_is_declared_that_github_does_not_describe(kind: str) -> None:
    fields = FIELDS[kind]
    listed = {name.partition(":")[0] for name in fields.several.split()}
    assert sorted((listed | set(fields.left_out.split())) - official(kind).keys()) == []


@pytest.mark.parametrize("kind", OFFICIAL)
def test_types_of_columns_hold_against_githubs_own_description(kind: str) -> None:
    wrong = []
    for column in own(kind).columns:
        if column.source != "body" or column.type == "json":
            continue
        said = below(kind, column.path)
        if said and not said & FITS[column.type]:
            wrong.append(f"{column.name} {column.type}: {said}")
    assert wrong == []


@pytest.mark.parametrize("kind", OFFICIAL)
def test_every_path_of_a_column_is_one_that_github_describes(kind: str) -> None:
    described = {name: said for name, said in official(kind).items() if said}  # some are said to be null, and no more
    read = [column for column in own(kind).columns if column.source == "body"]
    unknown = [column.name for column in read if column.path[0] in described and not below(kind, column.path)]
    assert unknown == []


def test_link_tables_say_whose_they_are() -> None:
    for table in TABLES.tables:
        for link in table.links:
            assert isinstance(link, LinkTable)
            assert link.columns[0].references == f"{table.name}.urn"
            assert link.columns[1].name == "position"


def test_ids_names_states_people_and_times_come_first_and_json_last() -> None:
    names = [column.name for column in own("issue").columns]
    wanted = "urn id number title repo_id repo_urn state state_reason user_id user_login created_at body reactions url"
    assert [name for name in names if name in wanted.split()] == wanted.split()
    for table in TABLES.tables:
        types = [column.type for column in table.columns if column not in AFTER]
        assert "json" not in types or set(types[types.index("json") :]) == {"json"}, table.name


def test_only_keys_are_referred_to() -> None:
    keys = {f"{table.name}.{name}" for table in EVERYTHING.everything for name in primary_key(table)}
    for table in EVERYTHING.everything:
        assert {column.references for column in table.columns if column.references} <= keys, table.name


def test_what_is_said_of_a_column_is_said_of_one_that_is_there() -> None:
    there = {f"{table.name}.{column.name}" for table in TABLES.everything for column in table.columns}
    assert ABOUT.keys() <= there
    assert OUTSIDE.keys() <= there


def test_the_page_of_tables_is_what_the_schema_says() -> None:
    written = (Path(__file__).parents[3] / "docs" / "tables.md").read_text(encoding="utf-8")
    assert written == tables_page.page(), "run make docs"
