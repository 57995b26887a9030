"""The settings of MongoDB: what may hold a password is never shown, and no combination is offered that cannot work."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import SecretStr

from ghcrawl.backend import mongo_settings
from ghcrawl.settings.sections import MongoSection, Settings, without_password
from ghcrawl.values.errors import ConfigError
from ghcrawl.wiring import load


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("mongodb://127.0.0.1:27017", "mongodb://127.0.0.1:27017"),
        (
            "mongodb://ada:hunter2@db.example/admin?tlsCertificateKeyFilePassword=secret",
            "mongodb://***@db.example/admin?***",
        ),
        ("mongodb://ada:se@cr/et@db.example", "mongodb://***@db.example"),
        ("mongodb+srv://secret@db.example", "mongodb+srv://***@db.example"),
        ("secret", "***"),
        ("", ""),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str):
    assert without_password(SecretStr(url)) == shown


def test_a_password_is_in_no_output_of_the_settings():
    settings, _ = load(None, {"GHCRAWL_MONGO__URL": "mongodb://ada:hunter2@db.example"})

    assert settings.mongo.url.get_secret_value() == "mongodb://ada:hunter2@db.example"
    for text in (repr(settings), str(settings), settings.model_dump_json(), repr(mongo_settings(settings.mongo))):
        assert "hunter2" not in text
    assert settings.model_dump(mode="json")["mongo"]["url"] == "mongodb://***@db.example"


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({"URL": "http://ada:hunter2@db"}, "mongo.url (environment): .*mongodb://user:password@host:27017"),
        ({"WRITE_CONCERN": "1"}, 'mongo.*read_concern "majority" does not see what write_concern 1 wrote'),
        ({"WRITE_CONCERN": "0"}, "mongo.write_concern"),
        ({"DATABASE": "a.b"}, "mongo.database"),
        ({"READ_CONCERN": "available"}, "mongo.read_concern"),
        ({"TIMEOUT_S": "0"}, "mongo.timeout_s"),
    ],
)
def test_what_cannot_work_is_refused(environ: dict[str, str], sentence: str):
    with pytest.raises(ConfigError, match=sentence.replace("(", r"\(").replace(")", r"\)")) as caught:
        load(None, {f"GHCRAWL_MONGO__{name}": value for name, value in environ.items()})
    assert "hunter2" not in str(caught.value)


def test_one_server_may_be_enough_for_who_reads_from_it():
    settings, _ = load(None, {"GHCRAWL_MONGO__WRITE_CONCERN": "1", "GHCRAWL_MONGO__READ_CONCERN": "local"})

    assert mongo_settings(settings.mongo).write_concern == 1


def test_the_defaults_survive_a_failover_and_a_power_cut():
    kept = mongo_settings(Settings().mongo)

    assert (kept.write_concern, kept.journal, kept.read_concern) == ("majority", True, "majority")


def test_a_url_may_be_in_a_file(tmp_path: Path):
    file = tmp_path / "url"
    file.write_text("mongodb://ada:hunter2@db.example\n")

    assert mongo_settings(MongoSection(url_file=str(file))).url == "mongodb://ada:hunter2@db.example"
    with pytest.raises(ConfigError, match=r"file mongo.url_file .*/none not found"):
        mongo_settings(MongoSection(url_file=str(tmp_path / "none")))
