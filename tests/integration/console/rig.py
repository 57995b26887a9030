"""A service with a past and work to do, and what is needed to look at it. For tests that have no event loop."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError
from urllib.request import Request as HttpRequest
from urllib.request import urlopen

from msgspec import Struct

from ghcrawl.telemetry.history import RINGS, Point, Seen
from ghcrawl.values.deadletters import Deadletter
from ghcrawl.values.requests import Ancestor, Context
from tests.support.archives import extract
from tests.support.builders import a_deadletter, a_failure, a_request
from tests.support.cli import ROOT, fill
from tests.support.services.debian import Unavailable, alone, cache, install

OPERATOR: Final = "operator-token"
VIEWER: Final = "viewer-token"
MANY: Final = 10_000
GREW: Final = 240
"""Deadletters of the class that grew in the last hour, each of a thing that is there."""
AXE: Final = "axe-core@4.14.1"
PATIENCE_S: Final = 60.0
SIMULATED: Final = "ghp_simulated01" + "0" * 20


# Processes ----------------------------------------------------------------------------------------------------


@contextmanager
def command(*words: str, log: Path, **environ: str) -> Iterator[subprocess.Popen[bytes]]:
    """`ghcrawl` as a process, killed when the block is left. log: where it writes what it has to say."""
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "ghcrawl", *words],
            cwd=log.parent,
            env={**inherited, "PYTHONPATH": str(ROOT), **environ},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def until(found: Callable[[], Any], what: str) -> Any:
    """The first true value of `found`. Fails after a minute."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if value := found():
            return value
        time.sleep(0.05)
    raise AssertionError(f"{what} did not come about in {PATIENCE_S:g} s")


@contextmanager
def simulator(folder: Path, size: int, *words: str) -> Iterator[str]:
    """The URL of a simulated GitHub, or of what `words` say."""
    log = folder / "simulator.log"
    with command("simulate", "--port", "0", "--size", str(size), *(words or ("--tokens", "2")), log=log):
        yield until(lambda: next((line for line in log.read_text().split() if line.startswith("http://")), ""), "a URL")


class Service(Struct, frozen=True):
    """A running service."""

    url: str

    def ask(self, method: str, path: str, body: Any = None, token: str = OPERATOR) -> Any:
        """The JSON of a good answer. Raises HTTPError."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json", "Connection": "close"}
        request = HttpRequest(
            self.url + path, None if body is None else json.dumps(body).encode(), headers, method=method
        )
        with urlopen(request, timeout=PATIENCE_S) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def status_of(self, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers in lower case, and body of whatever is answered."""
        named = {name.replace("_", "-"): value for name, value in headers.items()} | {"Connection": "close"}
        try:
            with urlopen(HttpRequest(self.url + path, headers=named), timeout=PATIENCE_S) as answer:
                return answer.status, {name.lower(): value for name, value in answer.headers.items()}, answer.read()
        except HTTPError as error:
            with error:
                return error.code, {name.lower(): value for name, value in error.headers.items()}, error.read()

    def kinds(self) -> dict[str, int]:
        """How many deadletters there are of each class."""
        return dict(self.ask("GET", "/api/v1/deadletter-counts")["by_kind"])

    def until_done(self) -> None:
        """Return once nothing waits."""
        until(lambda: not any(queue["total"] for queue in self.ask("GET", "/api/v1/queues")["queues"]), "an end")


@contextmanager
def service(db: Path, *words: str, **environ: str) -> Iterator[Service]:
    """A service on the file `db`."""
    log = db.with_suffix(".log")
    known = {"GHCRAWL_ADMIN_TOKEN": f"{OPERATOR};{VIEWER}#read", "GHCRAWL_SQLITE__SYNCHRONOUS": "normal"}
    ports = ("--port", "0", "--metrics-port", "0")
    with command("serve", "--db", str(db), *ports, *words, log=log, **known, **environ) as process:

        def started() -> str:
            assert process.poll() is None, log.read_text()
            lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
            return next((line["url"] for line in lines if line["event"] == "service_started"), "")

        yield Service(until(started, "a service"))


# What is in it ------------------------------------------------------------------------------------------------


def deadletters(api: str, repo: str, real: list[str]) -> list[Deadletter]:
    """10,000 that were given up over three weeks, but for some of one class: lately, and requests that can succeed."""
    chance = random.Random(7)
    now = datetime.now(UTC)
    old = [_old(number, now, api, chance) for number in range(1, MANY - GREW)]
    turns = [(real[number % len(real)], POLICIES[number // len(real)]) for number in range(GREW)]
    new = [_new(number, now, repo, url, policy) for number, (url, policy) in enumerate(turns)]
    return [*old, *new, _hostile(now)]


def _old(number: int, now: datetime, api: str, chance: random.Random) -> Deadletter:
    kind, reason, status = chance.choice(
        [("http_500", "Internal Server Error", 500), ("http_404", "Not Found", 404), ("KeyError", "'node_id'", None)]
    )
    last = now - timedelta(hours=2 + chance.random() * 500)
    url = f"{api}/repos/acme/gone/issues/{number}"
    failure = a_failure(at=last, cause=kind, message=reason, status=status, worker="old:1")
    return a_deadletter(
        number,
        request=a_request(number, url=url),
        kind=kind,
        reason=reason,
        failures=(failure,),
        first_at=last,
        last_at=last,
    )


def _new(number: int, now: datetime, repo: str, url: str, policy: str) -> Deadletter:
    """Given up after five attempts, of which each said why. No two are the same request."""
    last = now - timedelta(seconds=7.0 * (number + 1))
    failures = tuple(
        a_failure(at=last - timedelta(seconds=ago), cause="http_502", message=f"Bad Gateway {ago}", status=502)
        for ago in (940, 310, 90, 20, 0)
    )
    page = f"{url.rpartition('/')[0]}?per_page=100"
    ancestors = (Ancestor("org", "https://api.example.test/orgs/acme"), Ancestor("issues", page))
    context = Context(history=ancestors, scope="acme", qualifier=repo)
    request = a_request(number, url=url, policy=policy, attempt=5, context=context)
    return a_deadletter(
        MANY + number,
        request=request,
        kind="http_502",
        reason="Bad Gateway",
        failures=failures,
        first_at=failures[0].at,
        last_at=last,
        traceback='Traceback (most recent call last):\n  File "decision.py", line 88, in decide\nFetchFailed: 502\n',
    )


POLICIES: Final = [f"{name}:{at}" for name in ("reload", "refresh", "default", "always") for at in ("issue", "self")]
HOSTILE: Final = "<img src=x onerror=\"document.title='broken in'\"><script>document.title='broken in'</script>"


def _hostile(now: datetime) -> Deadletter:
    """Somebody else's words, which are never to be anything but text."""
    failure = a_failure(at=now, cause="Malformed", message=HOSTILE, status=None, worker=HOSTILE)
    return a_deadletter(
        3 * MANY,
        request=a_request(3, url=f"https://evil.example.test/{HOSTILE}"),
        kind="Malformed",
        reason=HOSTILE,
        failures=(failure,),
        first_at=now,
        last_at=now,
        traceback=HOSTILE,
        raw=HOSTILE.encode(),
    )


def a_day() -> dict[str, Any]:
    """What replicas remember of a day: a backlog that grew at night and was worked off."""
    ring, now_s = RINGS["24h"], datetime.now(UTC).timestamp()
    steps = range(ring.start(now_s) - 86_400 + ring.step_s, ring.start(now_s), ring.step_s)
    points = []
    for number, at_s in enumerate(steps):
        waiting = round(4000 * max(0.0, math.sin(number / len(steps) * math.pi)))
        queues = {"event": 0, "immediate": 0, "soon": waiting // 10, "normal": waiting, "later": waiting // 2}
        seen = Seen(queues=queues, documents=1000 + number, deadletters=MANY, kinds={"http_502": GREW}, quota=0.4)
        done = {"settled": 6000, "saved": 4000, "calls": 700, "failed": 3, "throttled": 0}
        points.append(Point(at_s=at_s, seen=seen, done=done).to_json())
    return {"points": points}


def prepare(db: Path, api: str) -> None:
    """The file at `db` holds all those deadletters, and the history of a day."""
    web = f"{api}/repos/acme/web"
    with urlopen(f"{web}/issues?per_page=100&state=all", timeout=PATIENCE_S) as answer:
        real = [f"{web}/issues/{issue['number']}" for issue in json.load(answer)]
    with urlopen(web, timeout=PATIENCE_S) as answer:
        repo = f"urn:repo:{json.load(answer)['id']}"
    asyncio.run(fill(db, deadletters=deadletters(api, repo, real), history_24h=a_day()))


# What looks at it ---------------------------------------------------------------------------------------------


def chromium() -> str:
    """The path of the browser, installed if need be. Raises Unavailable."""
    install("chromium", command="chromium")
    found = shutil.which("chromium")
    if found is None:
        raise Unavailable("chromium is installed and cannot be found")
    return found


def axe() -> str:
    """The source of axe-core, from the registry once. Raises Unavailable."""
    folder = cache() / "axe-core"
    script = folder / "package" / "axe.min.js"
    with alone(cache() / "axe-core.lock"):
        if not script.exists():
            _fetch(folder)
    return script.read_text(encoding="utf-8")


def _fetch(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable(f"npm is needed to fetch {AXE} (apt-get install npm)")
    folder.mkdir(exist_ok=True)
    done = subprocess.run([npm, "pack", "--silent", AXE], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"npm pack {AXE} failed: {done.stderr.strip()[-500:]}")
    extract(next(folder.glob("*.tgz")), folder)
