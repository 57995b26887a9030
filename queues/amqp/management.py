"""RabbitMQ's management API, where one is configured. Nothing depends on it: what only it can tell is then unknown."""

from __future__ import annotations

import asyncio
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote, unquote

import aiohttp
import structlog
from yarl import URL

from ghcrawl.values.errors import QueueError
from ghcrawl.values.jsontext import loads
from queues.amqp.connection import checked_url, parsed
from queues.amqp.errors import place
from queues.amqp.settings import AmqpSettings

log = structlog.stdlib.get_logger(__name__)

LOOK_S: Final = 2.0
"""For a question, which a scrape of metrics waits for."""
SET_S: Final = 10.0
AGAIN_S: Final = 30.0
"""The pause after a question that failed."""


class Management:
    """The API for one virtual host. Raises ConfigError for an invalid URL.

    A path in the URL that is only the virtual host, as KEDA wants it, is not the path of the API.
    """

    def __init__(self, url: str, vhost: str) -> None:
        api = checked_url(url, "amqp.management_url", ("http", "https"), "http://user:password@host:15672")
        is_vhost = unquote(api.raw_path.removeprefix("/")) in (vhost, f"{vhost}/")
        self._base = f"{api.origin()}{'' if is_vhost else api.raw_path.rstrip('/')}"
        self._at = place(api)
        self._user = api.user or "guest"
        account = f"{self._user}:{api.password or 'guest'}"
        self._headers = {"Authorization": f"Basic {b64encode(account.encode()).decode()}"}
        self._vhost = quote(vhost, safe="")
        self._lost_at: float | None = None

    async def unsettled(self) -> Mapping[str, int]:
        """Queue → its unacknowledged messages, as of some seconds ago; empty while that is unknown."""
        now = asyncio.get_running_loop().time()
        if self._lost_at is not None and now - self._lost_at < AGAIN_S:
            return {}
        path = f"queues/{self._vhost}?columns=name,messages_unacknowledged"
        try:
            rows = await self._ask("GET", path, right="management", within_s=LOOK_S)
            found = {str(row["name"]): int(row.get("messages_unacknowledged", 0)) for row in rows}
        except (QueueError, TypeError, KeyError, ValueError, AttributeError) as error:
            if self._lost_at is None:
                said = str(error) if isinstance(error, QueueError) else f"{self._at} does not list queues"
                log.warning("management_lost", error=said)
            self._lost_at = now
            return {}
        if self._lost_at is not None:
            log.info("management_back", api=self._at)
            self._lost_at = None
        return found

    async def limit_deliveries(self, prefix: str, limit: int) -> None:
        """Set a policy: the broker sets aside what came back that often, if this user may say so."""
        definition = {"delivery-limit": limit}
        policy = {"pattern": f"^{prefix}\\.q\\.", "definition": definition, "apply-to": "queues", "priority": 0}
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
                text = await answer.read()  # without a length in its headers: a proxy may have removed it
                return loads(text) if text.strip() else None
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            said = str(error) or type(error).__name__
            raise QueueError(f"RabbitMQ's management API at {self._at} does not answer: {said}") from error


def managed(settings: AmqpSettings) -> Management | None:
    """The API that `settings` name, if any. Connects nowhere. Raises ConfigError for invalid URLs."""
    vhost = parsed(settings).path.removeprefix("/") or "/"
    return Management(settings.management_url, vhost) if settings.management_url else None
