"""The scenario of the moment: where requests go that name none, shown by what is then asked for."""

from __future__ import annotations

import pytest

from ghcrawl.settings.sections import CrawlSettings, ScheduleSection
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.frozen import replace
from ghcrawl.values.tuning import Tuning
from ghcrawl.values.visitor_map import Scenarios
from ghcrawl.wiring import SETTINGS, demand_runnable
from tests.support.library import LIBRARY
from tests.support.scripted import Rig
from tests.unit.engine.test_loop import BOOKS, SHELF, SHELF_BODY, TWO_BOOKS

MAPS = {"shelf": {"books": "book"}, "book": {}}
LOOKING = replace(LIBRARY, scenarios=Scenarios({"default": MAPS, "outside": {"shelf": {}}, "books": {"book": {}}}))


async def asked(tuning: Tuning, policy: str = "default") -> list[str]:
    """The URLs that one crawl of a shelf asks for."""
    rig = Rig(LOOKING, {SHELF.url: SHELF_BODY, BOOKS: TWO_BOOKS}, tuning=tuning)
    await rig.push(replace(SHELF, policy=policy))
    await rig.drain()
    return [url for url, _ in rig.fetcher.asked]


async def test_a_scenario_says_where_requests_go_that_name_none():
    assert await asked(Tuning()) == [SHELF.url, BOOKS]
    assert await asked(Tuning(scenario="outside")) == [SHELF.url]


async def test_a_request_that_names_a_scenario_goes_where_that_one_says():
    assert await asked(Tuning(scenario="outside"), "default:default/shelf") == [SHELF.url, BOOKS]
    assert await asked(Tuning(), "default:outside/shelf") == [SHELF.url]


async def test_where_a_scenario_has_no_map_the_default_holds():
    assert await asked(Tuning(scenario="books")) == [SHELF.url, BOOKS]


@pytest.mark.parametrize(
    ("name", "said"),
    [("repoo", "unknown type 'repoo'; did you mean repo"), ("github/rope", "unknown type 'github/rope'")],
)
def test_a_type_to_discover_that_is_not_there_is_refused(name: str, said: str):
    demand_runnable(SETTINGS(schedule=ScheduleSection(discover=("repo",))))
    with pytest.raises(ConfigError, match=f"schedule.discover: {said}") as refused:
        demand_runnable(SETTINGS(schedule=ScheduleSection(discover=(name,))))
    assert [setting for setting, _ in refused.value.problems] == ["schedule.discover"]


def test_a_scenario_that_is_not_there_is_refused_before_anything_is_crawled_in_it():
    demand_runnable(SETTINGS(crawl=CrawlSettings(scenario="relationOnly")))
    with pytest.raises(ConfigError, match=r"crawl\.scenario: unknown scenario relations; known scenarios: default"):
        demand_runnable(SETTINGS(crawl=CrawlSettings(scenario="relations")))
    assert CrawlSettings(scenario="default").tuning().scenario == ""
