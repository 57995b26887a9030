"""The host's API: reading, with limits per account and per address, and streams for clients with a token."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.utils import format_datetime
from hashlib import blake2b
from typing import Any, Final, TypeVar

from aiohttp import web

from ghcrawl.simulator.answers import Answer, Refusal
from ghcrawl.simulator.mastodon.shapes import Shapes
from ghcrawl.simulator.mastodon.streams import Streaming
from ghcrawl.simulator.mastodon.world import Account, Status, World
from ghcrawl.simulator.serving import serving

T = TypeVar("T")
PERIOD: Final = timedelta(minutes=5)
INVALID: Final = Answer(status=401, body={"error": "The access token is invalid"})
ANONYMOUS: Final = Answer(status=401, body={"error": "This method requires an authenticated user"})
GONE: Final = Answer(status=404, body={"error": "Record not found"})


@dataclass(slots=True, kw_only=True)
class Setup:
    """tokens: token → whose. limit: calls in five minutes, of each account and of each address.

    closed: the API is for those with a token only. refusing: the answer to everything.
    """

    tokens: dict[str, str] = field(default_factory=dict)
    limit: int = 300
    closed: bool = False
    refusing: Answer | None = None


class Server:
    """One host. calls: what was asked, and the status it was answered with."""

    def __init__(self, world: World, base: str, setup: Setup) -> None:
        self.world = world
        self.url = base
        self.host = base.partition("//")[2]
        self.setup = setup
        self.calls: list[tuple[str, int]] = []
        self.streaming = Streaming(world, Shapes(world, base))
        self._shapes = Shapes(world, base)
        self._windows: dict[tuple[str, str], tuple[datetime, int]] = {}

    async def close(self) -> None:
        """Its streams end."""
        self.streaming.cut()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answers one call."""
        whose = self._whose(request)
        if request.path.startswith("/api/v1/streaming"):
            if not whose:
                return self._sent(request, Answer(status=401, body={"error": "Missing access token"}))
            return await self.streaming.serve(request)
        try:
            headers = self._charge(whose or "", request)
            known = whose is not None and (whose or not self.setup.closed)
            answer = self.setup.refusing or (self._answer(request) if known else INVALID)
        except Refusal as refusal:
            answer, headers = refusal.answer, dict(refusal.answer.headers)
        return self._sent(
            request, Answer(status=answer.status, body=answer.body, headers={**headers, **answer.headers})
        )

    def _whose(self, request: web.BaseRequest) -> str | None:
        """Whose token it is; empty: there is none; None: it is no good."""
        said = request.headers.get("Authorization", "")
        return self.setup.tokens.get(said.removeprefix("Bearer ")) if said else ""

    def _charge(self, whose: str, request: web.BaseRequest) -> dict[str, str]:
        """Count the call; what the headers say of the limit that is closest. Raises Refusal."""
        now, budgets = self.world.clock.now(), [("address", str(request.remote))]
        budgets += [("account", whose)] if whose else []
        left, ends = self.setup.limit, now + PERIOD
        for budget in budgets:
            end, used = self._windows.get(budget, (now, 0))
            end, used = (end, used) if end > now else (now + PERIOD, 0)
            self._windows[budget] = (end, used + 1)
            if self.setup.limit - used - 1 <= left:
                left, ends = self.setup.limit - used - 1, end
        headers = {
            "X-RateLimit-Limit": str(self.setup.limit),
            "X-RateLimit-Remaining": str(max(0, left)),
            "X-RateLimit-Reset": ends.isoformat(timespec="microseconds").replace("+00:00", "Z"),
        }
        if left < 0:
            raise Refusal(Answer(status=429, body={"error": "Too many requests"}, headers=headers))
        return headers

    def _sent(self, request: web.BaseRequest, answer: Answer) -> web.Response:
        body = json.dumps(answer.body).encode()
        headers = {**answer.headers, "Date": format_datetime(self.world.clock.now(), usegmt=True)}
        status = answer.status
        if status == 200:
            headers["ETag"] = f'W/"{blake2b(body, digest_size=16).hexdigest()}"'
            status = 304 if request.headers.get("If-None-Match") == headers["ETag"] else 200
        self.calls.append((request.path_qs, status))
        content = body if status != 304 else b""
        return web.Response(status=status, headers=headers, body=content, content_type="application/json")

    def _answer(self, request: web.BaseRequest) -> Answer:
        for pattern, answer in self._routes().items():
            if found := re.fullmatch(pattern, request.path):
                return answer(request, *found.groups())
        raise Refusal(GONE)

    def _routes(self) -> Mapping[str, Callable[..., Answer]]:
        return {
            "/api/v2/instance": self._instance,
            "/api/v1/accounts/verify_credentials": self._myself,
            "/api/v1/accounts/lookup": self._lookup,
            r"/api/v1/accounts/(\d+)": lambda _, id: _shown(self._shapes.account(self._account(id))),
            r"/api/v1/accounts/(\d+)/statuses": self._written,
            r"/api/v1/accounts/(\d+)/(followers|following)": self._relation,
            r"/api/v1/statuses/(\d+)": lambda _, id: _shown(self._shapes.status(self._status(id))),
            r"/api/v1/statuses/(\d+)/context": self._context,
            r"/api/v1/statuses/(\d+)/reblogged_by": self._shared_by,
            r"/api/v1/statuses/(\d+)/favourited_by": self._nobody,
            r"/api/v1/statuses/(\d+)/quotes": self._nobody,
            r"/api/v1/timelines/tag/(\w+)": self._tagged,
            "/api/v1/timelines/public": lambda request: self._page(request, [*self.world.newest()]),
            "/api/v2/search": self._search,
        }

    def _account(self, id: str) -> Account:
        return _found(self.world.accounts, id)

    def _status(self, id: str) -> Status:
        return _found(self.world.statuses, id)

    def _instance(self, _request: web.BaseRequest) -> Answer:
        streaming = f"ws://{self.host}"
        return _shown({"domain": self.host, "configuration": {"urls": {"streaming": streaming}}})

    def _myself(self, request: web.BaseRequest) -> Answer:
        account = self.world.named(self._whose(request) or "")
        if account is None:
            return ANONYMOUS
        return _shown(self._shapes.account(account))

    def _lookup(self, request: web.BaseRequest) -> Answer:
        account = self.world.named(request.query.get("acct", ""))
        return GONE if account is None else _shown(self._shapes.account(account))

    def _written(self, request: web.BaseRequest, id: str) -> Answer:
        account = self._account(id)
        if account.suspended:
            return Answer(status=403, body={"error": "This account is suspended"})
        found = self.world.of(account)
        if tag := request.query.get("tagged"):
            found = [status for status in found if tag in status.tags]
        return self._page(request, found)

    def _tagged(self, request: web.BaseRequest, tag: str) -> Answer:
        return self._page(request, [each for each in self.world.newest() if tag.lower() in each.tags])

    def _page(self, request: web.BaseRequest, found: Sequence[Status]) -> Answer:
        """The newest first; behind `min_id`, the oldest of those that are newer."""
        query, limit = request.query, min(40, int(request.query.get("limit", "20")))
        below, above = int(query.get("max_id", str(1 << 80))), int(query.get("min_id", "0"))
        some = [status for status in found if above < status.id < below]
        page = some[-limit:] if above else some[:limit]
        headers = {"Link": self._link(request, page[-1].id, page[0].id)} if page else {}
        return Answer(status=200, body=self._shapes.statuses(page), headers=headers)

    def _link(self, request: web.BaseRequest, oldest: int, newest: int) -> str:
        kept = [f"{name}={value}" for name, value in request.query.items() if name not in ("max_id", "min_id")]

        def at(bound: str) -> str:
            return f"{self.url}{request.path}?{'&'.join([*kept, bound])}"

        return f'<{at(f"max_id={oldest}")}>; rel="next", <{at(f"min_id={newest}")}>; rel="prev"'

    def _relation(self, request: web.BaseRequest, id: str, direction: str) -> Answer:
        """Pages by a number that only the host understands."""
        account, follows = self._account(id), self.world.follows
        if direction == "followers":
            ids = [follower for follower, followed in follows if followed == account.id]
        else:
            ids = [followed for follower, followed in follows if follower == account.id]
        start, limit = int(request.query.get("max_id", "0")), min(80, int(request.query.get("limit", "40")))
        some = [] if account.hidden else ids[start : start + limit]
        more = not account.hidden and start + limit < len(ids)
        link = f'<{self.url}{request.path}?limit={limit}&max_id={start + limit}>; rel="next"'
        shown = self._shapes.accounts([self.world.accounts[each] for each in some])
        return Answer(status=200, body=shown, headers={"Link": link} if more else {})

    def _context(self, _request: web.BaseRequest, id: str) -> Answer:
        status, above = self._status(id), list[Status]()
        while (status := self.world.statuses.get(status.reply_to or 0)) is not None:  # type: ignore[assignment]
            above.insert(0, status)
        below, seen = list[Status](), {int(id)}
        for each in sorted(self.world.statuses.values(), key=lambda one: one.id):
            if each.reply_to in seen:
                below.append(each)
                seen.add(each.id)
        shapes = self._shapes
        return _shown({"ancestors": shapes.statuses(above), "descendants": shapes.statuses(below)})

    def _shared_by(self, _request: web.BaseRequest, id: str) -> Answer:
        shared = self._status(id)
        authors = [each.author for each in self.world.newest() if each.shared == shared.id]
        return _shown(self._shapes.accounts([self.world.accounts[each] for each in authors]))

    def _nobody(self, _request: web.BaseRequest, id: str) -> Answer:
        self._status(id)
        return _shown([])

    def _search(self, request: web.BaseRequest) -> Answer:
        query = request.query
        words, start = query.get("q", "").lower(), int(query.get("offset", "0"))
        if start and not self._whose(request):
            return ANONYMOUS
        limit, shapes = int(query.get("limit", "20")), self._shapes
        posts = [each for each in self.world.newest() if words in each.words.lower()][start : start + limit]
        people = [each for each in self.world.accounts.values() if words in each.name][start : start + limit]
        wanted = query.get("type", "")
        return _shown(
            {
                "statuses": shapes.statuses(posts) if wanted in ("", "statuses") else [],
                "accounts": shapes.accounts(people) if wanted in ("", "accounts") else [],
                "hashtags": [],
            }
        )


def _found(table: Mapping[int, T], id: str) -> T:
    """What has that id. Raises Refusal."""
    if int(id) not in table:
        raise Refusal(GONE)
    return table[int(id)]


def _shown(body: Any) -> Answer:
    return Answer(status=200, body=body)


@asynccontextmanager
async def running(world: World, setup: Setup | None = None, *, port: int = 0) -> AsyncIterator[Server]:
    """A host of `world` on loopback, until the block is left. Raises OSError where the address is taken."""
    async with serving(lambda base: Server(world, base, setup or Setup()), port=port) as server:
        yield server
