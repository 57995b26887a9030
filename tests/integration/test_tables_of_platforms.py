"""Tables of other platforms than GitHub, from a crawl of each one's simulator."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from ghcrawl.cli import main
from ghcrawl.platforms.contract import Platform
from ghcrawl.values.type_names import TypeName
from ghcrawl.wiring import PLATFORMS
from tests.support.logs import own_logging

ALWAYS: Final[Mapping[str, Mapping[str, str]]] = {
    "mastodon": {
        "mastodon_statuses": "id acct account_urn created_at content html_url replies_count",
        "mastodon_statuses_tags": "status_urn name",
        "mastodon_accounts_outlinks": "account_urn url",
        "mastodon_followers": "account_urn acct",
    },
    "bluesky": {
        "bluesky_posts": "uri author_did author_handle author_urn text created_at like_count",
        "bluesky_follows": "profile_urn other_urn did handle",
    },
    "web": {
        "web_posts": "title author text published blog_urn",
        "web_comments": "id author text published post_urn",
        "web_pages_links": "page_urn url",
    },
}
"""Columns that have a value in every row."""
OTHERS = [platform for platform in PLATFORMS if platform.name != "github"]


def rows(file: Path, sql: str) -> Sequence[tuple[Any, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(sql).fetchall()


@pytest.fixture(scope="module", params=OTHERS, ids=lambda platform: platform.name)
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Platform, Path, Path]:
    """A platform, the file of a crawl of it, and its tables."""
    platform: Platform = request.param
    folder = tmp_path_factory.mktemp(platform.name)
    db, to = folder / "crawl.db", folder / "acme.sqlite"
    with own_logging():
        assert main(["demo", "--platform", platform.name, "--size", "150", "--db", str(db)]) == 0
        assert main(["tables", "--db", str(db), "--to", str(to)]) == 0
    return platform, db, to


def test_every_thing_is_a_row(written: tuple[Platform, Path, Path]) -> None:
    platform, db, to = written
    counts = rows(db, "SELECT type, count(*) FROM saved_documents GROUP BY type")
    tables = [(platform.tables.by_kind.get(TypeName(platform.name, kind)), count) for kind, count in counts]
    things = [(table, count) for table, count in tables if table is not None and not table.pages_of]
    assert len(things) >= 2
    for table, count in things:
        assert rows(to, f"SELECT count(*) FROM {table.name}") == [(count,)]


def test_no_field_of_a_simulated_answer_lands_in_extra(written: tuple[Platform, Path, Path]) -> None:
    platform, _, to = written
    for table in platform.tables.tables:
        assert rows(to, f"SELECT extra FROM {table.name} WHERE extra IS NOT NULL LIMIT 1") == [], table.name


def test_what_everything_of_a_kind_has_is_in_each_row(written: tuple[Platform, Path, Path]) -> None:
    platform, _, to = written
    for table, columns in ALWAYS[platform.name].items():
        missing = " OR ".join(f"{column} IS NULL" for column in columns.split())
        assert rows(to, f"SELECT count(*) > 0, coalesce(sum({missing}), 0) FROM {table}") == [(1, 0)], table
