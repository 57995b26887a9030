"""How things are called in MongoDB."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from ghcrawl.values.errors import Unstorable
from ghcrawl.values.times import time_text
from stores.mongo.names import CLAIMANTS, collection_of, places, type_of, types_in
from stores.mongo.settings import MongoSettings
from tests.support.builders import NOW, a_type


@pytest.mark.parametrize("type", ["issue", "team_members", "with.dot", "$odd", "naïve", "", "%", "\ud800", "a b"])
@pytest.mark.parametrize("platform", ["github", "mastodon", "with.dot", "ghcrawl", "system", "%", "\ud800"])
def test_a_type_has_a_collection_and_a_collection_a_type(type: str, platform: str):
    name = collection_of(a_type(type, platform))
    assert type_of(name) == a_type(type, platform)
    assert name.isascii()
    assert not set(name) & set("$\0 ")
    assert name.count(".") == (platform != "github")
    assert not name.startswith(("system.", "ghcrawl."))


def test_a_type_that_mongodb_would_like_is_the_name_of_its_collection():
    assert collection_of(a_type("pull_request")) == "pull_request"
    assert collection_of(a_type("status", "mastodon")) == "mastodon.status"


def test_a_type_that_is_too_long_for_a_name_can_never_be_stored():
    with pytest.raises(Unstorable, match="is too long a type for the name of a collection"):
        collection_of(a_type("x" * 101))


@pytest.mark.parametrize(
    ("urn", "type"),
    [
        ("urn:repo:12", "repo"),
        ("urn:repo:12:issue:34:issue_comment:56", "issue_comment"),
        ("urn:team:7:members:pages:20261121T210819697Z:page:1", "team_members"),
        ("urn:repo:12:issues:cursor", "cursor"),
        ("urn:org:9:members:page:1", "members"),
    ],
)
def test_a_urn_tells_the_type(urn: str, type: str):
    assert a_type(type) in types_in(urn)


def test_a_urn_of_another_platform_begins_with_its_name():
    types = types_in("urn:mastodon:social.example:user:5:followers:page:1")
    assert types[0] == a_type("page", "mastodon")
    assert {a_type("user", "mastodon"), a_type("user_followers", "mastodon"), a_type("user")} <= {*types}
    assert {type.platform for type in types_in("urn:repo:12:issues:cursor")} == {"github"}


def test_the_last_word_of_a_urn_is_the_likeliest_type():
    assert types_in("urn:repo:12:issue:34:issue_comment:56")[0] == a_type("issue_comment")
    assert types_in("urn") == types_in("urn:12") == []


def test_a_place_is_no_other_urls_place():
    assert len({place for url in ("a", "b") for place in places(url)}) == 2 * CLAIMANTS
    assert places("a")[0] == "a"


def test_moments_sort_as_text_wherever_they_were_seen():
    later = (NOW + timedelta(microseconds=1)).astimezone(timezone(timedelta(hours=-7)))
    assert time_text(NOW) == "2026-11-21T12:00:00.000000Z" < time_text(later)
    assert datetime.fromisoformat(time_text(later)) == later


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("mongodb://ada:secret@db.example:27018/admin?replicaSet=rs0", "db.example:27018/ghcrawl"),
        ("mongodb://a,b:1,c", "a,b:1,c/ghcrawl"),
        ("mongodb+srv://ada:p%40ss@cluster.example", "cluster.example/ghcrawl"),
    ],
)
def test_a_database_is_named_without_its_password(url: str, place: str):
    settings = MongoSettings(url=url)
    assert settings.place == place
    assert "secret" not in repr(settings)
    assert "p%40ss" not in repr(settings)
