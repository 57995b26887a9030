from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ghcrawl.fetch.github.principals import read_tokens
from ghcrawl.fetch.github.settings import GitHubSettings
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.outcome import Throttled
from ghcrawl.values.requests import Request
from ghcrawl.values.type_names import LEGACY_PLATFORM
from ghcrawl.wiring import load, open_service
from tests.support.crawling import stage
from tests.support.platforms import SIMULATED


def test_the_defaults_are_githubs() -> None:
    settings = GitHubSettings()
    assert settings.api_url == "https://api.github.com"
    assert settings.api_version == "2022-11-28"
    assert settings.user_agent.startswith("ghcrawl/")
    assert "(+https://" in settings.user_agent


@pytest.mark.parametrize("url", ["https://ghe.example.test/api/v3/", "http://127.0.0.1:8080"])
def test_a_base_url_has_no_trailing_slash(url: str) -> None:
    assert GitHubSettings(api_url=url).api_url == url.rstrip("/")


@pytest.mark.parametrize(
    "url", ["", "api.github.com", "ftp://x", "https://", "https://u:secret@x.test", "https://x.test?q=1", "http://[::"]
)
def test_an_unusable_base_url_is_one_clear_line(url: str) -> None:
    with pytest.raises(ConfigError, match="URL must be like") as raised:
        GitHubSettings(api_url=url)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("agent", ["curl/8", "ghcrawl (Firefox)", "Wget", "a Safari", " "])
def test_a_user_agent_that_changes_the_bodies_is_refused(agent: str) -> None:
    with pytest.raises(ConfigError):
        GitHubSettings(user_agent=agent)


@pytest.mark.parametrize(
    "wrong",
    [
        {"reserve": 1.0},
        {"reserve": -0.1},
        {"concurrency": 0},
        {"calls_per_min": 0},
    ],
)
def test_limits_that_let_nothing_through_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        GitHubSettings(**wrong)


def test_what_is_owned_begins_with_the_whole_base() -> None:
    settings = GitHubSettings(api_url="https://ghe.example.test/api/v3")
    assert settings.owns("https://ghe.example.test/api/v3/user")
    assert settings.owns("https://ghe.example.test/api/v3?x=1")
    assert not settings.owns("https://ghe.example.test/api/v30")
    assert not settings.owns("https://ghe.example.test.evil.test/api/v3/user")


@pytest.mark.parametrize(
    "wrong", ["calls = 0\nperiod_s = 1", "calls = 1\nperiod_s = 0", 'calls = 1\nperiod_s = 1\nper = "x"']
)
def test_a_declared_budget_that_lets_nothing_through_is_refused(tmp_path: Path, wrong: str) -> None:
    file = tmp_path / "a.toml"
    file.write_text(f"[[github.budgets]]\n{wrong}\n")
    with pytest.raises(ConfigError, match=r"github\.budgets\.0"):
        load(file, {})


async def test_declared_budgets_are_settings_that_hold_for_each_credential_and_for_the_address(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    budgets = "[[github.budgets]]\ncalls = 2\nperiod_s = 60\n\n[[github.budgets]]\ncalls = 3\nperiod_s = 60\n"
    file.write_text(f'{budgets}per = "address"\n')
    async with stage(tmp_path, TINY, tokens=("ghp_one" + "0" * 33, "ghp_two" + "0" * 33)) as it:
        settings, _ = load(file, {}, {"github.api_url": it.server.url, "sqlite.path": it.db, **SIMULATED})
        tokens = read_tokens(";".join(it.tokens))
        async with open_service(settings, {"github": tokens}, Tally()) as service:
            fetcher = service.opened["github"].fetcher
            requests = [
                Request(platform=LEGACY_PLATFORM, type="user", url=f"{it.server.url}/users/nobody{number}")
                for number in range(8)
            ]
            answers = [await fetcher.fetch(request, None) for request in requests]
            calls = sorted(view.calls for view in service.opened["github"].source.principals())
            assert fetcher.blocked_until() is not None
    assert sum(not isinstance(answer, Throttled) for answer in answers) <= 3
    assert sum(calls) == 3, "as many as the address may make"
    assert max(calls) <= 2, "as many as a credential may make"
