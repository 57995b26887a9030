"""Which method answers a request. Pure.

URLs of this platform name things and lists of things, wherever they are asked for: an AppView shows them with all that
others made of them; a repository (`records`) has the bare records of one account, at any server that holds it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlencode

from msgspec import Struct

from ghcrawl.social.parsing import parse
from ghcrawl.social.plan import Plan, Unsupported, plans
from ghcrawl.social.request_uri import RequestUri
from ghcrawl.values.requests import Request
from ghcrawl.values.times import iso

PAGE: Final = 100
POST: Final = "app.bsky.feed.post"
_PLACE: Final = re.compile(
    r"[a-z]+:profile/(?P<actor>[^/?#]+)(?:/post/(?P<rkey>[^/?#]+))?(?:/(?P<list>[a-z]+))?(?:\?cursor=(?P<cursor>[^#]+))?"
)


class Method(Struct, frozen=True):
    """A method with its parameters. Empty: what is asked needs no call."""

    name: str = ""
    params: tuple[tuple[str, str], ...] = ()

    @property
    def path(self) -> str:
        """Below a server's URL."""
        return f"/xrpc/{self.name}?{urlencode(self.params)}" if self.params else f"/xrpc/{self.name}"


def method_of(request: Request, *, records: bool) -> Method:
    """The method for `request`. Raises Unsupported for what these servers cannot tell."""
    found = (_RECORDS if records else _VIEWS).get(request.type)
    if found is None:
        raise Unsupported(f"{request.url}: only an AppView shows {request.type}, and bluesky.records is set")
    return found(request.url)


def _of(name: str, **params: str | int | None) -> Method:
    return Method(
        name, tuple((key.rstrip("_"), str(value)) for key, value in params.items() if value not in (None, ""))
    )


def _plans(url: str) -> tuple[RequestUri, Plan]:
    uri = parse(url.partition("#")[0])
    return uri, plans(uri)[0]


def _place(url: str) -> Mapping[str, str]:
    found = _PLACE.fullmatch(url)
    if found is None:
        raise Unsupported(f"{url} is no place of this platform")
    named = found.groupdict(default="")
    if named["cursor"]:
        from_uri = parse(f"x:q/post/user=x?cursor={named['cursor']}")
        named["cursor"] = from_uri.cursor
    return named


def _limit(uri: RequestUri) -> int:
    return min(PAGE, uri.limit or PAGE)


# Of an AppView ------------------------------------------------------------------------------------------------


def _who(url: str) -> Method:
    _, plan = _plans(url)
    return Method() if plan.driver.kind == "query" else _of("app.bsky.actor.getProfile", actor=plan.driver.value)


def _posts(url: str) -> Method:
    uri = parse(url)
    words = " ".join(source.value for source in uri.sources if source.kind == "query")
    author = next((source.value for source in uri.sources if source.kind == "user"), None)
    if not words:
        name = "app.bsky.feed.getAuthorFeed"
        return _of(name, actor=author, filter="posts_with_replies", limit=_limit(uri), cursor=uri.cursor)
    window = {name: iso(at) if at else None for name, at in (("since", uri.since), ("until", uri.before))}
    name = "app.bsky.feed.searchPosts"
    return _of(name, q=words, author=author, sort="latest", **window, limit=_limit(uri), cursor=uri.cursor)


def _fan_out(url: str) -> Method:
    uri, plan = _plans(url)
    if plan.driver.kind == "query":
        words = " ".join(source.value for source in uri.sources if source.kind == "query")
        return _of("app.bsky.actor.searchActors", q=words, limit=PAGE, cursor=uri.cursor)
    return _people(url.rpartition("#")[2], plan.driver.value, uri.cursor)


def _people(direction: str, actor: str, cursor: str) -> Method:
    name = "app.bsky.graph.getFollows" if direction == "follows" else "app.bsky.graph.getFollowers"
    return _of(name, actor=actor, limit=PAGE, cursor=cursor)


def _relation(url: str) -> Method:
    place = _place(url)
    return _people(place["list"], place["actor"], place["cursor"])


def _profile(url: str) -> Method:
    return _of("app.bsky.actor.getProfile", actor=_place(url)["actor"])


def _uri(url: str) -> str:
    place = _place(url)
    return f"at://{place['actor']}/{POST}/{place['rkey']}"


_VIEWS: Final[Mapping[str, Callable[[str], Method]]] = {
    "request": _who,
    "posts": _posts,
    "follows": _relation,
    "followers": _relation,
    "fan_out": _fan_out,
    "profile": _profile,
    "post": lambda url: _of("app.bsky.feed.getPosts", uris=_uri(url)),
    "thread": lambda url: _of("app.bsky.feed.getPostThread", uri=_uri(url), depth=10, parentHeight=80),
}

# Of a repository ----------------------------------------------------------------------------------------------


def _repository(url: str) -> Method:
    _, plan = _plans(url)
    if plan.driver.kind != "user":
        raise Unsupported(f"{url}: a repository is one account's; ask for user=")
    return _of("com.atproto.repo.describeRepo", repo=plan.driver.value)


def _records(collection: str, did: str, limit: int, cursor: str) -> Method:
    return _of("com.atproto.repo.listRecords", repo=did, collection=collection, limit=limit, cursor=cursor)


def _own_posts(url: str) -> Method:
    uri, plan = _plans(url)
    return _records(POST, plan.driver.value, _limit(uri), uri.cursor)


def _own_follows(url: str) -> Method:
    place = _place(url)
    return _records("app.bsky.graph.follow", place["actor"], PAGE, place["cursor"])


def _own_profile(url: str) -> Method:
    did = _place(url)["actor"]
    return _of("com.atproto.repo.getRecord", repo=did, collection="app.bsky.actor.profile", rkey="self")


def _own_post(url: str) -> Method:
    place = _place(url)
    return _of("com.atproto.repo.getRecord", repo=place["actor"], collection=POST, rkey=place["rkey"])


_RECORDS: Final[Mapping[str, Callable[[str], Method]]] = {
    "request": _repository,
    "posts": _own_posts,
    "follows": _own_follows,
    "profile": _own_profile,
    "post": _own_post,
}
