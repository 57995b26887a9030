"""Processes request URIs: resolves the account, queues first pages and subscribes to the stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ghcrawl.social.parsing import parse
from ghcrawl.social.plan import Plan, is_streamed, notes, plans
from ghcrawl.social.request_uri import RequestUri, Resource, Source
from ghcrawl.values.documents import Link
from ghcrawl.values.errors import Malformed
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Push
from processors.atproto.names import account_url, account_urn, is_did
from processors.atproto.things import subscription_urn
from processors.fields import mapping, text
from processors.saving import HOLDS, follow_list, follow_thing, resource, resources, save


def request(visit: Visit) -> Save:
    """The document of a request: whom it means, and what of it cannot match. Raises Unsupported."""
    uri = parse(visit.request.url)
    wanted = plans(uri)
    found = _Found.of(visit, wanted)
    follow_ups = [push for plan in wanted for push in _follow(visit, plan, found)]
    follow_ups += _fan_outs(visit, uri, wanted, found)
    if is_streamed(wanted, found.is_meant):
        follow_ups += follow_thing(visit, "stream", "stream", str(uri), _subscription(uri, found))
    body = {
        "request": str(uri),
        "did": found.did,
        "handle": found.handle,
        "repository": found.is_repository,
        "notes": _notes(visit, wanted, found),
    }
    return save(visit, f"urn:atproto:request:{uri}", body, _links(uri, wanted, found), follow_ups)


def _notes(visit: Visit, wanted: Sequence[Plan], found: _Found) -> Json:
    """Parts of the request that have no results, and why. Our own copy keeps them."""
    if visit.fetched.origin == "storage":
        return mapping(visit.fetched.body).get("notes", [])
    repository = found.is_repository and any(plan.resource == "relations" for plan in wanted)
    followers = ["followers are left out: a repository does not hold them"] if repository else []
    return [*followers, *notes(wanted, found.is_meant, found.matches)]


class _Found(Struct, frozen=True):
    """The account of a request. profile: as it was fetched; empty: there is none, or it is known from before.

    is_repository: a repository said so, and no AppView.
    """

    did: str = ""
    handle: str = ""
    profile: JsonObject = {}
    is_repository: bool = False

    @classmethod
    def of(cls, visit: Visit, wanted: Sequence[Plan]) -> _Found:
        body = mapping(visit.fetched.body)
        if all(plan.driver.kind == "query" for plan in wanted):
            return cls()
        did = text(body.get("did"))
        if not is_did(did):
            raise Malformed("whoever a request is about has a DID")
        is_repository = "collections" in body or body.get("repository") is True
        shown = {} if visit.fetched.origin == "storage" else body
        return cls(did, text(body.get("handle")).lower(), shown, is_repository)

    def is_meant(self, condition: Source) -> bool:
        """Whether the account meets a condition on whose posts are asked for."""
        return condition.kind != "user" or condition.value in (self.did, self.handle)

    def matches(self, condition: Source) -> bool:
        """Whether its profile shows what is looked for."""
        shown = " ".join(text(self.profile.get(name)) for name in ("handle", "displayName", "description")).casefold()
        return condition.kind != "query" or condition.value.casefold() in shown


def _links(uri: RequestUri, wanted: Sequence[Plan], found: _Found) -> dict[str, Link]:
    """Whom it is about. Where it names them by what never changes hands, they are gone when it is."""
    links = {"account": resource(account_urn(found.did))} if found.did else {}
    if any(source == Source("user", found.did) for source in uri.sources):
        links[HOLDS] = resources([account_urn(found.did)])
    if is_streamed(wanted, found.is_meant):
        links["stream"] = resource(subscription_urn(str(uri)))
    return links


def _follow(visit: Visit, plan: Plan, found: _Found) -> Iterator[Push]:
    """Requests about one account, or for a search for posts."""
    if plan.driver.kind == "query" and plan.resource == "post":
        yield from follow_list(visit, "posts", str(_narrowed(plan, plan.driver)))
    if plan.driver.kind != "user" or not plan.matches(found.is_meant):
        return
    urn = account_urn(found.did)
    if plan.resource == "post":
        yield from follow_list(visit, "posts", str(_narrowed(plan, Source("user", found.did))), of=urn)
    elif plan.matches(found.matches):
        yield from _relations(visit, found) if plan.resource == "relations" else _profile(visit, found)


def _relations(visit: Visit, found: _Found) -> Iterator[Push]:
    for direction in ("follows",) if found.is_repository else ("follows", "followers"):
        yield from follow_list(visit, direction, f"{account_url(found.did)}/{direction}", of=account_urn(found.did))


def _profile(visit: Visit, found: _Found) -> Iterator[Push]:
    if found.is_repository:
        yield from follow_thing(visit, "profile", "profile", account_url(found.did))
    elif found.profile:  # else it is what it was when the same request brought it
        yield from follow_thing(visit, "profile", "profile", account_url(found.did), found.profile)


def _narrowed(plan: Plan, driver: Source) -> RequestUri:
    """The request for one resource, of an account by its DID."""
    others = tuple(each for each in plan.conditions if each.kind != "user")
    uri = plan.uri.with_params(stream=None)
    return replace(uri, resources=(plan.resource,), sources=(driver, *others))


def _fan_outs(visit: Visit, uri: RequestUri, wanted: Sequence[Plan], found: _Found) -> Iterator[Push]:
    """Lists of accounts of which each is asked about by a request of its own."""
    plain = uri.with_params(stream=None, cursor=None)
    related = [plan for plan in wanted if plan.driver.kind == "related"]
    if related:
        resources_: tuple[Resource, ...] = tuple(plan.resource for plan in related)
        sources = (Source("related", found.did), *related[0].conditions)
        members = replace(plain, resources=resources_, sources=sources)
        for direction in ("follows", "followers"):
            yield from follow_list(visit, "fan_out", f"{members}#{direction}")
    searched: tuple[Resource, ...] = tuple(
        plan.resource for plan in wanted if plan.driver.kind == "query" and plan.resource != "post"
    )
    # A limit is of profiles only: then relations have a list of their own, which is read whole.
    lists = [(each,) for each in searched] if uri.limit is not None else [searched] if searched else []
    for each in lists:
        yield from follow_list(visit, "fan_out", f"{replace(plain, resources=each)}#actors")


def _subscription(uri: RequestUri, found: _Found) -> JsonObject:
    words = [source.value for source in uri.sources if source.kind == "query"]
    return {"request": str(uri), "dids": [found.did] if found.did else [], "words": words}
