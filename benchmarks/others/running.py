"""Runs a tool's commands one after another, and says what they took."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from ghcrawl.values.frozen import replace

MB: Final = 1024
"""`ru_maxrss` is in KiB."""
LOOK_S: Final = 0.01


class Command(Struct, frozen=True, kw_only=True):
    """One process. stdout: a file that its output is added to; None, its log."""

    argv: Sequence[str]
    stdout: Path | None = None


class Took(Struct, frozen=True, kw_only=True):
    """peak_mb: of the largest process. failed: commands that did not end with 0."""

    wall_s: float = 0.0
    cpu_s: float = 0.0
    peak_mb: float = 0.0
    failed: int = 0
    commands: int = 0
    killed: bool = False


def run(
    commands: Iterator[Command],
    *,
    folder: Path,
    env: Mapping[str, str],
    until: Callable[[], bool] | None = None,
) -> Took:
    """All of them, as a shell's loop would: a command that fails does not keep the next from running.

    until: kills whatever runs, and runs no more, as soon as it says so.
    """
    took = Took()
    for command in commands:
        took = _one(command, took, folder=folder, env=env, until=until)
        if took.killed:
            break
    return took


def _one(
    command: Command, before: Took, *, folder: Path, env: Mapping[str, str], until: Callable[[], bool] | None
) -> Took:
    began, killed = time.monotonic(), False
    with (folder / "log").open("ab") as log, (command.stdout or folder / "log").open("ab") as out:
        process = subprocess.Popen(
            list(command.argv), cwd=folder, env=dict(env), stdout=out, stderr=log, start_new_session=True
        )
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG if until and not killed else 0)
            if pid:
                break
            if until is not None and until():
                os.killpg(process.pid, signal.SIGKILL)
                killed = True
            time.sleep(LOOK_S)  # a poll: `wait4` gives the usage of the tool, and `until` asks another process
        process.returncode = os.waitstatus_to_exitcode(status)
    return replace(
        before,
        wall_s=before.wall_s + time.monotonic() - began,
        cpu_s=before.cpu_s + usage.ru_utime + usage.ru_stime,
        peak_mb=max(before.peak_mb, usage.ru_maxrss / MB),
        failed=before.failed + (process.returncode != 0 and not killed),
        commands=before.commands + 1,
        killed=killed,
    )
