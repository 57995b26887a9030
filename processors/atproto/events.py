"""Requests that follow from events of a stream: posts with their records, deletions, changed profiles."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from msgspec import Struct

from ghcrawl.social.parsing import parse
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import JsonObject
from ghcrawl.values.requests import Context, Payload, Push, Request
from processors.atproto.names import NAME, POSTS, Record, account_url, account_urn, is_did, is_rkey, post_url, post_urn
from processors.atproto.things import bare
from processors.fields import mapping, text

GONE = frozenset({"deleted", "takendown", "suspended", "deactivated"})


class Subscription(Struct, frozen=True, kw_only=True):
    """A subscription to a stream. words: each must be in a post; root: `type@url` of the request that subscribed."""

    words: tuple[str, ...] = ()
    root: str = ""

    @classmethod
    def of(cls, body: JsonObject, root: str) -> Subscription:
        """As the document of the subscription says."""
        words = body.get("words")
        return cls(words=tuple(text(word) for word in words) if isinstance(words, list) else (), root=root)

    def pushes(self, event: JsonObject) -> Iterator[Push]:
        """Pushes for `event`. Total: other events have none."""
        did, happened_at = text(event.get("did")), _moment(event)
        if not is_did(did):
            return
        if event.get("kind") == "commit":
            yield from self._commit(did, mapping(event.get("commit")), happened_at)
        elif event.get("kind") == "account":
            account = mapping(event.get("account"))
            if account.get("active") is False and account.get("status") in GONE:
                yield _deleted(self._profile(did), account_urn(did), happened_at, {"did": did})
        elif event.get("kind") == "identity":
            yield Push(request=self._profile(did), queue="soon")

    def _profile(self, did: str) -> Request:
        return Request(platform=NAME, type="profile", url=account_url(did), root=self.root)

    def _commit(self, did: str, commit: JsonObject, happened_at: datetime) -> Iterator[Push]:
        rkey = text(commit.get("rkey"))
        if commit.get("collection") != POSTS or not is_rkey(rkey):
            return
        post = Record(did, POSTS, rkey)
        request = Request(platform=NAME, type="post", url=post_url(post), root=self.root)
        if commit.get("operation") == "delete":
            if not self.words:
                yield _deleted(request, post_urn(post), happened_at, {"uri": post.uri})
            return
        record = mapping(commit.get("record"))
        if not self._says(record):
            return
        body = bare({"uri": post.uri, "cid": commit.get("cid"), "value": record})
        yield _told(request, Context(qualifier=account_urn(did)), body, happened_at)

    def _says(self, record: JsonObject) -> bool:
        said = text(record.get("text")).casefold()
        return all(word.casefold() in said for word in self.words)


def missed_by(subscription: Document) -> Request:
    """The request for all that happened before a stream was connected: the one that subscribed, without its stream."""
    uri = parse(text(subscription.body.get("request")) or subscription.url).with_params(stream=None, limit=None)
    return Request(platform=NAME, type="request", url=str(uri), root=subscription.root)


def _told(request: Request, context: Context, body: JsonObject, happened_at: datetime) -> Push:
    payload = Payload.of(body, origin="event", observed_at=happened_at)
    return Push(request=replace(request, context=context, payload=payload), queue="event")


def _deleted(request: Request, urn: str, happened_at: datetime, body: JsonObject) -> Push:
    """It is gone, whether or not it has come here yet."""
    return _told(request, Context(urn=urn, deleted_at=happened_at), body, happened_at)


def _moment(event: JsonObject) -> datetime:
    time_us = event.get("time_us")
    try:
        return datetime.fromtimestamp(time_us / 1_000_000 if isinstance(time_us, int) else 0, UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.fromtimestamp(0, UTC)
