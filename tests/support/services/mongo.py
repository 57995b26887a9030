"""A server that speaks MongoDB's protocol: mongo-java-server, on a file that survives its death.

It is not MongoDB. It has no transactions, no sessions, no change streams, and expires nothing.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Final

from tests.support.services.debian import Unavailable, alone, cache, install
from tests.support.services.keeper import Keeper, alive, end
from tests.support.services.network import free_ports, until

SOURCE: Final = Path(__file__).parent / "mongo_java"
START_S: Final = 60.0
BOUND: Final = "listening"
"""The word in the line that `Main.java` prints once it can be connected to."""


class MongoServer:
    """One server on a file in a folder of the keeper's. All calls block."""

    def __init__(self, keeper: Keeper, *, name: str = "mongo") -> None:
        self.folder = keeper.folder / name
        self.folder.mkdir()
        (self.port,) = free_ports(1)
        self._keeper = keeper
        self._jars = jars()
        self._starts = 0
        self._pid = 0

    @property
    def url(self) -> str:
        """How to reach it."""
        return f"mongodb://127.0.0.1:{self.port}"

    @property
    def session(self) -> int:
        """The session that the running server is in."""
        return self._pid

    def start(self) -> None:
        """The server answers, with whatever its file held."""
        self._starts += 1
        log = self.folder / f"server-{self._starts}.log"
        flags = ["-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", f"{self._jars}/*"]
        command = ["java", *flags, str(SOURCE / "Main.java"), str(self.port), str(self.folder / "data.h2")]
        self._pid = self._keeper.run(command, log=log, environment={"PATH": os.environ["PATH"], "LANG": "C.UTF-8"})
        until(lambda: BOUND in log.read_text(), failed=lambda: self._failure(log), patience_s=START_S)

    def stop(self) -> None:
        """The server was shut down in good order."""
        end(self._pid, signal.SIGTERM)

    def kill(self) -> None:
        """The server is gone at once."""
        end(self._pid, signal.SIGKILL)

    def _failure(self, log: Path) -> str | None:
        return None if alive(self._pid) else f"the MongoDB-speaking server did not start: {log.read_text()[:2000]}"


def jars() -> Path:
    """A folder with the server's jars, fetched if need be, and Java to run them. Raises Unavailable."""
    if shutil.which("javac") is None:
        install("default-jdk-headless", command="javac")
    folder = cache() / "mongo-java-server-1.47.0"
    with alone(cache() / "mongo-java-server.lock"):
        if not (folder / "complete").exists():
            install("maven", command="mvn")
            arguments = [
                "-q",
                "-f",
                str(SOURCE / "pom.xml"),
                "dependency:copy-dependencies",
                f"-DoutputDirectory={folder}",
            ]
            done = subprocess.run(
                ["mvn", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
            )
            if done.returncode:
                raise Unavailable(f"Maven cannot fetch mongo-java-server: {done.stdout[-1000:]}")
            (folder / "complete").touch()
    return folder
