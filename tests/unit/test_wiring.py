from __future__ import annotations

from pathlib import Path

import pytest

from ghcrawl.telemetry.tally import Tally
from ghcrawl.values.errors import ConfigError
from ghcrawl.values.tuning import DEFAULT_WEIGHTS
from ghcrawl.wiring import FIRST_THINGS_FIRST, SETTINGS, load, open_service, read_credentials, source_credentials

ONE, TWO, THREE = (f"ghp_{digit * 36}" for digit in "123")


@pytest.mark.parametrize(("max_calls", "weights"), [(10, FIRST_THINGS_FIRST), (None, DEFAULT_WEIGHTS)])
async def test_a_setting_that_changes_meanwhile_does_not_change_what_comes_first(
    tmp_path: Path, max_calls: int | None, weights: dict[str, int]
) -> None:
    settings, _ = load(None, {}, {"sqlite.path": tmp_path / "a.db"})
    changed, _ = load(None, {}, {"sqlite.path": tmp_path / "a.db", "crawl.max_attempts": 2})
    async with open_service(settings, {}, Tally(), max_calls=max_calls) as service:
        assert service.supervisor.tuning.weights == weights
        service.tune(changed)
        assert service.supervisor.tuning.weights == weights
        assert service.supervisor.tuning.max_attempts == 2
        await service.supervisor.drain(1)


def tokens_of(variable: str, file: Path, text: str) -> list[tuple[str, str]]:
    file.write_text(text)
    settings, _ = load(None, {}, {"github.tokens_file": str(file)})
    return [
        (one.credential.label, one.source)
        for one in source_credentials(settings, {"GHCRAWL_TOKENS": variable})["github"]
    ]


@pytest.mark.parametrize(
    ("text", "where"),
    [
        (f"{THREE}#privat\n", "has an unknown trait"),
        (f"# mine\n\n{THREE};{TWO}#privat\n", "(line 3) has an unknown trait"),
        (f"{TWO}\n", "repeats an earlier token"),
    ],
)
def test_a_mistake_in_the_tokens_file_is_counted_from_where_that_begins(tmp_path: Path, text: str, where: str) -> None:
    file = tmp_path / "tokens.txt"
    with pytest.raises(ConfigError) as raised:
        tokens_of(f"{ONE};{TWO}", file, text)
    said = str(raised.value)
    assert said.startswith(f"entry {2 if 'line 3' in where else 1} of the tokens file {file} ")
    assert where in said
    assert not any(token in said for token in (ONE, TWO, THREE))


def test_a_mistake_in_the_variable_names_the_variable(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^entry 2 of GHCRAWL_TOKENS has an unknown trait"):
        tokens_of(f"{ONE};{TWO}#privat", tmp_path / "tokens.txt", THREE)


def test_each_credential_names_its_source(tmp_path: Path) -> None:
    file = tmp_path / "tokens.txt"
    assert [source for _, source in tokens_of(ONE, file, f"{TWO}\n{THREE}")] == ["GHCRAWL_TOKENS", str(file), str(file)]


@pytest.mark.parametrize("variable", sorted(SETTINGS.variables_of_platforms))
def test_a_variable_that_holds_credentials_is_no_setting(variable: str) -> None:
    settings, origins = load(None, {variable: "social.example=a-token-of-theirs"})
    assert settings == load(None, {})[0]
    assert origins == {}


def test_the_tokens_of_a_platform_are_read_from_its_variable() -> None:
    environ = {"GHCRAWL_MASTODON_TOKENS": "social.example=a-token-of-theirs"}
    (token,) = read_credentials(load(None, environ)[0], environ)["mastodon"]
    assert token.label.startswith("social.example token")
    environ = {"GHCRAWL_BLUESKY_ACCOUNTS": "ada.test abcd-efgh"}
    with pytest.raises(ConfigError, match="read from a file only"):
        read_credentials(load(None, environ)[0], environ)
