from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ghcrawl.wiring import SETTINGS
from tests.unit.cli.conftest import Command, Fill

DEFAULT = Path(__file__).parents[3] / "config" / "default.toml"


@pytest.fixture
def db(filled: Fill) -> Path:
    return filled()


def test_what_is_shown_is_a_config_file_that_says_the_same(ghcrawl: Command) -> None:
    ran = ghcrawl("config", "show")
    assert SETTINGS.model_validate(tomllib.loads(ran.out)) == SETTINGS()


def test_the_file_that_shows_the_defaults_has_every_one_of_them() -> None:
    shown = tomllib.loads(DEFAULT.read_text())
    assert SETTINGS.model_validate(shown) == SETTINGS()
    values = SETTINGS().model_dump(mode="json")
    values["github"].pop("apps")
    assert {section: set(found) for section, found in shown.items()} == {
        section: set(found) for section, found in values.items()
    }


def test_what_is_no_default_is_shown_with_where_it_comes_from(
    ghcrawl: Command, db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("g.toml").write_text(
        '[crawl]\nretry_base_s = 9\n[[github.apps]]\napp_id = "1"\ninstallation_id = 2\nprivate_key_file = "k.pem"\n'
    )
    monkeypatch.setenv("GHCRAWL_CRAWL__EXCLUDE", "acme/old, acme/attic")
    monkeypatch.setenv("GHCRAWL_CONFIG", "g.toml")
    ghcrawl("config", "set", "crawl.loops", "5")
    ghcrawl("config", "set", "crawl.weights.later", "0")
    ran = ghcrawl("config", "show", "--db", db)
    assert [line for line in ran.out.splitlines() if "#" in line] == [
        "loops = 5  # live",
        "retry_base_s = 9.0  # g.toml",
        'exclude = ["acme/old", "acme/attic"]  # environment',
        "later = 0  # live",
        f'path = "{db}"  # command line',
    ]
    assert '[[github.apps]]\napp_id = "1"\n' in ran.out
    assert tomllib.loads(ran.out)["github"]["apps"][0]["installation_id"] == 2
    assert ghcrawl("config", "show", "--json").json["origins"]["crawl.loops"] == "live"


def test_a_live_setting_is_kept_until_it_is_unset(ghcrawl: Command, db: Path) -> None:
    ran = ghcrawl("config", "set", "crawl.exclude", "acme/old-*,acme/attic")
    assert ran.err == 'crawl.exclude is now ["acme/old-*", "acme/attic"] for all crawls of ghcrawl.db.\n'
    assert ghcrawl("config", "set", "crawl.paused", "yes").err.startswith("crawl.paused is now true")
    assert ghcrawl("config", "show", "--json").json["settings"]["crawl"]["paused"] is True
    ran = ghcrawl("config", "set", "crawl.paused", "--unset")
    assert ran.err == "crawl.paused is unset for all crawls of ghcrawl.db.\n"
    assert ghcrawl("status", "--json").json["live"] == {"crawl.exclude": ["acme/old-*", "acme/attic"]}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("crawl.lops", "5"), "did you mean crawl.loops?"),
        (("crawl.loops", "many"), "crawl.loops (live): Input should be a valid integer"),
        (("crawl.loops", "0"), "crawl.loops (live): Input should be greater than 0"),
        (("crawl.policy", "refresh"), "crawl.policy cannot be changed at run time"),
        (("crawl.loops",), "give either a value for crawl.loops or --unset"),
        (("crawl.loops", "5", "--unset"), "give either a value for crawl.loops or --unset"),
    ],
)
def test_what_cannot_be_set_changes_nothing(ghcrawl: Command, db: Path, words: tuple[str, ...], sentence: str) -> None:
    ran = ghcrawl("config", "set", *words)
    assert ran.status == 2
    assert sentence in ran.err
    assert ghcrawl("status", "--json").json["live"] == {}


def test_a_config_file_that_is_fine_is_fine(ghcrawl: Command) -> None:
    Path("g.toml").write_text("[crawl]\nloops = 3\n")
    ran = ghcrawl("config", "check", "--config", "g.toml")
    assert (ran.status, ran.out) == (0, "crawl.loops = 3  # g.toml\n")
    assert ran.err == "The settings are valid: 1 non-default setting, 0 credentials.\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[crawl]\nlopps = 3\n", "crawl.lopps (g.toml): unknown setting; did you mean crawl.loops?"),
        ("[crawl]\nloops = 'x'\nmax_attempts = 0\n", "crawl.max_attempts (g.toml): Input should be greater than 0"),
        ("[crawl\n", "g.toml is not valid TOML"),
        ("[crawl]\npolicy = 'foo'\n", "crawl.policy: unknown policy 'foo'"),
        ("[github]\ntokens_file = 'none.txt'\n", "tokens file none.txt not found"),
        ("[mastodon]\ntokens_file = 'none.txt'\n", "tokens file none.txt not found"),
        ("[bluesky]\naccounts_file = 'none.txt'\n", "accounts file none.txt not found"),
        ("[bluesky]\naccounts_file = '.'\n", "cannot read the accounts file .: IsADirectoryError"),
        ("[github]\ntokens_file = 'comments.txt'\n", "the tokens file comments.txt contains no token"),
        ("[github]\napi_url = 'ftp://x'\n", "github.api_url (g.toml)"),
        ("[service]\nredeliver = ['a b']\n", "service.redeliver: 'a b' is not app:ID, the name of an organisation"),
        ("[service]\nredeliver = ['app:7']\n", "service.redeliver: app:7 is not in github.apps"),
        ("[service]\nredeliver = ['acme']\n", "service.redeliver contains acme, which requires service.webhook_url"),
        (
            "[queue]\nprovider = 'amqp'\n[amqp]\nmanagement_url = 'http://me:s/cret@h:1'\n",
            "amqp.management_url is no URL: in its user and password, everything but letters and digits must be",
        ),
        ("[queue]\nprovider = 'amqp'\n[amqp]\nurl_file = 'none.txt'\n", "file amqp.url_file none.txt not found"),
    ],
)
def test_a_config_file_with_a_mistake_says_which(ghcrawl: Command, text: str, sentence: str) -> None:
    Path("g.toml").write_text(text)
    Path("comments.txt").write_text("# ghp_aTokenThatIsNoLongerUsed\n\n")
    ran = ghcrawl("config", "check", "--config", "g.toml")
    assert (ran.status, ran.out) == (2, "")
    assert sentence in ran.err
    assert all(line.startswith("ghcrawl: ") for line in ran.err.splitlines())


def test_a_config_file_that_is_not_there_is_said(ghcrawl: Command) -> None:
    assert ghcrawl("config", "check", "--config", "g.toml").err == "ghcrawl: config file g.toml not found\n"
