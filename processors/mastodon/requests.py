"""Processes request URIs: the account that is meant, and requests for the first page of each list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final
from urllib.parse import quote

from ghcrawl.social.parsing import parse
from ghcrawl.social.plan import Plan, is_streamed, notes, plans
from ghcrawl.social.request_uri import Source
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Push
from processors.fields import mapping, text
from processors.mastodon.names import NAME, account_url, account_urn, api, id_of
from processors.mastodon.pages import OFFSET_PAGE, lists_of, says
from processors.mastodon.things import asks_not_to
from processors.saving import follow_list, follow_thing, resource, save

CLOSED: Final = ("suspended", "noindex")
"""Fields of an account that leave out some of its lists. The document of the request keeps them for our own copy."""


def request(visit: Visit) -> Save:
    """The document of a request: whom it means. Its lists and its stream follow from it. Raises Unsupported."""
    uri = parse(visit.request.url)
    found = mapping(visit.fetched.body)
    identity = text(found.get("account_id")) or (id_of(found, "an account") if found.get("id") else "")
    wanted = plans(uri)
    follow_ups = [push for plan in wanted for push in _follow(visit, plan, identity, found)]
    if is_streamed(wanted, partial(_is_meant, found)):
        subscription = {"request": str(uri), "account_id": identity}
        follow_ups += follow_thing(visit, "stream", "stream", str(uri), subscription)
    urn = f"urn:{NAME}:{uri.authority}:request:{uri}"
    links = {"account": resource(account_urn(uri.authority, identity))} if identity else {}
    body: dict[str, Json] = {"request": str(uri), "account_id": identity, "acct": text(found.get("acct"))}
    body |= {name: True for name in CLOSED if found.get(name) is True}
    if noted := _notes(visit, wanted, found):
        body["notes"] = noted
    return save(visit, urn, body, links, follow_ups)


def _notes(visit: Visit, wanted: Sequence[Plan], found: JsonObject) -> Json:
    """Parts of the request that have no results, and why. Our own copy keeps them."""
    if visit.fetched.origin == "storage":
        return found.get("notes")
    whys = (_closed(found, plan.resource) for plan in wanted if plan.driver.kind == "user")
    return [*dict.fromkeys(filter(None, whys)), *notes(wanted, partial(_is_meant, found), partial(_has_words, found))]


def _closed(found: JsonObject, resource: str) -> str:
    """Why nothing of that kind is asked of an account; empty: it is."""
    if found.get("suspended") is True and resource != "profile":
        return f"{text(found.get('acct'))} is suspended: its host shows its name only"
    if asks_not_to(found) and resource == "post":
        return f"{text(found.get('acct'))} asks not to be indexed: its posts are not read"
    return ""


def _follow(visit: Visit, plan: Plan, identity: str, found: JsonObject) -> Iterator[Push]:
    if plan.driver.kind == "query":
        yield from _searched(visit, plan)
    elif plan.driver.kind == "related":
        yield from _related(visit, plan, identity)
    elif not _closed(found, plan.resource) and plan.is_of_one(partial(_is_meant, found)):
        yield from _of_account(visit, plan, identity, found)


def _is_meant(found: JsonObject, condition: Source) -> bool:
    """Whether an account is the one that a condition `user` names."""
    return condition.value in (text(found.get("acct")), text(found.get("username")))


def _has_words(found: JsonObject, condition: Source) -> bool:
    """Whether an account has the words of a condition `query`."""
    return says(found, condition.value)


def _of_account(visit: Visit, plan: Plan, identity: str, found: JsonObject) -> Iterator[Push]:
    host = plan.uri.authority
    narrowed = replace(plan, conditions=tuple(each for each in plan.conditions if each.kind != "user"))
    if plan.resource != "post" and not narrowed.matches(partial(_has_words, found)):
        return
    if plan.resource != "profile":
        yield from lists_of(visit, host, identity, narrowed)
    else:
        shown = found if "id" in found else None  # our own copy of the request holds no account
        yield from follow_thing(visit, "account", "account", account_url(host, identity), shown)


def _searched(visit: Visit, plan: Plan) -> Iterator[Push]:
    """A tag's timeline, or a search. Of those who are found, relations are asked one by one."""
    host, words = plan.uri.authority, plan.driver.value
    uri = replace(plan.uri.with_params(stream=None, cursor=None), resources=(plan.resource,))
    if plan.resource == "post" and words.startswith("#"):
        kind, url = "tagged", api(host, f"v1/timelines/tag/{quote(words[1:], safe='')}?limit=40")
    elif plan.resource == "post":
        kind, url = "search", _search(host, "statuses", words)
    else:
        kind, url = ("search" if plan.resource == "profile" else "fan_out"), _search(host, "accounts", words)
    yield from follow_list(visit, kind, f"{url}#{uri}")


def _search(host: str, type: str, words: str) -> str:
    return api(host, f"v2/search?type={type}&q={quote(words, safe='')}&limit={OFFSET_PAGE}")


def _related(visit: Visit, plan: Plan, identity: str) -> Iterator[Push]:
    """Followers and follows of an account: the accounts, or their lists one by one."""
    uri = replace(plan.uri.with_params(stream=None, cursor=None), resources=(plan.resource,))
    kind = "members" if plan.resource == "profile" else "fan_out"
    for direction in ("followers", "following"):
        url = f"{account_url(uri.authority, identity)}/{direction}?limit=80#{uri}"
        yield from follow_list(visit, kind, url, of=account_urn(uri.authority, identity))
