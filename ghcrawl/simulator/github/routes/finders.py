"""Makes finders of a rule, which finds things, and their shape. Most routes need nothing else.

A rule takes the parent of the route (the repository, organisation or user) and the values of the placeholders. A shape
takes the site, the world if marked `in_world`, the parent unless marked `alone`, and the thing that was found. A tuple
is passed as several arguments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, TypeAlias

from ghcrawl.simulator.github.routes.ask import Ask, Many, One, found, number
from ghcrawl.simulator.github.routes.table import Finder, Found
from ghcrawl.simulator.github.shapes.site import Body, Site

Rule: TypeAlias = Callable[..., Any]
Shape: TypeAlias = Callable[..., Body]


def listed(rule: Rule, shape: Shape, *, name: str = "", **marks: bool) -> Finder:
    """A list of all things that `rule` finds, in its order. name: where the list stands in an object, its key there."""

    def finder(ask: Ask, owner: Any, *taken: str) -> Many[Any]:
        return Many(
            elements=list(rule(owner, *taken)),
            shape=lambda each: _shaped(ask, owner, shape, each, **marks),
            wrap=counted(name) if name else None,
        )

    return finder


def single(rule: Rule, shape: Shape, *, dated: str = "", **marks: bool) -> Finder:
    """The one thing that `rule` finds; 404 for None. dated: the field that Last-Modified says."""

    def finder(ask: Ask, owner: Any, *taken: str) -> One:
        thing = found(rule(owner, *taken))
        body = _shaped(ask, owner, shape, thing, **marks)
        return One(body=body, last_modified=attrgetter(dated)(_parts(thing)[-1]) if dated else None)

    return finder


def itself(shape: Shape) -> Finder:
    """The parent of the route, as the asker may see it."""

    def finder(ask: Ask, thing: Any) -> One:
        return One(body=shape(ask.site, ask.world, thing, ask.viewer), last_modified=thing.updated_at)

    return finder


def part(shape: Callable[[Site, Any], Body | None]) -> Finder:
    """Something that the parent of the route has one of; 404 for None."""
    return lambda ask, owner: One(body=found(shape(ask.site, owner)))


def _shaped(ask: Ask, owner: Any, shape: Shape, thing: Any, *, in_world: bool = False, alone: bool = False) -> Body:
    context: list[Any] = [ask.site]
    context += [ask.world] if in_world else []
    context += [] if alone else [owner]
    return shape(*context, *_parts(thing))


def _parts(thing: Any) -> tuple[Any, ...]:
    return thing if isinstance(thing, tuple) else (thing,)


def every(held: str) -> Rule:
    """The rule that finds all things in the parent's mapping `held`, a dotted path; newest last."""
    return lambda owner: attrgetter(held)(owner).values()


def newest(held: str) -> Rule:
    """The rule that finds the same things, newest first."""
    return lambda owner: reversed(attrgetter(held)(owner).values())


def numbered(held: str) -> Rule:
    """The rule that finds one thing in that mapping by its number."""
    return lambda owner, text: attrgetter(held)(owner).get(number(text))


def of_id(things: Callable[..., Any], *, by: Callable[[Any], int] = lambda thing: thing.id) -> Rule:
    """The rule that finds one of `things` by its id, the value of the last placeholder."""

    def rule(owner: Any, *taken: str) -> Any:
        wanted = number(taken[-1])
        return next((each for each in things(owner, *taken[:-1]) if by(_parts(each)[-1]) == wanted), None)

    return rule


def guarded(admit: Callable[[Ask, Any], None], routes: Mapping[str, Finder]) -> dict[str, Finder]:
    """The same routes behind `admit`, which raises Refusal for those who may not use them."""

    def behind(finder: Finder) -> Finder:
        def guard(ask: Ask, owner: Any, *taken: str) -> Found:
            admit(ask, owner)
            return finder(ask, owner, *taken)

        return guard

    return {pattern: behind(finder) for pattern, finder in routes.items()}


def counted(name: str) -> Any:
    """For `Many.wrap`: the elements stand under that name, beside their number."""
    return lambda bodies, total: {"total_count": total, name: bodies}
