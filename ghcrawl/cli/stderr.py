"""Standard error: sentences for a person. On a terminal they break between words; elsewhere each is one line."""

from __future__ import annotations

import shlex
import shutil
import sys
import textwrap
from collections.abc import Sequence

from ghcrawl.cli.command_prefix import as_typed
from ghcrawl.cli.words import printable


def say(sentence: str, *, invented: bool = False) -> None:
    """A sentence. invented: the credentials in it are a simulator's, to be copied."""
    shown = sentence if invented else redacted(sentence)
    sys.stderr.write(f"{_broken(printable(shown))}\n")
    sys.stderr.flush()


def complain(sentence: str) -> None:
    """What went wrong: a line for each line of `sentence`."""
    for line in sentence.splitlines():
        say(f"ghcrawl: {line}")


def suggest(purpose: str, words: Sequence[str]) -> None:
    """A command to type, which starts with `ghcrawl`, as a line that can be copied."""
    sys.stderr.write(f"# {purpose}\n{redacted(as_typed(shlex.join(words)))}\n")
    sys.stderr.flush()


def _broken(sentence: str) -> str:
    if not sys.stderr.isatty():
        return sentence
    width = max(40, shutil.get_terminal_size().columns)
    return textwrap.fill(sentence, width, break_long_words=False, break_on_hyphens=False)


def redacted(text: str) -> str:
    """`text` without credentials. Where redaction was not loaded, none was ever read."""
    if "ghcrawl.fetch.redaction" not in sys.modules:
        return text
    from ghcrawl.fetch.redaction import REDACTOR  # noqa: PLC0415  # loaded already, and slow to load for --help

    return REDACTOR.text(text)
