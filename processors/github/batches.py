"""Batches: fields that lists leave out, asked for over the GraphQL API at once instead of one by one over REST.

A list element of REST and the few fields that only the single resource has are the whole resource: for a pull request
the twelve fields below, for a user the profile. A node of GraphQL is believed only where it is certainly of the same
moment as the list's element; in any doubt REST is asked (`docs/architecture.md`).

Requests for batches carry their members:

    {"members": [{"id": node id, "url", "policy", "urn", "changed_at", "body": the list element}], "open": bool}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from ghcrawl.platforms.kind import Batch
from ghcrawl.values.documents import Validator
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject, digest
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.outcome import Skip, Visit
from ghcrawl.values.requests import Context, Pagination, Payload, Proof, Push, Request
from ghcrawl.values.visitor_map import Step
from processors.fields import at, mapping, number, sequence, text
from processors.github.batch_requests import PULLS, QUEUES, REVIEW_LIST, REVIEWS, USERS, ask, follow_people
from processors.github.document_graph import QUEUE_OF, Node
from processors.github.graphql_nodes import PROFILE, STABLE, http_date, pull_request, reviews, user
from processors.github.names import here
from processors.github.pull_request import PULL_REQUEST

# What a batch brings ------------------------------------------------------------------------------------------


class _Answer(Struct, frozen=True, kw_only=True):
    """A batch that was answered: members, each with its node (None: it was not given), and those not asked for yet."""

    visit: Visit
    node: Node
    given: Sequence[tuple[JsonObject, JsonObject | None]]
    body: JsonObject

    @classmethod
    def of(cls, visit: Visit) -> _Answer:
        """The answer of `visit`. Members that were too many for one call go into a request of their own."""
        request, body = visit.request, mapping(visit.fetched.body)
        members, nodes = _members(request), sequence(body.get("nodes"))
        node = Node(visit, body={}, urn=request.context.qualifier, url=request.url, siblings="")
        if rest := members[len(nodes) :]:
            assert request.payload is not None
            payload = _only(request.payload, rest)
            again = replace(request, payload=payload, attempt=0, failures=())
            node.follow_again(again, QUEUES[request.type])
        pairs = [(member, mapping(each) or None) for member, each in zip(members, nodes, strict=False)]
        return cls(visit=visit, node=node, given=pairs, body=body)

    def alone(self, member: JsonObject, proof: Proof | None = None) -> None:
        """Ask REST for that one. proof: what its answer is held against."""
        push = _SINGLE[self.visit.request.type](self.visit.request, member)
        context = replace(push.request.context, proof=proof, changed_at="") if proof else push.request.context
        self.node.follow_again(replace(push.request, context=context), push.queue)

    def sampled(self, place: int) -> bool:
        """Whether REST is asked for this one as well."""
        return place in sequence(self.body.get("samples"))

    def save(self, type: str, url: str, policy: str, context: Context, payload: Payload) -> None:
        """Another request that carries what was found."""
        self.node.follow(type, url, policy, context, payload=payload)

    @property
    def skip(self) -> Skip:
        """Everything that was found."""
        return Skip(reason="batched", follow_ups=self.node.follow_ups)


def _users(visit: Visit) -> Skip:
    answer, fetched = _Answer.of(visit), visit.fetched
    own = number(answer.body.get("viewer"))
    for place, (member, node) in enumerate(answer.given):
        body = user(mapping(member.get("body")), node) if node is not None else None
        if body is None or body["id"] == own:  # of one's own profile REST shows more
            answer.alone(member)
            continue
        if answer.sampled(place):
            answer.alone(member, _proof(body, PROFILE, ("updated_at", "login")))
            continue
        url = text(member.get("url"))
        payload = Payload.of(body, origin="batch", observed_at=fetched.observed_at, received_at=fetched.checked_at)
        payload = replace(payload, validator=_by_date(fetched.validator, here(visit.request.url, url), body))
        answer.save("user", url, text(member.get("policy")), answer.node.context(scope=""), payload)
    return answer.skip


def _proof(body: JsonObject, names: Iterable[str], as_of: Iterable[str]) -> Proof:
    return Proof(fields=_digests(body, names), as_of=_digests(body, as_of))


def _digests(body: JsonObject, names: Iterable[str]) -> Mapping[str, str]:
    return {name: digest(body.get(name)) for name in names}


def _by_date(like: Validator | None, url: str, body: JsonObject) -> Validator | None:
    """GitHub's `Last-Modified` of a profile is its `updated_at`."""
    changed = http_date(text(body.get("updated_at")))
    return replace(like, url=url, etag=None, last_modified=changed) if like is not None and changed else None


def _pulls(visit: Visit) -> Skip:
    answer, request = _Answer.of(visit), visit.request
    assert request.payload is not None
    is_open = mapping(request.payload.body).get("open") is True
    people = _people_of(mapping(member.get("body")) for member, _ in answer.given)
    beyond = visit.next_hops.beyond
    covered = tuple(type for type in ("user", "reviews") if type in visit.batched)
    context = answer.node.context(qualifier=request.context.qualifier)
    context = replace(context, covered=covered, pagination=request.context.pagination)
    whole: list[tuple[JsonObject, JsonObject]] = []
    bodies: list[JsonObject] = []
    for place, (member, node) in enumerate(answer.given):
        body = pull_request(mapping(member.get("body")), node, people, is_open=is_open) if node is not None else None
        if body is None or node is None:
            answer.alone(member)
            continue
        if answer.sampled(place):
            answer.alone(member, _proof(body, STABLE, ("updated_at",)))
            continue
        whole.append((member, node))
        bodies.append(body)
        payload = Payload.of(
            body,
            origin="batch",
            observed_at=request.payload.observed_at,
            received_at=request.payload.received_at,
        )
        answer.save("pull_request", text(member.get("url")), text(member.get("policy")), context, payload)
    if "user" in covered:
        follow_people(answer.node, bodies, PULL_REQUEST.people, beyond)
    if "reviews" in covered and (step := beyond.get(REVIEW_LIST.link)) is not None:
        _follow_reviews(answer, whole, step)
    return answer.skip


def _people_of(bodies: Iterable[JsonObject]) -> Mapping[int, JsonObject]:
    """Accounts as REST writes them, by id."""
    found: dict[int, JsonObject] = {}
    for body in bodies:
        for name in ("user", "assignee", "assignees", "requested_reviewers", "head", "base"):
            value = body.get(name)
            value = mapping(value).get("user") if name in ("head", "base") else value
            for account in map(mapping, value if isinstance(value, list) else [value]):
                if (identity := number(account.get("id"))) is not None:
                    found[identity] = account
    return found


def _follow_reviews(answer: _Answer, whole: Sequence[tuple[JsonObject, JsonObject]], step: Step) -> None:
    members = []
    for member, node in whole:
        total = number(at(node, "reviews", "totalCount"))
        asked = {"id": member["id"], "url": member["url"], "policy": step.pages, "urn": member["urn"]}
        if total == 0:
            _save_reviews(answer, asked, [])
        elif total is None or total > _REVIEW_LIST_SIZE:
            push = _reviews_alone(answer.visit.request, asked)
            answer.node.follow_again(push.request, push.queue)
        else:
            members.append(asked)
    context = answer.node.context(qualifier=answer.visit.request.context.qualifier)
    ask(answer.node, REVIEWS, members, context, policy=step.pages)


_REVIEW_LIST_SIZE: Final = 100


def _reviews(visit: Visit) -> Skip:
    answer = _Answer.of(visit)
    pages = []
    for place, (member, node) in enumerate(answer.given):
        found = reviews(text(member.get("url")), node) if node is not None else None
        if found is None:
            answer.alone(member)
        elif found and answer.sampled(place):
            answer.alone(member, Proof(fields={str(each["id"]): digest(each) for each in found}))
        else:
            pages.append((member, found))
    covered = "user" in visit.batched
    for member, found in pages:
        _save_reviews(answer, member, found, covered=("user",) if covered else ())
    if covered and pages:
        steps = visit.next_hops.beyond
        follow_people(answer.node, (each for _, found in pages for each in found), ("user",), steps)
    return answer.skip


def _save_reviews(
    answer: _Answer, member: JsonObject, found: Sequence[JsonObject], *, covered: tuple[str, ...] = ()
) -> None:
    """The page of the list, as if REST had sent it."""
    fetched = answer.visit.fetched
    push = _reviews_alone(answer.visit.request, member)
    body = {"elements": list(found)}
    payload = Payload.of(body, origin="batch", observed_at=fetched.observed_at, received_at=fetched.checked_at)
    context = replace(push.request.context, covered=covered)
    answer.node.follow_again(replace(push.request, payload=payload, context=context), "event")


# One by one ---------------------------------------------------------------------------------------------------


def _user_alone(request: Request, member: JsonObject) -> Push:
    return _alone(request, "user", member, Context(), text(member.get("url")))


def _pull_alone(request: Request, member: JsonObject) -> Push:
    context = Context(
        qualifier=request.context.qualifier,
        urn=text(member.get("urn")),
        scope=request.context.scope,
        private=request.context.private,
        pagination=request.context.pagination,
        changed_at=text(member.get("changed_at")),
    )
    return _alone(request, "pull_request", member, context, text(member.get("url")))


def _reviews_alone(request: Request, member: JsonObject) -> Push:
    first = here(request.url, REVIEW_LIST.url(text(member.get("url"))))
    context = Context(
        qualifier=text(member.get("urn")),
        scope=request.context.scope,
        private=request.context.private,
        pagination=Pagination(first=first),
        changed_at=text(member.get("changed_at")),
    )
    return _alone(request, REVIEW_LIST.type, member, context, first, queue="soon")


def _alone(
    request: Request, type: str, member: JsonObject, context: Context, url: str, *, queue: QueueName | None = None
) -> Push:
    child = request.child(type, here(request.url, url), text(member.get("policy")), context)
    return Push(request=child, queue=queue or QUEUE_OF.get(type, "normal"))


_SINGLE: Final[Mapping[str, Callable[[Request, JsonObject], Push]]] = {
    USERS: _user_alone,
    PULLS: _pull_alone,
    REVIEWS: _reviews_alone,
}


# The kinds ----------------------------------------------------------------------------------------------------


def _members(request: Request) -> list[JsonObject]:
    body = mapping(request.payload.body) if request.payload is not None else {}
    return [mapping(member) for member in sequence(body.get("members"))]


def _each(request: Request) -> Sequence[Push]:
    single = _SINGLE[request.type]
    return [single(request, member) for member in _members(request)]


def _chosen(request: Request, places: Sequence[int]) -> Request:
    members = _members(request)
    if len(places) == len(members) or request.payload is None:
        return request
    return replace(request, payload=_only(request.payload, [members[place] for place in places]))


def _only(payload: Payload, members: Sequence[JsonObject]) -> Payload:
    body = {**payload.body, "members": list(members)}
    return Payload.of(body, origin="batch", observed_at=payload.observed_at, received_at=payload.received_at)


BATCHES: Final[Mapping[str, Batch]] = {
    USERS: Batch(of="user", members=_each, chosen=_chosen, processor=_users),
    PULLS: Batch(of="pull_request", members=_each, chosen=_chosen, processor=_pulls),
    REVIEWS: Batch(of="reviews", members=_each, chosen=_chosen, processor=_reviews),
}
