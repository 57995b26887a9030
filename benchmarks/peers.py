"""ghcrawl beside the tools that people copy GitHub with today: calls, time, memory, things, and what a kill costs.

    python -m benchmarks peers [--size 2500] [--only NAME,…] [--json]

Prints the tables of docs/performance.md. Each tool is installed from PyPI in a virtual environment of its own under
--cache, and copies the same simulated organisation: once; again, unchanged; again, after five new comments; and once
killed half-way by SIGKILL and begun again by the same command. The first runs have the machine to themselves, the
others share it two at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Final

from benchmarks.others.measuring import Begun, Measured, begin, finish, installed
from benchmarks.others.organisation import organisation
from benchmarks.others.printing import tables
from benchmarks.others.tools import TOOLS, Tool

SIZE: Final = 2500
AT_ONCE: Final = 2
CACHE: Final = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ghcrawl" / "peers"


def main() -> None:
    """Run and print."""
    options = read_options(sys.argv[1:])
    with tempfile.TemporaryDirectory(prefix="ghcrawl-peers-") as folder:
        measured = run(options.only, options.cache, Path(folder), options.size)
    if options.json:
        print(json.dumps([asdict(each) | {"things": each.things} for each in measured]))
    else:
        print(tables(measured))


def read_options(words: Sequence[str]) -> argparse.Namespace:
    """What was typed. Helps and exits; exits with 2 where nobody has that name."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=SIZE, metavar="N", help="about so many things")
    parser.add_argument("--only", type=_named, default=TOOLS, metavar="NAME;…", help="these tools")
    parser.add_argument("--cache", type=Path, default=CACHE, metavar="DIR", help="where tools are installed")
    parser.add_argument("--json", action="store_true", help="all figures, as one line")
    return parser.parse_args(words)


def _named(names: str) -> Sequence[Tool]:
    known = {tool.name: tool for tool in TOOLS}
    try:
        return [known[name] for name in names.split(";")]
    except KeyError as error:
        raise argparse.ArgumentTypeError(f"there is no {error}, but {'; '.join(known)}") from None


def run(tools: Sequence[Tool], cache: Path, folder: Path, size: int) -> Sequence[Measured]:
    """Each of them, in that order. One that cannot be installed is left out, and told of."""
    with ExitStack() as worlds, ThreadPoolExecutor(AT_ONCE) as pool:
        begun: list[Begun] = []
        for tool in tools:
            try:
                programs = installed(tool, cache)
            except subprocess.CalledProcessError:
                print(f"{tool.name} cannot be installed and is left out", file=sys.stderr)
                continue
            world = worlds.enter_context(organisation(size, public=tool.redirected))
            begun.append(begin(tool, programs, folder / tool.name, world))
            took = begun[-1].took
            print(f"{tool.name}: {took.wall_s:.1f} s, {took.peak_mb:.0f} MB", file=sys.stderr, flush=True)
        return list(pool.map(lambda each: finish(each, folder / each.use.tool.name, size), begun))


if __name__ == "__main__":
    main()
