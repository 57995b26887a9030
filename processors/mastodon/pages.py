"""Pages of statuses and accounts: one document, requests for what is on it, and for the page after it.

The fragment of a page's URL is the request URI it is read for: what is asked of each element, and how many are left.
Every condition is checked here, also those that the host was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ghcrawl.social.parsing import parse
from ghcrawl.social.plan import Plan, plans
from ghcrawl.social.request_uri import RequestUri, Source
from ghcrawl.values.documents import Link
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Push
from processors.fields import mapping, mappings, text
from processors.mastodon.names import NAME, account_url, account_urn, host_of, id_of, status_url, urn_of_status
from processors.mastodon.things import asks_not_to, created, may_keep, tags_of, words_of
from processors.saving import (
    HOLDS,
    delete_next_page,
    elements_of,
    follow_list,
    next_page,
    reconcile,
    references,
    resource,
    resources,
    save,
    to_save,
)

OFFSET_PAGE: Final = 40
"""Results of a search on one page; there are no links to the next."""


def statuses(visit: Visit) -> Save:
    """A page of statuses: of an account, a tag, a timeline, or that quote one."""
    plan = plan_of(visit.request.url)
    return _page(visit, elements_of(visit.fetched.body), [], plan)


def accounts(visit: Visit) -> Save:
    """A page of a relation: who follows, shared, likes. It keeps the accounts themselves."""
    found = _admitted(plan_of(visit.request.url), elements_of(visit.fetched.body))
    host, element = host_of(visit.request.url), visit.next_hops.element
    follow_ups = [_save_account(visit, host, each, element) for each in found if element is not None]
    follow_ups += _next(visit, None) or _ended(visit, [], None)
    named = _named(host, found, status=False)
    body = {"elements": [*found], "direction": visit.request.type}
    return save(visit, _page_urn(visit), body, _links(visit, "unique", named), follow_ups)


def context(visit: Visit) -> Save:
    """The thread around a status: what it answers, and what answers it."""
    body = mapping(visit.fetched.body)
    if "elements" in body:
        found = mappings(body["elements"])
    else:
        found = [*mappings(body.get("ancestors")), *mappings(body.get("descendants"))]
    return _page(visit, found, [], None)


def search(visit: Visit) -> Save:
    """A page of results of a host's search."""
    body, plan = mapping(visit.fetched.body), plan_of(visit.request.url)
    found = mappings(body.get("statuses")) if not plan or plan.resource == "post" else []
    people = mappings(body.get("accounts")) if not plan or plan.resource == "profile" else []
    return _page(visit, found, people, plan)


def fan_out(visit: Visit) -> Save:
    """A page of accounts, of each of which the same is asked."""
    people, plan = elements_of(visit.fetched.body, "accounts"), plan_of(visit.request.url)
    host = host_of(visit.request.url)
    posts = plan is not None and plan.resource == "post"
    some = [each for each in _admitted(plan, people) if not (posts and asks_not_to(each))]
    named = _named(host, some, status=False)
    follow_ups = [
        push for each in named if plan for push in lists_of(visit, host, str(each["urn"]).rpartition(":")[2], plan)
    ]
    follow_ups += _next(visit, None) or _searched_on(visit, len(people)) or _ended(visit, [], None)
    return save(visit, _page_urn(visit), {"elements": named}, _links(visit, "resources", named), follow_ups)


def lists_of(visit: Visit, host: str, identity: str, plan: Plan) -> list[Push]:
    """The first pages of what a request asks of one account."""
    urn, place = account_urn(host, identity), account_url(host, identity)
    uri = _of_one(plan)
    if plan.resource == "post":
        return follow_list(visit, "statuses", f"{place}/statuses?limit=40{_bounds(plan)}#{uri}", of=urn)
    names = ("followers", "following") if plan.resource == "relations" else ()
    return [push for name in names for push in follow_list(visit, name, f"{place}/{name}?limit=80", of=urn)]


def _of_one(plan: Plan) -> RequestUri:
    """The request, as far as it is about one account's lists: who it is stands in the URL."""
    uri = plan.uri.with_params(stream=None, cursor=None)
    return replace(uri, resources=(plan.resource,), sources=(plan.driver, *plan.conditions))


def _bounds(plan: Plan) -> str:
    """Parameters for the filters that hosts have: the latest date, and one tag."""
    before = plan.uri.before
    bound = f"&max_id={int(before.timestamp() * 1000) << 16}" if before is not None else ""
    tags = [each.value[1:] for each in plan.conditions if each.kind == "query" and each.value.startswith("#")]
    return bound + (f"&tagged={tags[0]}" if tags and tags[0].isalnum() else "")


def plan_of(url: str) -> Plan | None:
    """The plan of the request URI that the page at `url` is read for; None: all of the page is wanted."""
    fragment = url.partition("#")[2]
    return plans(parse(fragment))[0] if fragment.startswith(f"{NAME}:") else None


def wants(plan: Plan | None, body: JsonObject) -> bool:
    """Whether a status is asked for, and may be kept."""
    if plan is None or not may_keep(body):
        return may_keep(body)

    def holds(source: Source) -> bool:
        return source.kind != "query" or says(body, source.value)

    driver_holds = plan.driver.kind != "query" or not plan.driver.value.startswith("#") or holds(plan.driver)
    return driver_holds and plan.admits(created(body), created(body, "edited_at")) and plan.matches(holds)


def _admitted(plan: Plan | None, people: Sequence[JsonObject]) -> Sequence[JsonObject]:
    """The accounts that have the words of all conditions. Of a request for posts, words are looked for in the posts."""
    if plan is None or plan.resource == "post":
        return people

    def holds(each: JsonObject) -> bool:
        return "urn" in each or plan.matches(lambda source: source.kind != "query" or says(each, source.value))

    return [each for each in people if holds(each)]


def says(body: JsonObject, words: str) -> bool:
    """Whether a status has that `#tag`, or all of those words."""
    if words.startswith("#"):
        return words[1:].casefold() in tags_of(body)
    said = words_of(body)
    return all(word in said for word in words.casefold().split())


def _page(visit: Visit, found: Sequence[JsonObject], people: Sequence[JsonObject], plan: Plan | None) -> Save:
    """A page of references, and each element that is asked for as a request that carries it."""
    host, element = host_of(visit.request.url), visit.next_hops.element
    limit = plan.uri.limit if plan else None
    own_copy = visit.fetched.origin == "storage"
    wanted = [each for each in found if own_copy or wants(plan, each)][:limit]
    some = _admitted(plan, people)[:limit]
    follow_ups: list[Push] = []
    if element is not None and not own_copy:
        posts = [(status_url(host, id_of(each, "a status")), each) for each in wanted]
        follow_ups += [to_save(visit, "status", url, element, each) for url, each in posts]
        follow_ups += [_save_account(visit, host, each, element) for each in some]
    left = None if limit is None else limit - len(wanted) - len(some)
    named = [*_named(host, wanted, status=True), *_named(host, some, status=False)]
    after = [] if left == 0 else _searched_on(visit, len(found) + len(people), left) or _next(visit, left)
    follow_ups += after or _ended(visit, named, plan)
    return save(visit, _page_urn(visit), {"elements": named}, _links(visit, "resources", named), follow_ups)


def _links(visit: Visit, name: str, named: Sequence[JsonObject]) -> dict[str, Link]:
    """Whose list it is, what is on the page, and the page that is gone with it."""
    of = visit.request.context.qualifier
    owner = {"owner": resource(of)} if of else {}
    return {**owner, name: resources(each["urn"] for each in named), HOLDS: resources([_page_urn(visit, after=1)])}


def _save_account(visit: Visit, host: str, body: JsonObject, policy: str) -> Push:
    return to_save(visit, "account", account_url(host, id_of(body, "an account")), policy, body)


def _named(host: str, found: Sequence[JsonObject], *, status: bool) -> list[JsonObject]:
    """References to elements. Our own copy of a page has them already."""

    def named(each: JsonObject) -> tuple[str, str]:
        if "urn" in each:
            return text(each["urn"]), text(each["url"])
        identity = id_of(each, "a status" if status else "an account")
        if status:
            return urn_of_status(host, each), status_url(host, identity)
        return account_urn(host, identity), account_url(host, identity)

    return references(map(named, found))


def _next(visit: Visit, left: int | None) -> list[Push]:
    """The page after this one, where the host links to one. left: how many elements are still wanted."""
    url = visit.fetched.link.get("next", "")
    if not url or host_of(url) != host_of(visit.request.url):
        return []
    return [_following(visit, url, left)]


def _searched_on(visit: Visit, found: int, left: int | None = None) -> list[Push]:
    """The next results of a search, where there may be more: pages are counted, and nothing links to the next."""
    if found < OFFSET_PAGE or "/v2/search?" not in visit.request.url:
        return []
    url, _, _ = visit.request.url.partition("#")
    plain = url.partition("&offset=")[0]
    offset = visit.request.context.pagination.page * OFFSET_PAGE
    return [_following(visit, f"{plain}&offset={offset}", left)]


def _following(visit: Visit, url: str, left: int | None) -> Push:
    fragment = visit.request.url.partition("#")[2]
    if fragment and left is not None:
        fragment = str(parse(fragment).with_params(limit=left))
    return next_page(visit, f"{url}#{fragment}" if fragment else url)


def _ended(visit: Visit, last: Sequence[JsonObject], plan: Plan | None) -> list[Push]:
    """Behind the last page there is none (any more); and of a complete list, what it no longer names is looked for."""
    request = visit.request
    pushes = [delete_next_page(visit, _page_urn(visit, after=1))]
    if request.type == "statuses" and plan is not None and _is_everything(plan):
        pages = [_page_urn(visit, after=-back) for back in range(1, request.context.pagination.page)]
        pushes.append(reconcile(visit, pages, last, request.context.qualifier, mark="listing"))
    return pushes


def _is_everything(plan: Plan) -> bool:
    """Whether the pages together are all that an account wrote."""
    uri = plan.uri
    return (
        plan.driver.kind in ("user", "related")
        and not plan.conditions
        and not {"limit", "since", "before"} & {*uri.params}
    )


def _page_urn(visit: Visit, *, after: int = 0) -> str:
    """The list by what it is of and what it is read for, and the page by its number."""
    request = visit.request
    first, page = request.context.pagination.first or request.url, request.context.pagination.page + after
    return f"urn:{NAME}:{first.removeprefix(f'{NAME}://').replace('/', ':', 1)}:page:{page}"
