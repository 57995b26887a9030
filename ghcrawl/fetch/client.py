"""The one aiohttp session: bytes in, bytes out, and every failure of it as one error."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct
from multidict import CIMultiDictProxy
from yarl import URL

from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.ports.clock import Clock
from ghcrawl.values.errors import FetchError
from ghcrawl.values.lazy import lazily

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = lazily("aiohttp")

MAX_HEADER_BYTES: Final = 32_768
"""`Link` headers with cursors grow long."""


class Answer(Struct, frozen=True, kw_only=True):
    """An answer. body: None where it was larger than allowed. Moments are by our clock."""

    url: str
    status: int
    headers: CIMultiDictProxy[str]
    body: bytes | None
    asked_at: datetime
    started: float
    ended: float

    @property
    def seconds(self) -> float:
        """From asking to the last byte; never negative, even if the clock was set meanwhile."""
        return max(0.0, self.ended - self.started)


CONNECT_S: Final = 10.0


class Client:
    """Makes exactly one call for each time it is asked to.

    headers: of every call. max_body_bytes: of the decompressed body.
    """

    def __init__(
        self, clock: Clock, *, headers: Mapping[str, str], timeout_s: float = 60.0, max_body_bytes: int = 100_000_000
    ) -> None:
        self._clock = clock
        self._headers = {"Accept-Encoding": "gzip, deflate", **headers}
        self._timeout_s = timeout_s
        self._max_body_bytes = max_body_bytes
        self._session: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Calls can be made."""
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=self._timeout_s, sock_connect=CONNECT_S),
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
        )
        self._session._retry_connection = False  # noqa: SLF001  # a hidden second try is a call that no limit counts

    async def close(self) -> None:
        """Every connection is closed."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def ask(
        self, method: Literal["GET", "POST"], url: str, headers: Mapping[str, str], json: object = None
    ) -> Answer:
        """One call, redirects not followed. json: its body. Raises FetchError where no whole answer came."""
        assert self._session is not None, "the fetcher is not open"
        target = URL(url, encoded=url.isascii() and url.isprintable() and " " not in url)
        asked_at = self._clock.now()
        try:
            async with self._session.request(
                method, target, headers=headers, json=json, allow_redirects=False
            ) as response:
                body = await _body(response, self._max_body_bytes)
                return Answer(
                    url=url,
                    status=response.status,
                    headers=response.headers,
                    body=body,
                    asked_at=asked_at,
                    started=asked_at.timestamp(),
                    ended=self._clock.now().timestamp(),
                )
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            broken = _translated(error, method, url)
        # Raised out here, so that it carries no aiohttp error along: some of those hold the request's headers.
        raise broken


async def _body(response: aiohttp.ClientResponse, limit: int) -> bytes | None:
    """The decompressed body; None, and the connection closed, once it is longer than `limit`."""
    length = response.content_length
    if length is not None and length > limit:
        response.close()
        return None
    if length is not None and "Content-Encoding" not in response.headers:
        return await response.read()
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.content.iter_any():
        size += len(chunk)
        if size > limit:
            response.close()
            return None
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def _translated(error: Exception, method: str, url: str) -> FetchError:
    text = "" if isinstance(error, aiohttp.ClientResponseError) else str(error)
    reason = "timed out" if isinstance(error, asyncio.TimeoutError) else text or "the connection broke off"
    return FetchError(REDACTOR.text(f"no answer from {method} {url}: {reason}"), url=url)
