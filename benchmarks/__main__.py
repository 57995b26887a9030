"""Run them all: `python -m benchmarks`."""

from __future__ import annotations

import subprocess
import sys

ALL = ("engine", "queue_pops", "queue_memory")


def main() -> int:
    """Each in a process of its own, because memory never shrinks."""
    status = 0
    for name in ALL:
        print(f"== {name}", flush=True)
        status |= subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
