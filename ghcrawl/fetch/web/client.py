"""The two aiohttp sessions: one for the public internet, one for addresses that a person allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from multidict import CIMultiDictProxy
from yarl import URL

from ghcrawl.fetch.web.addresses import PrivateAddressError
from ghcrawl.fetch.web.body import CODINGS, TooLarge, read_body
from ghcrawl.fetch.web.settings import WebSettings
from ghcrawl.values.errors import FetchError
from ghcrawl.values.lazy import lazily

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = lazily("aiohttp")

CONNECT_S = 10.0
READ_S = 15.0
"""The longest silence in the middle of an answer."""
ACCEPT = "text/html, application/xhtml+xml, application/atom+xml, application/rss+xml, application/xml;q=0.9, */*;q=0.5"


class Answer(NamedTuple):
    """An answer. body: empty unless the status is 200; refused: why the body was not read; empty: it was.

    rendered: the body is UTF-8, as the page's scripts left it.
    """

    status: int
    headers: CIMultiDictProxy[str]
    body: bytes
    refused: str = ""
    rendered: bool = False


class NotPublic(ValueError):
    """The address may not be asked."""


class WebClient:
    """Makes exactly one call for each time it is asked to; follows no redirect."""

    def __init__(self, settings: WebSettings) -> None:
        self._settings = settings
        self._guarded: aiohttp.ClientSession | None = None
        self._open: aiohttp.ClientSession | None = None

    async def open(self) -> None:
        """Calls can be made."""
        from ghcrawl.fetch.web.resolver import PublicResolver  # noqa: PLC0415  # it loads aiohttp

        self._guarded = self._session(aiohttp.TCPConnector(limit=0, resolver=PublicResolver()))
        self._open = self._session(aiohttp.TCPConnector(limit=0))

    def _session(self, connector: aiohttp.TCPConnector) -> aiohttp.ClientSession:
        settings = self._settings
        session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            headers={"User-Agent": settings.user_agent, "Accept": ACCEPT, "Accept-Encoding": CODINGS},
            timeout=aiohttp.ClientTimeout(total=settings.timeout_s, connect=CONNECT_S, sock_read=READ_S),
            max_line_size=32_768,
            max_field_size=32_768,
        )
        session._retry_connection = False  # noqa: SLF001  # a hidden second try is a call that no pause precedes
        return session

    async def close(self) -> None:
        """Every connection is closed."""
        for session in (self._guarded, self._open):
            if session is not None:
                await session.close()

    async def ask(self, url: str, headers: Mapping[str, str], *, private: bool) -> Answer:
        """One call. private: the address need not be public.

        Raises NotPublic, and FetchError without a status where no whole answer came.
        """
        session = self._open if private else self._guarded
        assert session is not None, "the fetcher is not open"
        try:
            async with session.get(URL(url), headers=headers, allow_redirects=False) as response:
                return await self._answer(response)
        except PrivateAddressError as error:
            raise NotPublic(str(error)) from None
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, PrivateAddressError):
                raise NotPublic(str(error.os_error)) from None
            broken = _translated(error, url)
        except (TimeoutError, aiohttp.ClientError, OSError, ValueError) as error:
            broken = _translated(error, url)
        raise broken

    async def _answer(self, response: aiohttp.ClientResponse) -> Answer:
        if response.status != 200:
            response.close()
            return Answer(response.status, response.headers, b"")
        try:
            return Answer(200, response.headers, await read_body(response, self._settings.max_body_bytes))
        except TooLarge:
            response.close()
            return Answer(200, response.headers, b"", f"larger than {self._settings.max_body_bytes:,} bytes")
        except ValueError as error:
            response.close()
            return Answer(200, response.headers, b"", str(error))


def _translated(error: Exception, url: str) -> FetchError:
    kind = "timed out" if isinstance(error, asyncio.TimeoutError) else type(error).__name__
    text = str(error)
    return FetchError(f"no answer from GET {url}: {kind}{': ' if text else ''}{text}", url=url)
