"""One tool measured: a first run, two more, and one that is killed half-way and begun again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from benchmarks.others.counting import by_kind, numbers, total
from benchmarks.others.organisation import CHANGES, ORG, TOKEN, World, organisation
from benchmarks.others.running import Took, run
from benchmarks.others.tools import REDIRECT, Place, Tool
from ghcrawl.values.frozen import replace


class Measured(Struct, frozen=True, kw_only=True):
    """Calls are those that were charged.

    found: of the changes. repeated: calls that the killed run and its successor made more than the first run.
    lost: things of the first run that are not there after them.
    """

    name: str
    counted: Mapping[str, int]
    first: Took
    calls: int
    again: int
    changed: int
    found: int
    repeated: int
    lost: int

    @property
    def things(self) -> int:
        """All of them."""
        return total(self.counted)


def installed(tool: Tool, cache: Path) -> Path:
    """The folder with its programs, in a virtual environment of its own. Raises CalledProcessError."""
    if not tool.packages:
        return Path(sys.executable).parent
    home = cache / "+".join(tool.packages).replace("/", "_")
    python = home / "bin" / "python"
    uv = [sys.executable, "-m", "uv", "--quiet"]
    if not python.exists():
        subprocess.run([*uv, "venv", "--python", sys.executable, str(home)], check=True)
    subprocess.run([*uv, "pip", "install", "--compile-bytecode", "--python", str(python), *tool.packages], check=True)
    return home / "bin"


@dataclass(slots=True)
class Use:
    """One tool in one folder and one world."""

    tool: Tool
    world: World
    place: Place
    env: Mapping[str, str]

    @classmethod
    def of(cls, tool: Tool, programs: Path, folder: Path, world: World) -> Use:
        """In an empty folder, before the first run."""
        folder.mkdir(parents=True)
        place = Place(programs=programs, folder=folder, url=world.url, repos=world.ask("repos")["repos"])
        env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": ""}
        env |= {"PEER_API_URL": world.url, "PEER_ORG": ORG, "PEER_TOKEN": TOKEN, **tool.env}
        return cls(tool, world, place, env | ({"PYTHONPATH": str(REDIRECT)} if tool.redirected else {}))

    def run(self, until: Callable[[], bool] | None = None) -> tuple[Took, int]:
        """What it took, and how many calls it was charged."""
        self.world.ask("clear")
        began = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S")
        took = run(self.tool.run(self.place), folder=self.place.folder, env=self.env, until=until)
        self.place = replace(self.place, last=began)
        return took, self.world.ask("counts")["charged"]

    def counted(self) -> Mapping[str, int]:
        """What is in its output by now."""
        if self.tool.count is not None:
            command = self.tool.count(self.place)
            assert command.stdout is not None
            command.stdout.unlink(missing_ok=True)
            run(iter([command]), folder=self.place.folder, env=self.env)
        return by_kind(self.tool.found(self.place))


class Begun(Struct, frozen=True, kw_only=True):
    """A tool after its first run."""

    use: Use
    took: Took
    calls: int


def begin(tool: Tool, programs: Path, folder: Path, world: World) -> Begun:
    """The first run, which should have the machine to itself."""
    use = Use.of(tool, programs, folder / "whole", world)
    took, calls = use.run()
    return Begun(use=use, took=took, calls=calls)


def finish(begun: Begun, folder: Path, size: int) -> Measured:
    """The other runs; the killed one is in a world of its own that is alike."""
    use, calls = begun.use, begun.calls
    counted = use.counted()  # not earlier: the peak memory of a child starts at that of its parent
    _, again = use.run()
    use.world.ask("change")
    _, changed = use.run()
    found = use.counted().get("issue_comment", 0) - counted.get("issue_comment", 0)
    with organisation(size, public=use.tool.redirected) as world:
        use = Use.of(use.tool, use.place.programs, folder / "killed", world)
        _, before = use.run(until=lambda: world.ask("counts")["charged"] * 2 >= calls)
        use.place = replace(use.place, last="")
        _, after = use.run()
        left = use.counted()
    return Measured(
        name=use.tool.name,
        counted=counted,
        first=begun.took,
        calls=calls,
        again=again,
        changed=changed,
        found=min(CHANGES, found),
        repeated=before + after - calls,
        lost=sum(max(0, count - left.get(kind, 0)) for kind, count in numbers(counted)),
    )
