"""Prometheus' own tool accepts the configuration, and every alert fires when it should and only then."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.services.debian import Unavailable, install
from tests.support.services.wanted import absent

PROMETHEUS = Path(__file__).parents[3] / "config/prometheus"

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _promtool() -> None:
    try:
        install("prometheus", command="promtool")
    except Unavailable as error:
        absent(error)


def promtool(*arguments: str) -> str:
    done = subprocess.run(
        ["promtool", *arguments],
        cwd=PROMETHEUS,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_configuration_is_valid():
    assert "SUCCESS" in promtool("check", "config", "prometheus.yaml")


def test_the_rules_are_valid():
    assert "rules found" in promtool("check", "rules", "rules.yaml")


def test_alerts_fire_when_they_should_and_only_then():
    assert "SUCCESS" in promtool("test", "rules", "rules_test.yaml")
