"""A server between us and the real one, which answers some commands with an error as MongoDB words it.

The server of the tests knows no users, no full disks and no elections; what MongoDB says then is documented.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from bson import decode, encode

Ends: TypeAlias = tuple[asyncio.StreamReader, asyncio.StreamWriter]
HEADER: Final = struct.Struct("<iiii")
OP_MSG: Final = 2013
BODY: Final = HEADER.size + 5  # behind the flags and the kind of the first section
WRITES: Final = ("insert", "update", "delete", "createIndexes")

NOT_PRIMARY: Final = {"code": 10107, "codeName": "NotWritablePrimary", "errmsg": "not primary"}
BLOCKED: Final = {"code": 371, "codeName": "UserWritesBlocked", "errmsg": "User writes blocked"}
NO_SPACE: Final = {"code": 14031, "codeName": "OutOfDiskSpace", "errmsg": "No space left on device"}
WRONG_PASSWORD: Final = {"code": 18, "codeName": "AuthenticationFailed", "errmsg": "Authentication failed."}
NO_RIGHT: Final = {"code": 13, "codeName": "Unauthorized", "errmsg": "not authorized on ghcrawl to execute command"}
OTHER_OPTIONS: Final = {
    "code": 85,
    "codeName": "IndexOptionsConflict",
    "errmsg": "Index with name: urls already exists",
}


@dataclass
class Refusing:
    """refusals: command → the error it is answered with, for as long as it is here."""

    url: str
    refusals: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    hangs_up: bool = False

    def hang_up(self) -> None:
        """The next write breaks its connection instead of being answered."""
        self.hangs_up = True

    def refuse(self, error: Mapping[str, Any], *commands: str) -> None:
        """These commands, or all that write, are answered with that error."""
        self.refusals = dict.fromkeys(commands or WRITES, error)


@asynccontextmanager
async def refusing(upstream: str) -> AsyncIterator[Refusing]:
    """One in front of the server at `upstream`."""
    target, between = urlsplit(upstream), Refusing("")
    serving: dict[asyncio.Task[None], list[asyncio.StreamWriter]] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        ends = serving[task] = [writer]
        with suppress(asyncio.IncompleteReadError, OSError):
            theirs, ours = await asyncio.open_connection(target.hostname, target.port)
            ends.append(ours)
            await _relay(between, (reader, writer), (theirs, ours))
        for end in ends:
            end.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    between.url = f"mongodb://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield between
    finally:
        server.close()
        for end in [end for ends in serving.values() for end in ends]:
            end.transport.abort()
        await asyncio.gather(*serving)
        await server.wait_closed()


async def _relay(between: Refusing, client: Ends, upstream: Ends) -> None:
    """Question by question, until one of them is gone."""
    while True:
        message = await _message(client[0])
        command = _command(message)
        if between.hangs_up and command in WRITES:
            between.hangs_up = False
            return
        if command in between.refusals:
            answer = _refusal(message, between.refusals[command])
        else:
            upstream[1].write(message)
            answer = await _message(upstream[0])
        client[1].write(answer)


async def _message(reader: asyncio.StreamReader) -> bytes:
    header = await reader.readexactly(HEADER.size)
    return header + await reader.readexactly(HEADER.unpack(header)[0] - HEADER.size)


def _command(message: bytes) -> str:
    """What is asked; empty for how a connection begins."""
    if HEADER.unpack_from(message)[3] != OP_MSG:
        return ""
    (size,) = struct.unpack_from("<i", message, BODY)
    return next(iter(decode(message[BODY : BODY + size])))


def _refusal(message: bytes, error: Mapping[str, Any]) -> bytes:
    body = bytes(5) + encode({"ok": 0.0, **error})
    return HEADER.pack(HEADER.size + len(body), 0, HEADER.unpack_from(message)[1], OP_MSG) + body
