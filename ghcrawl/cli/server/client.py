"""Asks the admin API of a service. What goes wrong is one line that says what to do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from ghcrawl import __version__
from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.values.errors import ConfigError, StoreError
from ghcrawl.values.jsontext import dumps, loads
from ghcrawl.values.lazy import lazily

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = lazily("aiohttp")

VARIABLE: Final = "GHCRAWL_ADMIN_TOKEN"
TIMEOUT_S: Final = 60.0

Parameters = Sequence[tuple[str, str]]


class Client:
    """One service, over HTTP. Its token is sent to no other host: redirects are not followed."""

    def __init__(self, url: str, session: aiohttp.ClientSession) -> None:
        self.url = url
        self._session = session

    async def get(self, path: str, parameters: Parameters = ()) -> Any:
        """The JSON there. Raises ConfigError, StoreError."""
        found = await self.find(path, parameters)
        if found is None:
            raise ConfigError(f"{self.url} has no {path}; check that it is a ghcrawl service of this version")
        return found

    async def find(self, path: str, parameters: Parameters = ()) -> Any | None:
        """The same; None where there is no such thing."""
        return await self._ask("GET", path, parameters)

    async def send(self, method: str, path: str, body: Any = None, *, parameters: Parameters = ()) -> Any:
        """What the service says to that. Raises ConfigError, StoreError."""
        found = await self._ask(method, path, parameters, body)
        if found is None:
            raise ConfigError(f"{self.url} has no {path}")
        return found

    async def _ask(self, method: str, path: str, parameters: Parameters, body: Any = None) -> Any | None:
        headers = {"Content-Type": "application/json"} if body is not None else {}
        data = None if body is None else dumps(body)
        try:
            async with self._session.request(
                method, self.url + path, params=list(parameters), data=data, headers=headers, allow_redirects=False
            ) as response:
                return await self._read(response)
        except aiohttp.ClientConnectorError as error:
            why = (
                "connection refused" if isinstance(error.os_error, ConnectionRefusedError) else error.strerror or error
            )
            raise ConfigError(f"cannot reach {self.url}: {why}; check that `ghcrawl serve` runs there") from None
        except (aiohttp.ClientError, TimeoutError) as error:
            raise StoreError(f"no response from {self.url}: {str(error) or type(error).__name__}") from error

    async def _read(self, response: aiohttp.ClientResponse) -> Any | None:
        raw = await response.read()
        try:
            value = loads(raw) if raw else None
        except ValueError:
            value = None
        if response.status < 300 and value is not None:
            return value
        if response.status == 404 and response.content_type == "application/problem+json":
            return None
        detail = value.get("detail", "") if isinstance(value, Mapping) else ""
        raise self._error(response.status, str(detail))

    def _error(self, status: int, detail: str) -> ConfigError | StoreError:
        if status == 401 and "Authorization" not in self._session.headers:
            return ConfigError(f"{self.url} requires a token: put one of its admin tokens into {VARIABLE}")
        if status == 401:
            return ConfigError(f"{self.url} rejects the token in {VARIABLE}: {detail}")
        if 400 <= status < 500 and detail:
            return ConfigError(detail)
        if status >= 500:
            return StoreError(f"{self.url}: {detail or f'it answered {status}'}")
        return ConfigError(f"{self.url} answered {status}; check that it is a ghcrawl service")


def segment(text: str) -> str:
    """`text` as one part of a path."""
    return quote(text, safe=":")


@asynccontextmanager
async def connected(url: str, environ: Mapping[str, str]) -> AsyncIterator[Client]:
    """A client of the service at `url`. Raises ConfigError for what is no URL."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError(f"{url} is not the URL of a service; write http://HOST:3000")
    if parts.username or parts.password:
        raise ConfigError(f"the URL contains a password; remove it and put a token into {VARIABLE}")
    token = environ.get(VARIABLE, "").split(";")[0].partition("#")[0].strip()
    headers = {"User-Agent": f"ghcrawl/{__version__}"}
    if token:
        REDACTOR.add(token)
        headers["Authorization"] = f"Bearer {token}"
    timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
    async with aiohttp.ClientSession(headers=headers, timeout=timeout, trust_env=True) as session:
        yield Client(url.rstrip("/"), session)
