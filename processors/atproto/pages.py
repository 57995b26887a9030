"""Pages of posts, of relations, of accounts found: one document, requests for what is on it, and for what is behind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from ghcrawl.social.parsing import parse
from ghcrawl.social.plan import Plan, plans
from ghcrawl.social.request_uri import RequestUri, Source, encoded
from ghcrawl.values.documents import Link
from ghcrawl.values.errors import Malformed
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Push
from processors.atproto.names import POSTS, account_url, account_urn, is_did, post_url, post_urn, record_of
from processors.atproto.things import bare, created
from processors.fields import at, mapping, mappings, text
from processors.saving import (
    HOLDS,
    delete_next_page,
    next_page,
    reconcile,
    references,
    resource,
    resources,
    save,
    to_fetch,
    to_save,
)


class _Post(Struct, frozen=True, kw_only=True):
    """A post on a page: what it is called, where it is, and itself. body None: the page is our own copy."""

    urn: str
    url: str
    body: JsonObject | None = None


def posts(visit: Visit) -> Save:
    """A page of posts: of an account, or of a search."""
    uri = parse(visit.request.url)
    (plan,) = plans(uri)
    shown = _shown(mapping(visit.fetched.body), plan)
    wanted = shown[: uri.limit] if uri.limit is not None else shown
    owner, cursor = _owner(plan), _cursor(visit)
    follow_ups = _to_save(visit, wanted, of=owner)
    left = None if uri.limit is None else uri.limit - len(wanted)
    if cursor and left != 0:
        follow_ups.append(next_page(visit, str(uri.with_params(cursor=cursor, limit=left)), of=owner))
    whole = _list_urn(visit, uri, owner)
    urn = _page_urn(visit, whole)
    if not cursor and _is_everything(plan) and not _beginning(visit):
        pages = [f"{owner}:posts:page:{number}" for number in range(1, visit.request.context.pagination.page)]
        follow_ups.append(reconcile(visit, pages, _references(wanted), owner, mark="reconciliation"))
    follow_ups += _cut_off(visit, urn, cursor=cursor)
    body: JsonObject = {"elements": _references(wanted), "cursor": cursor}
    return save(visit, urn, body, _page_links(visit, wanted, owner, whole), follow_ups)


def _to_save(visit: Visit, found: Sequence[_Post], *, of: str) -> list[Push]:
    """A request for each post that came with the page."""
    policy = visit.next_hops.element
    return [
        to_save(visit, "post", each.url, policy, each.body, of=of)
        for each in found
        if policy is not None and each.body is not None
    ]


def _references(found: Sequence[_Post]) -> list[JsonObject]:
    return references((each.urn, each.url) for each in found)


def _page_links(visit: Visit, found: Sequence[_Post], owner: str, whole: str) -> dict[str, Link]:
    owned = {"author": resource(owner)} if owner else {}
    following = _page_urn(visit, whole, after=1)
    return {**owned, "resources": resources(each.urn for each in found), HOLDS: resources([following])}


def _shown(body: JsonObject, plan: Plan) -> Sequence[_Post]:
    """The posts that are asked for, of all that the server gave."""
    if "elements" in body:
        return _our_own(body)
    found = []
    for view in _views(body):
        record = record_of(view.get("uri"))
        if record is None or record.collection != POSTS:
            raise Malformed("a page of posts holds something that is none")
        if (
            plan.admits(created(view))
            and _is_by(view, record.did, plan)
            and ("records" not in body or _says(view, plan))
        ):
            found.append(_Post(urn=post_urn(record), url=post_url(record), body=view))
    return found


def _our_own(body: JsonObject) -> Sequence[_Post]:
    """Of a page that we hold: references."""
    return [_Post(urn=text(each.get("urn")), url=text(each.get("url"))) for each in mappings(body["elements"])]


def _views(body: JsonObject) -> Sequence[JsonObject]:
    """Posts as views: of a feed (without what was reposted), of a search; or made of the bare records."""
    if "feed" in body:
        return [mapping(each.get("post")) for each in mappings(body["feed"]) if "reason" not in each]
    if "posts" in body:
        return mappings(body["posts"])
    if "records" in body:
        return [bare(each) for each in mappings(body["records"])]
    raise Malformed("a page of posts has posts")


def _is_by(view: JsonObject, did: str, plan: Plan) -> bool:
    """Whether its author is asked for: a server may accept a filter and not apply it."""
    handle = text(at(view, "author", "handle")).lower()

    def holds(source: Source) -> bool:
        return source.kind != "user" or source.value in (did, handle)

    return holds(plan.driver) and plan.matches(holds)


def _says(view: JsonObject, plan: Plan) -> bool:
    """Whether the words that are looked for are in it: a repository has no search."""
    words = text(at(view, "record", "text")).casefold()
    return plan.matches(lambda source: source.kind != "query" or source.value.casefold() in words)


def _owner(plan: Plan) -> str:
    """The account that the posts are of; empty: those of a search."""
    driver = plan.driver
    return account_urn(driver.value) if driver.kind == "user" and not plan.conditions else ""


def _is_everything(plan: Plan) -> bool:
    """Whether the pages together are all posts of an account."""
    uri = plan.uri
    return bool(_owner(plan)) and uri.limit is None and uri.since is None and uri.before is None


def _beginning(visit: Visit) -> str:
    """The cursor that page 1 was asked for with; empty: with none."""
    return parse(visit.request.context.pagination.first or visit.request.url).cursor


def _list_urn(visit: Visit, uri: RequestUri, owner: str) -> str:
    """Of all pages of the list."""
    plain = uri.with_params(cursor=_beginning(visit) or None, limit=None)
    return f"{owner}:posts" if owner and not plain.params else f"urn:atproto:search:{plain}"


def _page_urn(visit: Visit, whole: str, *, after: int = 0) -> str:
    return f"{whole}:page:{visit.request.context.pagination.page + after}"


def _cursor(visit: Visit) -> str:
    """The next cursor; empty: the list ends here, also if the server repeats a cursor, which would never end."""
    cursor = text(mapping(visit.fetched.body).get("cursor"))
    asked_for = visit.request.url.partition("#")[0].rpartition("?")[2].split(",")
    return "" if f"cursor={encoded(cursor)}" in asked_for else cursor


def _cut_off(visit: Visit, urn: str, *, cursor: str) -> Sequence[Push]:
    """Behind the last page there are none (any more)."""
    if cursor or not visit.known or visit.fetched.origin == "storage":  # else it was the last one before, too
        return ()
    whole, _, number = urn.rpartition(":")
    return [delete_next_page(visit, f"{whole}:{int(number) + 1}")]


def thread(visit: Visit) -> Save:
    """The thread of a post: the posts above and below it that one answer shows."""
    body, of = mapping(visit.fetched.body), visit.request.context.qualifier
    found = _our_own(body) if "elements" in body else [*_flattened(mapping(body.get("thread")))]
    links = {"resources": resources(each.urn for each in found)}
    kept: JsonObject = {"elements": _references(found), "cursor": ""}
    return save(visit, f"{of}:thread", kept, links, _to_save(visit, found, of=of))


def _flattened(node: JsonObject) -> Iterator[_Post]:
    """The posts of a thread; what was deleted or blocked is no post."""
    view = mapping(node.get("post"))
    record = record_of(view.get("uri"))
    if record is not None:
        yield _Post(urn=post_urn(record), url=post_url(record), body=view)
    for each in (mapping(node.get("parent")), *mappings(node.get("replies"))):
        if each:
            yield from _flattened(each)


def relation(visit: Visit) -> Save:
    """A page of those whom an account follows, or who follow it: the document keeps them."""
    body = mapping(visit.fetched.body)
    elements, owner = _people(body), visit.request.context.qualifier
    direction = visit.request.type
    cursor = _cursor(visit)
    follow_ups: list[Push] = []
    if cursor:
        place = visit.request.url.partition("?")[0]
        follow_ups.append(next_page(visit, f"{place}?cursor={encoded(cursor)}"))
    urn = _page_urn(visit, f"{owner}:{direction}")
    links = {
        "origin": resource(owner),
        "resources": resources(account_urn(text(each["did"])) for each in elements),
        HOLDS: resources([_page_urn(visit, f"{owner}:{direction}", after=1)]),
    }
    kept = {"direction": direction, "elements": elements, "cursor": cursor}
    return save(visit, urn, kept, links, [*follow_ups, *_cut_off(visit, urn, cursor=cursor)])


def _people(body: JsonObject) -> list[JsonObject]:
    """The accounts on a page, each with its DID."""
    for name in ("elements", "follows", "followers", "actors"):
        if name in body:
            return [each for each in mappings(body[name]) if is_did(text(each.get("did")))]
    if "records" in body:
        named = [mapping(each.get("value")) for each in mappings(body["records"])]
        return [{"did": each["subject"], **each} for each in named if is_did(text(each.get("subject")))]
    raise Malformed("a page of accounts has accounts")


def members(visit: Visit) -> Save:
    """A page of those related to an account, or found by a search: each is asked about by a request of its own."""
    uri = parse(visit.request.url.partition("#")[0])
    found, step = _people(mapping(visit.fetched.body)), visit.next_hops.element
    plan = plans(uri)[0]
    left = uri.limit
    if left is not None and _are_profiles(plan):
        found = found[:left]
        left -= len(found)
    follow_ups = [_about(visit, uri, plan, text(each["did"]), step) for each in found if step is not None]
    cursor = _cursor(visit)
    if cursor and left != 0:
        following = uri.with_params(cursor=cursor, limit=left)
        follow_ups.append(next_page(visit, _listed(following, visit.request.url)))
    whole = f"urn:atproto:members:{_listed(uri.with_params(cursor=None, limit=None), visit.request.url)}"
    body = {"elements": [{"did": each["did"]} for each in found], "cursor": cursor}
    links = {"resources": resources(account_urn(text(each["did"])) for each in found)}
    return save(visit, _page_urn(visit, whole), body, links, follow_ups)


def _listed(uri: RequestUri, url: str) -> str:
    """The same list of `uri` as `url` is of."""
    _, mark, name = url.partition("#")
    return f"{uri}{mark}{name}"


def _are_profiles(plan: Plan) -> bool:
    """Whether the accounts that a search finds are themselves what is asked for."""
    return plan.driver.kind == "query" and plan.uri.resources == ("profile",)


def _about(visit: Visit, uri: RequestUri, plan: Plan, did: str, policy: str) -> Push:
    """The request about one account: its profile if a search asks for profiles only, else a request URI of its own."""
    if _are_profiles(plan) and not plan.conditions:
        return to_fetch(visit, "profile", account_url(did), policy)
    one = replace(
        uri.with_params(cursor=None),
        sources=(Source("user", did), *(each for each in uri.sources if each != plan.driver)),
    )
    return to_fetch(visit, "request", str(one), policy)
