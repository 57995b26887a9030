"""RabbitMQ's management API, where one is configured: what the protocol itself cannot say or set."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

import aiohttp
from yarl import URL

from ghcrawl.errors import ConfigError, QueueError
from queues.amqp_errors import place

TIMEOUT_S: Final = 10.0


class Management:
    """Asks for one virtual host, as the user that the URL names. Raises QueueError, ConfigError for bad credentials."""

    def __init__(self, url: str, vhost: str) -> None:
        parsed = URL(url)
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ConfigError("amqp.management_url must look like http://user:password@host:15672")
        self._at = place(parsed)
        self._base = str(parsed.with_user(None)).rstrip("/")
        account = f"{parsed.user or 'guest'}:{parsed.password or 'guest'}"
        self._headers = {"Authorization": f"Basic {b64encode(account.encode()).decode()}"}
        self._vhost = quote(vhost, safe="")

    async def unsettled(self) -> Mapping[str, int]:
        """Queue → messages that somebody holds, as of some seconds ago."""
        query = "columns=name,messages_unacknowledged"
        rows = await self._ask("GET", f"queues/{self._vhost}?{query}")
        return {row["name"]: row.get("messages_unacknowledged", 0) for row in rows}

    async def limit_deliveries(self, prefix: str, limit: int) -> None:
        """The broker sets aside what came back so often from one of our queues of work."""
        policy = {
            "pattern": f"^{prefix}\\.q\\.",
            "definition": {"delivery-limit": limit},
            "apply-to": "queues",
            "priority": 0,
        }
        await self._ask("PUT", f"policies/{self._vhost}/{quote(f'{prefix}-work', safe='')}", policy)

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        timeout = aiohttp.ClientTimeout(total=TIMEOUT_S)
        url = URL(f"{self._base}/api/{path}", encoded=True)
        try:
            async with (
                aiohttp.ClientSession(headers=self._headers, timeout=timeout) as session,
                session.request(method, url, json=body) as answer,
            ):
                if answer.status in (401, 403):
                    raise ConfigError(f"RabbitMQ's management API at {self._at} does not let this user do that")
                answer.raise_for_status()
                return await answer.json() if answer.content_length else None
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            raise QueueError(f"RabbitMQ's management API at {self._at} does not answer: {error}") from error
