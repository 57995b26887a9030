"""Run them: `python -m benchmarks`, or those named. `amqp` and `mongo` start servers, and so run only by name."""

from __future__ import annotations

import subprocess
import sys

EMBEDDED = ("engine", "queue_pops", "queue_memory")


def main() -> int:
    """Each in a process of its own, because memory never shrinks."""
    status = 0
    for name in sys.argv[1:] or EMBEDDED:
        print(f"== {name}", flush=True)
        status |= subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
