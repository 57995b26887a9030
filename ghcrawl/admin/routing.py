"""Routes as values, and what every one of them keeps: access, size, time, shape, and errors that say what to do."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final, Generic, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import structlog
from aiohttp import web
from aiohttp.typedefs import Handler
from msgspec import Struct
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ghcrawl.admin import audit_log, bodies
from ghcrawl.admin.access import Access, Caller, Role
from ghcrawl.admin.problems import Problem, of_error, of_validation, unavailable
from ghcrawl.admin.site import Site
from ghcrawl.values.errors import CrawlError
from ghcrawl.values.jsontext import MAX_DEPTH, TooDeep, clip, dumps, loads
from ghcrawl.values.times import moment

log = structlog.stdlib.get_logger(__name__)

Q = TypeVar("Q")
B = TypeVar("B")
A = TypeVar("A")
Method = Literal["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
URN: Final = r"{urn:urn:[^{}/]+}"
"""What a `{urn}` in a path matches; other words there may be routes of their own."""


class Shape(BaseModel):
    """A shape of input. An unknown field is an error, so that typos are found."""

    model_config = ConfigDict(extra="forbid", frozen=True)


_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)")


def _read_moment(value: Any) -> datetime:
    """A moment in RFC 3339 text; a bare number is refused as ambiguous. Raises ValueError."""
    if not isinstance(value, str) or not _MOMENT.fullmatch(value):
        raise ValueError("not a timestamp; write 2026-11-21T16:43:00Z")
    return moment(value)


Moment = Annotated[datetime, BeforeValidator(_read_moment, json_schema_input_type=datetime)]
"""A moment with its time zone, as text."""
Word = Annotated[str, Field(pattern=r"^[A-Za-z0-9_./-]{1,100}$")]
"""The name of a type (`issue`, `mastodon/status`), or of a class of failure."""


class Nothing(Shape):
    """No parameters."""


class Asked(Struct, Generic[Q, B], frozen=True, kw_only=True):
    """One request to a route, with everything about it in its place and checked."""

    site: Site
    caller: Caller
    query: Q
    body: B
    path: Mapping[str, str] = {}


class Answer(Struct, Generic[A], frozen=True, kw_only=True):
    """What a route says, where there is more to it than the value and the route's own status.

    value: a shape, plain JSON, text for people, or None for no body at all.
    done: how much it came to, for the log, where that is not in the value.
    """

    value: A
    done: Mapping[str, int] = {}
    status: int = 200
    headers: Mapping[str, str] = {}


Handle: TypeAlias = Callable[[Asked[Any, Any]], Awaitable[Any]]
"""Answers with an `Answer`, or with its value alone."""
H = TypeVar("H", bound=Handle)


class Route(Struct, frozen=True, kw_only=True):
    """One route. name: its operation, unique; about: what it does, for the API's description.

    query, body: the shapes of what it takes. answer: of its good answer; status: what that has.
    problems: the statuses it may have besides those that all routes have.
    described: whether it is part of the documented API, which the predecessor's routes are not.
    """

    method: Method
    path: str
    name: str
    handle: Handle
    role: Role
    about: str = ""
    tag: str = ""
    query: type[BaseModel] = Nothing
    body: type[BaseModel] | None = None
    answer: type[BaseModel] | None = None
    status: int = 200
    problems: Sequence[int] = ()
    described: bool = True


def routed(handle: Handle, method: Method, path: str, **more: Any) -> Route:
    """The route that `handle` answers. Its annotations say what it takes, and the shape of its answer.

    What changes something is for operators, unless `more` says otherwise.
    """
    asked, answer = get_type_hints(handle).values()
    query, body = get_args(asked)
    value = get_args(answer)[0] if get_origin(answer) is Answer else answer
    found = {
        "query": query,
        "body": body if issubclass(body, BaseModel) else None,
        "answer": value if isinstance(value, type) and issubclass(value, BaseModel) else None,
        "role": "read" if method in ("GET", "HEAD") else "operate",
    }
    return Route(method=method, path=path, handle=handle, **{**found, **more})


class Routes(list[Route]):
    """The described routes under one tag, in the order of the description."""

    def __init__(self, tag: str) -> None:
        super().__init__()
        self._tag = tag

    def add(
        self, method: Method, path: str, name: str, about: str, *, status: int = 200, problems: Sequence[int] = ()
    ) -> Callable[[H], H]:
        """The decorated function answers this route. Where a part of the path names a thing, that may not be there."""
        problems = (404, *problems) if "{" in path else problems

        def added(handle: H) -> H:
            more = {"name": name, "about": about, "tag": self._tag, "status": status, "problems": problems}
            self.append(routed(handle, method, path, **more))
            return handle

        return added


class Bounds(Struct, frozen=True, kw_only=True):
    """How much one request may take."""

    max_bytes: int = 2_000_000
    timeout_s: float = 30.0


class Handlers:
    """Turns routes into handlers of aiohttp."""

    def __init__(self, site: Site, access: Access, bounds: Bounds) -> None:
        self._site = site
        self._access = access
        self._bounds = bounds

    def add(self, app: web.Application, routes: Sequence[Route]) -> None:
        """`app` answers these."""
        for route in routes:
            app.router.add_route(route.method, route.path.replace("{urn}", URN), self._handler(route))

    def _handler(self, route: Route) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            caller = await self._access.demand(request, route.role)
            asked = Asked(
                site=self._site,
                caller=caller,
                path=dict(request.match_info),
                query=_query(request, route.query),
                body=await self._body(request, route.body),
            )
            try:
                async with asyncio.timeout(self._bounds.timeout_s):
                    found = await route.handle(asked)
            except TimeoutError:
                _trace(route, asked, Answer(value=None, status=503))
                detail = f"timed out after {self._bounds.timeout_s:g} s; completed changes are kept"
                raise unavailable(detail) from None
            answer = found if isinstance(found, Answer) else Answer(value=found, status=route.status)
            _trace(route, asked, answer)
            return response(answer)

        return handle if route.described else _saying_message(handle)

    async def _body(self, request: web.Request, shape: type[BaseModel] | None) -> Any:
        if shape is None:
            return None
        if request.content_type not in ("application/json", "application/json-patch+json"):
            raise Problem(415, "unsupported media type; send Content-Type: application/json")
        raw = await bodies.read(request, max_bytes=self._bounds.max_bytes, timeout_s=self._bounds.timeout_s)
        try:
            loads(raw, max_depth=MAX_DEPTH)
        except TooDeep as error:
            raise Problem(422, f"the body is {error}") from None
        except ValueError as error:
            raise Problem(400, f"the body is not JSON: {error}"[:300]) from None
        try:
            return shape.model_validate_json(raw, strict=True)
        except ValidationError as error:
            raise of_validation(error, "body") from None


def _saying_message(handle: Handler) -> Handler:
    """`handle`, whose problems have a `message` too: without one the predecessor's clients show "undefined"."""

    async def handled(request: web.Request) -> web.StreamResponse:
        try:
            return await handle(request)
        except (Problem, CrawlError) as error:
            problem = error if isinstance(error, Problem) else of_error(error)
            problem.says_message = True
            raise problem from error

    return handled


def _trace(route: Route, asked: Asked[Any, Any], answer: Answer[Any]) -> None:
    """Who changed what, and how much of it, is in the log."""
    if route.role == "operate":
        log.info(
            "admin_acted",
            who=asked.caller.name,
            operation=route.name,
            status=answer.status,
            asked=audit_log.asked_for(asked.path, asked.query, asked.body),
            done={**audit_log.came_to(answer.value), **answer.done},
        )


def _query(request: web.Request, shape: type[BaseModel]) -> Any:
    values: dict[str, Any] = {}
    for name in request.query:
        found = request.query.getall(name)
        known = shape.model_fields.get(name)
        many = known is not None and get_origin(known.annotation) is tuple
        if len(found) > 1 and not many:
            raise Problem(422, f"{name} is given {len(found)} times", errors=[(name, "give it once")])
        values[name] = found if many else found[0]
    try:
        return shape.model_validate(values)
    except ValidationError as error:
        raise of_validation(error, "query") from None


def response(answer: Answer[Any]) -> web.Response:
    """`answer` as HTTP."""
    headers = dict(answer.headers)
    if answer.value is None:
        return web.Response(status=answer.status, headers=headers)
    if isinstance(answer.value, str):
        return web.Response(status=answer.status, text=answer.value, headers=headers)
    return web.Response(
        status=answer.status, body=_written(answer.value), content_type="application/json", headers=headers
    )


def _written(value: Any) -> bytes:
    """`value` as JSON. What an older version saved may be nested too deep to be written; its depths are left out."""
    try:
        return dumps(value.model_dump(mode="json") if isinstance(value, BaseModel) else value)
    except (TypeError, ValueError, RecursionError):
        return dumps(clip(_unshaped(value), MAX_DEPTH))


def _unshaped(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return {name: _unshaped(one) for name, one in value}
    return [_unshaped(one) for one in value] if isinstance(value, list) else value
