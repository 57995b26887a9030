"""The methods of a simulated network, all behind one address."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

from aiohttp import WSMsgType, web

from ghcrawl.simulator.answers import Answer, Refusal
from ghcrawl.simulator.atproto.views import Json, basic, detailed, view
from ghcrawl.simulator.atproto.world import POST, Account, Post, World
from ghcrawl.values.jsontext import digest

PASSWORD: Final = "simulated-app-password"  # noqa: S105  # opens a simulator
WINDOW_S: Final = 300.0
TICK_S: Final = 0.05


def refused(status: int, error: str, message: str = "") -> Refusal:
    """An error as the protocol has it."""
    return Refusal(Answer(status=status, body={"error": error, "message": message}))


@dataclass(slots=True, kw_only=True)
class Limits:
    """limit: calls in any window; None: as many as you like. sessions: that may be made in one."""

    limit: int | None = None
    sessions: int = 30
    window_s: float = WINDOW_S


class Server:
    """Answers for a `World`. calls: (method, status) of each answer; expired: tokens that are accepted no longer."""

    def __init__(self, world: World, url: str, *, limits: Limits | None = None) -> None:
        self.world = world
        self.url = url
        self.limits = limits or Limits()
        self.calls: list[tuple[str, int]] = []
        self.expired: set[str] = set()
        self.down = 0
        self.refuses_streams = False
        self._tokens: dict[str, str] = {}
        self._windows: dict[str, list[float]] = {}
        self._sockets: set[web.WebSocketResponse] = set()
        self._methods: dict[str, Callable[[web.BaseRequest], Json]] = {
            "app.bsky.actor.getProfile": lambda ask: detailed(self.world, self._actor(ask, "actor")),
            "app.bsky.actor.searchActors": self._actors,
            "app.bsky.feed.getAuthorFeed": self._feed,
            "app.bsky.feed.searchPosts": self._search,
            "app.bsky.feed.getPosts": self._posts,
            "app.bsky.graph.getFollows": self._follows,
            "app.bsky.graph.getFollowers": self._followers,
            "com.atproto.repo.describeRepo": self._described,
            "com.atproto.repo.listRecords": self._records,
        }

    # Answering ----------------------------------------------------------------------------------------------

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """One call."""
        method = request.path.removeprefix("/xrpc/")
        if request.path == "/subscribe":
            return await self._stream(request)
        try:
            body, status, headers = await self._answered(method, request), 200, self._budget("main", self.limits.limit)
        except Refusal as refusal:
            answer = refusal.answer
            body, status, headers = answer.body, answer.status, dict(answer.headers)
        etag = f'W/"{digest(body)}"'
        if status == 200 and request.headers.get("If-None-Match") == etag:
            status = 304
        self.calls.append((method, status))
        text = None if status == 304 else json.dumps(body)
        return web.Response(
            status=status, text=text, headers={**headers, "ETag": etag}, content_type="application/json"
        )

    async def _answered(self, method: str, request: web.BaseRequest) -> Json:
        if self.down:
            self.down -= 1
            raise refused(502, "UpstreamFailure", "simulated")
        if method == "com.atproto.server.createSession":
            return await self._create(request)
        if method == "com.atproto.server.refreshSession":
            return self._refresh(request)
        self._charge("main", self.limits.limit)
        self._authenticate(request)
        if method not in self._methods:
            raise refused(501, "MethodNotImplemented", "Method Not Implemented")
        return self._methods[method](request)

    async def close(self) -> None:
        """No stream is left."""
        for socket in [*self._sockets]:
            await socket.close()

    # Limits -------------------------------------------------------------------------------------------------

    def _charge(self, name: str, limit: int | None) -> None:
        now, calls = time.time(), self._windows.setdefault(name, [])
        calls[:] = [at for at in calls if at > now - self.limits.window_s]
        if limit is not None and len(calls) >= limit:
            wait_s = math.ceil(calls[0] + self.limits.window_s - now)
            headers = {**self._budget(name, limit), "Retry-After": str(wait_s)}
            body = {"error": "RateLimitExceeded", "message": "Rate Limit Exceeded"}
            raise Refusal(Answer(status=429, body=body, headers=headers))
        calls.append(now)

    def _budget(self, name: str, limit: int | None) -> dict[str, str]:
        if limit is None:
            return {}
        calls = self._windows.get(name) or [time.time()]
        return {
            "RateLimit-Limit": str(limit),
            "RateLimit-Remaining": str(max(0, limit - len(calls))),
            "RateLimit-Reset": str(math.ceil(calls[0] + self.limits.window_s)),
            "RateLimit-Policy": f"{limit};w={self.limits.window_s:g}",
        }

    # Sessions -----------------------------------------------------------------------------------------------

    async def _create(self, request: web.BaseRequest) -> Json:
        asked = json.loads(await request.read())
        self._charge(f"session:{asked.get('identifier')}", self.limits.sessions)
        account = self.world.find(str(asked.get("identifier")))
        if account is None or asked.get("password") != PASSWORD:
            raise refused(401, "AuthenticationRequired", "Invalid identifier or password")
        return self._session(account)

    def _refresh(self, request: web.BaseRequest) -> Json:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        did = self._tokens.pop(token, "")
        if not did or token in self.expired:
            raise refused(400, "ExpiredToken", "Token has been revoked")
        return self._session(self.world.accounts[did])

    def _session(self, account: Account) -> Json:
        access, refresh = f"access-{uuid4()}", f"refresh-{uuid4()}"
        self._tokens |= {access: account.did, refresh: account.did}
        return {"accessJwt": access, "refreshJwt": refresh, "did": account.did, "handle": account.handle}

    def expire(self) -> None:
        """Every access token has expired."""
        self.expired |= {token for token in self._tokens if token.startswith("access-")}

    def _authenticate(self, request: web.BaseRequest) -> None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token in self.expired:
            raise refused(400, "ExpiredToken", "Token has expired")
        if token and token not in self._tokens:
            raise refused(401, "InvalidToken", "Token could not be verified")

    # Methods ------------------------------------------------------------------------------------------------

    def _actor(self, request: web.BaseRequest, name: str) -> Account:
        found = self.world.find(request.query.get(name, ""))
        if found is None:
            raise refused(400, "InvalidRequest", "Profile not found")
        return found

    def _page(self, request: web.BaseRequest, items: Sequence[Any]) -> tuple[Sequence[Any], Json]:
        limit, start = int(request.query.get("limit", "50")), request.query.get("cursor", "0")
        if not 1 <= limit <= 100 or not start.isdecimal():
            raise refused(400, "InvalidRequest", "limit or cursor is malformed")
        end = int(start) + limit
        return items[int(start) : end], {"cursor": str(end)} if end < len(items) else {}

    def _feed(self, request: web.BaseRequest) -> Json:
        account = self._actor(request, "actor")
        found, cursor = self._page(request, account.posts[::-1])
        return {"feed": [{"post": view(account, post)} for post in found], **cursor}

    def _search(self, request: web.BaseRequest) -> Json:
        """The real server accepts an author, too, and ignores it."""
        words = request.query.get("q", "").lower().split()
        pairs = [(account, post) for account in self.world.accounts.values() for post in account.posts]
        hits = [pair for pair in pairs if all(word in pair[1].value["text"].lower().split() for word in words)]
        hits.sort(key=lambda pair: pair[1].rkey, reverse=True)
        found, cursor = self._page(request, hits)
        return {"posts": [view(*pair) for pair in found], **cursor}

    def _posts(self, request: web.BaseRequest) -> Json:
        found = [self._by_uri(uri) for uri in request.query.getall("uris", [])]
        return {"posts": [view(*pair) for pair in found if pair is not None]}

    def _by_uri(self, uri: str) -> tuple[Account, Post] | None:
        did, _, rkey = uri.removeprefix("at://").replace(f"/{POST}/", "|").partition("|")
        account = self.world.find(did)
        post = next((one for one in account.posts if one.rkey == rkey), None) if account else None
        return (account, post) if account and post else None

    def _actors(self, request: web.BaseRequest) -> Json:
        words = request.query.get("q", "").lower()
        hits = [basic(account) for account in self.world.accounts.values() if words in account.handle]
        found, cursor = self._page(request, hits)
        return {"actors": [*found], **cursor}

    def _follows(self, request: web.BaseRequest) -> Json:
        account = self._actor(request, "actor")
        found, cursor = self._page(request, [basic(self.world.accounts[did]) for did in account.follows])
        return {"subject": basic(account), "follows": [*found], **cursor}

    def _followers(self, request: web.BaseRequest) -> Json:
        account = self._actor(request, "actor")
        theirs = [basic(other) for other in self.world.accounts.values() if account.did in other.follows]
        found, cursor = self._page(request, theirs)
        return {"subject": basic(account), "followers": [*found], **cursor}

    def _described(self, request: web.BaseRequest) -> Json:
        account = self._actor(request, "repo")
        return {"did": account.did, "handle": account.handle, "collections": [POST], "handleIsCorrect": True}

    def _records(self, request: web.BaseRequest) -> Json:
        account = self._actor(request, "repo")
        posts = account.posts[::-1] if request.query.get("collection") == POST else []
        found, cursor = self._page(request, posts)
        records = [{"uri": account.uri(post), "cid": post.cid, "value": post.value} for post in found]
        return {"records": records, **cursor}

    # The stream ---------------------------------------------------------------------------------------------

    async def _stream(self, request: web.BaseRequest) -> web.StreamResponse:
        """A Jetstream: events from a cursor on, which is inclusive."""
        wanted, cursor = request.query.getall("wantedDids", []), request.query.get("cursor")
        if self.refuses_streams:
            return web.Response(status=403)
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        self._sockets.add(socket)
        events = self.world.events
        at = len(events) if cursor is None else sum(event["time_us"] < int(cursor) for event in events)
        closing = asyncio.ensure_future(self._closed(socket))
        try:
            while not closing.done():
                for event in self.world.events[at:]:
                    if not wanted or event["did"] in wanted:
                        await socket.send_str(json.dumps(event))
                at = len(self.world.events)
                await asyncio.wait([closing], timeout=TICK_S)
        except ConnectionError:
            pass
        finally:
            closing.cancel()
            self._sockets.discard(socket)
        return socket

    async def _closed(self, socket: web.WebSocketResponse) -> None:
        while (await socket.receive()).type not in (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED):
            pass

    @property
    def streaming(self) -> int:
        """Open streams."""
        return len(self._sockets)

    def cut(self) -> None:
        """Every stream breaks."""
        for socket in self._sockets:
            if socket._req is not None and socket._req.transport is not None:  # noqa: SLF001  # a cut, not a farewell
                socket._req.transport.abort()  # noqa: SLF001
