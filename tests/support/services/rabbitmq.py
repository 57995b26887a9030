"""One RabbitMQ node: started, stopped, killed and asked, and kept apart from all others on the machine."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, urlsplit

from msgspec import Struct

from tests.support.services.debian import CONTROL, SERVER, Distribution
from tests.support.services.keeper import Keeper, alive, end
from tests.support.services.network import free_ports, speaks_amqp, until

START_S: Final = 60.0
COOKIE: Final = "ghcrawltests"
PLUGINS: Final = "[rabbitmq_management,rabbitmq_prometheus]."

CONFIG: Final = """
listeners.tcp.default = 127.0.0.1:{port}
management.tcp.ip = 127.0.0.1
management.tcp.port = {management}
prometheus.tcp.ip = 127.0.0.1
prometheus.tcp.port = {prometheus}
disk_free_limit.absolute = 50MB
vm_memory_high_watermark.absolute = 2GB
collect_statistics_interval = 1000
log.console = true
log.console.level = warning
log.file = false
"""
# At-least-once dead-lettering waits for its target's confirm, and what it waits for is shown as 0 messages: three
# minutes by default, far too long for a test that asks whether a queue is empty.
ADVANCED: Final = """[{rabbit, [
  {dead_letter_worker_publisher_confirm_timeout, 1000},
  {dead_letter_worker_publisher_confirm_timeout_ms, 1000},
  {quorum_tick_interval, 1000},
  {channel_tick_interval, 3000}
]}].
"""


class Server(Struct, frozen=True, kw_only=True):
    """A broker that is reachable, whoever runs it."""

    url: str
    management_url: str = ""


class Broker:
    """A node in a folder of the keeper's. All calls block; none returns before what it says is so."""

    def __init__(
        self, keeper: Keeper, distribution: Distribution, *, name: str = "one", epmd_port: int | None = None
    ) -> None:
        self.distribution = distribution
        self.folder = keeper.folder / name
        self.folder.mkdir()
        self.port, self._management, self._prometheus, self._distribution_port, epmd = free_ports(5)
        self.node = f"{name}-{self.port}@localhost"
        self.epmd_port = epmd_port or epmd
        self._keeper = keeper
        self._pid = 0
        self._write_config()
        if epmd_port is None:
            command = ["epmd", "-port", str(epmd), "-address", "127.0.0.1"]
            self._launch(command, log="epmd.log")

    @property
    def server(self) -> Server:
        """How to reach it, as its administrator, in its default virtual host."""
        account = "guest:guest@127.0.0.1"
        return Server(url=f"amqp://{account}:{self.port}/%2F", management_url=f"http://{account}:{self._management}")

    @property
    def session(self) -> int:
        """The session that all processes of the running node are in."""
        return self._pid

    def start(self) -> None:
        """The node runs and answers, with the management API."""
        self._pid = self._launch([SERVER], log="server.log")
        self._until_ready()

    def _until_ready(self) -> None:
        until(self.ready, failed=self._failure, patience_s=START_S)

    def ready(self) -> bool:
        """Whether AMQP and the management API answer."""
        if not speaks_amqp(self.port):
            return False
        try:
            self.ask("GET", "/api/overview")
        except OSError:
            return False
        return True

    def stop(self) -> None:
        """The node was shut down in good order; what it had on disk is there for the next start."""
        end(self._pid, signal.SIGTERM)

    def kill(self) -> None:
        """The node is gone at once, as if by kill -9 or a power cut of the machine's other half."""
        end(self._pid, signal.SIGKILL)

    def wipe(self) -> None:
        """The node was killed, its disk is lost, and it runs again as if it were new."""
        self.kill()
        shutil.rmtree(self.folder / "data")
        self.start()

    def control(self, *command: str) -> str:
        """What `rabbitmqctl` says. Takes seconds: it is a virtual machine of its own."""
        whole = self.distribution.command(self.folder, CONTROL, "--node", self.node, *command)
        done = subprocess.run(
            whole, env=self._environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"rabbitmqctl {' '.join(command)}: {done.stdout.strip()}")
        return done.stdout

    def ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The management API's answer."""
        return ask(self.server.management_url, method, path, body)

    def _launch(self, command: list[str], *, log: str) -> int:
        whole = self.distribution.command(self.folder, *command)
        return self._keeper.run(whole, log=self.folder / log, environment=self._environment())

    def _failure(self) -> str | None:
        if alive(self._pid):
            return None
        return f"RabbitMQ did not start: {(self.folder / 'server.log').read_text()[:2000]}"

    def _write_config(self) -> None:
        ports = {"port": self.port, "management": self._management, "prometheus": self._prometheus}
        (self.folder / "rabbitmq.conf").write_text(CONFIG.format(**ports))
        (self.folder / "advanced.config").write_text(ADVANCED)
        (self.folder / "enabled_plugins").write_text(PLUGINS)
        (self.folder / "environment").touch()
        cookie = self.folder / ".erlang.cookie"
        cookie.write_text(COOKIE)
        cookie.chmod(0o400)

    def _environment(self) -> Mapping[str, str]:
        inside = self.distribution.inside(self.folder)
        return {
            "PATH": os.environ["PATH"] + ":/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "HOME": inside,
            "RABBITMQ_NODENAME": self.node,
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_MNESIA_BASE": f"{inside}/data",
            "RABBITMQ_LOG_BASE": f"{inside}/log",
            "RABBITMQ_CONFIG_FILE": f"{inside}/rabbitmq.conf",
            "RABBITMQ_ADVANCED_CONFIG_FILE": f"{inside}/advanced.config",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{inside}/enabled_plugins",
            "RABBITMQ_CONF_ENV_FILE": f"{inside}/environment",
            "RABBITMQ_PID_FILE": f"{inside}/pid",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 +sbwt none +sbwtdcpu none +sbwtdio none",
            "ERL_EPMD_PORT": str(self.epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
        }


def ask(management_url: str, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
    """What a management API answers. Raises OSError where it does not, or refuses."""
    parts = urlsplit(management_url)
    account = base64.b64encode(f"{parts.username}:{parts.password}".encode()).decode()
    request = urllib.request.Request(
        f"{parts.scheme}://{parts.hostname}:{parts.port}{path}",
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Basic {account}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        text = answer.read()
    return json.loads(text) if text else None


def make_vhost(server: Server, name: str) -> Server:
    """The same server with a virtual host of that name, empty."""
    ask(server.management_url, "PUT", f"/api/vhosts/{quote(name, safe='')}", {})
    permissions = {"configure": ".*", "write": ".*", "read": ".*"}
    ask(server.management_url, "PUT", f"/api/permissions/{quote(name, safe='')}/guest", permissions)
    return Server(url=server.url.rpartition("/")[0] + f"/{quote(name, safe='')}", management_url=server.management_url)


def delete_vhost(server: Server, name: str) -> None:
    """That virtual host is gone with all that was in it."""
    ask(server.management_url, "DELETE", f"/api/vhosts/{quote(name, safe='')}")
