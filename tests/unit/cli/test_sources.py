"""`ghcrawl watch` and `unwatch`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from ghcrawl.cli.opening import existing
from ghcrawl.cli.options import Place
from ghcrawl.cli.sources import picture
from ghcrawl.schedule.estimator import Reading
from ghcrawl.schedule.tick import Plan, answered
from ghcrawl.values.frozen import replace
from ghcrawl.values.source import source_key
from tests.unit.cli.conftest import Command, Fill

FEED = "https://api.github.com/repos/acme/web/events?per_page=100"


@pytest.fixture
def db(filled: Fill) -> Path:
    return filled()


def test_what_is_watched_is_listed_and_removed_again(ghcrawl: Command, db: Path):
    assert "2 added, 0 watched already." in ghcrawl("watch", "acme/web", "acme/api").err
    assert "0 added, 1 watched already." in ghcrawl("watch", "acme/web").err
    rows = ghcrawl("watch", "list").rows
    assert [(row[0], row[-1]) for row in sorted(rows, key=lambda row: row[-1])] == [
        ("now", "repo https://api.github.com/repos/acme/api"),
        ("now", "repo https://api.github.com/repos/acme/web"),
    ]
    assert len(ghcrawl("watch", "list", "--json").json) == 2
    assert ghcrawl("unwatch", "acme/web").status == 0
    assert ghcrawl("unwatch", "acme/web").status == 1
    assert len(ghcrawl("watch", "list").rows) == 1


def test_nothing_is_watched_at_first(ghcrawl: Command, db: Path):
    assert "Nothing is watched" in ghcrawl("watch", "list").err
    assert ghcrawl("watch", "show", "acme/web").status == 1


def test_weight_and_interval_can_be_changed(ghcrawl: Command, db: Path):
    ghcrawl("watch", "acme/web")
    assert "1 changed" in ghcrawl("watch", "acme/web", "--weight", "3", "--every", "0.5").err
    shown = ghcrawl("watch", "show", "acme/web", "--json").json
    assert (shown["weight"], shown["every_d"], shown["read"], shown["why"]) == (3.0, 0.5, None, "never read")


def test_a_source_is_shown_with_a_picture_of_its_days(ghcrawl: Command, db: Path):
    ghcrawl("watch", "acme/web")

    async def learn() -> None:
        async with existing(Place(db=db)) as opened:
            source = await opened.backend.sources.get(source_key("github", "events", FEED))
            assert source is not None
            reading = Reading(now=20_700.5, times=[20_700.4 - day for day in range(5) for _ in range(day + 1)])
            await opened.backend.sources.write([answered(replace(source, news=0.0), reading, Plan(price=10.0))])

    asyncio.run(learn())
    shown = ghcrawl("watch", "show", "acme/web", "--json").json
    assert shown["days"] == [*[0] * 25, 5, 4, 3, 2, 1]
    assert shown["user_class"] == "inactive"
    assert shown["due"] > shown["read"]
    assert "·█▇▅▄▂" in ghcrawl("watch", "show", "acme/web").out


@pytest.mark.parametrize("words", [("watch", "no spec at all"), ("unwatch", "///")])
def test_words_that_mean_nothing_are_refused(ghcrawl: Command, db: Path, words: tuple[str, ...]):
    assert ghcrawl(*words).status == 2


def test_a_picture_of_nothing_is_dots():
    assert picture([0, 0, 0]) == "···"
    assert picture([1, 0, 4]) == "▃·█"
