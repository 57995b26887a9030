"""The manifests agree with the program and with each other: what kustomize and the schemas cannot know."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from ghcrawl import __version__
from ghcrawl.admin.probes import CHECK_S
from ghcrawl.values import policy as policies
from ghcrawl.wiring import SETTINGS, load
from tests.integration.deploy.schemas import VERSIONS

ROOT = Path(__file__).parents[3]
KUBERNETES = ROOT / "config/kubernetes"
BASE = KUBERNETES / "base"
CONFIGS = sorted(KUBERNETES.rglob("ghcrawl.toml"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")


@cache
def things(path: Path) -> list[dict[str, Any]]:
    """What the file describes. Nobody changes any of it."""
    return [thing for thing in yaml.safe_load_all(path.read_text(encoding="utf-8")) if thing]


def everything() -> list[dict[str, Any]]:
    files = [path for path in KUBERNETES.rglob("*.yaml") if path.name != "kustomization.yaml"]
    return [thing for path in files for thing in things(path)]


def of_kind(kind: str) -> list[dict[str, Any]]:
    return [thing for thing in everything() if thing["kind"] == kind]


@pytest.fixture
def pod() -> dict[str, Any]:
    (deployment,) = things(BASE / "deployment.yaml")
    template: dict[str, Any] = deployment["spec"]["template"]
    return template


@pytest.fixture
def container(pod: dict[str, Any]) -> dict[str, Any]:
    (only,) = pod["spec"]["containers"]
    found: dict[str, Any] = only
    return found


def secret_files(settings: Any) -> list[str]:
    github, service = settings.github, settings.service
    own = [github.tokens_file, service.admin_tokens_file, service.webhook_secrets_file]
    return [*own, settings.amqp.url_file, settings.mongo.url_file]


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.parent.name)
def test_a_configuration_holds_settings_that_there_are(path: Path):
    settings, _ = load(path, {})

    assert (settings.queue.provider, settings.store.provider) == ("amqp", "mongo")
    assert settings.service.host == "0.0.0.0", "the image's own file is not read beside it"


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.parent.name)
def test_every_secret_is_a_file_where_the_secret_is_mounted(path: Path, container: dict[str, Any]):
    (mount,) = [mount for mount in container["volumeMounts"] if mount["name"] == "secrets"]
    files = secret_files(load(path, {})[0])

    assert "subPath" not in mount, "a subPath never sees a rotated secret"
    assert {str(Path(file).parent) for file in files} == {mount["mountPath"]}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.parent.name)
def test_the_manual_makes_a_secret_with_every_file_that_is_read(path: Path):
    manual = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    made = set(re.findall(r"--from-file=([\w-]+)=", manual))

    assert {Path(file).name for file in secret_files(load(path, {})[0])} <= made


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.parent.name)
def test_a_pod_has_time_to_finish_what_it_has_in_hand(path: Path, pod: dict[str, Any], container: dict[str, Any]):
    before_s = container["lifecycle"]["preStop"]["sleep"]["seconds"]
    drain_s = load(path, {})[0].crawl.shutdown_grace_s

    assert pod["spec"]["terminationGracePeriodSeconds"] >= before_s + drain_s + 10


def test_the_pod_listens_where_the_program_listens(container: dict[str, Any]):
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    service = SETTINGS().service

    assert ports == {"http": service.port, "metrics": service.metrics_port}


def test_probes_ask_what_the_program_answers(container: dict[str, Any]):
    routes = (ROOT / "ghcrawl/admin/probes.py").read_text(encoding="utf-8")
    asked = {name: container[name]["httpGet"] for name in ("startupProbe", "livenessProbe", "readinessProbe")}

    assert {get["port"] for get in asked.values()} == {"metrics"}
    assert [name for name, get in asked.items() if f'add_get("{get["path"]}"' not in routes] == []
    assert asked["livenessProbe"]["path"] != asked["readinessProbe"]["path"]


def sweeps() -> list[dict[str, Any]]:
    """The pods of CronJobs."""
    return [thing["spec"]["jobTemplate"]["spec"]["template"] for thing in of_kind("CronJob")]


def test_everything_that_selects_pods_selects_ours(pod: dict[str, Any]):
    labels = [each["metadata"]["labels"].items() for each in (pod, *sweeps())]
    selectors = {
        f"{thing['kind']} {thing['metadata']['name']}": thing["spec"].get("podSelector", thing["spec"].get("selector"))
        for thing in everything()
        if thing["kind"] in ("Service", "NetworkPolicy", "PodDisruptionBudget", "Deployment", "PodMonitor")
    }
    wrong = [
        name
        for name, selector in selectors.items()
        if selector and not any((selector.get("matchLabels", selector)).items() <= of_pod for of_pod in labels)
    ]

    assert wrong == []


def test_every_port_that_is_named_is_one_of_the_pod(container: dict[str, Any]):
    names = {port["name"] for port in container["ports"]}
    services = {port["targetPort"] for thing in of_kind("Service") for port in thing["spec"]["ports"]}
    policies = {
        port["port"]
        for thing in of_kind("NetworkPolicy")
        for rule in thing["spec"].get("ingress", ())
        for port in rule["ports"]
    }
    scraped = {end["port"] for thing in of_kind("PodMonitor") for end in thing["spec"]["podMetricsEndpoints"]}

    assert services | policies | scraped <= names


def test_the_outside_reaches_webhooks_and_nothing_else():
    rules = [rule for thing in of_kind("Ingress") for rule in thing["spec"]["rules"]]
    paths = [path for rule in rules for path in rule["http"]["paths"]]

    assert [(path["path"], path["pathType"]) for path in paths] == [("/webhook", "Exact")]
    assert {path["backend"]["service"]["name"] for path in paths} == {"ghcrawl-webhook"}


def test_whatever_scales_scales_the_deployment():
    targets = {
        thing["kind"]: thing["spec"]["scaleTargetRef"]["name"]
        for thing in everything()
        if "scaleTargetRef" in thing.get("spec", {})
    }

    assert targets == {"ScaledObject": "ghcrawl", "HorizontalPodAutoscaler": "ghcrawl"}


def test_the_broker_queues_that_are_counted_are_the_ones_there_are():
    (scaled,) = of_kind("ScaledObject")
    (trigger,) = scaled["spec"]["triggers"]
    prefix = SETTINGS().amqp.prefix

    names = [f"{prefix}.q.{name}" for name in SETTINGS().crawl.weights]
    assert [name for name in names if not re.fullmatch(trigger["metadata"]["queueName"], name)] == []


def test_every_pod_is_as_confined_as_the_restricted_profile_asks_for(pod: dict[str, Any]):
    for each in (pod, *sweeps()):
        (container,) = each["spec"]["containers"]
        whole, own = each["spec"]["securityContext"], container["securityContext"]

        assert whole["runAsNonRoot"] is True
        assert whole["seccompProfile"] == {"type": "RuntimeDefault"}
        assert own["capabilities"] == {"drop": ["ALL"]}
        assert own["readOnlyRootFilesystem"] is True
        assert own["allowPrivilegeEscalation"] is False
        assert each["spec"]["automountServiceAccountToken"] is False


def test_a_sweep_reads_the_settings_and_secrets_of_the_service_and_asks_by_policies_that_there_are(pod: dict[str, Any]):
    (container,) = pod["spec"]["containers"]
    for sweep in sweeps():
        (own,) = sweep["spec"]["containers"]
        assert sweep["spec"]["volumes"] == pod["spec"]["volumes"]
        assert (own["volumeMounts"], own["env"]) == (container["volumeMounts"], container["env"])
        command, verb, _, option, policy = own["args"]
        assert (command, verb, option) == ("requests", "push", "--policy")
        assert policies.parse(policy).name == policy


def test_a_probe_has_time_for_what_it_asks(container: dict[str, Any]):
    assert container["readinessProbe"]["timeoutSeconds"] > CHECK_S


def test_the_manual_says_the_lowest_version_that_the_manifests_are_held_against():
    manual = (ROOT / "docs/operations.md").read_text(encoding="utf-8")

    assert f"Kubernetes {VERSIONS[0]} or newer" in manual


def test_the_manual_puts_no_password_where_the_list_of_processes_shows_it():
    manual = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    commands = [line for block in re.findall(r"```sh\n(.*?)```", manual, re.DOTALL) for line in block.splitlines()]
    commands += re.findall(r"`(mongo\w+ [^`]*)`", manual)

    assert [one for one in commands if re.match(r"mongo\w+ ", one) and "--config mongo-tools.yaml" not in one] == []
    assert [one for one in commands if "mongo-url.txt" in one and not re.search("printf|--from-file", one)] == []


def test_the_user_is_the_image_s(pod: dict[str, Any]):
    user = f"{pod['spec']['securityContext']['runAsUser']}:{pod['spec']['securityContext']['runAsGroup']}"

    assert re.findall(r"^USER (.*)$", DOCKERFILE, re.MULTILINE) == [user]


def test_the_image_is_of_this_version():
    (base,) = things(BASE / "kustomization.yaml")
    compose = yaml.safe_load((ROOT / "config/compose.yaml").read_text(encoding="utf-8"))

    assert [image["newTag"] for image in base["images"]] == [__version__]
    assert compose["services"]["ghcrawl"]["image"] == f"ghcrawl:{__version__}"
    assert compose["services"]["ghcrawl"]["build"]["args"]["VERSION"] == __version__


def test_no_overlay_says_what_the_defaults_say_already():
    for path in CONFIGS:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
        defaults = SETTINGS().model_dump(mode="json")
        repeated = [
            f"{section}.{name}"
            for section, values in said.items()
            for name, value in values.items()
            if defaults[section][name] == value and name not in ("shutdown_grace_s", "concurrency")
        ]
        assert repeated == [], path
