"""The simulator as an HTTP server: who asks, what it costs, what goes wrong, and what is answered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import datetime
from itertools import count
from typing import Final

from aiohttp import web
from msgspec import Struct, field

from ghcrawl.simulator.answers import Answer, Refusal
from ghcrawl.simulator.faults import Broken, Fault, Faults, Limited, Scripted, Slow
from ghcrawl.simulator.github.apps import App, AppBackend
from ghcrawl.simulator.github.behaviour import Manners
from ghcrawl.simulator.github.graphql import answer as graphql
from ghcrawl.simulator.github.graphql.nodes import Nodes
from ghcrawl.simulator.github.identity import Doorman, read_credential
from ghcrawl.simulator.github.limits import UNASKED, Budget, Entry, Limits, Resource
from ghcrawl.simulator.github.live.webhooks import Webhooks
from ghcrawl.simulator.github.paging import per_page
from ghcrawl.simulator.github.principals import Principal
from ghcrawl.simulator.github.refusals import broken, not_found, primary_limit, refused, secondary_limit
from ghcrawl.simulator.github.rendering import Rendered, Renderer, rendered_answer
from ghcrawl.simulator.github.routes.ask import Ask
from ghcrawl.simulator.github.sending import Reply, send
from ghcrawl.simulator.github.shapes.site import VERSIONS, Site, in_version
from ghcrawl.simulator.github.validation import etag, not_modified
from ghcrawl.simulator.github.world import World
from ghcrawl.simulator.journal import Call, Journal

NO_AGENT: Final = (
    "Request forbidden by administrative rules. Please make sure your request has a User-Agent header "
    "(https://docs.github.com/en/rest/overview/resources-in-the-rest-api#user-agent-required).\n"
)
RATE_LIMIT: Final = "/rate_limit"
GRAPHQL: Final = "/graphql"
NO_ANONYMOUS_QUERIES: Final = "This endpoint requires you to be authenticated."
IN_QUERY: Final = "Must specify access token via Authorization header."


class Setup(Struct, frozen=True, kw_only=True):
    """What one simulator is started with.

    tokens: token → whose budget and sight it is.
    public_url: base of the URLs in bodies, where it is not the address that the server listens to.
    """

    tokens: Mapping[str, Principal] = {}
    manners: Manners = Manners()
    app: App | None = None
    faults: Faults = field(default_factory=Faults)
    public_url: str = ""


class Server:
    """One GitHub. Its world, faults and tokens may be changed while it runs; its journal says what it was asked."""

    def __init__(self, world: World, base: str, setup: Setup) -> None:
        self.world = world
        self.url = base
        self.site = Site(base)
        self.manners = setup.manners
        self.faults = setup.faults
        self.journal = Journal()
        self.limits = Limits(setup.manners, world.clock)
        self.backend = AppBackend(setup.app, world, self.site, world.clock) if setup.app else None
        self.doorman = Doorman(setup.tokens, setup.manners, self.backend)
        self.webhooks = Webhooks(base, world.clock)
        self._renderer = Renderer(world)
        self._numbers = count(1)

    async def close(self) -> None:
        """Stop sending webhooks."""
        await self.webhooks.close()

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answers one call."""
        began, arrived = asyncio.get_running_loop().time(), self.world.clock.now()
        principal, turned_away = self._caller(request)
        resource = _resource(request.path)
        query = graphql.read(await request.read(), self.manners.graphql) if resource == "graphql" else None
        entry = self.limits.enter(principal, resource, free=request.path == RATE_LIMIT)
        fault: Fault | None = None
        answer: Answer | Rendered
        try:
            if entry.limited is not None:
                answer = self._limit(entry.limited, principal, resource)
            elif turned_away is not None:
                answer = turned_away
            else:
                fault = await self._fault(request)
                answer = self._answer(request, principal, fault, query)
        except Refusal as refusal:
            answer = refusal.answer
        finally:
            seconds = asyncio.get_running_loop().time() - began
            slept = (self.world.clock.now() - arrived).total_seconds()
            self.limits.leave(principal, max(seconds, slept))
        rendered = rendered_answer(answer) if isinstance(answer, Answer) else answer
        reply = self._reply(request, rendered, principal, resource, entry)
        self._note(request, reply, entry, arrived, seconds, query)
        return await send(request, reply, fault)

    def _note(
        self,
        request: web.BaseRequest,
        reply: Reply,
        entry: Entry,
        arrived: datetime,
        seconds: float,
        query: graphql.Asked | None,
    ) -> None:
        call = Call(
            at=arrived,
            method=request.method,
            target=request.raw_path + (f"#{query.name}" if query else ""),
            principal=reply.principal.name,
            status=reply.status,
            charged=reply.charged,
            conditional="If-None-Match" in request.headers or "If-Modified-Since" in request.headers,
            seconds=seconds,
            violation=entry.limited if entry.limited and entry.knowingly else "",
        )
        self.journal.write(call)

    def _caller(self, request: web.BaseRequest) -> tuple[Principal, Answer | None]:
        """Who asks, and why they are turned away at the door, if they are."""
        credential = read_credential(request.headers.get("Authorization"))
        address = request.remote or "unknown"
        if self.backend is not None and _is_app_route(request.path):
            return self.backend.principal, None
        try:
            return self.doorman.admit(credential, address), _at_the_door(request)
        except Refusal as refusal:
            return self.doorman.anonymous(address), refusal.answer

    def _limit(self, limited: str, principal: Principal, resource: Resource) -> Answer:
        if limited == "secondary":
            secondary = self.manners.secondary
            return secondary_limit(retry_after_s=secondary.retry_after_s, status=self.manners.over_limit_status)
        viewer = principal.viewer
        who = f"user ID {viewer.user}" if viewer.user else principal.name.replace(":", " ")
        if resource == "graphql":
            return graphql.limited(who)
        return primary_limit(who, anonymous=not viewer.authenticated, status=self.manners.over_limit_status)

    async def _fault(self, request: web.BaseRequest) -> Fault | None:
        path, _, query = request.raw_path.partition("?")
        fault = self.faults.draw(path, f"{path}?{query}", per_page(request.query))
        if isinstance(fault, Slow):
            await self.world.clock.sleep(fault.seconds)
            return None
        return fault

    def _answer(
        self, request: web.BaseRequest, principal: Principal, fault: Fault | None, query: graphql.Asked | None
    ) -> Answer | Rendered:
        match fault:
            case Broken(status=status):
                return broken(status)
            case Limited(retry_after_s=retry_after_s, status=status):
                self.limits.bench(principal, retry_after_s)
                return secondary_limit(retry_after_s=retry_after_s, status=status)
            case Scripted(answer=answer):
                return answer
            case _ if query is not None:
                return self._queried(request, query, principal)
            case _:
                return self._truth(request, principal)

    def _queried(self, request: web.BaseRequest, query: graphql.Asked, principal: Principal) -> Answer:
        """The answer of the other API; what was charged when the call arrived was one point."""
        if request.method != "POST" or not self.manners.graphql.answers:
            raise not_found()
        if not principal.viewer.authenticated:
            return refused(401, NO_ANONYMOUS_QUERIES)
        self.limits.charge(principal, "graphql", query.points - 1)
        if query.refusal is not None:
            return query.refusal
        wrong = self.manners.graphql.wrong
        nodes = Nodes(world=self.world, site=self.site, viewer=principal.viewer, wrong=wrong)
        return graphql.answer(query, nodes, self.limits.budget(principal, "graphql"), self.manners.graphql)

    def _truth(self, request: web.BaseRequest, principal: Principal) -> Answer | Rendered:
        """What is true, with nothing going wrong."""
        if self.backend is not None and _is_app_route(request.path):
            return self._at_the_desk(request, self.backend)
        if (place := self.webhooks.place_of(request.path)) is not None:
            return self._administrated(request, place, principal)
        if request.method not in ("GET", "HEAD"):
            raise not_found()
        version = request.headers.get("X-GitHub-Api-Version", VERSIONS[0])
        if request.path == RATE_LIMIT:
            return Answer(status=200, body=in_version(self._rate_limit(principal), version))
        if request.path == "/meta":
            return Answer(status=200, body={"verifiable_password_authentication": False})
        path, _, query = request.raw_path.partition("?")
        return self._renderer.render(
            Ask(
                world=self.world,
                site=self.site,
                viewer=principal.viewer,
                manners=self.manners,
                path=path,
                query=query,
                params=request.query,
                version=version,
                accept=request.headers.get("Accept", ""),
            )
        )

    def _at_the_desk(self, request: web.BaseRequest, backend: AppBackend) -> Answer:
        claim = read_credential(request.headers.get("Authorization")).value
        if self.webhooks.place_of(request.path) is not None:
            backend.check(claim)
            return self.webhooks.answer(request.method, request.path, request.query)
        return backend.answer(request.method, request.path, claim)

    def _administrated(self, request: web.BaseRequest, place: str, principal: Principal) -> Answer:
        """What those are shown of an owner's webhooks who belong to it."""
        owner = self.world.account(place.split("/")[1]) if "/" in place else None
        if owner is None or not principal.viewer.insider(owner):
            raise not_found()
        return self.webhooks.answer(request.method, request.path, request.query)

    def _rate_limit(self, principal: Principal) -> Mapping[str, object]:
        now = int(self.world.clock.now().timestamp())
        unused = {
            name: Budget(limit=limit, used=0, resets_at=now + window_s) for name, (limit, window_s) in UNASKED.items()
        }
        buckets = {
            name: {
                "limit": budget.limit,
                "used": budget.used,
                "remaining": budget.remaining,
                "reset": budget.resets_at,
                "resource": name,
            }
            for name, budget in (unused | self.limits.budgets(principal)).items()
        }
        return {"resources": buckets, "rate": buckets["core"]}

    def _reply(
        self, request: web.BaseRequest, rendered: Rendered, principal: Principal, resource: Resource, entry: Entry
    ) -> Reply:
        """The answer as it is sent: perhaps only that nothing has changed, which is free for those we know."""
        authenticated = principal.viewer.authenticated
        tag = etag(rendered.body, request.headers, authenticated=authenticated) if rendered.validated else None
        unchanged = tag is not None and not_modified(rendered, tag, request.headers)
        refunded = unchanged and authenticated and entry.window > 0
        if refunded:
            self.limits.refund(principal, resource, entry)
        return Reply(
            rendered=rendered,
            unchanged=unchanged,
            charged=entry.window > 0 and not refunded,
            tag=tag,
            principal=principal,
            budget=self.limits.budget(principal, resource),
            resource=resource,
            version=request.headers.get("X-GitHub-Api-Version", VERSIONS[0]),
            number=next(self._numbers),
            at=self.world.clock.now(),
            gzip=self.manners.gzip and "gzip" in request.headers.get("Accept-Encoding", ""),
        )


def _resource(path: str) -> Resource:
    if path == GRAPHQL:
        return "graphql"
    return "search" if path.startswith("/search/") else "core"


def _is_app_route(path: str) -> bool:
    return path == "/app" or path.startswith("/app/")


def _at_the_door(request: web.BaseRequest) -> Answer | None:
    """What is wrong with a call before anybody looks at what it asks for."""
    if not request.headers.get("User-Agent"):
        return Answer(status=403, body=NO_AGENT, headers={"Content-Type": "text/html; charset=utf-8"})
    if "access_token" in request.query:
        return refused(400, IN_QUERY)
    version = request.headers.get("X-GitHub-Api-Version", VERSIONS[0])
    if version not in VERSIONS:
        return refused(400, f"The API version {version!r} is not supported.")
    return None
