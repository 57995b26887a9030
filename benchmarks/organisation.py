"""What the first crawl of an organisation costs the worker, in the embedded file and on RabbitMQ and MongoDB.

    python -m benchmarks organisation [--size 10000] [--beside ANOTHER_TREE]

`ghcrawl crawl` runs against a simulated GitHub in another process. Prints CPU seconds, start included, and as ratios:
servers by file, and with `--beside` this tree by another one, a check-out of another version.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Final
from uuid import uuid4

from benchmarks.commands import ghcrawl
from benchmarks.servers import servers

ROUNDS: Final = 3
HERE: Final = Path(__file__).parents[1]
UNHURRIED: Final = {"GHCRAWL_GITHUB__CALLS_PER_MIN": "0", "GHCRAWL_GITHUB__RESPONSE_S_PER_MIN": "0"}


@contextmanager
def simulated(size: int) -> Iterator[Mapping[str, str]]:
    """Run a simulated GitHub of about `size` things. Yields the environment variables for a crawl of it."""
    command = [sys.executable, "-m", "ghcrawl", "simulate", "--size", str(size), "--port", "0", "--tokens", "5"]
    process = subprocess.Popen(command, cwd=HERE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        tokens: list[str] = []
        for line in process.stderr:
            words = line.split()
            tokens += [word for word in words[:1] if word.startswith("ghp_")]
            if "--api-url" in words:
                url = words[words.index("--api-url") + 1]
                yield {"GHCRAWL_TOKENS": ";".join(tokens), "GHCRAWL_GITHUB__API_URL": url, **UNHURRIED}
                return
        raise RuntimeError("the simulator ended before it answered")
    finally:
        process.terminate()
        process.wait()


def cpu_s(tree: Path, environ: Mapping[str, str]) -> float:
    """CPU seconds of one crawl by the code in `tree`."""
    with tempfile.TemporaryDirectory() as folder:
        return ghcrawl(
            "crawl", "acme", "--quiet", environ={**environ, "PYTHONPATH": str(tree)}, folder=Path(folder)
        ).cpu_s


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000)
    parser.add_argument("--beside", type=Path, help="a working tree of another version")
    given = parser.parse_args()
    trees = [HERE, *([given.beside.resolve()] if given.beside else [])]
    found: dict[tuple[Path, str], list[float]] = {(tree, on): [] for tree in trees for on in ("file", "servers")}
    with simulated(given.size) as world, servers() as ours:
        for _ in range(ROUNDS):
            for (tree, on), seconds in found.items():
                shared = ours.environment(f"bench{uuid4().hex[:8]}") if on == "servers" else {}
                seconds.append(cpu_s(tree, {**world, **shared}))
    s = {key: median(seconds) for key, seconds in found.items()}
    print(f"servers: {s[HERE, 'servers'] / s[HERE, 'file']:.2f} of the CPU of the embedded file", flush=True)
    for (tree, on), other in s.items():
        if tree != HERE:
            print(f"{on}: {s[HERE, on] / other:.2f} of the CPU of {tree}")
    print(", ".join(f"{on} {each:.1f} s" for (_, on), each in s.items()))


if __name__ == "__main__":
    main()
