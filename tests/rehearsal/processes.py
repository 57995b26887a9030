"""Replicas as plain processes on this machine, with what a kubelet and a Service would do for them."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Final

import aiohttp

from ghcrawl.values.frozen import replace
from tests.rehearsal.fleet import Answered, Pod, Probe, Wanted
from tests.support.services.network import free_ports
from tests.support.waiting import until

PATIENCE_S: Final = 60.0
GRACE_S: Final = 40.0
PROBE_S: Final = 4.0
ROOT: Final = Path(__file__).parents[2]


@dataclass(kw_only=True)
class Replica:
    """One process, and where it listens."""

    name: str
    folder: Path
    port: int
    metrics_port: int
    process: asyncio.subprocess.Process | None = None
    starts: int = 0
    leaving: bool = False


@dataclass(kw_only=True)
class Processes:
    """A fleet. folder: for what the processes read and say."""

    folder: Path
    session: aiohttp.ClientSession
    replicas: list[Replica] = field(default_factory=list)
    exits: list[int] = field(default_factory=list)
    """Of every process that was told to end."""
    _numbers: count[int] = field(default_factory=lambda: count(1))
    _turn: int = 0
    _wanted: Wanted | None = None
    _bad: Replica | None = None

    # What a Deployment does -----------------------------------------------------------------------------------

    async def start(self, wanted: Wanted) -> None:
        """As the port says."""
        self._wanted = wanted
        self._write_secrets(self.folder / "secrets", wanted.secrets)
        new = [await self._launch() for _ in range(wanted.replicas)]
        for replica in new:
            await self._until_ready(replica)

    async def roll(self) -> None:
        """As the port says: one more comes before one goes."""
        for old in list(self.replicas):
            await self._until_ready(await self._launch())
            await self._end(old)

    async def configure(self, config: str) -> None:
        """As the port says."""
        self._wanted = replace(self._given, config=config)
        await self.roll()

    async def rotate(self, secrets: Mapping[str, str]) -> None:
        """As the port says."""
        self._wanted = replace(self._given, secrets=secrets)
        self._write_secrets(self.folder / "secrets", secrets)

    async def scale(self, replicas: int) -> None:
        """As the port says."""
        surplus = self.replicas[replicas:]
        await asyncio.gather(*(self._end(old) for old in surplus))
        new = [await self._launch() for _ in range(replicas - len(self.replicas))]
        for replica in new:
            await self._until_ready(replica)

    async def delete(self) -> str:
        """As the port says."""
        victim = self.replicas[0]
        await self._kill(victim)
        self.replicas.remove(victim)
        await self._until_ready(await self._launch())
        return victim.name

    async def kill(self) -> str:
        """As the port says."""
        victim = self.replicas[-1]
        await self._kill(victim)
        await self._run(victim)
        await self._until_ready(victim)
        return victim.name

    async def roll_badly(self, secrets: Mapping[str, str], patience_s: float) -> None:
        """As the port says. The new one is started as often as it gives up, as a kubelet would."""
        self._write_secrets(self.folder / "wrong", secrets)
        self._bad = await self._launch(secrets="wrong")
        deadline = asyncio.get_running_loop().time() + patience_s
        while asyncio.get_running_loop().time() < deadline:
            if (await self._seen(self._bad)).ready.ok:
                raise AssertionError("a replica with wrong secrets says that it is ready")
            assert self._bad.process is not None
            if self._bad.process.returncode is not None:
                await self._run(self._bad, secrets="wrong")
            await asyncio.sleep(1)

    async def give_up_rollout(self) -> None:
        """As the port says."""
        assert self._bad is not None
        await self._kill(self._bad)
        self.replicas.remove(self._bad)
        self._bad = None

    # What a Service and a kubelet do --------------------------------------------------------------------------

    async def pods(self) -> Sequence[Pod]:
        """As the port says."""
        return await asyncio.gather(*(self._seen(replica) for replica in list(self.replicas)))

    async def ask(self, method: str, path: str, *, headers: Mapping[str, str], body: bytes = b"") -> Answered:
        """As the port says: ready ones take turns."""
        pods = {pod.name for pod in await self.pods() if pod.ready.ok and not pod.leaving}
        open_doors = [replica for replica in self.replicas if replica.name in pods]
        if not open_doors:
            return Answered(status=0)
        self._turn += 1
        url = f"http://127.0.0.1:{open_doors[self._turn % len(open_doors)].port}{path}"
        try:
            async with self.session.request(method, url, headers=dict(headers), data=body) as response:
                return Answered(status=response.status, body=await response.text())
        except (aiohttp.ClientError, TimeoutError):
            return Answered(status=0)

    async def close(self) -> None:
        """As the port says."""
        for replica in list(self.replicas):
            await self._kill(replica)
        self.replicas.clear()

    def saying(self, event: str) -> list[str]:
        """The replicas whose logs have that event."""
        logs = self.folder.glob("*/log")
        return [log.parent.name for log in logs if f'"{event}"' in log.read_text(errors="replace")]

    # Processes ------------------------------------------------------------------------------------------------

    @property
    def _given(self) -> Wanted:
        assert self._wanted is not None, "start it first"
        return self._wanted

    async def _launch(self, *, secrets: str = "secrets") -> Replica:
        port, metrics_port = free_ports(2)
        name = f"replica-{next(self._numbers)}"
        replica = Replica(name=name, folder=self.folder / name, port=port, metrics_port=metrics_port)
        replica.folder.mkdir()
        self.replicas.append(replica)
        await self._run(replica, secrets=secrets)
        return replica

    async def _run(self, replica: Replica, *, secrets: str = "secrets") -> None:
        config = replica.folder / "ghcrawl.toml"
        config.write_text(self._given.config.replace("/etc/ghcrawl/secrets", str(self.folder / secrets)))
        environment = {
            "PATH": os.environ["PATH"],
            "GHCRAWL_CONFIG": str(config),
            "GHCRAWL_SERVICE__PORT": str(replica.port),
            "GHCRAWL_SERVICE__METRICS_PORT": str(replica.metrics_port),
        }
        with (replica.folder / "log").open("ab") as log:
            replica.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "ghcrawl", "serve", cwd=ROOT, env=environment, stdout=log, stderr=log
            )
        replica.starts += 1

    async def _until_ready(self, replica: Replica) -> None:
        async def is_ready() -> bool:
            process = replica.process
            assert process is not None
            assert process.returncode is None, self._log(replica)
            return bool((await self._seen(replica)).ready.ok)

        await until(is_ready, what=f"readiness of {replica.name}", within_s=PATIENCE_S, every_s=0.1)

    async def _end(self, replica: Replica) -> None:
        """It was asked to end, and did within its grace period."""
        assert replica.process is not None
        replica.leaving = True
        replica.process.terminate()
        try:
            async with asyncio.timeout(GRACE_S):
                status = await replica.process.wait()
        except TimeoutError:
            raise AssertionError(f"{replica.name} does not end: {self._log(replica)}") from None
        self.exits.append(status)
        self.replicas.remove(replica)

    async def _kill(self, replica: Replica) -> None:
        assert replica.process is not None
        with suppress(ProcessLookupError):
            replica.process.send_signal(signal.SIGKILL)
        await replica.process.wait()

    def _log(self, replica: Replica) -> str:
        return (replica.folder / "log").read_text(errors="replace")[-3000:]

    def _write_secrets(self, folder: Path, secrets: Mapping[str, str]) -> None:
        """Whole or not at all, as a kubelet does it."""
        folder.mkdir(exist_ok=True)
        for name, content in secrets.items():
            (folder / f".{name}").write_text(content)
            (folder / f".{name}").replace(folder / name)

    async def _seen(self, replica: Replica) -> Pod:
        live, ready = await asyncio.gather(
            self._probe(replica.metrics_port, "livez"), self._probe(replica.metrics_port, "readyz")
        )
        return Pod(name=replica.name, live=live, ready=ready, leaving=replica.leaving, starts=replica.starts)

    async def _probe(self, port: int, path: str) -> Probe:
        timeout = aiohttp.ClientTimeout(total=PROBE_S)
        try:
            async with self.session.get(f"http://127.0.0.1:{port}/{path}", timeout=timeout) as response:
                return Probe.read(response.status, await response.text())
        except (aiohttp.ClientError, TimeoutError):
            return Probe()
