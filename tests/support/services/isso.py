"""An isso, the comment server, from PyPI in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import Request, urlopen

from msgspec import Struct

from tests.support.services.debian import Unavailable, alone, cache
from tests.support.services.network import free_ports, until

RELEASE = "isso==0.14.0"
CONFIG = """[general]
dbpath = {folder}/comments.db
host = {sites}
[server]
listen = http://127.0.0.1:{port}/
[guard]
enabled = false
"""


class Isso(Struct, frozen=True):
    """A comment server that answers at `url`."""

    url: str

    def comment(self, page: str, text: str, author: str, parent: int | None = None) -> int:
        """One more comment on the page at the path `page`; its number."""
        body = {"text": text, "author": author, "title": "A post", "parent": parent}
        request = Request(
            f"{self.url}/new?uri={quote(page, safe='')}",
            json.dumps(body).encode(),
            {"Content-Type": "application/json", "Connection": "close"},
            method="POST",
        )
        return int(_answer(request)["id"])

    def count(self, page: str) -> int:
        """How many comments it counts on a page, replies included."""
        found = _answer(Request(f"{self.url}/?uri={quote(page, safe='')}", headers={"Connection": "close"}))
        return sum(1 + len(each["replies"]) for each in found["replies"])


def _answer(request: Request) -> Any:
    with urlopen(request, timeout=20) as answer:
        return json.load(answer)


@contextmanager
def isso(folder: Path, port: int, *sites: str) -> Iterator[Isso]:
    """A server for pages of `sites`, ended when the block is left. Raises Unavailable."""
    (conf := folder / "isso.conf").write_text(CONFIG.format(folder=folder, port=port, sites="\n    ".join(sites)))
    log = folder / "isso.log"
    with log.open("wb") as out:
        process = subprocess.Popen([_program(), "-c", str(conf), "run"], stdout=out, stderr=subprocess.STDOUT)
    try:
        failed = lambda: None if process.poll() is None else f"isso did not start: {log.read_text()[-1000:]}"  # noqa: E731
        until(lambda: _listens(port), failed=failed, patience_s=30.0)
        yield Isso(f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait()


def _listens(port: int) -> bool:
    try:
        with urlopen(Request(f"http://127.0.0.1:{port}/info", headers={"Connection": "close"}), timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def a_port() -> int:
    """A free one."""
    return free_ports(1)[0]


def _program() -> str:
    """Installed when a test asks for it first."""
    root = cache() / "isso"
    with alone(cache() / "isso.lock"):
        if not (root / RELEASE).exists():
            made = [sys.executable, "-m", "venv", "--clear", str(root)]
            for command in (made, [str(root / "bin/pip"), "install", RELEASE]):
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode:
                    raise Unavailable(f"{RELEASE} cannot be installed: {done.stderr.strip()[-500:]}")
            (root / RELEASE).touch()
    return str(root / "bin/isso")
