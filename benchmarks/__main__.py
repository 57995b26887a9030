"""Run them: `python -m benchmarks`, or those named, with their options: `python -m benchmarks backlog --rounds 3`.

`amqp`, `backlog`, `deadletters`, `mongo`, `processes` and `webhooks` start servers, and so run only by name.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import takewhile

EMBEDDED = ("engine", "queue_pops", "queue_memory")


def main() -> int:
    """Each in a process of its own, because memory never shrinks."""
    status = 0
    names = list(takewhile(lambda word: not word.startswith("-"), sys.argv[1:]))
    options = sys.argv[1 + len(names) :]
    for name in names or EMBEDDED:
        print(f"== {name}", flush=True)
        status |= subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *options], check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
