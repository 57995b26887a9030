"""Files to look at with the command line, commands run in this process or their own, and what they said."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import Struct

from ghcrawl.backend import open_backend
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.documents import Document
from ghcrawl.values.requests import Push
from ghcrawl.wiring import load

ROOT = Path(__file__).parents[2]


class Ran(Struct, frozen=True):
    """What one command came to."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which must be one JSON value and nothing else."""
        return json.loads(self.out)

    @property
    def rows(self) -> list[list[str]]:
        """Standard output as lines of cells."""
        return [line.split("\t") for line in self.out.splitlines()]


async def fill(
    db: Path,
    *,
    documents: Iterable[Document] = (),
    pushes: Iterable[Push] = (),
    deadletters: Iterable[Deadletter] = (),
    **states: dict[str, Any],
) -> None:
    """Put these into the file at `db`, made if it is not there."""
    settings, _ = load(None, {}, {"sqlite.path": db, "sqlite.synchronous": "normal"})
    async with open_backend(settings) as backend:
        for document in documents:
            await backend.store.save(document)
        await backend.queue.push(list(pushes))
        for letter in deadletters:
            await backend.deadletters.bury(letter)
        for name, value in states.items():
            await backend.store.write_state(name, value)


def program(folder: Path) -> Path:
    """A folder for PATH in which `ghcrawl` is found: this interpreter, and this working tree.

    Written once: a shell that reads its script while that is written anew does nothing, and ends well.
    """
    found = folder / ".bin"
    found.mkdir(exist_ok=True)
    script = found / "ghcrawl"
    if not script.exists():
        script.write_text(f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -m ghcrawl "$@"\n')
        script.chmod(0o755)
    return found


@dataclass
class Running:
    """A command that runs as a process of its own. said: what it writes, read all the while; None: by somebody else."""

    process: asyncio.subprocess.Process
    said: asyncio.Task[tuple[bytes, bytes]] | None

    def send(self, number: int) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    async def ended(self, timeout_s: float = 180) -> Ran:
        """What it came to."""
        assert self.said is not None
        async with asyncio.timeout(timeout_s):
            out, err = await self.said
        assert self.process.returncode is not None
        return Ran(self.process.returncode, out.decode(), err.decode())


@dataclass
class Shell:
    """Runs commands as processes of their own, in a folder of their own, with nobody's settings."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)
    started: list[Running] = field(default_factory=list)

    async def start(
        self,
        *words: str | Path,
        wrap: Sequence[str] = (),
        terminal: int | None = None,
        talks: bool = False,
        **environ: str,
    ) -> Running:
        """Begin a command.

        wrap: what runs it. terminal: where it reads and writes. talks: the test reads what it says, line by line.
        """
        inherited = {"PATH": f"{program(self.folder)}:{os.environ['PATH']}", "HOME": str(self.folder)}
        process = await asyncio.create_subprocess_exec(
            *wrap,
            "ghcrawl",
            *map(str, words),
            cwd=self.folder,
            env={**inherited, **self.environ, **environ},
            stdin=asyncio.subprocess.DEVNULL if terminal is None else terminal,
            stdout=asyncio.subprocess.PIPE if terminal is None else terminal,
            stderr=asyncio.subprocess.PIPE if terminal is None else terminal,
            preexec_fn=None if terminal is None else lambda: os.login_tty(terminal),
        )
        said = None if talks or terminal is not None else asyncio.create_task(process.communicate())
        self.started.append(Running(process, said))
        return self.started[-1]

    async def run(self, *words: str | Path, wrap: Sequence[str] = (), timeout_s: float = 180, **environ: str) -> Ran:
        """Run a command to its end."""
        running = await self.start(*words, wrap=wrap, terminal=None, talks=False, **environ)
        return await running.ended(timeout_s)

    async def export(self, db: Path) -> list[dict[str, Any]]:
        """Every document in the file at `db`."""
        ran = await self.run("documents", "export", "--db", db)
        assert ran.status == 0, ran.err
        return [json.loads(line) for line in ran.out.splitlines()]


@asynccontextmanager
async def shell(folder: Path, **environ: str) -> AsyncIterator[Shell]:
    """A shell; whatever was started in it and still runs is killed when the block is left."""
    opened = Shell(folder, environ)
    try:
        yield opened
    finally:
        for running in opened.started:
            if running.process.returncode is None:
                running.process.kill()
            await (running.said or running.process.wait())
