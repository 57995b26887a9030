"""Replicas as a Deployment: the production overlay, in whatever Kubernetes `kubectl` points to."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import aiohttp
import yaml

from ghcrawl.values.frozen import replace
from tests.rehearsal.fleet import Answered, Pod, Probe, Wanted
from tests.rehearsal.kubectl import NAMESPACE, Failed, apply, apply_folder, found, kubectl
from tests.support.waiting import until

OVERLAY: Final = Path(__file__).parents[2] / "config/kubernetes/overlays/production"
ROLLOUT_S: Final = 420
SELECTOR: Final = "app.kubernetes.io/component=crawler"
METRICS_PORT: Final = 9464
PROBE_S: Final = 5.0
PROPAGATE_S: Final = 150.0
"""A kubelet looks at Secrets about once a minute."""


@dataclass(kw_only=True)
class Cluster:
    """A fleet. folder: for an overlay of our own. image: as the cluster's nodes call it. node: an address of one.

    api: the API server's URL through a proxy.
    """

    folder: Path
    session: aiohttp.ClientSession
    image: str
    node: str
    api: str
    _wanted: Wanted | None = None
    _secret: str = "ghcrawl"
    _revision: int = 0
    _ports: dict[str, int] = field(default_factory=dict)
    _seen_pods: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._overlay = os.path.relpath(OVERLAY, self.folder.resolve())

    # What the sequence asks for -------------------------------------------------------------------------------

    async def start(self, wanted: Wanted) -> None:
        """As the port says."""
        self._wanted = wanted
        await apply(
            {
                "apiVersion": "v1",
                "kind": "Namespace",
                "metadata": {"name": NAMESPACE, "labels": {"pod-security.kubernetes.io/enforce": "restricted"}},
            }
        )
        await self._make_secret("ghcrawl", wanted.secrets)
        await self._rolled_out()
        for name in ("ghcrawl-webhook", "ghcrawl-admin"):
            service = await found("get", "service", name)
            self._ports[name] = service["spec"]["ports"][0]["nodePort"]

    async def roll(self) -> None:
        """As the port says."""
        self._revision += 1
        await self._rolled_out()

    async def configure(self, config: str) -> None:
        """As the port says: another ConfigMap, so another pod template."""
        self._wanted = replace(self._given, config=config)
        await self._rolled_out()

    async def rotate(self, secrets: Mapping[str, str]) -> None:
        """As the port says, seen from inside of every pod."""
        self._wanted = replace(self._given, secrets=secrets)
        await self._make_secret("ghcrawl", secrets)

        async def spread() -> bool:
            return all([await self._finds(pod, "tokens", secrets["tokens"]) for pod in await self._running()])

        await until(spread, what="the rotated secret in every pod", within_s=PROPAGATE_S, every_s=2)

    async def scale(self, replicas: int) -> None:
        """As the port says."""
        self._wanted = replace(self._given, replicas=replicas)
        await self._rolled_out()

        async def fits() -> bool:
            return len(await self._raw()) == replicas

        await until(fits, what=f"a fleet of {replicas}", within_s=ROLLOUT_S, every_s=0.3)

    async def delete(self) -> str:
        """As the port says."""
        victim = (await self._running())[0]
        await kubectl("delete", "pod", victim, "--grace-period=0", "--force")
        await self._rolled_out()
        return victim

    async def kill(self) -> str:
        """As the port says: SIGKILL to the process itself, on the node; the kubelet starts another in the same pod."""
        victim = (await self._running())[-1]
        starts = await self._starts(victim)
        for pid in _processes_in(victim):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

        async def again() -> bool:
            return await self._starts(victim) > starts

        await until(again, what=f"a new process in {victim}", within_s=60, every_s=0.3)
        await self._rolled_out()
        return victim

    async def roll_badly(self, secrets: Mapping[str, str], patience_s: float) -> None:
        """As the port says: the new pods mount another Secret."""
        await self._make_secret("ghcrawl-wrong", secrets)
        self._secret = "ghcrawl-wrong"
        await self._apply()
        try:
            await self._status(int(patience_s))
        except Failed:
            newest = (await self._raw())[-1]
            assert newest["status"].get("containerStatuses"), "the new pod was not even placed on a node"
            return
        raise AssertionError("a rollout with wrong secrets went through")

    async def give_up_rollout(self) -> None:
        """As the port says."""
        self._secret = "ghcrawl"
        await kubectl("rollout", "undo", "deployment/ghcrawl")
        await self._rolled_out()

    async def pods(self) -> Sequence[Pod]:
        """As the port says."""
        return await asyncio.gather(*(self._seen(raw) for raw in await self._raw()))

    async def ask(self, method: str, path: str, *, headers: Mapping[str, str], body: bytes = b"") -> Answered:
        """As the port says, through the Service that is meant for it."""
        service = "ghcrawl-webhook" if path == "/webhook" else "ghcrawl-admin"
        url = f"http://{self.node}:{self._ports[service]}{path}"
        try:
            async with self.session.request(method, url, headers=dict(headers), data=body) as response:
                return Answered(status=response.status, body=await response.text())
        except (aiohttp.ClientError, TimeoutError):
            return Answered(status=0)

    async def close(self) -> None:
        """As the port says."""
        with suppress(Failed):
            await kubectl("delete", "namespace", NAMESPACE, "--wait=true", "--timeout=120s")

    # How it is done -------------------------------------------------------------------------------------------

    @property
    def _given(self) -> Wanted:
        assert self._wanted is not None, "start it first"
        return self._wanted

    async def _rolled_out(self) -> None:
        await self._apply()
        await self._status(ROLLOUT_S)

    async def _status(self, patience_s: int) -> None:
        await kubectl("rollout", "status", "deployment/ghcrawl", f"--timeout={patience_s}s")

    async def _apply(self) -> None:
        """The production overlay, with our image, settings and Secret, and Services that can be reached from here."""
        name, _, tag = self.image.rpartition(":")
        (self.folder / "ghcrawl.toml").write_text(self._given.config)
        overlay = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": NAMESPACE,
            "resources": [self._overlay],
            "images": [{"name": "ghcrawl", "newName": name, "newTag": tag}],
            "replicas": [{"name": "ghcrawl", "count": self._given.replicas}],
            "configMapGenerator": [{"name": "ghcrawl", "behavior": "replace", "files": ["ghcrawl.toml"]}],
            "patches": [
                {"target": {"kind": "Deployment", "name": "ghcrawl"}, "patch": yaml.safe_dump(self._patch())},
                *({"target": {"kind": "Service", "name": service}, "patch": yaml.safe_dump(_node_port(service))}
                  for service in ("ghcrawl-webhook", "ghcrawl-admin")),
            ],
        }  # fmt: skip
        (self.folder / "kustomization.yaml").write_text(yaml.safe_dump(overlay))
        await apply_folder(self.folder)

    def _patch(self) -> dict[str, Any]:
        # Little is asked for, so that five pods fit on a small node: one that cannot be placed proves nothing.
        container = {"name": "ghcrawl", "resources": {"requests": {"cpu": "50m", "memory": "128Mi"}}}
        template = {
            "metadata": {"annotations": {"rehearsal/revision": str(self._revision)}},
            "spec": {
                "containers": [container],
                "volumes": [{"name": "secrets", "secret": {"secretName": self._secret}}],
            },
        }
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "ghcrawl"},
            "spec": {"template": template},
        }

    async def _make_secret(self, name: str, secrets: Mapping[str, str]) -> None:
        secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": dict(secrets)}
        await apply(secret)

    async def _raw(self) -> list[dict[str, Any]]:
        """All pods, oldest first; what was last seen of them where the API server does not answer."""
        url = f"{self.api}/api/v1/namespaces/{NAMESPACE}/pods"
        with suppress(aiohttp.ClientError, TimeoutError):
            async with self.session.get(url, params={"labelSelector": SELECTOR}) as response:
                pods = (await response.json())["items"]
                self._seen_pods = sorted(pods, key=lambda pod: _made(pod["metadata"]))
        return self._seen_pods

    async def _running(self) -> list[str]:
        return [pod["metadata"]["name"] for pod in await self._raw() if "deletionTimestamp" not in pod["metadata"]]

    async def _starts(self, name: str) -> int:
        return next((_starts(pod) for pod in await self._raw() if pod["metadata"]["name"] == name), 0)

    async def _finds(self, pod: str, secret: str, content: str) -> bool:
        code = f"print(open('/etc/ghcrawl/secrets/{secret}').read(), end='')"
        try:
            return await kubectl("exec", pod, "--", "/opt/ghcrawl/bin/python", "-c", code) == content
        except Failed:
            return False

    async def _seen(self, raw: Mapping[str, Any]) -> Pod:
        name, address = raw["metadata"]["name"], raw["status"].get("podIP", "")
        live, ready = Probe(), Probe()
        if address:
            live, ready = await asyncio.gather(self._probe(name, "livez"), self._probe(name, "readyz"))
        return Pod(
            name=name, live=live, ready=ready, leaving="deletionTimestamp" in raw["metadata"], starts=_starts(raw)
        )

    async def _probe(self, pod: str, path: str) -> Probe:
        """Through the API server, which reaches pods wherever they are, and says so in words where it does not."""
        url = f"{self.api}/api/v1/namespaces/{NAMESPACE}/pods/{pod}:{METRICS_PORT}/proxy/{path}"
        try:
            async with self.session.get(url, timeout=aiohttp.ClientTimeout(total=PROBE_S)) as response:
                body = await response.text()
                return Probe.read(response.status, body) if '"checks"' in body else Probe()
        except (aiohttp.ClientError, TimeoutError):
            return Probe()


def _made(metadata: Mapping[str, Any]) -> tuple[str, str]:
    return metadata["creationTimestamp"], metadata["name"]


def _node_port(service: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": service}, "spec": {"type": "NodePort"}}


def _starts(raw: Mapping[str, Any]) -> int:
    restarts: list[int] = [status["restartCount"] for status in raw["status"].get("containerStatuses", [])]
    return 1 + sum(restarts)


def _processes_in(pod: str) -> list[int]:
    """The processes of that pod, where its node is this machine, or shares its kernel as kind's nodes do."""
    pids = []
    for place in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if f"HOSTNAME={pod}".encode() in place.read_bytes().split(b"\0"):
                pids.append(int(place.parent.name))
    if not pids:
        raise AssertionError(f"no process of {pod} on this machine: its node is elsewhere, or this is not root")
    return pids
