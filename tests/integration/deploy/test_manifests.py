"""Every overlay builds, alone and with each component, and Kubernetes and the operators know every field of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.integration.deploy import schemas
from tests.support.services.debian import Unavailable, cache
from tests.support.services.wanted import absent

MANIFESTS = Path(__file__).parents[3] / "config/kubernetes"
OVERLAYS = sorted(path.name for path in (MANIFESTS / "overlays").iterdir())
COMPONENTS = sorted(path.name for path in (MANIFESTS / "components").iterdir())
KUSTOMIZE = "sigs.k8s.io/kustomize/kustomize/v5@v5.5.0"

pytestmark = pytest.mark.slow


def build(folder: Path) -> list[dict[str, Any]]:
    """The objects that kustomize makes of a folder."""
    try:
        command = [*kustomize(), str(folder)]
    except Unavailable as error:
        absent(error)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [thing for thing in yaml.safe_load_all(done.stdout) if thing]


def kustomize() -> list[str]:
    """The command that builds a folder: kubectl's, or kustomize's own, made from source if need be."""
    if shutil.which("kubectl"):
        return ["kubectl", "kustomize"]
    made = cache() / "bin/kustomize"
    own = shutil.which("kustomize") or (str(made) if made.exists() else None)
    if own is None and shutil.which("go"):
        environment = os.environ | {"GOBIN": str(made.parent)}
        done = subprocess.run(
            ["go", "install", KUSTOMIZE], env=environment, capture_output=True, text=True, check=False
        )
        own = str(made) if done.returncode == 0 else None
    if own is None:
        raise Unavailable("there is no kubectl and no kustomize, and no Go to make one with")
    return [own, "build"]


def with_components(folder: Path, overlay: str, components: Iterable[str]) -> list[dict[str, Any]]:
    """The same with components taken in, as somebody's own overlay would do it."""

    def near(path: Path) -> str:
        return os.path.relpath(path, folder.resolve())

    wanted = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "namespace": "ghcrawl",
        "resources": [near(MANIFESTS / "overlays" / overlay)],
        "components": [near(MANIFESTS / "components" / name) for name in components],
        "images": [{"name": "ghcrawl", "newName": "registry.example.com/ghcrawl", "newTag": "9"}],
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(wanted))
    return build(folder)


def faults(things: list[dict[str, Any]]) -> list[str]:
    try:
        return schemas.faults(things)
    except Unavailable as error:
        absent(error)


@pytest.mark.parametrize("overlay", OVERLAYS)
def test_an_overlay_applies_on_a_bare_cluster(overlay: str):
    things = build(MANIFESTS / "overlays" / overlay)

    assert {thing["apiVersion"] for thing in things} <= {"v1", "apps/v1", "policy/v1", "networking.k8s.io/v1"}
    assert {thing["metadata"]["namespace"] for thing in things} == {"ghcrawl"}
    assert not [thing for thing in things if thing["kind"] == "Secret"], "a credential in a file"
    assert faults(things) == []


def test_an_overlay_takes_in_every_component(tmp_path: Path):
    things = with_components(tmp_path, "production", COMPONENTS)

    kinds = {thing["kind"] for thing in things}
    assert kinds >= {"ScaledObject", "HorizontalPodAutoscaler", "PodMonitor", "PrometheusRule", "CronJob"}
    assert faults(things) == []


@pytest.mark.parametrize("component", ["hpa", "keda"])
def test_an_overlay_that_is_applied_again_leaves_the_number_of_pods_to_its_autoscaler(tmp_path: Path, component: str):
    things = with_components(tmp_path, "production", [component])

    (deployment,) = [thing for thing in things if thing["kind"] == "Deployment"]
    assert "replicas" not in deployment["spec"]
    (alone,) = [thing for thing in build(MANIFESTS / "overlays/production") if thing["kind"] == "Deployment"]
    assert alone["spec"]["replicas"] == 3


def test_sweeps_run_the_same_image_on_the_same_settings_and_no_service_leads_to_them(tmp_path: Path):
    things = with_components(tmp_path, "production", ["sweeps"])

    (deployment,) = [thing["spec"]["template"] for thing in things if thing["kind"] == "Deployment"]
    sweeps = [thing["spec"]["jobTemplate"]["spec"]["template"] for thing in things if thing["kind"] == "CronJob"]
    services = [thing["spec"]["selector"] for thing in things if thing["kind"] == "Service"]
    assert [sweep["spec"]["containers"][0]["args"][-1] for sweep in sweeps] == ["audit", "refresh"]
    for sweep in sweeps:
        assert sweep["spec"]["volumes"] == deployment["spec"]["volumes"]
        assert sweep["spec"]["containers"][0]["image"] == deployment["spec"]["containers"][0]["image"]
        assert not [wanted for wanted in services if wanted.items() <= sweep["metadata"]["labels"].items()]


def test_the_overlay_that_the_manual_shows_is_one(tmp_path: Path):
    manual = (MANIFESTS.parents[1] / "docs/operations.md").read_text()
    (overlay,) = [
        shown for shown in re.findall(r"```yaml\n(.*?)```", manual, re.DOTALL) if "kind: Kustomization" in shown
    ]
    mine = Path(shutil.copytree(MANIFESTS, tmp_path / "kubernetes")) / "overlays/mine"
    mine.mkdir()
    (mine / "kustomization.yaml").write_text(overlay)
    shutil.copy(mine.parent / "production/ghcrawl.toml", mine)

    things = build(mine)
    (ingress,) = [thing for thing in things if thing["kind"] == "Ingress"]
    assert ingress["spec"]["rules"][0]["host"] == "ghcrawl.mine.example"
    assert faults(things) == []


def test_the_image_of_a_registry_takes_the_place_of_ours(tmp_path: Path):
    (deployment,) = [thing for thing in with_components(tmp_path, "small", []) if thing["kind"] == "Deployment"]

    assert [container["image"] for container in deployment["spec"]["template"]["spec"]["containers"]] == [
        "registry.example.com/ghcrawl:9"
    ]


@pytest.mark.parametrize(
    ("kind", "field"), [("Deployment", "replica"), ("ScaledObject", "trigers"), ("PodMonitor", "podMetricEndpoints")]
)
def test_a_field_that_nobody_knows_is_found(tmp_path: Path, kind: str, field: str):
    things = with_components(tmp_path, "production", COMPONENTS)
    (broken,) = [thing for thing in things if thing["kind"] == kind]
    broken["spec"][field] = 1

    assert any(field in fault for fault in faults([broken]))
