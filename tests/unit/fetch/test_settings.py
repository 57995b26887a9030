from __future__ import annotations

from typing import Any

import pytest

from ghcrawl.errors import ConfigError
from ghcrawl.fetch.github import Declared, GitHubSettings


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
        {"declared": (Declared(calls=0, period_s=1.0),)},
        {"declared": (Declared(calls=1, period_s=0.0),)},
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
