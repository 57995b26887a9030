"""RabbitMQ's management API, where one is configured: what the protocol itself cannot say or set.

Nothing depends on it: while it does not answer, what only it can tell is not known, as without it.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

import aiohttp
import structlog
from yarl import URL

from ghcrawl.values.errors import ConfigError, QueueError
from ghcrawl.values.jsontext import loads
from queues.amqp.connection import UNREADABLE, parsed
from queues.amqp.errors import place
from queues.amqp.settings import AmqpSettings

log = structlog.stdlib.get_logger(__name__)

LOOK_S: Final = 2.0
"""A look at the queues has to be done in time for whoever scrapes it."""
SET_S: Final = 10.0
AGAIN_S: Final = 30.0
"""So long after a look that came to nothing, nobody looks again."""


class Management:
    """Asks for one virtual host, as the user that the URL names. Raises ConfigError for a URL that is none.

    A path in the URL that says only that virtual host, as KEDA wants it, is not the place of the API.
    """

    def __init__(self, url: str, vhost: str) -> None:
        try:
            parsed = URL(url)
        except ValueError:
            raise ConfigError(f"amqp.management_url {UNREADABLE}") from None  # its words may be the password's
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise ConfigError("amqp.management_url must look like http://user:password@host:15672")
        self._at = place(parsed)
        own = unquote(parsed.raw_path.removeprefix("/")) in (vhost, f"{vhost}/")
        path = "" if own else parsed.raw_path.rstrip("/")
        self._base = f"{parsed.origin()}{path}"
        self._user = parsed.user or "guest"
        account = f"{self._user}:{parsed.password or 'guest'}"
        self._headers = {"Authorization": f"Basic {b64encode(account.encode()).decode()}"}
        self._vhost = quote(vhost, safe="")
        self._lost_at: float | None = None

    async def unsettled(self) -> Mapping[str, int]:
        """Queue → messages that somebody holds, as of some seconds ago; nothing while that cannot be known."""
        now = asyncio.get_running_loop().time()
        if self._lost_at is not None and now - self._lost_at < AGAIN_S:
            return {}
        query = "columns=name,messages_unacknowledged"
        try:
            rows = await self._ask("GET", f"queues/{self._vhost}?{query}", right="management", within_s=LOOK_S)
            found = {str(row["name"]): int(row.get("messages_unacknowledged", 0)) for row in rows}
        except (QueueError, TypeError, KeyError, ValueError, AttributeError) as error:
            self._lose(str(error) if isinstance(error, QueueError) else f"{self._at} does not list queues")
            return {}
        if self._lost_at is not None:
            log.info("management_back", api=self._at)
            self._lost_at = None
        return found

    def _lose(self, error: str) -> None:
        if self._lost_at is None:
            log.warning("management_lost", error=error)
        self._lost_at = asyncio.get_running_loop().time()

    async def limit_deliveries(self, prefix: str, limit: int) -> None:
        """The broker sets aside what came back so often from one of our queues of work, if this user may say so."""
        policy = {
            "pattern": f"^{prefix}\\.q\\.",
            "definition": {"delivery-limit": limit},
            "apply-to": "queues",
            "priority": 0,
        }
        path = f"policies/{self._vhost}/{quote(f'{prefix}-work', safe='')}"
        try:
            await self._ask("PUT", path, policy, right="policymaker", within_s=SET_S)
        except QueueError as error:
            log.warning("delivery_limit_not_set", error=str(error))

    async def _ask(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, *, right: str, within_s: float
    ) -> Any:
        timeout = aiohttp.ClientTimeout(total=within_s)
        url = URL(f"{self._base}/api/{path}", encoded=True)
        try:
            async with (
                aiohttp.ClientSession(headers=self._headers, timeout=timeout) as session,
                session.request(method, url, json=body) as answer,
            ):
                if answer.status in (401, 403):
                    raise QueueError(
                        f"RabbitMQ's management API at {self._at} does not let {self._user!r} do that: check its "
                        f"password, and that it has the tag {right!r} (rabbitmqctl set_user_tags)"
                    )
                answer.raise_for_status()
                text = await answer.read()  # whatever its headers say: a proxy may have taken its length away
                return loads(text) if text.strip() else None
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            said = str(error) or type(error).__name__
            raise QueueError(f"RabbitMQ's management API at {self._at} does not answer: {said}") from error


def managed(settings: AmqpSettings) -> Management | None:
    """The API that `settings` name, if any. Asks nobody. Raises ConfigError for URLs that nobody could connect to."""
    vhost = parsed(settings).path.removeprefix("/") or "/"
    return Management(settings.management_url, vhost) if settings.management_url else None
