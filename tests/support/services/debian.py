"""Where RabbitMQ comes from: this machine's package (3.10 on Debian 12), or Debian 13's (4.0) in a folder."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

SERVER: Final = "/usr/lib/rabbitmq/bin/rabbitmq-server"
CONTROL: Final = "/usr/lib/rabbitmq/bin/rabbitmqctl"
INSTANCE: Final = "/mnt"
"""Where a chroot sees the folder of an instance: an empty directory that every Debian has."""


class Unavailable(Exception):
    """A server cannot be had on this machine; the text says why, and what to do."""


class Distribution(Struct, frozen=True, kw_only=True):
    """One version of RabbitMQ. root: of the Debian it is in; None: this machine."""

    version: str
    root: Path | None = None

    def command(self, folder: Path, *command: str) -> list[str]:
        """`command` as it is started for an instance in `folder`. Mounts are seen by nobody else and end with it."""
        if self.root is None:
            return list(command)
        root = str(self.root)
        mounts = {"/proc": f"{root}/proc", "/dev": f"{root}/dev", str(folder): f"{root}{INSTANCE}"}
        script = " && ".join([f"mount --bind '{source}' '{target}'" for source, target in mounts.items()])
        enter = f"{script} && exec chroot '{root}' \"$@\""
        return ["unshare", "--mount", "--propagation", "private", "sh", "-c", enter, "sh", *command]

    def inside(self, folder: Path) -> str:
        """How the server itself calls `folder`."""
        return str(folder) if self.root is None else INSTANCE


def rabbitmq_3() -> Distribution:
    """This machine's RabbitMQ, installed if need be. Raises Unavailable."""
    install("rabbitmq-server", command=SERVER)
    return Distribution(version=_version(Path("/")))


def rabbitmq_4() -> Distribution:
    """Debian 13's RabbitMQ in a folder that is kept between runs. The first time takes a minute or two.

    Raises Unavailable.
    """
    root = cache() / "trixie-rabbitmq"
    with alone(cache() / "trixie-rabbitmq.lock"):
        if not (root / "complete").exists():
            _need_root("make a Debian 13 folder")
            install("debootstrap", command="debootstrap")
            shutil.rmtree(root, ignore_errors=True)
            mirror = _mirror()
            # What it mounts ends with it, however it ends: a folder with mounts in it cannot be made anew.
            private = ["unshare", "--mount", "--propagation", "private"]
            build = ["debootstrap", "--variant=minbase", "--include=rabbitmq-server", "trixie", str(root), mirror]
            _run([*private, *build])
            shutil.copy("/etc/hosts", root / "etc/hosts")
            (root / "complete").touch()
    return Distribution(version=_version(root), root=root)


def cache() -> Path:
    """A folder for what is worth keeping between runs."""
    base = os.environ.get("GHCRAWL_TEST_CACHE") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    folder = Path(base).expanduser() / "ghcrawl-tests"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _version(root: Path) -> str:
    found = sorted(root.glob("usr/lib/rabbitmq/lib/rabbitmq_server-*"))
    return found[-1].name.rpartition("-")[2] if found else "unknown"


def _mirror() -> str:
    """The first archive among this machine's own sources."""
    places = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("*.sources"))]
    for place in places:
        text = place.read_text() if place.exists() else ""
        if found := re.search(r"^(?:URIs:\s*|deb\s+(?:\[.*?\]\s*)?)(\S+)", text, re.MULTILINE):
            return found[1]
    raise Unavailable("no archive of Debian among this machine's sources")


def install(package: str, *, command: str) -> None:
    """`command` is there, by installing `package` if it was not. Raises Unavailable."""
    if shutil.which(command):
        return
    _need_root(f"install {package} (apt-get install {package})")
    if shutil.which("apt-get") is None:
        raise Unavailable(f"{package} is not installed, and there is no apt-get to install it with")
    with alone(cache() / "apt.lock"):
        quiet = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}  # asks nothing, and starts nothing
        _run(["apt-get", "update", "-qq"], **quiet)
        _run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", package], **quiet)


def _need_root(what: str) -> None:
    if os.geteuid() != 0:
        raise Unavailable(f"only root can {what}")


def _run(command: Sequence[str], **environment: str) -> None:
    done = subprocess.run(
        command, env=os.environ | environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        raise Unavailable(f"{' '.join(command)} failed: {done.stdout.strip()[-1000:]}")


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """One process at a time, by a lock file."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
