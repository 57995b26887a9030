"""Live settings: checked before they are kept, kept whole or not at all, and written down."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from ghcrawl.settings.live import (
    MAX_ENTRIES,
    STATE,
    Base,
    Contended,
    LiveSettings,
)
from ghcrawl.settings.loading import Origins
from ghcrawl.settings.loading import load as compose
from ghcrawl.settings.sections import Settings
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.lanes import QUEUES
from ghcrawl.wiring import SETTINGS
from stores.memory import MemoryStore
from tests.support.builders import NOW
from tests.support.clock import FakeClock


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def live(store: MemoryStore, **over: object) -> LiveSettings:
    environ = {"GHCRAWL_CRAWL__LOOPS": "3"}
    return LiveSettings(
        store, FakeClock(), Base(model=SETTINGS, environ=environ, overrides={"crawl.max_attempts": 2} | over)
    )


async def test_what_somebody_changes_wins_over_how_it_was_started_until_it_is_unset(store: MemoryStore):
    settings = live(store)
    await settings.change({"crawl.max_attempts": 7, "crawl.loops": "9"}, "ada")
    holding = await settings.read()
    assert (holding.settings.crawl.max_attempts, holding.settings.crawl.loops) == (7, 9)
    assert holding.live == {"crawl.max_attempts": 7, "crawl.loops": 9}
    assert holding.origins["crawl.max_attempts"] == "live"
    await settings.change({"crawl.max_attempts": None, "crawl.loops": None}, "ada")
    holding = await settings.read()
    assert (holding.settings.crawl.max_attempts, holding.settings.crawl.loops, holding.live) == (2, 3, {})
    assert holding.origins["crawl.max_attempts"] == "command line"


async def test_every_change_is_written_down_with_who_when_from_and_to(store: MemoryStore):
    settings = live(store)
    await settings.change({"crawl.loops": 5, "crawl.paused": True}, "ada")
    assert await settings.change({"crawl.loops": 5}, "bob") == []
    await settings.change({"crawl.loops": 6}, "bob")
    entries = await live(store).audit()
    assert [(entry.who, entry.name, entry.before, entry.after) for entry in entries] == [
        ("bob", "crawl.loops", 5, 6),
        ("ada", "crawl.loops", None, 5),
        ("ada", "crawl.paused", None, True),
    ]
    assert {entry.at for entry in entries} == {NOW}


@pytest.mark.parametrize(
    "wanted",
    [
        {"crawl.loops": 5, "crawl.lops": 5},
        {"crawl.loops": 5, "crawl.retry_cap_s": -1},
        {"crawl.loops": 1001},
        {"crawl.retry_cap_s": float("inf")},
        {"github.api_url": "http://elsewhere"},
    ],
)
async def test_a_change_with_a_mistake_changes_nothing(store: MemoryStore, wanted: dict[str, object]):
    settings = live(store)
    with pytest.raises(ConfigError):
        await settings.change(wanted, "ada")
    assert (await settings.read()).live == {}
    assert await settings.audit() == []


async def test_a_change_that_whoever_runs_it_cannot_run_with_changes_nothing(store: MemoryStore):
    def demand(settings: Settings) -> None:
        if settings.crawl.loops > 4:
            raise ConfigError("crawl.loops: this machine has not so many")

    settings = LiveSettings(store, FakeClock(), Base(model=SETTINGS), demand=demand)
    with pytest.raises(ConfigError, match="not so many"):
        await settings.change({"crawl.loops": 5}, "ada")
    await settings.change({"crawl.loops": 4}, "ada")
    assert (await settings.read()).live == {"crawl.loops": 4}


async def test_the_audit_is_bounded(store: MemoryStore):
    settings = live(store)
    for number in range(MAX_ENTRIES + 5):
        await settings.change({"crawl.loops": number % 2 + 1}, "ada")
    assert len(await settings.audit()) == MAX_ENTRIES


NEWER = {"crawl.newer_setting": 1, "crawl.loops": 9, "crawl.retry_cap_s": "soon", "github.api_url": "http://elsewhere"}
"""As another version may have left it."""


async def test_what_this_version_cannot_use_is_named_and_holds_nothing_up(store: MemoryStore):
    await store.write_state(STATE, NEWER)
    holding = await live(store).read()
    assert holding.settings.crawl.loops == 9
    assert holding.live == {"crawl.loops": 9}
    assert set(holding.strange) == set(NEWER) - {"crawl.loops"}
    assert holding.strange["crawl.newer_setting"].startswith("unknown setting crawl.newer_setting")


async def test_what_this_version_cannot_use_stays_where_it_is_until_somebody_unsets_it(store: MemoryStore):
    await store.write_state(STATE, NEWER)
    settings = live(store)
    await settings.change({"crawl.paused": True}, "ada")
    assert await store.read_state(STATE) == {**NEWER, "crawl.paused": True}
    entries = await settings.change({"crawl.newer_setting": None, "crawl.retry_cap_s": 7}, "ada")
    assert [(entry.name, entry.before, entry.after) for entry in entries] == [
        ("crawl.newer_setting", 1, None),
        ("crawl.retry_cap_s", "soon", 7.0),
    ]
    assert (await settings.read()).live == {"crawl.loops": 9, "crawl.paused": True, "crawl.retry_cap_s": 7.0}
    with pytest.raises(ConfigError, match="newer_setting"):
        await settings.change({"crawl.newer_setting": None}, "ada")


async def test_of_settings_that_hold_by_themselves_and_not_together_as_many_as_can_do(store: MemoryStore):
    await store.write_state(STATE, {f"crawl.weights.{name}": 0 for name in QUEUES} | {"crawl.paused": True})
    holding = await live(store).read()
    assert holding.settings.crawl.paused
    assert len(holding.strange) == 1
    assert sum(bool(weight) for weight in holding.settings.crawl.weights.values()) == 1


async def test_what_cannot_be_run_with_is_left_out_too_and_a_broken_beginning_is_still_an_error(store: MemoryStore):
    def demand(settings: Settings) -> None:
        if settings.crawl.loops > 4:
            raise ConfigError("crawl.loops: this machine has not so many")

    await store.write_state(STATE, {"crawl.loops": 9, "crawl.paused": True})
    holding = await LiveSettings(
        store, FakeClock(), Base(model=SETTINGS, overrides={"crawl.loops": 2}), demand=demand
    ).read()
    assert (holding.live, dict(holding.strange)) == (
        {"crawl.paused": True},
        {"crawl.loops": "crawl.loops: this machine has not so many"},
    )
    with pytest.raises(ConfigError, match="max_attempts"):
        await live(store, **{"crawl.max_attempts": -1}).read()


async def test_a_beginning_that_cannot_be_run_with_is_an_error_that_a_change_may_mend(store: MemoryStore):
    def demand(settings: Settings) -> None:
        if settings.crawl.loops > 4:
            raise ConfigError("crawl.loops: this machine has not so many")

    settings = LiveSettings(store, FakeClock(), Base(model=SETTINGS, overrides={"crawl.loops": 9}), demand=demand)
    with pytest.raises(ConfigError, match="not so many"):
        await settings.read()
    await settings.change({"crawl.loops": 4}, "ada")
    assert (await settings.read()).settings.crawl.loops == 4


async def test_whoever_looks_every_second_puts_the_settings_together_once(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
):
    loaded: list[object] = []

    def counting(*given: Any, model: type[Settings]) -> tuple[Settings, Origins]:
        loaded.append(given)
        return compose(*given, model=model)

    await live(store).change({"crawl.loops": 9, "crawl.paused": True}, "ada")
    monkeypatch.setattr("ghcrawl.settings.loading.load", counting)
    assert (await live(store).read()).settings.crawl.loops == 9
    assert len(loaded) == 1


class Crowded(MemoryStore):
    """Every read lets others have their turn; `rivals` change something between a read and its write."""

    rivals = 0

    async def read_state(self, name: str) -> Mapping[str, object] | None:
        read = await super().read_state(name)
        await asyncio.sleep(0)
        if self.rivals and name == STATE:
            self.rivals -= 1
            await super().write_state(STATE, {**(read or {}), "crawl.max_attempts": self.rivals % 90 + 1})
        return read


async def test_replicas_that_change_different_settings_at_once_undo_nothing_of_each_other():
    store = Crowded()
    wanted = {"crawl.loops": 9, "crawl.paused": True, "crawl.weights.soon": 4, "github.concurrency": 3}
    await asyncio.gather(*(live(store).change({name: value}, name) for name, value in wanted.items()))
    assert (await live(store).read()).live == wanted
    assert {(entry.name, entry.after) for entry in await live(store).audit()} == set(wanted.items())


async def test_what_changed_meanwhile_is_what_the_next_try_begins_with():
    store = Crowded()
    store.rivals = 3
    (entry,) = await live(store).change({"crawl.loops": 9}, "ada")
    assert (await live(store).read()).live == {"crawl.loops": 9, "crawl.max_attempts": 1}
    assert (entry.name, entry.after) == ("crawl.loops", 9)


async def test_who_never_gets_a_turn_is_told_and_has_changed_nothing():
    store = Crowded()
    store.rivals = 10_000
    with pytest.raises(Contended):
        await live(store).change({"crawl.loops": 9}, "ada")
    store.rivals = 0
    assert set((await live(store).read()).live) == {"crawl.max_attempts"}
    assert await live(store).audit() == []
