from __future__ import annotations

from pathlib import Path

import pytest

from ghcrawl.cli import live
from ghcrawl.cli.options import Place
from ghcrawl.settings.live import checked
from ghcrawl.settings.loading import names
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.tuning import DEFAULT_WEIGHTS, Tuning
from ghcrawl.wiring import SETTINGS, load


def test_live_settings_win_over_file_and_environment_and_the_command_line_over_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ghcrawl.toml"
    file.write_text("[crawl]\nloops = 1\nmax_attempts = 1\nretry_base_s = 1\n")
    monkeypatch.setenv("GHCRAWL_CRAWL__LOOPS", "2")
    monkeypatch.setenv("GHCRAWL_CRAWL__MAX_ATTEMPTS", "2")
    values = {"crawl.loops": 3, "crawl.max_attempts": "3"}
    applied = live.applied(Place(config=file), {"crawl.loops": 4}, values)
    crawl = applied.settings.crawl
    assert (crawl.loops, crawl.max_attempts, crawl.retry_base_s) == (4, 3, 1)
    assert applied.origins == {
        "crawl.loops": "command line",
        "crawl.max_attempts": "live",
        "crawl.retry_base_s": str(file),
    }


def test_what_is_changed_in_the_middle_wins_over_the_command_line_that_began_it() -> None:
    more = {"crawl.loops": 4, "crawl.policy": "refresh"}
    before = {"crawl.loops": 3, "crawl.max_attempts": 2}
    settings = live.changed(Place(), more, before, {"crawl.loops": 3, "crawl.max_attempts": 1}).settings
    assert (settings.crawl.loops, settings.crawl.max_attempts) == (4, 1)
    settings = live.changed(Place(), more, before, {"crawl.loops": 7}).settings
    assert (settings.crawl.loops, settings.crawl.max_attempts, settings.crawl.policy) == (7, 5, "refresh")


def test_what_tuning_holds_may_be_set_live_and_limits_and_the_log_level_and_nothing_else() -> None:
    known, live_names = names(SETTINGS), SETTINGS.live_names()
    for name in live_names:
        assert name in known or name.rpartition(".")[0] in known
    assert {name.split(".")[1] for name in live_names if name.startswith("crawl.")} | {"scope", "patience_s"} == {
        *Tuning.__struct_fields__,
        "allow",
        "exclude",
    }
    assert {name for name in live_names if not name.startswith("crawl.")} == {
        "github.concurrency",
        "github.reserve",
        "log.level",
        "schedule.budget_share",
        "schedule.calls_per_hour",
        "schedule.exponent",
        "schedule.max_age_d",
        "schedule.discover",
        "schedule.discover_limit",
        "schedule.strategy",
        "web.delay_s",
    }


def test_one_weight_is_set_without_the_others_and_not_all_to_nothing() -> None:
    settings = live.applied(Place(), {}, {"crawl.weights.later": 0}).settings
    assert settings.crawl.tuning().weights == {**DEFAULT_WEIGHTS, "later": 0}
    with pytest.raises(ConfigError, match="at least one weight"):
        load(None, {}, {}, {f"crawl.weights.{name}": 0 for name in DEFAULT_WEIGHTS})


def test_what_this_version_cannot_use_is_left_out_and_named_and_the_rest_holds() -> None:
    values = {"crawl.newer_setting": 1, "crawl.loops": 7, "crawl.max_attempts": -1, "crawl.scenario": "newer"}
    applied = live.applied(Place(), {}, values)
    settings, strange = applied.settings, applied.strange
    assert (settings.crawl.loops, settings.crawl.max_attempts, settings.crawl.scenario) == (7, 5, "")
    assert set(strange) == {"crawl.newer_setting", "crawl.max_attempts", "crawl.scenario"}
    assert "unknown scenario newer" in strange["crawl.scenario"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("crawl.lops", "unknown setting crawl.lops; did you mean crawl.loops?"),
        ("loops", "unknown setting loops; did you mean crawl.loops?"),
        ("crawl.weights.sonn", "did you mean crawl.weights.soon?"),
        ("github.commits", "in the config file, or as GHCRAWL_GITHUB__COMMITS in the environment"),
        ("xyzzy.frobnicate", "live settings: crawl.loops, crawl.paused"),
    ],
)
def test_what_cannot_be_set_live_is_refused_with_what_was_meant(name: str, sentence: str) -> None:
    with pytest.raises(ConfigError) as refused:
        checked(name, SETTINGS)
    assert sentence in str(refused.value)


def test_a_section_that_is_also_a_value_is_refused() -> None:
    with pytest.raises(ConfigError, match="crawl is both a value and a section"):
        load(None, {"GHCRAWL_CRAWL": "5", "GHCRAWL_CRAWL__LOOPS": "3"})


def test_a_paused_crawl_is_a_setting_too() -> None:
    assert SETTINGS().crawl.tuning() == Tuning()
    assert live.applied(Place(), {}, {"crawl.paused": "true"}).settings.crawl.tuning().paused
