"""Requests for batches, made from the elements of a page, and the types that they cover."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.requests import Context, Pagination
from ghcrawl.values.visitor_map import Step
from processors.fields import mapping, number, text
from processors.github.document_graph import Node
from processors.github.listed_page import Page
from processors.github.listings import LISTINGS
from processors.github.pull_request import PULL_REQUEST, pull_request_urn

USERS: Final = "user_batch"
PULLS: Final = "pull_request_batch"
REVIEWS: Final = "review_batch"
SIZES: Final[Mapping[str, int]] = {USERS: 100, PULLS: 50, REVIEWS: 25}
QUEUES: Final[Mapping[str, QueueName]] = {USERS: "later", PULLS: "normal", REVIEWS: "soon"}
WORTH_A_LIST: Final = 4
"""With at least this many pull requests on a page of issues, it pays to read the list of pull requests."""
_BY_TYPE: Final = {(row.of, row.type): row for row in LISTINGS}
_PULL_LIST: Final = _BY_TYPE["repo", "pull_requests"]
REVIEW_LIST: Final = _BY_TYPE["pull_request", "reviews"]


def cover(page: Page, items: Sequence[JsonObject]) -> tuple[str, ...]:
    """Ask at once for what these elements of a page lead to: the types that they need not lead to one by one."""
    inherited = page.visit.request.context.covered
    batched = page.visit.batched
    if page.stored or page.offline or page.element is None:
        return inherited
    covered = [*inherited]
    if ("user" in batched or page.node.embeds_users) and "user" not in covered:
        covered.append("user")
        follow_people(page.node, items, page.element.people, page.visit.next_hops.beyond)
    if _covers_pulls(page, items):
        covered.append("pull_request")
    if page.element.type == "pull_request" and _asks_for_reviews(page, items):
        covered.append(REVIEW_LIST.type)
    return tuple(covered)


def follow_all(page: Page, items: Sequence[JsonObject], policy: str) -> bool:
    """Whether these elements of a page are of a type that is asked for in batches, and were asked for so."""
    type = page.element.type if page.element is not None else ""
    if page.offline or type not in page.visit.batched:
        return False
    if page.stored:  # an unchanged page of pull requests says that they are; of persons it says hardly anything
        return type == "pull_request"
    if type == "user":
        _follow_users(page.node, {text(item.get("url")): (item, policy) for item in items})
        return True
    if type == "pull_request":
        _follow_pulls(page, items, policy)
        return True
    return False


def follow_people(node: Node, bodies: Iterable[JsonObject], names: Iterable[str], steps: Mapping[str, Step]) -> None:
    """Ask for all persons that these bodies name in those fields, as far as the steps lead to them."""
    found: dict[str, tuple[JsonObject, str]] = {}
    ways = [(name, step.thing) for name in names if (step := steps.get(name)) is not None and step.thing is not None]
    for body in bodies:
        for name, policy in ways:
            value = body.get(name)
            for account in map(mapping, value if isinstance(value, list) else [value]):
                if (url := text(account.get("url"))) and account.get("type") != "Organization":
                    found.setdefault(url, (account, policy))
    _follow_users(node, found)


def _follow_users(node: Node, accounts: Mapping[str, tuple[JsonObject, str]]) -> None:
    members = []
    for url, (account, policy) in accounts.items():
        identity, global_id = number(account.get("id")), text(account.get("node_id"))
        if identity is None or not url:
            continue
        if account.get("type") == "User" and global_id and not node.embeds_users:
            members.append(
                {"id": global_id, "url": url, "policy": policy, "urn": f"urn:user:{identity}", "body": account}
            )
        else:  # GraphQL tells hardly anything of a bot
            node.user(url, policy, account)
    ask(node, USERS, members, node.context(scope=""))


def _covers_pulls(page: Page, items: Sequence[JsonObject]) -> bool:
    """Whether the list of pull requests stands for those that a complete pagination of the issues leads to.

    The first page that was read and names some asks for it; the pages behind it rely on that.
    """
    listing, pagination, step = page.listing, page.pagination, page.visit.next_hops.beyond.get("pull_request")
    if (listing.type, listing.of) != ("issues", "repo") or step is None or step.thing is None:
        return False
    if pagination.covered or listing.covers == "pull_request":
        return True
    if pagination.since or not pagination.first or page.excerpt or page.floor:
        return False
    if "pull_request" not in page.visit.batched or sum("pull_request" in item for item in items) < WORTH_A_LIST:
        return False
    first = _PULL_LIST.url(page.owner_url)
    context = replace(
        page.node.context(qualifier=page.node.qualifier), pagination=Pagination(first=first, known=page.known)
    )
    page.node.follow(_PULL_LIST.type, first, step.pages, context, queue="soon")
    return True


def _asks_for_reviews(page: Page, items: Sequence[JsonObject]) -> bool:
    """Whether the reviews of these pull requests, which are saved as listed, were asked for at once."""
    step = page.visit.next_hops.beyond.get(REVIEW_LIST.link)
    if step is None or REVIEW_LIST.type not in page.visit.batched:
        return False
    members = [
        {
            "id": text(item.get("node_id")),
            "url": text(item.get("url")),
            "policy": step.pages,
            "urn": pull_request_urn(item, page.node.qualifier),
            "changed_at": PULL_REQUEST.changed_at(item),
        }
        for item in items
    ]
    ask(page.node, REVIEWS, members, page.node.context(qualifier=page.node.qualifier), policy=step.pages)
    return True


def _follow_pulls(page: Page, items: Sequence[JsonObject], policy: str) -> None:
    context = replace(page.node.context(qualifier=page.node.qualifier), pagination=Pagination(known=page.known))
    for is_open in (True, False):
        members = [
            {
                "id": text(item.get("node_id")),
                "url": text(item.get("url")),
                "policy": policy,
                "urn": pull_request_urn(item, page.node.qualifier),
                "changed_at": text(item.get("updated_at")),
                "body": item,
            }
            for item in items
            if (item.get("state") == "open") is is_open
        ]
        ask(page.node, PULLS, members, context, open=is_open)


def ask(
    node: Node, type: str, members: Sequence[JsonObject], context: Context, *, policy: str = "", **more: Json
) -> None:
    """Requests for batches of these members. policy: if not that of what they were found on."""
    size = SIZES[type]
    for first in range(0, len(members), size):
        body = {"members": members[first : first + size], **more}
        payload = replace(node.payload(body), origin="batch")
        url = f"{node.visit.request.url.partition('#')[0]}#{type}"
        node.follow(type, url, policy or node.visit.request.policy, context, payload=payload, queue=QUEUES[type])
