"""The `Stream` port for Mastodon: server-sent events or a WebSocket, and what was missed by REST.

A host replays nothing. So a reading connects first and then asks the timeline for what is newer than the cursor, which
is the greatest id that was told. What comes twice by that is told once. Every stream needs a token.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple
from urllib.parse import quote, urlsplit

from msgspec import Struct

from ghcrawl.fetch.mastodon.answers import SCHEME
from ghcrawl.fetch.mastodon.fetcher import USER_AGENT, MastodonFetcher, web_url
from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.ports.stream import Batch
from ghcrawl.values.errors import FetchError, StreamRefused
from ghcrawl.values.jsontext import MAX_DEPTH, loads
from ghcrawl.values.lazy import lazily
from ghcrawl.values.outcome import Denied, Fetched, Missing, Refused, Throttled
from ghcrawl.values.requests import Push, Request

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = lazily("aiohttp")

Transport = Literal["sse", "websocket"]
SILENCE_S: Final = 60.0
"""A host sends a sign of life every 15 seconds."""
CONNECT_S: Final = 10.0
MAX_EVENT_BYTES: Final = 4_000_000
QUIET: Final = 500
"""After this many irrelevant events, the cursor is reported without any."""
NEW: Final = "update"
"""The event of a new status; others report changes to one."""


class Happened(NamedTuple):
    """One event: its name and its payload, JSON or an id."""

    event: str
    payload: str


class Subscription(Struct, frozen=True, kw_only=True):
    """A stream of `host`. channel: `hashtag` (with its tag) or `public`; timeline: URL of the same by REST."""

    host: str
    channel: str
    timeline: str
    tag: str = ""


Tell = Callable[[str, Any, datetime], Sequence[Push]]
"""Pushes for an event's name and body, at a moment; none for events that are not asked for."""


class MastodonStream:
    """One subscription. tell: pure."""

    def __init__(
        self,
        fetcher: MastodonFetcher,
        subscription: Subscription,
        tell: Tell,
        *,
        transport: Transport = "sse",
    ) -> None:
        self._fetcher = fetcher
        self._asked = subscription
        self._tell = tell
        self._transport = transport

    async def read(self, cursor: str) -> AsyncGenerator[Batch, None]:
        """As the port says."""
        newest, missed, quiet = int(cursor or 0), set[int](), 0
        async with self._connected() as events:
            if not cursor:
                newest = int(self._fetcher.clock.now().timestamp() * 1000) << 16
                yield Batch(pushes=(), cursor=str(newest))
            else:
                async for page in self._missed(newest):
                    missed |= {_id(body) for body in page}
                    newest = max(newest, *missed)
                    yield Batch(pushes=self._told(NEW, page), cursor=str(newest))
            async for happened in events:
                body = _body(happened.payload)
                if happened.event == NEW and _id(body) in missed:
                    continue
                newest = max(newest, _id(body) if happened.event == NEW else 0)
                pushes = self._told(happened.event, [body])
                quiet = 0 if pushes else quiet + 1
                if pushes or quiet % QUIET == 0:
                    yield Batch(pushes=pushes, cursor=str(newest))

    def _told(self, event: str, bodies: Sequence[Any]) -> tuple[Push, ...]:
        now = self._fetcher.clock.now()
        return tuple(push for body in bodies for push in self._tell(event, body, now))

    # What was missed ----------------------------------------------------------------------------------------------

    async def _missed(self, cursor: int) -> AsyncIterator[Sequence[Any]]:
        """Pages of what is newer than the cursor, the oldest first. Raises FetchError, StreamRefused."""
        url = f"{self._asked.timeline}&min_id={cursor}"
        while url:
            fetched = await self._ask(url)
            page = [each for each in fetched.body if _id(each)] if isinstance(fetched.body, list) else []
            if not page:
                return
            yield sorted(page, key=_id)
            url = fetched.link.get("prev", "")

    async def _ask(self, url: str) -> Fetched:
        answer = await self._fetcher.fetch(Request(platform=SCHEME, type="timeline", url=url), None)
        match answer:
            case Fetched():
                return answer
            case Denied() | Missing() | Refused():
                raise StreamRefused(f"{url} is not shown: {answer.detail}", status=answer.status)
            case Throttled(reason="no_principal"):
                raise StreamRefused(f"{self._asked.host} accepts no token that there is for it", status=401)
            case _:
                raise FetchError(f"{url} cannot be asked now", url=url)

    # Connections --------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[AsyncIterator[Happened]]:
        """Events as they happen, for as long as the block lasts. Raises FetchError, StreamRefused."""
        slot = next((slot for slot in self._fetcher.hosts.at(self._asked.host).order("") if slot.token), None)
        if slot is None:
            raise StreamRefused(f"streams of {self._asked.host} need a token, and there is none that it accepts")
        base = await self._base()
        timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_S, sock_read=SILENCE_S)
        headers = {"User-Agent": USER_AGENT, **slot.authorization}
        failed: FetchError | None = None
        try:
            async with aiohttp.ClientSession(headers=headers, timeout=timeout) as session:
                opened = self._events(session, base) if self._transport == "sse" else self._socket(session, base)
                async with opened as events:
                    yield events
        except aiohttp.WSServerHandshakeError as error:
            failed = _status(base, error.status, "the WebSocket was refused")
        except (TimeoutError, aiohttp.ClientError, OSError) as error:
            failed = FetchError(REDACTOR.text(f"no events from {base}: {type(error).__name__}"), url=base)
        if failed is not None:
            raise failed  # out here, so that it carries no headers along

    async def _base(self) -> str:
        """Where the host streams, if that is its own or below it; a token goes nowhere else."""
        answer = await self._ask(f"{SCHEME}://{self._asked.host}/api/v2/instance")
        said: Any = answer.body
        for name in ("configuration", "urls", "streaming"):
            said = said.get(name, {}) if isinstance(said, Mapping) else {}
        place = urlsplit(said if isinstance(said, str) else "").netloc
        mine, theirs = urlsplit(f"//{self._asked.host}").hostname, urlsplit(f"//{place}").hostname or ""
        own = theirs == mine or theirs.endswith(f".{mine}")
        return web_url(f"{SCHEME}://{place if own else self._asked.host}")

    @asynccontextmanager
    async def _events(self, session: aiohttp.ClientSession, base: str) -> AsyncIterator[AsyncIterator[Happened]]:
        tag = f"?tag={quote(self._asked.tag, safe='')}" if self._asked.tag else ""
        url = f"{base}/api/v1/streaming/{self._asked.channel}{tag}"
        async with session.get(url, allow_redirects=False) as response:
            if response.status != 200:
                raise _status(url, response.status, "the stream was refused")
            yield parsed(response.content.iter_any())
            response.close()

    @asynccontextmanager
    async def _socket(self, session: aiohttp.ClientSession, base: str) -> AsyncIterator[AsyncIterator[Happened]]:
        url = f"{base.replace('http', 'ws', 1)}/api/v1/streaming"
        async with session.ws_connect(url, heartbeat=SILENCE_S / 2, max_msg_size=MAX_EVENT_BYTES) as socket:
            tag = {"tag": self._asked.tag} if self._asked.tag else {}
            await socket.send_json({"type": "subscribe", "stream": self._asked.channel, **tag})
            yield _messages(socket, url)


async def parsed(chunks: AsyncIterator[bytes]) -> AsyncIterator[Happened]:
    """The events in a body of server-sent events."""
    rest, event, data = b"", "", list[str]()
    async for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) + sum(map(len, data)) > MAX_EVENT_BYTES:
            raise FetchError("an event is larger than may be read", url="")
        for raw in lines:
            line = raw.decode("utf-8", "replace").rstrip("\r")
            name, _, value = line.partition(":")
            if name == "event":
                event = value.removeprefix(" ")
            elif name == "data":
                data.append(value.removeprefix(" "))
            elif not line and event:
                yield Happened(event, "\n".join(data))
                event, data = "", []


async def _messages(socket: aiohttp.ClientWebSocketResponse, url: str) -> AsyncIterator[Happened]:
    async for message in socket:
        if message.type is aiohttp.WSMsgType.TEXT and (happened := said_in(message.data, url)) is not None:
            yield happened


def said_in(text: str, url: str) -> Happened | None:
    """The event in a message; None: there is none. Raises FetchError, StreamRefused for one that says what failed."""
    try:
        said = loads(text.encode(), max_depth=MAX_DEPTH)
    except ValueError:
        return None
    if not isinstance(said, Mapping):
        return None
    if "error" in said:
        status = said.get("status")
        raise _status(url, status if isinstance(status, int) else 400, str(said["error"])[:200])
    event, payload = said.get("event"), said.get("payload")
    return Happened(str(event), payload if isinstance(payload, str) else "") if event else None


def _status(url: str, status: int, what: str) -> FetchError:
    """The error of a connection that was answered like that. Raises StreamRefused where no patience helps."""
    if 400 <= status < 500 and status not in (408, 429):
        raise StreamRefused(REDACTOR.text(f"{url} answered {status}: {what}"), status=status)
    return FetchError(REDACTOR.text(f"{url} answered {status}: {what}"), url=url, status=status)


def _body(payload: str) -> Any:
    try:
        return loads(payload.encode(), max_depth=MAX_DEPTH)
    except ValueError:
        return payload


def _id(body: Any) -> int:
    """Of a status; 0: it is none."""
    text = str(body.get("id", "")) if isinstance(body, Mapping) else ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 30 else 0
