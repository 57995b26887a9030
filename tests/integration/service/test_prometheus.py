"""What Prometheus itself says of our metrics: its linter, and a real server that scrapes them (Debian's package)."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from ghcrawl.admin.webhook import Result
from ghcrawl.platforms.github import platform
from ghcrawl.simulator.github.generation.size import TINY
from ghcrawl.values.frozen import replace
from ghcrawl.values.outcome import OutcomeName, SkipReason
from tests.integration.service.conftest import PATIENCE_S, Serve, Served
from tests.support.crawling import TOKEN, stage
from tests.support.services.debian import Unavailable, install
from tests.support.services.fixtures import keeper
from tests.support.services.keeper import Keeper
from tests.support.services.wanted import absent

pytestmark = pytest.mark.crawl
TWO_ORGS = replace(TINY, orgs=2)
PROMTOOL, PROMETHEUS = "/usr/bin/promtool", "/usr/bin/prometheus"
DASHBOARD = Path(__file__).parents[3] / "config/grafana/dashboards/ghcrawl.json"
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


REDELIVERED = {"complete", "partial", "lost", "asked", "refused", "arrived", "given_up"}
GATEWAYS = tuple(range(520, 531))
"""What proxies before a server say of it."""
ENDS: Mapping[str, frozenset[str]] = {
    "type": frozenset({*platform().kinds, "other"}),
    "outcome": frozenset(get_args(OutcomeName)),
    "status": frozenset(str(int(status)) for status in (0, *HTTPStatus, *GATEWAYS)),
    "reason": frozenset(get_args(SkipReason)),
    "resource": frozenset({"core", "search", "graphql", "app"}),
    "event": frozenset({"ping", "unverified"}),
    "result": frozenset({*get_args(Result), *REDELIVERED}),
}
"""Labels whose values are those of what happened so far → all there can be of our simulator, which sends pings here."""
KNOWN = {
    *ENDS,
    "queue",
    "state",
    "phase",
    "platform",
    "port",
    "le",
    "version",
    "cause",
    "kind",
    "limit",
    "class",
    "principal",
}


@pytest.fixture
def prometheus() -> Iterator[Keeper]:
    """A folder for a Prometheus that ends with the test."""
    try:
        install("prometheus", command=PROMTOOL)
    except Unavailable as error:
        absent(error)
    with keeper("prometheus") as kept:
        yield kept


def labels(metrics: str) -> set[tuple[str, str, str]]:
    """(metric, label, value) of every sample."""
    lines = [line for line in metrics.splitlines() if not line.startswith("#")]
    return {(line.partition("{")[0], *found) for line in lines for found in LABEL.findall(line)}


async def crawled(served: Served, spec: str) -> str:
    """The metrics once `spec` was crawled."""
    await served.ask("POST", "/api/v1/requests", {"specs": [spec]})
    await served.until_done()
    return (await served.probe("/metrics"))[1]


async def test_prometheus_finds_nothing_to_complain_of_and_labels_stay_few(
    tmp_path: Path, serve: Serve, prometheus: Keeper
):
    del prometheus  # only installed
    async with stage(tmp_path, TWO_ORGS) as it, serve("--api-url", it.server.url, GHCRAWL_TOKENS=TOKEN) as served:
        first = await crawled(served, "acme")
        await served.deliver("ping", "delivery", b"{}")
        await refused(served, 1)
        linted = await asyncio.to_thread(
            subprocess.run, [PROMTOOL, "check", "metrics"], input=first, capture_output=True, text=True, check=False
        )
        assert (linted.returncode, linted.stdout, linted.stderr) == (0, "", "")
        (_, another) = it.world.orgs()
        second = await crawled(served, another.login)
    assert not [value for _, _, value in labels(second) if "/" in value or value.startswith("http")]
    logins = {user.login for repo in it.world.repos_of(another) for user in [repo.owner]} | {"acme", another.login}
    assert not {value for _, _, value in labels(second)} & logins
    assert {found for found in labels(second) - labels(first) if found[1] not in ENDS} == set()
    assert {found for found in labels(second) if found[2] not in ENDS.get(found[1], {found[2]})} == set()
    assert {label for _, label, _ in labels(second)} <= KNOWN


RULES = Path(__file__).parents[3] / "config/prometheus/rules.yaml"
SELECTOR = re.compile(r"\b((?:ghcrawl|process)_\w+)(?:\{([^}]*)\})?")
MATCHER = re.compile(r'(\w+)(=~|=)"([^"]*)"')
GROWING = (
    "ghcrawl_requests_settled_total",
    "ghcrawl_deadletters",
    "ghcrawl_schedule_oldest_timestamp_seconds",  # nothing is watched yet, so nothing can be late
    "ghcrawl_schedule_max_age_seconds",
)
"""By types and classes that nobody can name before: rates of what goes on, and a gauge whose rule knows its absence."""


def rules() -> list[dict[str, Any]]:
    """Every rule, recording and alerting."""
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def watched(name: str) -> Iterator[tuple[str, str, str]]:
    """(metric, label, value) of everything that an alert, or what is recorded for it, asks for; label may be empty."""
    (expr,) = [rule["expr"] for rule in rules() if name in (rule.get("alert"), rule.get("record"))]
    for recorded in re.findall(r"\bghcrawl:[\w:]+", expr):
        yield from watched(recorded)
    for metric, matchers in SELECTOR.findall(expr):
        yield metric, "", ""
        for label, _, values in MATCHER.findall(matchers):
            yield from ((metric, label, value) for value in values.split("|"))


async def test_what_the_alerts_ask_for_is_there_before_anything_happens(serve: Serve):
    alerts = [rule["alert"] for rule in rules() if "alert" in rule]
    asked_for = {one for alert in alerts for one in watched(alert) if one[0] not in GROWING}
    async with serve() as served:
        fresh = (await served.probe("/metrics"))[1]
    there = labels(fresh) | {(re.split(r"[{ ]", line)[0], "", "") for line in fresh.splitlines()}
    assert {"ghcrawl_webhook_answers_total", "ghcrawl_throttles_total"} <= {metric for metric, _, _ in asked_for}
    assert asked_for - there == set()


async def asked(served: Served, port: int, query: str, *, strictly: bool = False) -> list[Any]:
    """What Prometheus on that port answers. strictly: it must understand the query."""
    params = {"query": query}
    async with served.session.get(f"http://127.0.0.1:{port}/api/v1/query", params=params) as response:
        assert response.status == 200 or not strictly, (query, await response.text())
        return (await response.json())["data"]["result"] if response.status == 200 else []


def shown(of: Mapping[str, Any]) -> Iterator[str]:
    """Every query of a dashboard, for all namespaces."""
    for panel in of.get("panels", []):
        yield from (target["expr"].replace("$namespace", ".*") for target in panel.get("targets", []))
        yield from shown(panel)


async def refused(served: Served, times: int) -> None:
    """So many deliveries that nobody signed were refused."""
    unsigned = {"X-GitHub-Event": "push", "X-GitHub-Delivery": "of-a-stranger"}
    for _ in range(times):
        async with served.session.post(f"{served.url}/webhook", headers=unsigned) as response:
            assert response.status == 401


async def test_a_real_prometheus_scrapes_it(serve: Serve, prometheus: Keeper):
    async with serve("--loops", "3") as served:
        await refused(served, 6)  # before it is scraped for the first time
        config = prometheus.folder / "prometheus.yml"
        target = served.probes.removeprefix("http://")
        scrape = {"job_name": "ghcrawl", "scrape_interval": "1s", "static_configs": [{"targets": [target]}]}
        config.write_text(json.dumps({"scrape_configs": [scrape]}))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        command = [
            PROMETHEUS,
            f"--config.file={config}",
            f"--storage.tsdb.path={prometheus.folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        prometheus.run(command, log=prometheus.folder / "log", environment={"PATH": "/usr/bin:/bin"})
        async with asyncio.timeout(PATIENCE_S):
            while True:
                try:
                    loops = await asked(served, port, 'ghcrawl_loops{state="running"}')
                except OSError:
                    loops = []
                if loops:
                    break
                await asyncio.sleep(0.2)
        assert loops[0]["value"][1] == "3"
        assert (await asked(served, port, 'up{job="ghcrawl"}'))[0]["value"][1] == "1"
        depths = await asked(served, port, 'ghcrawl_queue_requests{state="ready"}')
        assert {found["metric"]["queue"] for found in depths} == {"event", "immediate", "soon", "normal", "later"}
        (alert,) = [rule["expr"] for rule in rules() if rule.get("alert") == "GhcrawlWebhooksRefused"]
        (fires,) = await asked(served, port, alert, strictly=True)
        assert (fires["metric"], fires["value"][1]) == ({"result": "unsigned"}, "6")
        exposed = (await served.probe("/metrics"))[1]
        for query in shown(json.loads(DASHBOARD.read_text(encoding="utf-8"))):
            await asked(served, port, query, strictly=True)
            for name in re.findall(r"\bghcrawl_\w+", query):
                assert f"# HELP {name.removesuffix('_bucket')} " in exposed, query
