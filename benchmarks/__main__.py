"""Run them: `python -m benchmarks`, or those named, with their options: `python -m benchmarks backlog --rounds 3`."""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections.abc import Iterable, Sequence
from itertools import takewhile
from pathlib import Path
from textwrap import fill
from typing import Final

EMBEDDED: Final = ("engine", "queue_pops", "queue_memory", "choosing")
AT_LENGTH: Final = ("freshness", "month", "peers", "tables")
ON_SERVERS: Final = ("amqp", "backlog", "deadletters", "mongo", "organisation", "processes", "webhooks")
ALL: Final = (*EMBEDDED, *ON_SERVERS, *AT_LENGTH)
WITHOUT_OPTIONS: Final = ("engine", "mongo")
HELP: Final = ("-h", "--help")

TAUGHT: Final = """\
Each compares two things in one run and says how they relate. Without a name these run, which need
nothing but this machine:

{embedded}

These run only by name, because they start servers, or use those that GHCRAWL_TEST_AMQP_URL and
GHCRAWL_TEST_MONGO_URL name:

{on_servers}

And these, because they take up to a quarter of an hour:

{at_length}

Options go to all that are named before them:

  python -m benchmarks backlog --help
  python -m benchmarks backlog --rounds 3
"""


def main() -> int:
    """Each in a process of its own, because memory never shrinks."""
    status, chosen = 0, wanted(sys.argv[1:])
    for name, *options in chosen:
        if len(chosen) > 1:  # the output of one may be read by a program
            print(f"== {name}", flush=True)
        status |= subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *options], check=False).returncode
    return status


def wanted(words: Sequence[str]) -> Sequence[Sequence[str]]:
    """The benchmarks that somebody means, each with its options. Helps and exits; exits with 2 where there is none."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        usage="%(prog)s [-h] [name ...] [options]",
        description=TAUGHT.format(
            embedded=_table(EMBEDDED), on_servers=_table(ON_SERVERS), at_length=_table(AT_LENGTH)
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", help=argparse.SUPPRESS)
    names = list(takewhile(lambda word: not word.startswith("-"), words))
    options = words[len(names) :]
    if not names:
        parser.parse_args(options)
    for name in names:
        if name not in ALL:
            parser.error(f"there is no benchmark {name!r}, but " + ", ".join(sorted(ALL)))
        if options and name in WITHOUT_OPTIONS:
            if options[0] in HELP:
                print(_docstring(name))
                parser.exit()
            parser.error(f"{name} takes no options")
    return [(name, *options) for name in names or EMBEDDED]


def _table(names: Iterable[str]) -> str:
    """What each measures, in the words it begins with itself."""
    return "\n".join(
        fill(_docstring(name).partition("\n")[0], 98, initial_indent=f"  {name:<14}", subsequent_indent=" " * 16)
        for name in names
    )


def _docstring(name: str) -> str:
    source = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(source)) or ""


if __name__ == "__main__":
    sys.exit(main())
