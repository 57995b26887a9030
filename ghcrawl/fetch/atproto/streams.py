"""Streams of the AT Protocol: events from a Jetstream, or from the firehose of repositories.

Both tell the same: `{did, time_us, kind, commit | identity | account}`, the form of a Jetstream. A Jetstream repeats
the event at its cursor, the firehose starts behind it.
"""

from __future__ import annotations

import asyncio
import json
from abc import ABC, abstractmethod
from base64 import b64encode
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.ports.stream import Batch
from ghcrawl.values.errors import ConfigError, FetchError, StreamRefused
from ghcrawl.values.lazy import lazily
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.times import moment

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = lazily("aiohttp")

TOLD: Final = frozenset({"#commit", "#sync", "#identity", "#account"})
"""Frames with events; others are ignored, as the protocol asks."""
FIREHOSE: Final = "com.atproto.sync.subscribeRepos"
CONNECT_S: Final = 10.0
HEARTBEAT_S: Final = 30.0
CLOSE_S: Final = 0.5
GATHER_S: Final = 0.25
"""How long events are gathered into one batch."""
GATHERED: Final = 200
MAX_MESSAGE_BYTES: Final = 8_000_000
_PASSING: Final = frozenset({408, 425, 429})
"""Refusals that pass."""

Event = dict[str, Any]
Translate = Callable[[Event], Iterator[Push]]


class _SocketStream(ABC):
    """The port `Stream` on a WebSocket.

    pushes: what an event becomes here. dids: whose events; empty: everybody's. since: where "from now on" starts.
    missed: what asks for that which happened before a first connection, where the stream itself cannot be asked.
    """

    def __init__(
        self,
        url: str,
        pushes: Translate,
        *,
        dids: Sequence[str] = (),
        since: datetime | None = None,
        missed: Sequence[Request] = (),
    ) -> None:
        self._url = url
        self._pushes = pushes
        self._dids = dids
        self._since = since
        self._missed = tuple(missed)

    async def read(self, cursor: str) -> AsyncGenerator[Batch, None]:
        """As the port says."""
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
        try:
            async with (
                aiohttp.ClientSession(timeout=timeout) as session,
                session.ws_connect(
                    self._address(cursor),
                    heartbeat=HEARTBEAT_S,
                    max_msg_size=MAX_MESSAGE_BYTES,
                    timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_S),
                ) as socket,
            ):
                if (first := self._first(cursor)) is not None:
                    cursor = first.cursor
                    yield first
                async for messages in _gathered(socket):
                    batch = self._batch(messages, cursor)
                    cursor = batch.cursor
                    yield batch
        except aiohttp.WSServerHandshakeError as error:
            raise _refusal(error, self._url) from None
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            text = REDACTOR.text(str(error) or type(error).__name__)
            raise FetchError(f"the stream {self._url} broke: {text}", url=self._url) from None

    def _first(self, cursor: str) -> Batch | None:
        """The cursor that a connection starts from; None: live events."""
        return Batch(pushes=(), cursor="", missed=self._missed) if self._missed and not cursor else None

    def _batch(self, messages: Sequence[Any], cursor: str) -> Batch:
        pushes: list[Push] = []
        lost = ""
        for message in messages:
            for told in self._events(message, cursor):
                if isinstance(told, str):
                    lost = told
                    continue
                at, event = told
                cursor = at
                if not self._dids or event.get("did") in self._dids:
                    pushes += self._pushes(event)
        return Batch(pushes=tuple(pushes), cursor=cursor, lost=lost)

    @abstractmethod
    def _address(self, cursor: str) -> str:
        """Where to connect to."""

    @abstractmethod
    def _events(self, message: Any, cursor: str) -> Iterator[tuple[str, Event] | str]:
        """The events in a message, each with its cursor; or why some are missing. Raises FetchError, StreamRefused."""


async def _gathered(socket: aiohttp.ClientWebSocketResponse) -> AsyncGenerator[Sequence[Any], None]:
    """Messages in batches of those that arrive together; ends with the connection."""
    while True:
        first = await socket.receive()
        if first.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY):
            return
        messages, ended = [first.data], False
        try:
            async with asyncio.timeout(GATHER_S):
                while len(messages) < GATHERED and not ended:
                    following = await socket.receive()
                    ended = following.type not in (aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY)
                    messages += [] if ended else [following.data]
        except TimeoutError:
            pass
        yield messages
        if ended:
            return


def _refusal(error: aiohttp.WSServerHandshakeError, url: str) -> FetchError | StreamRefused:
    said = f"the stream {url} answered {error.status} {error.message}"
    if 400 <= error.status < 500 and error.status not in _PASSING:
        return StreamRefused(said, status=error.status)
    return FetchError(said, url=url, status=error.status)


class Jetstream(_SocketStream):
    """Posts as JSON, of the accounts that are asked for. Its cursors are moments, so it can start at any moment."""

    def _first(self, cursor: str) -> Batch | None:
        if cursor or self._since is None:
            return super()._first(cursor)
        return Batch(pushes=(), cursor=self._beginning)

    @property
    def _beginning(self) -> str:
        return str(int(self._since.timestamp() * 1_000_000)) if self._since else ""

    def _address(self, cursor: str) -> str:
        cursor = cursor or self._beginning
        params = [("wantedCollections", "app.bsky.feed.post"), *(("wantedDids", did) for did in self._dids)]
        params += [("cursor", cursor)] if cursor else []
        return f"{self._url}{'&' if '?' in self._url else '?'}{urlencode(params)}"

    def _events(self, message: Any, cursor: str) -> Iterator[tuple[str, Event] | str]:
        try:
            event = json.loads(message)
            at = int(event["time_us"])
        except (ValueError, KeyError, TypeError):
            raise FetchError("the stream said what is no event", url=self._url) from None
        if not cursor or at > int(cursor):  # a cursor is inclusive
            yield str(at), event


class Firehose(_SocketStream):
    """Commits of all repositories of a server, or of a whole network, as it signed them. Raises ConfigError."""

    def __init__(
        self,
        url: str,
        pushes: Translate,
        *,
        dids: Sequence[str] = (),
        since: datetime | None = None,
        missed: Sequence[Request] = (),
    ) -> None:
        super().__init__(url, pushes, dids=dids, since=since, missed=missed)
        try:
            import libipld  # noqa: PLC0415  # an extra
        except ImportError:
            raise ConfigError("the firehose needs an extra: pip install 'ghcrawl[firehose]'") from None
        self._ipld = libipld

    def _address(self, cursor: str) -> str:
        return f"{self._url}?{urlencode({'cursor': cursor})}" if cursor else self._url

    def _events(self, message: Any, cursor: str) -> Iterator[tuple[str, Event] | str]:
        try:
            header, body = self._ipld.decode_dag_cbor_multi(message)
            yield from self._told(header, body, cursor)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise FetchError("the stream said what is no frame", url=self._url) from None

    def _told(self, header: Any, body: Any, cursor: str) -> Iterator[tuple[str, Event] | str]:
        if header.get("op") != 1:
            raise self._failure(body)
        kind = header.get("t")
        if kind == "#info" and body.get("name") == "OutdatedCursor":
            yield "the server forgot what came behind the cursor"
        if kind not in TOLD:
            return
        at, did = str(body.get("seq", cursor)), body.get("repo") or body.get("did")
        time_us = int(moment(body["time"]).timestamp() * 1_000_000)
        told = {"did": did, "time_us": time_us}
        commits = [*self._commits(body)] if kind == "#commit" else []
        for commit in commits:
            yield at, {**told, "kind": "commit", "commit": commit}
        if not commits:
            name = str(kind).removeprefix("#")
            yield at, {**told, "kind": name, name: {key: body.get(key) for key in ("active", "status", "handle")}}

    def _failure(self, body: Any) -> FetchError | StreamRefused:
        name = str(body.get("error", "")) if isinstance(body, dict) else ""
        said = f"the stream {self._url} ended with {name or 'an error'}"
        return StreamRefused(said) if name == "FutureCursor" else FetchError(said, url=self._url)

    def _commits(self, body: Any) -> Iterator[dict[str, Any]]:
        """The changes of a commit, with the records that it made."""
        blocks = self._ipld.decode_car(body["blocks"])[1] if body.get("blocks") else {}
        for change in body.get("ops", ()):
            collection, _, rkey = str(change.get("path", "")).partition("/")
            commit = {"operation": change.get("action"), "collection": collection, "rkey": rkey}
            if (cid := change.get("cid")) in blocks:
                commit |= {"cid": self._cid(cid), "record": self._json(blocks[cid])}
            yield commit

    def _cid(self, cid: Any) -> str:
        return cid if isinstance(cid, str) else str(self._ipld.encode_cid(cid))

    def _json(self, value: Any) -> Any:
        """`value` in the JSON of the protocol: links and bytes are objects."""
        if isinstance(value, dict):
            return {name: self._json(each) for name, each in value.items()}
        if isinstance(value, list):
            return [self._json(each) for each in value]
        if isinstance(value, bytes):
            try:
                return {"$link": self._cid(value)}
            except ValueError:
                return {"$bytes": b64encode(value).decode().rstrip("=")}
        return value


def stream_of(
    url: str,
    pushes: Translate,
    *,
    dids: Sequence[str] = (),
    since: datetime | None = None,
    missed: Sequence[Request] = (),
) -> Jetstream | Firehose:
    """The stream behind `url`: the firehose goes by its method, everything else is a Jetstream. Raises ConfigError."""
    made = Firehose if url.rstrip("/").endswith(FIREHOSE) else Jetstream
    return made(url.rstrip("/"), pushes, dids=dids, since=since, missed=missed)
