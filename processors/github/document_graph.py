"""One document in the making: its name, where it leads, and what is to be looked at next.

Other people's JSON is read through `processors.fields`; what gives a thing its name is demanded (`required`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from ghcrawl.values.documents import Document, Link
from ghcrawl.values.forms import Form, Forms, Known, lacks
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import Json, JsonObject, digest
from ghcrawl.values.lanes import QueueName
from ghcrawl.values.outcome import Save, Visit
from ghcrawl.values.requests import Context, Payload, Push, Request
from ghcrawl.values.times import credible
from processors.fields import mapping, mappings, number, text
from processors.github.names import NAMED_WITHOUT_CASE, here, org_url, parent_of, repo_of
from processors.saving import document, payload_of

QUEUE_OF: Final[Mapping[str, QueueName]] = {"user": "later"}
"""Where requests for an entity go; `normal` unless named here. Users come last: everything else leads to more."""

ACCOUNT_URLS: Final = (
    ("followers_url", "/followers"),
    ("following_url", "/following{/other_user}"),
    ("gists_url", "/gists{/gist_id}"),
    ("starred_url", "/starred{/owner}{/repo}"),
    ("subscriptions_url", "/subscriptions"),
    ("organizations_url", "/orgs"),
    ("repos_url", "/repos"),
    ("events_url", "/events{/privacy}"),
    ("received_events_url", "/received_events"),
)
"""Fields of an account that are URLs, and what each adds to the account's own."""
_EMBEDDED: Final = (
    *("login", "id", "node_id", "avatar_url", "gravatar_id", "url", "html_url"),
    *(name for name, _ in ACCOUNT_URLS),
    *("type", "user_view_type", "site_admin"),
)
"""The fields of an account as REST embeds it; contributors, collaborators and others have more beside them."""


class Node:
    """Collects links and follow-ups for one visit. Lives for one call of one processor."""

    def __init__(self, visit: Visit, *, body: JsonObject, urn: str, url: str, siblings: str) -> None:
        self.visit = visit
        self.body = body
        self.urn = urn
        self.url = here(visit.request.url, url)
        self._says = url
        self.embeds_users = False
        """Persons are saved as they are embedded here, and not asked for."""
        self.scope = visit.request.context.scope
        self.private = visit.request.context.private
        self.digested: Json = body
        """What decides whether it changed: the body, unless more belongs to it."""
        self.links: dict[str, Link] = {}
        self._follow_ups: list[Push] = []
        self.link("self", urn)
        self.link("siblings", siblings, type="collection")

    @property
    def qualifier(self) -> str:
        """URN of the parent, as the request knew it."""
        return self.visit.request.context.qualifier

    @property
    def repo(self) -> str:
        """URN of the repository this lies in."""
        return repo_of(self.urn)

    @property
    def dealt_with(self) -> bool:
        """It is as we hold it, and was gone through from this very position: what its body carries was passed on then.

        That we hold it is not enough: another pagination may have brought it, and left alone what lies in it.
        """
        return self.visit.fetched.origin == "storage" and self.visit.visited

    # Links ---------------------------------------------------------------------------------------------------

    def link(self, name: str, href: str, *, type: str = "resource") -> None:
        """A link that is not followed."""
        self.links[name] = Link(type=type, href=href)  # type: ignore[arg-type]  # one of the three words of Link

    def hrefs(self, name: str, urns: Iterable[str]) -> None:
        """A link to several things, not followed. Nothing at all is no link."""
        if found := tuple(urns):
            self.links[name] = Link(type="resource", hrefs=found)

    def link_in_repo(self, name: str, identity: int | str | None, type: str = "") -> None:
        """A link to what lies in the same repository. identity: its id or name; without one there is no link."""
        if identity is not None and identity != "":
            self.link(name, f"{self.repo}:{type or name}:{identity}")

    def hrefs_in_repo(self, name: str, identities: Iterable[int | str | None], type: str) -> None:
        """The same to several things of one type."""
        self.hrefs(name, (f"{self.repo}:{type}:{each}" for each in identities if each is not None and each != ""))

    def account(self, name: str, value: Json) -> None:
        """A user or organisation, linked and followed. A ghost (null, or `{}` on commits) is no link."""
        account = mapping(value)
        identity, url = number(account.get("id")), text(account.get("url"))
        if identity is None or not url:
            return
        if account.get("type") == "Organization":
            self.resource(name, "org", org_url(url), f"urn:org:{identity}", scope=text(account.get("login")))
        else:
            self.link(name, f"urn:user:{identity}")
            policy = self.visit.next_hops.thing(name)
            if "user" not in self.visit.request.context.covered and policy is not None:
                self.user(url, policy, account)

    def accounts(self, name: str, values: Json) -> None:
        """Several of them under one link name."""
        found = [account for account in mappings(values) if number(account.get("id")) is not None]
        for account in found:
            self.account(name, account)
        self.links.pop(name, None)
        self.hrefs(name, (f"urn:user:{account['id']}" for account in found))

    def resource(
        self, name: str, type: str, url: str, urn: str, *, scope: str | None = None, changed_at: str = ""
    ) -> None:
        """One other thing, linked and followed. changed_at: as in `Context`."""
        self.link(name, urn)
        policy = self.visit.next_hops.thing(name)
        if type not in self.visit.request.context.covered and policy is not None and url:
            context = replace(self.context(qualifier=parent_of(urn), scope=scope), changed_at=changed_at)
            self.follow(type, url, policy, context)

    def user(self, url: str, policy: str, account: JsonObject) -> None:
        """Follow a person who is embedded here."""
        payload = self.payload(embedded(account)) if self.embeds_users else None
        self.follow("user", url, policy, self.context(scope=""), payload=payload)

    # Follow-ups ----------------------------------------------------------------------------------------------

    def context(self, *, qualifier: str = "", scope: str | None = None) -> Context:
        """The context of something reached from here."""
        return Context(
            qualifier=qualifier, scope=self.scope if scope is None else scope, private=self.private and scope is None
        )

    def payload(self, body: JsonObject) -> Payload:
        """A part of this that is a thing of its own. It answers nothing that was asked after this was looked at."""
        return payload_of(self.visit, body)

    def follow(
        self,
        type: str,
        url: str,
        policy: str,
        context: Context,
        *,
        payload: Payload | None = None,
        queue: QueueName | None = None,
    ) -> None:
        """Look at this next. What carries its payload goes to `event`: it needs no call."""
        asked = self.visit.request
        request = asked.child(type, here(asked.url, url), policy, context, payload)
        chosen = queue or ("event" if payload is not None else QUEUE_OF.get(type, "normal"))
        self._follow_ups.append(Push(request=request, queue=chosen))

    def follow_again(self, request: Request, queue: QueueName, *, not_before: datetime | None = None) -> None:
        """Another request of this very pagination."""
        request = replace(request, url=here(self.visit.request.url, request.url))
        self._follow_ups.append(Push(request=request, queue=queue, not_before=not_before))

    @property
    def follow_ups(self) -> tuple[Push, ...]:
        """The follow-ups so far."""
        return tuple(self._follow_ups)

    # The document --------------------------------------------------------------------------------------------

    def save(self, type: str, *, changed_at: str = "", supersede: str = "") -> Save:
        """The finished document with its follow-ups."""
        return Save(document=self.document(type, changed_at), follow_ups=self.follow_ups, supersede=supersede)

    def document(
        self, type: str, changed_at: str = "", form: Form | None = None, left_out: frozenset[str] = frozenset()
    ) -> Document:
        """The finished document. form: in which it was seen, if it has several; left_out: what that form may lack."""
        request, fetched = self.visit.request, self.visit.fetched
        known_as = {self._says, request.url, fetched.url, *fetched.aliases}
        if type in NAMED_WITHOUT_CASE:
            known_as.add(self.url.lower())
        known_as.discard(self.url)
        as_sent = request.payload is not None and request.payload.body is self.digested
        checksum = request.payload.digest if request.payload and as_sent else digest(self.digested)
        changed_at = credible(changed_at, fetched.observed_at)
        forms: Forms = {}
        if form is not None:
            known = Known(
                changed_at=changed_at,
                observed_at=fetched.observed_at,
                digest=checksum,
                partial=lacks(self.body, left_out),
            )
            forms = {form: known}
        return document(
            self.visit,
            type=type,
            url=self.url,
            urn=self.urn,
            body=self.body,
            links=self.links,
            checksum=checksum,
            aliases=tuple(sorted(known_as)),
            changed_at=changed_at,
            forms=forms,
        )


def again(request: Request, url: str, **pagination: Any) -> Request:
    """The request for another page of the same pagination, or for the same page in another way."""
    context = replace(request.context, pagination=replace(request.context.pagination, **pagination))
    return replace(request, url=url, context=context, attempt=0, failures=())


def embedded(account: JsonObject) -> dict[str, Json]:
    """An account as REST embeds it, without what a list says of its part in that list."""
    return {name: account[name] for name in _EMBEDDED if name in account}
