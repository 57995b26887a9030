"""Settings: one place describes them, every mistake has its sentence, and the last word is known."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ghcrawl.settings.loading import names
from ghcrawl.values.errors import ConfigError
from ghcrawl.wiring import SETTINGS, load
from tests.support import readme

ROOT = Path(__file__).parents[3]
DEFAULT = ROOT / "config/default.toml"


def test_the_file_of_defaults_shows_the_defaults():
    assert load(DEFAULT, {})[0] == SETTINGS()


def test_the_file_of_defaults_shows_every_setting():
    def flat(table: dict[str, object], at: str = "") -> set[str]:
        found: set[str] = set()
        for name, value in table.items():
            found |= flat(value, f"{at}{name}.") if isinstance(value, dict) else {f"{at}{name}"}
        return found

    shown = flat(tomllib.loads(DEFAULT.read_text(encoding="utf-8")))
    wanted = {name for name in names(SETTINGS) if name not in ("crawl.weights", "github.apps")}

    assert {name for name in shown if not name.startswith("crawl.weights.")} == wanted


def test_the_readme_shows_what_the_file_of_defaults_says():
    text = (ROOT / "README.md").read_text(encoding="utf-8")

    assert readme.written(text) == text, "run make docs"


def test_what_may_be_set_while_a_crawl_runs_is_what_tuning_holds():
    tuned = {name for name in SETTINGS.live_names() if not name.startswith("crawl.weights.")}

    assert tuned <= set(names(SETTINGS))


def test_the_environment_wins_over_the_file_and_the_command_line_over_both(tmp_path: Path):
    file = tmp_path / "c.toml"
    file.write_text('[crawl]\nloops = 3\nmax_attempts = 7\n[log]\nlevel = "debug"\n')
    environ = {"GHCRAWL_CRAWL__LOOPS": "4", "GHCRAWL_LOG__LEVEL": "error", "HOME": "/", "GHCRAWL_TOKENS": "x"}

    settings, origins = load(file, environ, {"log.level": "warning"}, live={"crawl.loops": 5})

    assert (settings.crawl.loops, settings.crawl.max_attempts, settings.log.level) == (5, 7, "warning")
    assert origins == {
        "crawl.loops": "live",
        "crawl.max_attempts": str(file),
        "log.level": "command line",
    }


def test_lists_and_weights_can_be_set_in_the_environment():
    environ = {"GHCRAWL_CRAWL__ALLOW": "acme, octo/*", "GHCRAWL_CRAWL__WEIGHTS__EVENT": "1"}

    settings = load(None, environ)[0]

    assert settings.crawl.allow == ("acme", "octo/*")
    assert settings.crawl.weights == {"event": 1, "immediate": 3, "soon": 2, "normal": 3, "later": 2}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[crawl]\nlops = 3\n", "crawl.lops ({file}): unknown setting; did you mean crawl.loops?"),
        ("[crawl]\nloops = 0\n", "crawl.loops ({file}): Input should be greater than 0"),
        ('[crawl]\npolicy = "defualt"\n', "crawl.policy: "),
        ("[crawl]\nweights = {event=0, immediate=0, soon=0, normal=0, later=0}\n", "at least one weight must be above"),
        ("[crawl\n", "{file} is not valid TOML"),
        ('[github]\napi_url = "github.example"\n', "github.api_url ({file}): 'github.example' is not an http"),
    ],
)
def test_a_mistake_is_one_sentence_that_names_it(tmp_path: Path, text: str, sentence: str):
    file = tmp_path / "c.toml"
    file.write_text(text)

    with pytest.raises(ConfigError) as caught:
        load(file, {})

    assert sentence.format(file=file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_variable_with_our_prefix_that_is_no_setting_is_a_mistake():
    with pytest.raises(ConfigError, match=r"crawl\.loop \(environment\): .*did you mean crawl\.loops"):
        load(None, {"GHCRAWL_CRAWL__LOOP": "3"})


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('["acme/w*"]', ("acme/w*",)),
        ("['acme/w*', \"acme/x\"]", ("acme/w*", "acme/x")),
        ("acme/w*, acme/x", ("acme/w*", "acme/x")),
        ("[ab]*", ("[ab]*",)),
    ],
)
def test_a_list_in_the_environment_is_written_with_commas_or_as_an_array(text: str, read: tuple[str, ...]):
    assert load(None, {"GHCRAWL_CRAWL__EXCLUDE": text}, {})[0].crawl.exclude == read


@pytest.mark.parametrize("text", ['["acme/w*"', '["acme/w*"] and more', "[acme/'w*]"])
def test_what_begins_as_an_array_and_is_none_is_no_pattern(text: str):
    with pytest.raises(ConfigError, match="is no list"):
        load(None, {"GHCRAWL_CRAWL__EXCLUDE": text}, {})


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(ConfigError, match=r"config file .*c\.toml not found"):
        load(tmp_path / "c.toml", {})
