"""GitHub's memory of webhook deliveries: of Apps (asked as the App itself), of organisations and of repositories.

Names, as in the settings: `app:ID` for the webhook of a GitHub App, `ORG`, `OWNER/REPO`. An owner may have webhooks
of others, too; ours are those that lead to our own URL. Tokens need the right to read and test them (`admin:org_hook`
or `admin:repo_hook`; "Webhooks: write" of a fine-grained one).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

from ghcrawl.fetch.github.fetcher import GitHubFetcher
from ghcrawl.fetch.redaction import REDACTOR
from ghcrawl.ports.webhooks import ApiFailure, Attempt, Page
from ghcrawl.values.errors import ConfigError, FetchError
from ghcrawl.values.jsontext import Json
from ghcrawl.values.outcome import Fetched, Pending, Retrieved, Throttled
from ghcrawl.values.requests import Context, Request
from ghcrawl.values.times import moment

APP: Final = "app:"
MAX_LISTS: Final = 10
"""Pages of webhooks; an owner may have 20 for each event."""
MAX_GUID: Final = 128
"""Longest id and event name that are kept: both come from outside."""


_NAME: Final = re.compile(r"app:[A-Za-z0-9_.-]+|[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)?")


def demand_names(names: Sequence[str], webhook_url: str, *, apps: Iterable[str]) -> None:
    """Raises ConfigError for names whose webhooks cannot be asked for. apps: ids of those that have a private key."""
    known = {f"{APP}{app}" for app in apps}
    for name in names:
        if not _NAME.fullmatch(name):
            raise ConfigError(f"service.redeliver: {name!r} is not app:ID, the name of an organisation, or OWNER/REPO")
        if name.startswith(APP) and name not in known:
            raise ConfigError(f"service.redeliver: {name} is not in github.apps; add it there with its private key")
        if not name.startswith(APP) and not webhook_url:
            raise ConfigError(f"service.redeliver contains {name}, which requires service.webhook_url; set it")


class GitHubHooks:
    """Asks through `fetcher`, and so within all limits. webhook_url: ours, as GitHub knows it."""

    def __init__(self, fetcher: GitHubFetcher, api_url: str, names: Sequence[str], webhook_url: str) -> None:
        self.names = tuple(names)
        self._fetcher = fetcher
        self._api_url = api_url.rstrip("/")
        self._webhook_url = webhook_url.rstrip("/")

    async def found(self, name: str) -> Sequence[str] | ApiFailure:
        """As the port says: `app:ID`, or the URL of each webhook that leads to us."""
        if name.startswith(APP):
            return (name,)
        url = f"{self._api_url}/{'repos' if '/' in name else 'orgs'}/{name}/hooks"
        ours: list[str] = []
        cursor = f"{url}?per_page=100"
        for _ in range(MAX_LISTS):
            came = await self._list(url, cursor)
            if isinstance(came, ApiFailure):
                return came
            ours += [f"{url}/{hook['id']}" for hook in _objects(came.body) if self._is_ours(hook)]
            cursor = came.link.get("next", "")
            if not cursor:
                break
        return ours or ApiFailure(kind="refused", detail=f"{name} has no webhook that leads to {self._webhook_url}")

    async def page(self, hook: str, cursor: str) -> Page | ApiFailure:
        """As the port says. What no delivery looks like is left out."""
        came = await self._list(hook, cursor or f"{self._deliveries(hook)}?per_page=100")
        if isinstance(came, ApiFailure):
            return came
        attempts = tuple(one for each in _objects(came.body) if (one := _attempt(each)) is not None)
        return Page(attempts=attempts, next=came.link.get("next", ""))

    async def redeliver(self, hook: str, id: int) -> ApiFailure | None:
        """As the port says."""
        came = await self._ask("POST", hook, f"{self._deliveries(hook)}/{id}/attempts")
        return came if isinstance(came, ApiFailure) else None

    def _deliveries(self, hook: str) -> str:
        return f"{self._api_url}/app/hook/deliveries" if hook.startswith(APP) else f"{hook}/deliveries"

    def _is_ours(self, hook: Mapping[str, Any]) -> bool:
        config = hook.get("config")
        url = config.get("url") if isinstance(config, dict) else None
        return isinstance(hook.get("id"), int) and isinstance(url, str) and url.rstrip("/") == self._webhook_url

    async def _list(self, hook: str, url: str) -> Fetched | ApiFailure:
        came = await self._ask("GET", hook, url)
        return ApiFailure(kind="away", detail=f"{url} is not ready") if isinstance(came, Pending) else came

    async def _ask(self, method: Literal["GET", "POST"], hook: str, url: str) -> Fetched | Pending | ApiFailure:
        """The answer to a credential that administers `hook`. Work that GitHub accepts for later is pending."""
        try:
            came = await self._retrieved(method, hook, url)
        except FetchError as error:
            return ApiFailure(kind="away", detail=str(error))
        match came:
            case Fetched() | Pending():
                return came
            case Throttled():
                return ApiFailure(kind="away", detail=f"{url} is asked when there is quota ({came.reason})")
            case _:
                said = getattr(came, "detail", "") or type(came).__name__
                return ApiFailure(kind="refused", detail=REDACTOR.text(f"{method} {url}: {said}"))

    async def _retrieved(self, method: Literal["GET", "POST"], hook: str, url: str) -> Retrieved:
        if hook.startswith(APP):
            return await self._fetcher.as_app(hook.removeprefix(APP), method, url)
        scope = hook.removeprefix(f"{self._api_url}/").partition("/hooks")[0].partition("/")[2]
        request = Request(
            platform="github", type="hook", url=url, policy="always", context=Context(scope=scope, private=True)
        )
        return await (self._fetcher.post(request) if method == "POST" else self._fetcher.fetch(request, None))


def _objects(body: Json) -> Sequence[Mapping[str, Any]]:
    return [each for each in body if isinstance(each, dict)] if isinstance(body, list) else ()


def _attempt(found: Mapping[str, Any]) -> Attempt | None:
    """None: it is no attempt, or not over yet."""
    id, guid, status, code = (found.get(name) for name in ("id", "guid", "status", "status_code"))
    arrived = status == "OK" or (isinstance(code, int) and 200 <= code < 300)
    if not isinstance(id, int) or not isinstance(guid, str) or not (arrived or status or code):
        return None
    try:
        at = moment(found["delivered_at"])
    except (KeyError, TypeError, ValueError):
        return None
    return Attempt(id=id, guid=guid[:MAX_GUID], at=at, arrived=arrived, event=str(found.get("event", ""))[:MAX_GUID])
