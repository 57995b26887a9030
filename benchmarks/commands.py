"""What a command of `ghcrawl` costs, run as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

MEASURING: Final = """
import json, resource, subprocess, sys
status = subprocess.run([sys.executable, "-m", "ghcrawl", *sys.argv[1:]], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, used.ru_maxrss / 1_000]))
sys.exit(status)
"""
"""A small process: the peak of a child is never less than what its parent held when it began."""


class Cost(NamedTuple):
    """Of one command. cpu_s: of all its threads, which other work on the machine does not change."""

    s: float
    cpu_s: float
    peak_mb: float


def ghcrawl(*words: str | Path, environ: Mapping[str, str], folder: Path | None = None) -> Cost:
    """What one command costs. environ: variables to set. folder: where it runs; None: here."""
    began = time.perf_counter()
    command = [sys.executable, "-c", MEASURING, *map(str, words)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env={**os.environ, **environ}, cwd=folder)
    cpu_s, peak_mb = json.loads(done.stdout)
    return Cost(round(time.perf_counter() - began, 2), round(cpu_s, 2), round(peak_mb, 1))
