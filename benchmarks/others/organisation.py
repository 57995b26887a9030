"""A simulated GitHub as a process of its own, told by lines on its standard input what to do: `World` talks to it."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any, Final

from msgspec import Struct

TOKEN: Final = "ghp_peers00000000000000000000000000000000"
ORG: Final = "acme"
PUBLIC: Final = "https://api.github.com"
PLENTY: Final = 1_000_000
"""Calls per hour: no tool ever waits for quota."""
CHANGES: Final = 5


class World(Struct, frozen=True, kw_only=True):
    """One organisation. url: where it listens."""

    url: str
    _input: IO[str]
    _output: IO[str]

    def ask(self, command: str) -> Mapping[str, Any]:
        """`counts`, `clear` (the counts), `change` (five new comments) or `repos`."""
        self._input.write(f"{command}\n")
        self._input.flush()
        answer: Mapping[str, Any] = json.loads(self._output.readline())
        return answer


@contextmanager
def organisation(size: int, *, public: bool) -> Iterator[World]:
    """An organisation of about `size` things. public: the URLs in its answers are GitHub's own."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    argv = [sys.executable, "-m", __name__, str(size), str(port), PUBLIC if public else ""]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        world = World(url=f"http://127.0.0.1:{port}", _input=process.stdin, _output=process.stdout)
        world.ask("clear")  # answered as soon as it listens
        yield world
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


async def serve(size: int, port: int, public_url: str) -> None:
    """Answers until standard input ends."""
    # Whoever only talks to it needs none of this, and stays small: a child's peak memory counts from its parent's.
    from ghcrawl.simulator.github.generation.generate import generate  # noqa: PLC0415
    from ghcrawl.simulator.github.generation.size import WorldSize  # noqa: PLC0415
    from ghcrawl.simulator.github.run import running  # noqa: PLC0415
    from ghcrawl.simulator.github.server import Server, Setup  # noqa: PLC0415

    world = generate(WorldSize.about(size), seed=0)
    member = next(iter(world.org(ORG).members.values())).user
    setup = Setup(tokens={TOKEN: world.principal(member.login, limit=PLENTY)}, public_url=public_url)

    def answer(server: Server, command: str) -> Mapping[str, Any]:
        match command:
            case "clear":
                server.journal.clear()
            case "change":
                change(server)
            case "repos":
                return {"repos": [repo.name for repo in world.repos_of(world.org(ORG))]}
        return {"total": server.journal.total, "charged": server.journal.charged}

    def change(server: Server) -> None:
        from ghcrawl.simulator.github.changes.issues import comment  # noqa: PLC0415

        plain = [(repo, one) for repo in world.repos_of(world.org(ORG)) for one in repo.issues.values() if not one.pull]
        for repo, issue in plain[:: max(1, len(plain) // CHANGES)][:CHANGES]:
            comment(server.world, repo, issue, by=member)

    async with running(world, setup, port=port) as server:
        while command := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(answer(server, command.strip())), flush=True)


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
