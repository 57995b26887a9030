"""Processes that end with this one, even if this one is killed: a child keeps them and cleans up when we are gone.

The child is told what to start through a pipe. The pipe ends when this process ends, by whatever cause; the child then
kills everything that was ever started under it, daemons included (it is their subreaper), and removes the folder.
"""

from __future__ import annotations

import ctypes
import io
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Final

ROOT: Final = Path(__file__).parents[3]
PR_SET_CHILD_SUBREAPER: Final = 36
PATIENCE_S: Final = 20.0
QUESTIONS: Final = io.FileIO(0, closefd=False)
"""The child's end of the pipe, unbuffered, or `select` would lie."""


class Keeper:
    """A folder, and processes that live no longer than this object. Linux only."""

    def __init__(self, name: str) -> None:
        self.folder = Path(mkdtemp(prefix=f"ghcrawl-{name}-"))
        command = [sys.executable, "-m", "tests.support.services.keeper", str(self.folder)]
        self._child = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._ask({})

    def run(self, command: Sequence[str], *, log: Path, environment: Mapping[str, str]) -> int:
        """Start `command` in a process group of its own. Returns its pid, which is the group's number too."""
        answer = self._ask({"command": list(command), "log": str(log), "environment": dict(environment)})
        if "error" in answer:
            raise RuntimeError(f"{command[0]}: {answer['error']}")
        return int(answer["pid"])

    def close(self) -> None:
        """Everything that was started is gone, and the folder too."""
        assert self._child.stdin is not None
        with suppress(BrokenPipeError):
            self._child.stdin.close()
        self._child.wait(PATIENCE_S)
        assert self._child.stdout is not None
        self._child.stdout.close()

    def _ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(json.dumps(question) + "\n")
        self._child.stdin.flush()
        answer: dict[str, Any] = json.loads(self._child.stdout.readline() or '{"error": "the keeper is gone"}')
        return answer


def alive(pid: int) -> bool:
    """Whether that process is there; the keeper leaves no zombies for longer than a moment."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def end(pid: int, how: signal.Signals = signal.SIGKILL) -> None:
    """The process group `pid` got that signal and is gone. Raises TimeoutError."""
    with suppress(ProcessLookupError):
        os.killpg(pid, how)
    deadline = time.monotonic() + PATIENCE_S
    while alive(pid):
        if time.monotonic() > deadline:
            raise TimeoutError(f"process {pid} does not end")
        time.sleep(0.02)


# The child ---------------------------------------------------------------------------------------------------


def keep(folder: Path) -> None:
    """Start what is asked for until the pipe ends; then end it all."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for harmless in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(harmless, signal.SIG_IGN)  # Ctrl-C reaches us too, and is our parent's to handle
    try:
        while _serve():
            _reap()
    finally:
        while children := _descendants(os.getpid()):
            for pid in children:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)
            _reap()
        shutil.rmtree(folder, ignore_errors=True)


def _serve() -> bool:
    """Answer one question, if there is one by now. Returns whether there may be more."""
    if not select.select([QUESTIONS], [], [], 0.05)[0]:
        return True
    line = QUESTIONS.readline()
    if not line:
        return False
    question = json.loads(line)
    answer: dict[str, Any] = {}
    if question:
        try:
            answer["pid"] = _start(**question)
        except OSError as error:
            answer["error"] = str(error)
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
    return True


def _start(command: list[str], log: str, environment: dict[str, str]) -> int:
    with Path(log).open("ab") as output:
        started = subprocess.Popen(
            command,
            cwd=Path(log).parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_plain_signals,  # noqa: PLW1509  # there are no threads here
        )
    started.returncode = 0  # it is reaped by `_reap`, not by the object
    return started.pid


def _plain_signals() -> None:
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_DFL)


def _reap() -> None:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _descendants(pid: int) -> list[int]:
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    found, level = [], [pid]
    while level:
        level = [child for parent in level for child in parents.get(parent, [])]
        found += level
    return found


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
