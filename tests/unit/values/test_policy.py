"""Policies: reading specs, and what each freshness demands."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.values.errors import SpecError
from ghcrawl.values.policy import (
    NAMED,
    Fetch,
    Freshness,
    parse,
)
from tests.support.builders import NOW, at

NAMES = st.sampled_from([*NAMED, "mutables+7d", "originOnly+match", "storageOnly+12d"])
WORDS = st.text("abcdefghijklmnopqrstuvwxyz_", min_size=1, max_size=8)


@given(name=NAMES, scenario=st.one_of(st.just(""), WORDS), place=WORDS, path=st.lists(WORDS, max_size=3))
def test_a_spec_reads_back_into_the_policy_that_wrote_it(name: str, scenario: str, place: str, path: list[str]):
    written = parse(name).at(place, tuple(path))
    spec = written.spec if not scenario else written.spec.replace(":", f":{scenario}/", 1)

    assert parse(spec).spec == spec


@pytest.mark.parametrize(
    "spec", ["", "defualt", "default:", "default:repo@", "default:a/b/c", "mutables+d", "x+7d", "clone"]
)
def test_a_spec_that_nobody_can_read_is_refused_with_what_could_be_written(spec: str):
    with pytest.raises(SpecError, match=r"policy"):
        parse(spec)


def test_mutables_asks_the_platform_only_for_what_can_change():
    policy = parse("default")

    assert policy.mode(immutable=False) is Fetch.ORIGIN_STORAGE
    assert policy.mode(immutable=True) is Fetch.STORAGE_ORIGIN_IF_MISSING
    assert parse("reload").mode(immutable=True) is Fetch.ORIGIN_STORAGE


@pytest.mark.parametrize(
    ("spec", "current", "stored_version", "expected"),
    [
        ("default", True, 3, False),
        ("default", False, 3, True),
        ("default", True, None, True),
        ("reprocess", True, 2, True),
        ("reprocess", True, 3, False),
        ("reprocess", False, 3, False),
        ("reprocessAndUpdate", True, 2, True),
        ("reprocessAndUpdate", False, 3, True),
        ("reprocessAndUpdate", True, 3, False),
        ("always", True, 3, True),
        ("mutables+7d", True, 3, False),
        ("mutables+7d", False, 3, True),
    ],
)
def test_each_freshness_says_when_a_body_is_processed(
    spec: str, current: bool, stored_version: int | None, expected: bool
):
    assert parse(spec).processes(current=current, stored_version=stored_version, version=3) is expected


def test_day_freshness_leaves_young_copies_alone_and_asks_about_old_ones():
    week = parse("mutables+7d")

    assert week.freshness is Freshness.DAYS
    assert week.young(NOW, at(7 * 86_400 - 1))
    assert not week.young(NOW, at(7 * 86_400))
    assert not parse("default").young(NOW, NOW)


def test_a_policy_without_a_map_takes_the_position_of_its_kind():
    assert parse("refresh").placed("repo@/issues").spec == "refresh:repo@/issues"
    assert parse("refresh:team").placed("repo").spec == "refresh:team"


def test_a_scenario_alone_leaves_the_map_to_the_kind():
    policy = parse("refresh:issues/")

    assert policy.spec == "refresh:issues/"
    assert policy.placed("repo@/labels").spec == "refresh:issues/repo@/labels"


def test_a_position_is_the_same_whatever_the_fetch_mode():
    policy = parse("refresh:issues/repo")

    assert policy.stands_where(["default:issues/repo"])
    assert not policy.stands_where(["refresh:repo", "refresh:issues/org"])
