"""Plans the crawl of a blog: decides from its stored documents what to ask for next.

A plan is made whenever something arrived, and remembers nothing but what its own document says: what was asked in this
crawl. A first crawl goes from the start page to its feed, to the posts that the feed names, to URLs that look like
theirs, to the pages that are likely to link to more of those, and ends when the last pages brought none. A later crawl
asks the feed, and only what is new in it; if all of it is new, posts may have left it unseen, and it goes on as a first
crawl does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any, Final

from msgspec import Struct

from ghcrawl.platforms.kind import Prospect
from ghcrawl.values.documents import Document
from ghcrawl.values.frozen import replace
from ghcrawl.values.jsontext import digest
from ghcrawl.values.outcome import Save, Skip
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Push, Request
from ghcrawl.values.times import iso, moment
from processors.saving import resource
from processors.web import pattern
from processors.web.documents import PLATFORM, noted
from processors.web.extraction_rules import Vote, agreed, elect, weight
from processors.web.urls import canonical, folder, host_of, may_be_page, urn

TYPES: Final = ("blog", "feed", "page", "post")
LOST: Final = timedelta(seconds=60)
"""The plan waits this long for an answer; a later one was retried or dead-lettered."""
AT_ONCE: Final = 3
PER_PAGES: Final = 50
"""Known pages per additional concurrent request."""
LEAST_WINDOW: Final = 20
MOST_WINDOW: Final = 1_000
LEAST_SHARE: Final = 0.01
"""A first crawl ends when fewer of the last pages than this share were posts."""
MAX_VOTERS: Final = 200
POST: Final = "post"


class Limits(Struct, frozen=True, kw_only=True):
    """max_pages: pages of one crawl of a blog."""

    max_pages: int = 1_000


LIMITS: Final = Limits()


@dataclass(kw_only=True)
class _Run:
    """State of this crawl: the part of the blog's document that one plan hands to the next.

    since: when it was asked for. mode: `new` or `update`. asked: URL → when it was asked. lost: URLs that never came.
    """

    since: str
    mode: str
    asked: dict[str, str] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    ended: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"since": self.since, "mode": self.mode, "asked": self.asked, "lost": self.lost, "ended": self.ended}


class Plan:
    """One plan."""

    def __init__(self, prospect: Prospect, limits: Limits) -> None:
        self._prospect = prospect
        self._limits = limits
        self._request = prospect.request
        self._url = canonical(prospect.request.url) or prospect.request.url
        self._urn = urn("blog", self._url)
        self._blog = next((each for each in prospect.documents if each.urn == self._urn), None)
        self._pages = [each for each in prospect.documents if each.type in ("page", POST)]
        self._known = _by_url(prospect.documents)
        self._run = self._read_run()
        self._wanted: dict[str, tuple[str, dict[str, Any]]] = {}

    # The outcome --------------------------------------------------------------------------------------------------

    def outcome(self) -> Save | Skip:
        """The blog's document, and the next requests."""
        self._settle_asked()
        front = self._known.get(self._url)
        if front is not None and "refused" in front.body and self._feed is None:
            return Skip(reason="missing", detail=str(front.body["refused"]))
        self._decide(front)
        free = AT_ONCE + len(self._pages) // PER_PAGES - len(self._run.asked)
        room = self._limits.max_pages - len(self._this_run) - len(self._run.lost) - len(self._run.asked)
        if room <= 0 and self._wanted and not self._run.asked:
            self._run.ended = "limit"
        pushes = [self._push(url, *what) for url, what in list(self._wanted.items())[: max(0, min(free, room))]]
        for push in pushes:
            self._run.asked[push.request.url] = iso(self._prospect.now)
        if not self._run.asked and not self._wanted and not self._run.ended:
            self._run.ended = "all seen"
        if (
            front is not None
            and self._run.asked
            and not self._run.ended
            and (self._run.mode == "new" or len(self._wanted) > len(pushes))
        ):
            pushes.append(self._heartbeat())
        return Save(document=self._document(), follow_ups=tuple(pushes))

    def _decide(self, front: Document | None) -> None:
        """Fills `_wanted`, in order of importance."""
        if self._run.ended:
            return
        if self._run.mode == "update" and not self._update():
            return
        if front is None:
            self._want("page", self._url)
            return
        if self._feed is None and (candidate := self._next_feed(front)):
            self._want("feed", candidate)
            return
        for entry in self._entries:
            if self._is_new(entry):
                self._want(POST, entry["url"], entry=entry)
        if (not self._run.asked and not self._wanted) or self._rules:
            self._explore()

    def _update(self) -> bool:
        """Whether to go on as a first crawl does: more may be new than the feed lists."""
        feed = self._feed
        if feed is None:
            return True
        asked = str(feed.body.get("asked") or feed.url)
        if not self._is_of_this_run(feed) and asked not in self._run.lost:
            self._want("feed", asked)
        new = [entry for entry in self._entries if self._is_new(entry)]
        if new and self._is_of_this_run(feed) and not any(self._was_before(entry) for entry in self._entries):
            self._run.mode = "new"
            return True
        for entry in new:
            self._want(POST, entry["url"], entry=entry)
        return False

    def _explore(self) -> None:
        """URLs that look like posts, then the rest of the host; nothing more once the last pages brought no posts."""
        found = self._candidates()
        for url in found:
            if self._looks_like_post(url):
                self._want(POST, url)
        if self._wanted or self._run.asked:
            return
        if self._exhausted():
            self._run.ended = "few posts"
            return
        worth = self._worth()
        rest = sorted((url for url in found), key=lambda url: -worth.get(_shape(url), 0.5))
        for url in rest[: AT_ONCE + len(self._pages) // PER_PAGES]:
            self._want("page", url)

    # What is known --------------------------------------------------------------------------------------------------

    def _read_run(self) -> _Run:
        """Of this crawl; a new one where it was asked for since."""
        said = self._blog.body.get("crawl", {}) if self._blog is not None else {}
        since = iso(self._request.asked_at or self._prospect.now, "microseconds")
        if said and (said["since"] >= since or self._request.asked_at is None):
            return _Run(**{**said, "asked": dict(said["asked"]), "lost": list(said["lost"])})
        finished = bool(said) and (bool(said["ended"]) or said["mode"] == "update")
        return _Run(since=since, mode="update" if finished else "new")

    def _settle_asked(self) -> None:
        """Forget requests that were answered, and those older than `LOST`."""
        aliases = {alias for each in self._prospect.documents for alias in each.aliases}
        for url, at in list(self._run.asked.items()):
            document = self._known.get(url)
            if (document is not None and iso(document.fetched_at, "microseconds") >= at[:23]) or url in aliases:
                del self._run.asked[url]
            elif self._prospect.now - moment(at) > LOST:
                del self._run.asked[url]
                self._run.lost.append(url)

    @cached_property
    def _feed(self) -> Document | None:
        """The blog's feed: the one that it was crawled by, else the first that could be read."""
        name = self._blog.body.get("feed", "") if self._blog is not None else ""
        front = self._known.get(self._url)
        wanted = [name, self._url, *(front.body.get("feeds", ()) if front is not None else ())]
        feeds = {
            str(each.body.get("asked") or each.url): each for each in self._prospect.documents if each.type == "feed"
        }
        feeds |= {each.url: each for each in feeds.values()}
        found = (feeds.get(url) for url in wanted if url)
        return next((each for each in found if each is not None and not each.body.get("refused")), None)

    def _next_feed(self, front: Document) -> str:
        """The next feed that the start page announces and that was not tried; empty: there is none."""
        for url in front.body.get("feeds", ())[:10]:
            if url not in self._known and url not in self._run.lost:
                return str(url)
        return ""

    @cached_property
    def _entries(self) -> Sequence[dict[str, Any]]:
        return list(self._feed.body.get("entries", ())) if self._feed is not None else []

    def _is_new(self, entry: Mapping[str, Any]) -> bool:
        """Whether this entry's page was not read since it was published or changed."""
        document = self._known.get(entry["url"])
        if entry["url"] in self._run.lost:
            return False
        if document is None or "refused" in document.body:
            return document is None
        if document.type != POST:
            return True
        changed = entry.get("updated", "")
        return bool(changed) and changed > iso(document.fetched_at, "seconds")

    def _was_before(self, entry: Mapping[str, Any]) -> bool:
        document = self._known.get(entry["url"])
        return document is not None and not self._is_of_this_run(document)

    def _is_of_this_run(self, document: Document) -> bool:
        return iso(document.fetched_at, "microseconds") >= self._run.since[:23]

    @cached_property
    def _this_run(self) -> Sequence[Document]:
        """Pages and posts of this crawl, in the order in which they came."""
        return sorted((each for each in self._pages if self._is_of_this_run(each)), key=lambda each: each.fetched_at)

    @cached_property
    def _pattern(self) -> str:
        here = self._here
        return pattern.learn([entry["url"] for entry in self._entries if host_of(entry["url"]) == here])

    def _looks_like_post(self, url: str) -> bool:
        return bool(self._pattern) and re.fullmatch(self._pattern, url) is not None

    @cached_property
    def _here(self) -> str:
        """The host that the start page is on, after redirects."""
        front = self._known.get(self._url)
        return host_of(front.url if front is not None else self._url)

    @cached_property
    def _rules(self) -> dict[str, tuple[Vote, ...]]:
        """Rules on which the blog's posts in the feed agree."""
        voters = [each for each in self._pages if each.type == POST and each.body.get("in_feed")]
        voters = [each for each in voters if each.body.get("blog") == self._urn][:MAX_VOTERS]
        names = {name for each in voters for name in each.body.get("votes", {})}
        weights = {"text": [weight(str(each.body.get("text", ""))) for each in voters]}
        ballots = {name: [_ballot(each, name) for each in voters] for name in sorted(names)}
        found = {name: elect(each, weights.get(name, ())) for name, each in ballots.items() if name != "foreign"}
        found["foreign"] = agreed(ballots.get("foreign", ()))
        return {name: rules for name, rules in found.items() if rules}

    # Where to go ----------------------------------------------------------------------------------------------------

    def _candidates(self) -> list[str]:
        """Links of known pages that were not asked in this crawl, those found first first."""
        here = self._here
        found: dict[str, None] = {}
        below, others = folder(self._url), dict[str, None]()
        for document in sorted(self._pages, key=lambda each: each.fetched_at):
            for url in document.body.get("links", ()):
                if not self._may_ask(url) or host_of(url) != here:
                    continue
                (found if folder(url).startswith(below) else others).setdefault(url)
        return [*found, *others]

    def _may_ask(self, url: str) -> bool:
        document = self._known.get(url)
        if url in self._run.asked or url in self._run.lost or not may_be_page(url):
            return False
        return document is None or (document.type == "page" and not self._is_of_this_run(document))

    def _exhausted(self) -> bool:
        """Whether hardly any of the last pages was a post."""
        posts = sum(each.type == POST for each in self._this_run)
        window = max(LEAST_WINDOW, min(MOST_WINDOW, posts // 2))
        last = self._this_run[-window:]
        return len(last) == window and sum(each.type == POST for each in last) < LEAST_SHARE * window

    def _worth(self) -> Mapping[str, float]:
        """Shape of URL → links to posts that a page of that shape brought, on average, that no earlier page had."""
        seen = {self._url}
        brought: dict[str, list[int]] = {}
        for document in sorted(self._pages, key=lambda each: each.fetched_at):
            links = {url for url in document.body.get("links", ()) if self._looks_like_post(url)}
            brought.setdefault(_shape(document.url), []).append(len(links - seen))
            seen |= links
        return {shape: sum(counts) / len(counts) for shape, counts in brought.items()}

    # What is said ---------------------------------------------------------------------------------------------------

    def _want(self, type: str, url: str, **said: Any) -> None:
        if url not in self._run.asked:
            self._wanted.setdefault(url, (type, said))

    def _push(self, url: str, type: str, said: Mapping[str, Any]) -> Push:
        link = {"page": "pages", POST: "posts", "feed": "feed"}[type]
        policy = self._prospect.next_hops.thing(link) or "default:self"
        if type == "page" and url in self._known:  # one that is as it was has to say so to the plan as well
            policy = parse(policy).named("always").spec
        rules = {name: [[vote.rule, vote.score] for vote in votes] for name, votes in self._rules.items()}
        more = {"rules": rules} if type == POST else {}
        plan = {"url": self._request.url, "policy": self._request.policy}
        said = {**said, **more, "plan": plan, "blog": self._urn, "known": len(self._pages), "run": self._run.since}
        request = noted(self._request, type, url, policy, said)
        queue: Any = "immediate" if type == "feed" or "entry" in said else "soon" if type == POST else "normal"
        return Push(request=request, queue=queue)

    def _heartbeat(self) -> Push:
        """The plan runs again when it may stop waiting for an answer."""
        request = replace(self._request, attempt=0, failures=())
        oldest = min(moment(at) for at in self._run.asked.values())
        return Push(request=request, queue="later", not_before=oldest + LOST + timedelta(seconds=1))

    def _document(self) -> Document:
        now = self._prospect.now
        posts = [each for each in self._pages if each.type == POST and each.body.get("blog") == self._urn]
        feed = self._feed
        front = self._known.get(self._url)
        body = {
            "url": self._url,
            "title": str((feed.body if feed else front.body if front else {}).get("title", "")),
            "feed": str(feed.body.get("asked") or feed.url) if feed is not None else "",
            "pattern": self._pattern,
            "rules": {name: [[vote.rule, vote.score] for vote in votes] for name, votes in self._rules.items()},
            "posts": len(posts),
            "crawl": self._run.to_json(),
        }
        links = {"self": resource(self._urn)}
        if feed is not None:
            links["feed"] = resource(feed.urn)
        return Document(
            platform=PLATFORM,
            type="blog",
            url=self._request.url,
            urn=self._urn,
            body=body,
            links=links,
            observed_at=now,
            fetched_at=now,
            processed_at=now,
            version=self._prospect.version,
            digest=digest(body),
            root=self._request.root,
        )


def plan(prospect: Prospect, limits: Limits = LIMITS) -> Save | Skip:
    """The next requests for the blog."""
    return Plan(prospect, limits).outcome()


def scope(request: Request) -> str:
    """All that is stored of the blog's host."""
    return f"urn:web:{host_of(canonical(request.url) or request.url)}"


def _by_url(documents: Iterable[Document]) -> dict[str, Document]:
    """Pages, posts and feeds by every URL that led to them."""
    found: dict[str, Document] = {}
    for document in documents:
        if document.type == "blog":
            continue
        for url in _urls(document):
            kept = found.get(url)
            if kept is None or kept.fetched_at <= document.fetched_at:
                found[url] = document
    return found


def _urls(document: Document) -> Iterator[str]:
    yield document.url
    yield from document.aliases
    if asked := document.body.get("asked"):
        yield str(asked)


def _ballot(document: Document, name: str) -> list[Vote]:
    return [Vote(str(rule), float(score)) for rule, score in document.body.get("votes", {}).get(name, ())]


def _shape(url: str) -> str:
    """Shape of a URL: any digits, any last word."""
    path = url.split("/", 3)[-1].partition("?")
    steps = ["#" if step.isdecimal() else step for step in path[0].split("/") if step]
    steps = [*steps[:-1], "*"] if len(steps) > 1 and steps[-1] != "#" else steps
    return "/".join(steps) + ("?" if path[1] else "")
