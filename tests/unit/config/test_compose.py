"""The compose file and the Dockerfile agree with the program and with the files beside them."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from ghcrawl.settings.loading import NOT_SETTINGS, PREFIX
from ghcrawl.settings.sections import Settings
from ghcrawl.wiring import load

ROOT = Path(__file__).parents[3]
CONFIG = ROOT / "config"
IMAGE = CONFIG / "image.toml"
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


@pytest.fixture
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CONFIG / "compose.yaml").read_text(encoding="utf-8"))["services"]
    return found


def test_what_is_set_in_the_environment_can_be_set(services: dict[str, Any]):
    environment = services["ghcrawl"]["environment"]
    settings, _ = load(None, environment)

    assert (settings.queue.provider, settings.store.provider) == ("amqp", "mongo")
    assert {name for name in environment if "__" not in name} <= {f"{PREFIX}{name}" for name in NOT_SETTINGS}


def test_every_service_has_a_health_check_and_comes_back(services: dict[str, Any]):
    assert [name for name, service in services.items() if "test" not in service.get("healthcheck", {})] == []
    assert {service["restart"] for service in services.values()} == {"unless-stopped"}
    assert [name for name, service in services.items() if service["healthcheck"]["test"][0] != "CMD"] == []


def test_hosts_that_are_named_are_services(services: dict[str, Any]):
    environment = services["ghcrawl"]["environment"]
    hosts = [re.split(r"[@/:]+", environment[name].removeprefix("amqp://ghcrawl:ghcrawl"))[1]
             for name in ("GHCRAWL_AMQP__URL", "GHCRAWL_MONGO__URL")]  # fmt: skip

    assert set(hosts) | set(services["ghcrawl"]["depends_on"]) <= set(services)


def test_nothing_is_published_beyond_this_machine(services: dict[str, Any]):
    ports = [port for service in services.values() for port in service.get("ports", [])]

    assert ports
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_files_that_are_mounted_are_there(services: dict[str, Any]):
    mounts = [mount.split(":")[0] for service in services.values() for mount in service.get("volumes", [])]

    assert [mount for mount in mounts if mount.startswith(".") and not (CONFIG / mount).is_dir()] == []


def test_the_container_is_given_longer_than_the_drain_takes(services: dict[str, Any]):
    grace = services["ghcrawl"]["stop_grace_period"]

    assert int(grace.removesuffix("s")) > Settings().crawl.shutdown_grace_s


def test_the_image_sets_settings_that_there_are_and_exposes_their_ports():
    environment = dict(re.findall(r"\b(GHCRAWL_\w+)=(\S+)", DOCKERFILE))
    service = Settings().service

    settings, _ = load(IMAGE, {})
    assert (settings.service.host, str(settings.sqlite.path)) == ("0.0.0.0", "/data/ghcrawl.db")
    assert f"COPY config/image.toml {environment['GHCRAWL_CONFIG']}\n" in DOCKERFILE
    assert re.findall(r"^EXPOSE (.*)$", DOCKERFILE, re.MULTILINE) == [f"{service.port} {service.metrics_port}"]
    assert f"http://127.0.0.1:{service.metrics_port}/livez" in DOCKERFILE


def test_nothing_in_the_image_wins_over_a_file_of_the_operator(tmp_path: Path):
    environment = dict(re.findall(r"\b(GHCRAWL_\w+)=(\S+)", DOCKERFILE))
    mine = tmp_path / "mine.toml"
    mine.write_text('[service]\nhost = "127.0.0.1"\n[sqlite]\npath = "/srv/mine.db"\n')

    settings, _ = load(mine, environment)
    assert (settings.service.host, str(settings.sqlite.path)) == ("127.0.0.1", "/srv/mine.db")


def test_the_image_runs_programs_and_no_shell():
    assert re.findall(r"^(?:RUN|CMD|ENTRYPOINT)\s+(?!\[).*$", DOCKERFILE, re.MULTILINE) == []
    assert "--require-hashes" in DOCKERFILE


def test_make_builds_images_on_a_base_of_one_digest():
    make = ["make", "--dry-run", "--no-print-directory", "image", "compose"]
    printed = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True)

    digest = r"docker\.io/library/python:3\.13\S*@sha256:[0-9a-f]{64}"
    built, composed = printed.stdout.splitlines()
    assert re.search(rf" --build-arg PYTHON={digest} ", built)
    assert re.search(rf"\bPYTHON={digest} ", composed)


def test_only_what_the_dockerfile_copies_reaches_the_builder():
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").split("\n")
    allowed = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = {
        name
        for line in re.findall(r"^COPY (?!--from)(.*)$", DOCKERFILE, re.MULTILINE)
        for name in line.split()[:-1]
    }  # fmt: skip

    assert "*" in ignored
    assert {name if not name.startswith("requirements") else "requirements*.txt" for name in copied} == allowed
