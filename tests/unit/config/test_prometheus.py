"""Rules and the dashboard ask for metrics and labels that there are, and every alert is explained and tried."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from prometheus_client import CollectorRegistry

from ghcrawl.admin.webhook import Result
from ghcrawl.telemetry.instrumented import Phase
from ghcrawl.telemetry.metrics import Metrics
from ghcrawl.telemetry.schedule_metrics import ScheduleMetrics
from ghcrawl.telemetry.service_metrics import ServiceMetrics
from ghcrawl.telemetry.stream_metrics import StreamMetrics
from ghcrawl.values.lanes import QUEUES
from ghcrawl.values.outcome import OutcomeName

ROOT = Path(__file__).parents[3]
RULES = yaml.safe_load((ROOT / "config/prometheus/rules.yaml").read_text(encoding="utf-8"))
TRIED = yaml.safe_load((ROOT / "config/prometheus/rules_test.yaml").read_text(encoding="utf-8"))
OPERATOR = ROOT / "config/kubernetes/components/prometheus-operator/rules.yaml"
DASHBOARD = json.loads((ROOT / "config/grafana/dashboards/ghcrawl.json").read_text(encoding="utf-8"))
MANUAL = (ROOT / "docs/operations.md").read_text(encoding="utf-8")

ALL_RULES = [rule for group in RULES["groups"] for rule in group["rules"]]
ALERTS = [rule for rule in ALL_RULES if "alert" in rule]
RECORDED = {rule["record"] for rule in ALL_RULES if "record" in rule}
OF_THE_SCRAPER = frozenset({"namespace", "pod", "instance", "job"})
OF_THE_BROKER = frozenset({"rabbitmq_alarms_free_disk_space_watermark", "rabbitmq_alarms_memory_used_watermark"})
VALUES: Mapping[tuple[str, str], frozenset[str]] = {
    ("ghcrawl_requests_settled_total", "outcome"): frozenset(get_args(OutcomeName)),
    ("ghcrawl_queue_requests", "state"): frozenset({"ready", "delayed", "in_flight"}),
    ("ghcrawl_queue_requests", "queue"): frozenset(QUEUES),
    ("ghcrawl_webhook_deliveries_total", "result"): frozenset(get_args(Result)),
    ("ghcrawl_webhook_answers_total", "result"): frozenset(get_args(Result)),
    ("ghcrawl_reachable", "port"): frozenset({"queue", "store"}),
    ("ghcrawl_phase_seconds_bucket", "phase"): frozenset(get_args(Phase)),
    ("ghcrawl_loops", "state"): frozenset({"running", "busy", "wanted"}),
}


def panels(of: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for panel in of.get("panels", []):
        yield panel
        yield from panels(panel)


def queries() -> dict[str, str]:
    """Where it is written → PromQL."""
    rules = {rule.get("alert") or rule["record"]: rule["expr"] for rule in ALL_RULES}
    shown = {
        f"{panel['title']} {target['refId']}": target["expr"]
        for panel in panels(DASHBOARD)
        for target in panel.get("targets", [])
    }
    return rules | shown


@pytest.fixture(scope="module")
def metrics() -> Mapping[str, frozenset[str]]:
    """Every name that a service exposes → its labels."""
    registry = CollectorRegistry()
    Metrics(registry)
    ServiceMetrics(registry)
    ScheduleMetrics(registry)
    StreamMetrics(registry)
    return {
        name: frozenset(collector._labelnames)  # type: ignore[attr-defined]  # every metric has it
        | (frozenset({"le"}) if name.endswith("_bucket") else frozenset())
        for name, collector in registry._names_to_collectors.items()
    }


def names(query: str) -> set[str]:
    return set(re.findall(r"\b(?:ghcrawl|rabbitmq)[_:][a-zA-Z0-9_:]+", query))


@pytest.mark.parametrize("place", queries())
def test_a_query_names_metrics_that_there_are(place: str, metrics: Mapping[str, frozenset[str]]):
    assert names(queries()[place]) <= metrics.keys() | RECORDED | OF_THE_BROKER


@pytest.mark.parametrize("place", queries())
def test_a_query_selects_by_labels_and_values_that_there_are(place: str, metrics: Mapping[str, frozenset[str]]):
    for name, selectors in re.findall(r"\b(ghcrawl_\w+)\{([^}]*)\}", queries()[place]):
        for label, operator, value in re.findall(r'(\w+)(=~|!~|!=|=)"([^"]*)"', selectors):
            assert label in metrics[name] | OF_THE_SCRAPER
            wanted = set(value.split("|")) if "~" in operator else {value}
            assert value.startswith("$") or wanted <= VALUES.get((name, label), wanted)


@pytest.mark.parametrize("alert", [alert["alert"] for alert in ALERTS])
def test_an_alert_is_explained_where_it_points_to(alert: str):
    (rule,) = [one for one in ALERTS if one["alert"] == alert]

    assert rule["annotations"]["runbook"] == f"docs/operations.md#{alert.lower()}"
    assert f"\n### {alert}\n" in MANUAL
    assert rule["labels"]["severity"] in ("critical", "warning", "info")


def test_every_alert_is_tried():
    tried = {
        one["alertname"] for test in TRIED["tests"] for one in test.get("alert_rule_test", []) if one["exp_alerts"]
    }

    assert tried == {alert["alert"] for alert in ALERTS}


def test_the_operator_s_rules_are_the_same_rules():
    assert yaml.safe_load(OPERATOR.read_text(encoding="utf-8"))["spec"] == RULES


def test_panels_have_a_title_a_unit_and_a_place_of_their_own():
    shown = [panel for panel in panels(DASHBOARD) if panel["type"] != "row"]
    taken = [
        (x, y)
        for panel in panels(DASHBOARD)
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]

    assert len(taken) == len(set(taken)), "panels overlap"
    assert [panel["title"] for panel in shown if not panel["fieldConfig"]["defaults"].get("unit")] == []
    assert len({panel["id"] for panel in panels(DASHBOARD)}) == len(list(panels(DASHBOARD)))
