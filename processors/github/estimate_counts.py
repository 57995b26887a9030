"""Counts the calls and documents of a crawl, as far as answers and counters tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final

from ghcrawl.platforms.survey import Reply
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.policy import parse
from ghcrawl.values.visitor_map import NextHops, Scenarios
from processors.fields import count, mapping, number, sequence, text
from processors.github.batch_requests import PULLS, REVIEWS, SIZES, WORTH_A_LIST
from processors.github.entities import BY_TYPE
from processors.github.estimate_example import Counts, Example
from processors.github.listing import PER_PAGE, Listing
from processors.github.listings import LISTINGS
from processors.github.maps import PEOPLE_LINKS
from processors.github.pagination import LOOKED_AGAIN
from processors.github.parts import PARTS
from processors.github.registry import Depths, listings
from processors.github.scenarios import floor_of

KNOWN: Final = 3
"""How often a person in a completely read list counts as seen: such a list says nothing of others."""
_PROBED: Final = frozenset(
    {"issues", "pull_requests", "commits", "issue_comments", "review_comments", "commit_comments", "issue_events"}
    | {"branches", "contributors", "deployments", "workflow_runs", "releases", "dependabot_alerts"}
)
_COUNTED: Final = {"stargazers": "stargazers_count", "forks": "forks_count", "subscribers": "subscribers_count"}
NEW_IN_A_BATCH: Final = 15
"""People of a batch whom no earlier one brought, on the average: every page names some."""
PROVEN: Final = 3
"""The first of each kind in batches are requested alone as well, and then one in PROVEN_ONE_IN."""
PROVEN_ONE_IN: Final = 500
CHECKED: Final = 36
"""Commits, of all examined repositories, whose checks are looked for."""
_LAST = re.compile(r"[?&]page=(\d+)")


_WHOLE: Final = BY_TYPE.keys() - {"org", "user", "team", "repo", "pull_request"}


def items_of(reply: Reply, row: Listing) -> list[Json]:
    """The elements on a page of a list."""
    body = reply.body
    return sequence(mapping(body).get(row.item_at)) if row.item_at and not isinstance(body, list) else sequence(body)


def _children(element: str, links: Container[str]) -> Iterable[Listing]:
    """The lists that each such element leads to, and that no list of the whole repository stands for."""
    for row in LISTINGS:
        of_it = row.of == element or element in row.via
        if of_it and row.link in links and not (row.covered_by or row.embedded or row.known_only):
            yield row


def pages_of(reply: Reply, newest: int) -> int:
    """How many pages there are. newest: number of elements of a list that is read by cursor and does not say."""
    return last_page(reply) or (-(-newest // PER_PAGE) if "next" in reply.link else 1)


def total_of(items: Sequence[object], pages: int) -> int:
    """The elements on `pages` pages, of which the first holds `items`."""
    return len(items) if pages == 1 else (pages - 1) * PER_PAGE + PER_PAGE // 2


def last_page(reply: Reply) -> int:
    """The number of the last page; 0 if there is only one, or the answer does not say."""
    found = _LAST.search(reply.link.get("last", ""))
    return int(found[1]) if found else 0


def _counted(row: Listing, repo: JsonObject) -> int:
    if row.known_only:
        return 0
    return max(1, -(-count(repo.get(_COUNTED[row.type])) // PER_PAGE)) if row.type in _COUNTED else 1


def _looked_at_again(row: Listing, pages: int) -> int:
    """The free calls that show whether anything moved while a list was read (`pagination.look_again`)."""
    return 0 if row.relation and pages > LOOKED_AGAIN else pages - 1


class Counting:
    """Calls and documents that were counted so far. Asks for nothing."""

    def __init__(self, scenarios: Scenarios, policy: str, batched: frozenset[str], depths: Depths) -> None:
        self._depths = depths
        self._rows = {(row.of, row.link): row for row in listings(depths).values()}
        self._batched = batched
        self._scenarios = scenarios
        self._policy = policy
        self._since = floor_of(policy)
        self._calls: Counter[str] = Counter()
        self._documents: Counter[str] = Counter()
        self._batched_things: Counter[str] = Counter()
        self._seen: Counter[int] = Counter()
        self._whole = True
        self._checked = CHECKED
        self._notes: list[str] = []

    def _next_hops(self, map_name: str) -> NextHops:
        policy = parse(self._policy)
        return self._scenarios.next_hops(policy.at(map_name).spec)

    def _lists(self, map_name: str, body: JsonObject) -> Iterable[Listing]:
        """The lists that are followed from there, as far as its counters say that there is anything."""
        for link in self._next_hops(map_name).links:
            row = self._rows.get((map_name, link))
            if row is not None and row.when.holds(body):
                yield row

    def _teams(self, teams: Sequence[JsonObject]) -> None:
        lists = len(self._next_hops("team").links.keys() & {"members", "repos"})
        self._calls["team"] += len(teams)
        self._calls["team_members"] += len(teams) * lists
        self._documents["team"] += len(teams)

    def _like(self, repo: JsonObject, counts: Counts, example: Example) -> None:
        """Count what `repo` takes, where its lists say what those of the example say."""
        _, rows, probed = self._rows_of(repo)
        pages = {row.type: example.reply(row.type, counts) for row in probed}
        totals = {row.type: example.total(row.type, counts) for row in probed}
        seen = self._seen.copy()
        self._described(repo, rows, pages, totals, newest=counts["issues"], pulls=counts["pull_requests"])
        self._seen, self._whole = seen, False

    def _rows_of(self, repo: JsonObject) -> tuple[str, Sequence[Listing], Sequence[Listing]]:
        """Its URL, its lists, and those of them that may be long."""
        rows = list(self._lists("repo", repo))
        return text(repo.get("url")), rows, [row for row in rows if row.type in _PROBED]

    def _leads_on(self, row: Listing) -> bool:
        """Whether it depends on the elements of a list how many calls follow it."""
        policy = self._next_hops(row.of).thing(row.link)
        links = self._scenarios.next_hops(policy).links if policy is not None else {}
        return row.element != "pull_request" and any(_children(row.element, links))

    def _described(
        self,
        repo: JsonObject,
        rows: Sequence[Listing],
        pages: Mapping[str, Reply],
        totals: Counts,
        *,
        newest: int,
        pulls: int,
    ) -> None:
        """Count all that lies in `repo`. pages: the first one of lists that may be long. totals: as far as known."""
        for row in rows:
            if row.type in _PROBED:
                self._probed(row, pages[row.type], newest, totals.get(row.type))
            else:
                self._calls[row.type] += _counted(row, repo)
        led_to = "pull_request" in self._next_hops("issue").links and any(row.type == "issues" for row in rows)
        if led_to and self._depths.pull_requests == "full":
            listed = "pull_request" in self._batched and not self._since and pulls >= WORTH_A_LIST
            self._pulls(pulls, listed=listed)
        self._parts(repo)

    def _first(self, row: Listing, url: str) -> str:
        """Page 1 as a crawl asks for it."""
        recent = row.url_since(url, self._since) if self._since and not row.relation else ""
        return recent or row.url(url)

    def _older(self, row: Listing, item: JsonObject) -> bool:
        """Whether a crawl leaves `item` out, since it did not change since the date that is asked for."""
        kind = BY_TYPE.get(row.element)
        return kind is not None and not row.relation and kind.older(item, self._since)

    def _pulls_in(self, row: Listing, reply: Reply) -> int:
        """About how many pull requests a list of issues names."""
        items = [mapping(item) for item in items_of(reply, row)] if row.type == "issues" else []
        named = sum("pull_request" in item and not self._older(row, item) for item in items)
        return round(named * total_of(items, last_page(reply) or 1) / len(items)) if items else 0

    def _probed(self, row: Listing, reply: Reply, newest: int, total: int | None) -> None:
        items, pages = [mapping(item) for item in items_of(reply, row)], pages_of(reply, newest)
        self._whole = self._whole and pages == 1
        total = total_of(items, pages) if total is None else total
        if row.known_only and not items:
            return
        if self._since and not row.relation:  # such pages are not kept, and a list that ends there is left there
            ends_here = row.grows_in_front and items and self._older(row, items[-1])
            self._calls[row.type] += 1 if ends_here else pages
        else:
            self._calls[row.type] += pages + _looked_at_again(row, pages)
        if row.type == "pull_requests":
            batched = "pull_request" in self._batched and not row.complete
            self._pulls(total, listed=batched)
            self._calls[row.type] -= pages if batched else 0  # counted with what they bring
        self._elements(row, items, total)

    def _elements(self, row: Listing, items: Sequence[JsonObject], total: int) -> None:
        """Count the elements of a list, of which `items` were seen, and what they lead to."""
        share = total / len(items) if items else 0.0
        known, items = len(items) >= total, [item for item in items if not self._older(row, item)]
        if row.element in _WHOLE and row.complete:
            self._documents[row.element] += round(share * len(items)) if self._since else total
        policy = self._next_hops(row.of).thing(row.link)
        links = self._scenarios.next_hops(policy).links if policy is not None else {}
        for item in items:
            people = [item] if row.element == "user" and policy is not None else []
            for link in links.keys() & PEOPLE_LINKS:
                found = item.get(link)
                people += map(mapping, found if isinstance(found, list) else [found])
            self._meet(people, KNOWN if known else 1)
        for child in _children(row.element, links) if row.element != "pull_request" else ():  # `_pulls` counts those
            self._calls[child.type] += round(share * sum(child.when.holds(item) for item in items))

    def _meet(self, people: Iterable[JsonObject], times: int) -> None:
        for person in people:
            identity = number(person.get("id"))
            if identity is not None and person.get("type") != "Organization":
                self._seen[identity] += times

    def _pulls(self, total: int, *, listed: bool) -> None:
        """listed: they are read page by page, and completed in batches."""
        self._documents["pull_request"] += total
        pages = -(-total // PER_PAGE)
        batches = pages + -(-total // SIZES[PULLS]) if listed else 0  # open ones and others by themselves
        whole = self._depths.pull_requests == "full"
        self._calls["pull_request"] += total if whole and not listed else 0
        self._calls["pull_requests"] += 2 * pages - min(pages, 1) if listed else 0
        self._calls["pull_request_batch"] += batches
        for child in _children("pull_request", self._next_hops("pull_request").links):
            in_batches = (listed or not whole) and child.type in self._batched
            reviews = batches or -(-total // SIZES[REVIEWS])
            self._calls["review_batch" if in_batches else child.type] += reviews if in_batches else total
            self._batched_things[child.type] += total if in_batches else 0
        self._batched_things["pull_request"] += total if listed else 0

    def _parts(self, repo: JsonObject) -> None:
        links = self._next_hops("repo").links
        for part in PARTS:
            if part.type not in links or not part.when.holds(repo):
                continue
            self._documents[part.type] += 1
            if part.embedded(repo) is None:
                self._calls[part.type] += 2 if part.computed or part.elsewhere else 1

    def _extrapolate(self, calls: Counter[str], documents: Counter[str], repos: int, sampled: int) -> None:
        """Apply the counts since then to the repositories that were not examined."""
        if not sampled or repos == sampled:
            return
        self._whole = False
        factor = repos / sampled
        for counter, before in ((self._calls, calls), (self._documents, documents)):
            for type in counter:
                counter[type] = round(before[type] + (counter[type] - before[type]) * factor)

    def _people(self) -> None:
        """Everybody who was seen, and about as many as were not."""
        once = sum(times == 1 for times in self._seen.values())
        twice = sum(times == 2 for times in self._seen.values())
        unseen = 0.0 if self._whole else once * (once - 1) / (2 * (twice + 1))
        people = len(self._seen) + min(unseen, 4.0 * len(self._seen))
        if self._depths.users == "full" and "user" in self._batched:
            self._calls["user_batch"] += -(-round(people) // NEW_IN_A_BATCH)
            self._batched_things["user"] += round(people)
        elif self._depths.users == "full":
            self._calls["user"] += round(people)
        self._documents["user"] += round(people)

    def _proofs(self) -> None:
        """What is asked for alone although a batch brings it."""
        for type, things in self._batched_things.items():
            self._calls[type] += min(things, PROVEN) + things // PROVEN_ONE_IN
