"""Real answers and webhooks of GitHub, recorded by others and installed from the registries when a test asks for them.

Nothing of them is kept in this repository: PyGithub's recordings are in its source distribution, octokit's in the npm
packages `@octokit/fixtures` and `@octokit/webhooks-examples`. All are fetched once into the cache folder of this
checkout's environment.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from tests.support.archives import extract
from tests.support.services.debian import alone

PYGITHUB = "PyGithub==2.10.0"
FIXTURES = "@octokit/fixtures@23.1.2"
WEBHOOKS = "@octokit/webhooks-examples@7.6.1"
CACHE = Path(sys.prefix) / "recordings"
API = "https://api.github.com"
TRIES = 3


class Exchange(Struct, frozen=True, kw_only=True):
    """One recorded question and its answer. path: with its query, below the API's root."""

    source: str
    method: str
    path: str
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        """The answer's JSON; None where it is none."""
        try:
            return json.loads(self.text)
        except ValueError:
            return None

    @property
    def link(self) -> dict[str, str]:
        """rel → URL of the answer's Link header."""
        header = self.headers.get("link", "")
        return {rel: url for url, rel in re.findall(r'<([^>]*)>;\s*rel="?(\w+)"?', header)}


def pygithub() -> list[Exchange]:
    """Every exchange in PyGithub's source distribution."""
    folder = installed("pygithub", _download_pygithub)
    files = sorted(folder.glob("*/tests/ReplayData/*.txt"))
    assert files, "PyGithub's source distribution has no recordings any more"
    return [exchange for path in files for exchange in _read_replay(path)]


class Hook(Struct, frozen=True, kw_only=True):
    """The payload of one webhook delivery."""

    event: str
    number: int
    payload: dict[str, Any]


def webhooks() -> list[Hook]:
    """Every payload in octokit's examples of github.com's webhooks."""
    folder = installed("webhooks", lambda into: _download_npm(WEBHOOKS, into))
    events = json.loads((folder / "package/api.github.com/index.json").read_text(encoding="utf-8"))
    return [
        Hook(event=event["name"], number=number, payload=payload)
        for event in events
        for number, payload in enumerate(event["examples"])
    ]


def octokit() -> list[Exchange]:
    """Every exchange in octokit's fixtures, as normalised by them."""
    folder = installed("octokit", _download_octokit)
    files = sorted(folder.glob("package/scenarios/api.github.com/*/normalized-fixture.json"))
    assert files, "@octokit/fixtures has no scenarios any more"
    return [_read_nock(path, entry) for path in files for entry in json.loads(path.read_text(encoding="utf-8"))]


def installed_npm(name: str, package: str) -> Path:
    """The folder with `package`, kept under `name`."""
    return installed(name, lambda into: _download_npm(package, into))


def installed(name: str, download: Any) -> Path:
    """The folder of that name; made from what `download` fetches, by one process, if it is not there."""
    folder = CACHE / name
    CACHE.mkdir(exist_ok=True)
    with alone(folder.with_suffix(".lock")):
        if not folder.exists():
            partial = CACHE / f"{name}.partial"
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            extract(download(partial), partial)
            partial.rename(folder)
    return folder


def _download_pygithub(folder: Path) -> Path:
    return download_sdist(PYGITHUB, folder)


def download_sdist(requirement: str, folder: Path) -> Path:
    """The source distribution that `requirement` names, with its hash where it says one."""
    asked = folder / "requirements.txt"
    asked.write_text(f"{requirement}\n", encoding="utf-8")
    arguments = ["download", "-q", "--no-deps", "--no-binary", ":all:", "-d", str(folder), "-r", str(asked)]
    reason = ""
    for _ in range(TRIES):  # pip itself does not repeat a download that breaks off in the middle
        done = subprocess.run([sys.executable, "-m", "pip", *arguments], check=False, capture_output=True, text=True)
        if not done.returncode:
            return next(folder.glob("*.tar.gz"))
        reason = done.stderr.strip()
    raise RuntimeError(f"{requirement} could not be downloaded: {reason}")


def _download_octokit(folder: Path) -> Path:
    return _download_npm(FIXTURES, folder)


def _download_npm(package: str, folder: Path) -> Path:
    npm = shutil.which("npm")
    assert npm, f"npm is needed to install the package {package} (Debian: apt-get install npm)"
    subprocess.run([npm, "pack", "--silent", package], check=True, cwd=folder, capture_output=True, text=True)
    return next(folder.glob("*.tgz"))


def _read_replay(path: Path) -> Iterator[Exchange]:
    """Ten lines and an empty one for each exchange; a body that was streamed is several lines of base64."""
    lines = path.read_text(encoding="utf-8").split("\n")
    at = 0
    while at + 9 < len(lines):
        if lines[at] == "":
            at += 1
            continue
        block = lines[at : at + 10]
        at += 10
        while at < len(lines) and lines[at] != "":
            block[9] += lines[at]
            at += 1
        at += 1
        yield Exchange(
            source=path.stem,
            method=block[1],
            path=block[4].removeprefix(API),
            status=int(block[7]),
            headers=_headers(ast.literal_eval(block[8])),
            text=block[9],
        )


def _read_nock(path: Path, entry: Mapping[str, Any]) -> Exchange:
    response = entry.get("response", "")
    return Exchange(
        source=path.parent.name,
        method=entry["method"].upper(),
        path=entry["path"],
        status=entry["status"],
        headers=_headers(entry.get("headers") or {}),
        text=response if isinstance(response, str) else json.dumps(response),
    )


def _headers(raw: Any) -> dict[str, str]:
    pairs = raw.items() if isinstance(raw, Mapping) else raw
    return {str(name).lower(): value if isinstance(value, str) else str(value) for name, value in pairs}
