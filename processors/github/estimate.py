"""About how many calls a first crawl would take, worked out of counters and first pages before anything is crawled.

`survey` is a generator, so that it needs neither a network nor a clock: it yields questions in batches, is sent their
answers, and returns what it makes of them. Lists that may be long are looked at on page 1, whose `Link` header says how
many pages there are. Where changes since a date are wanted, lists are asked as the crawl will ask them, and what is
older leads nowhere. Of several repositories only the one with most issues is looked at that closely. Of the others it
is asked how long their lists are, over GraphQL of a hundred of them in one call, over REST of some of them; what their
elements lead to is taken to be as in that one. People are extrapolated from those on the first pages by how many of
them were seen only once (Chao 1984).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Generator, Iterable, Mapping, Sequence
from typing import Final, TypeVar

from msgspec import Struct

from ghcrawl.platforms.survey import Estimate, Question, Reply, Survey
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.policy import parse
from ghcrawl.values.requests import Request
from ghcrawl.values.visitor_map import NextHops, Scenarios
from processors.fields import at, count, mapping, mappings, number, sequence, text
from processors.github.batch_requests import PULLS, REVIEWS, SIZES, WORTH_A_LIST
from processors.github.entities import BY_TYPE
from processors.github.listing import PER_PAGE, Listing
from processors.github.listings import LISTINGS
from processors.github.maps import PEOPLE_LINKS
from processors.github.pagination import LOOKED_AGAIN
from processors.github.parts import PARTS
from processors.github.registry import USUAL, Depths, listings
from processors.github.scenarios import floor_of

SAMPLED: Final = 12
"""Repositories that are examined closely if a date is given."""
COUNTED_ALONE: Final = 16
"""Repositories whose pull requests are counted over REST."""
COUNTED: Final = "counts"
"""The type of requests for the lengths of lists, of up to this many repositories at once:"""
COUNTED_AT_ONCE: Final = 100
KNOWN: Final = 3
"""How often a person in a completely read list counts as seen: such a list says nothing of others."""
_SURVEYED: Final = frozenset({"org", "user", "repo"})
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
_CONNECTIONS: Final = {"releases": "releases", "deployments": "deployments"} | {
    "commit_comments": "commitComments",
    "branches": "refs",
    "pull_requests": "pullRequests",
}
"""Lists of a repository → the connection of GraphQL that counts them."""
_READ: Final = frozenset({"issues", "commits"})
"""Lists that name people, so that it is not enough to know how long they are."""
_SIZE: Final = "size"
LARGER: Final = 4.0
"""A larger size counts as at most this many times the commits: the files may be large."""
_ALIKE: Final = {"issue_comments": "issues", "issue_events": "issues", "review_comments": "pull_requests"} | {
    **dict.fromkeys(("contributors", "workflow_runs", "commit_comments", "deployments"), "commits"),
    "commits": _SIZE,
}
"""Lists without a count → the list that they are proportional to."""
_LAST = re.compile(r"[?&]page=(\d+)")


Thing = TypeVar("Thing")
Counts = Mapping[str, int]
"""Type of a list → how many elements it has in one repository."""


class _Example(Struct, frozen=True, kw_only=True):
    """A repository that was looked at closely. items: of the first page, by type of list."""

    items: Mapping[str, Sequence[Json]] = {}
    counts: Counts = {}

    def reply(self, type: str, counts: Counts) -> Reply:
        """About what another repository would say."""
        items, total = self.items.get(type) or [{}], self.total(type, counts)
        shown = [items[place % len(items)] for place in range(min(total, PER_PAGE))]
        return Reply(body=shown, link={"last": f"?page={-(-total // PER_PAGE)}"} if total > PER_PAGE else {})

    def total(self, type: str, counts: Counts) -> int:
        """About how many elements a list has in a repository of these counts."""
        if type in counts:
            return counts[type]
        like = _ALIKE.get(type)
        share = self.total(like, counts) / max(1, self.counts.get(like, 0)) if like else 1.0
        return round((min(share, LARGER) if like == _SIZE else share) * self.counts.get(type, 0))


_SUITES: Final = next(row for row in LISTINGS if row.type == "check_suites")
_WHOLE: Final = BY_TYPE.keys() - {"org", "user", "team", "repo", "pull_request"}


def survey(
    scenarios: Scenarios, request: Request, policy: str, batched: frozenset[str], depths: Depths = USUAL
) -> Survey | None:
    """For `Platform.survey`: of an organisation, a user or a repository; others take a few calls."""
    if request.type not in _SURVEYED or request.context.then:
        return None
    return _Surveyor(scenarios, policy, batched, depths).run(request.type, request.url)


class _Surveyor:
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

    def run(self, type: str, url: str) -> Survey:
        (root,) = yield [Question(type=type, url=url)]
        if type == "org" and not root.body:
            type, url = "user", url.replace("/orgs/", "/users/", 1)
            (root,) = yield [Question(type=type, url=url)]
        self._calls[type] += 1
        self._documents[type] += 1
        repos = [mapping(root.body)] if type == "repo" else []
        if type in ("org", "user"):
            repos = yield from self._owner(type, url, mapping(root.body))
        before, seen_before = self._calls.copy(), self._documents.copy()
        if self._since or len(repos) == 1:
            sampled = looked_at = yield from self._closely(_spread(repos, SAMPLED))
        else:
            sampled, looked_at = yield from self._by_example(url, repos)
        self._extrapolate(before, seen_before, len(repos), looked_at)
        self._people()
        self._proofs()
        return Estimate(
            calls=self._calls,
            documents=self._documents,
            parts=len(repos),
            part="repositories",
            sampled=sampled,
            notes=self._notes,
        )

    def _next_hops(self, map_name: str) -> NextHops:
        policy = parse(self._policy)
        return self._scenarios.next_hops(policy.at(map_name).spec)

    def _lists(self, map_name: str, body: JsonObject) -> Iterable[Listing]:
        """The lists that are followed from there, as far as its counters say that there is anything."""
        for link in self._next_hops(map_name).links:
            row = self._rows.get((map_name, link))
            if row is not None and row.when.holds(body):
                yield row

    # Owners ---------------------------------------------------------------------------------------------------

    def _owner(
        self, type: str, url: str, body: JsonObject
    ) -> Generator[Sequence[Question], Sequence[Reply], list[JsonObject]]:
        """The repositories of an account; its other lists are counted on the way."""
        repos: list[JsonObject] = []
        for row in self._lists(type, body):
            page: str | None = row.url(url)
            while page:
                (reply,) = yield [Question(type=row.type, url=page)]
                self._calls[row.type] += 1
                items = [mapping(item) for item in _items(reply, row)]
                page = reply.link.get("next")
                if row.element == "repo":
                    repos += items
                elif row.element == "team":
                    self._teams(items)
                else:
                    self._elements(row, items, len(items))
        self._calls["repo"] += len(repos)
        self._documents["repo"] += len(repos)
        return repos

    def _teams(self, teams: Sequence[JsonObject]) -> None:
        lists = len(self._next_hops("team").links.keys() & {"members", "repos"})
        self._calls["team"] += len(teams)
        self._calls["team_members"] += len(teams) * lists
        self._documents["team"] += len(teams)

    # Repositories ---------------------------------------------------------------------------------------------

    def _closely(self, sample: Sequence[JsonObject]) -> Generator[Sequence[Question], Sequence[Reply], int]:
        self._checked = CHECKED // max(1, len(sample))
        for repo in sample:
            yield from self._repo(repo)
        return len(sample)

    def _by_example(
        self, url: str, repos: Sequence[JsonObject]
    ) -> Generator[Sequence[Question], Sequence[Reply], tuple[int, int]]:
        """How many were looked at closely, and how many were looked at."""
        looked_at = repos
        counted = (yield from self._over_graphql(url, repos)) if COUNTED in self._batched else []
        if not counted:
            looked_at = _spread(repos, COUNTED_ALONE)
            counted = yield from self._over_rest(looked_at)
        if not counted:
            return 0, len(looked_at)
        counted.sort(key=lambda pair: (pair[1]["issues"], pair[1].get("commits", pair[1][_SIZE])), reverse=True)
        (largest, counts), *others = counted
        example = yield from self._counted_repo(largest, counts)
        suites = self._calls[_SUITES.type]
        for repo, counts in others:
            self._like(repo, counts, example)
        share = self._calls[_SUITES.type] / max(1, suites)
        for counter, type in (
            (self._calls, "check_runs"),
            (self._documents, "check_suite"),
            (self._documents, "check_run"),
        ):
            counter[type] = round(counter[type] * share)
        return 1, len(looked_at)

    def _over_graphql(
        self, url: str, repos: Sequence[JsonObject]
    ) -> Generator[Sequence[Question], Sequence[Reply], list[tuple[JsonObject, Counts]]]:
        """Those that are shown, each with the lengths of its lists; nothing where GraphQL does not say."""
        found: list[tuple[JsonObject, Counts]] = []
        while repos:
            ids = [text(repo.get("node_id")) for repo in repos[:COUNTED_AT_ONCE]]
            (reply,) = yield [Question(type=COUNTED, url=url, ids=ids)]
            nodes = [mapping(node) for node in sequence(mapping(reply.body).get("nodes"))]
            if not nodes:
                if reply.body is not None:  # asked, and not answered: a crawl gets no batches either
                    self._batched = frozenset()
                    self._notes.append("GraphQL does not answer; the estimate assumes that REST alone is asked.")
                return []
            given = list(zip(repos, nodes, strict=False))
            found += [(repo, _counts(repo, node)) for repo, node in given if node]
            missed = [repo for repo, node in given if not node]  # too much for one call perhaps; or not shown
            repos = [*repos[len(nodes) :], *(missed if len(missed) < len(given) else [])]
        return found

    def _over_rest(
        self, repos: Sequence[JsonObject]
    ) -> Generator[Sequence[Question], Sequence[Reply], list[tuple[JsonObject, Counts]]]:
        """The same with the length that matters most; the newest pull request has a number among the issues' too."""
        found: list[tuple[JsonObject, Counts]] = []
        for repo in repos:
            (pulls,) = yield _newest(text(repo.get("url")))[:1]
            if not pulls.refused:
                total = _last(pulls) or len(sequence(pulls.body))
                issues = max(_number(pulls), count(repo.get("open_issues_count")))
                found.append((repo, {"issues": issues, "pull_requests": total, _SIZE: count(repo.get("size"))}))
        return found

    def _repo(self, repo: JsonObject) -> Generator[Sequence[Question], Sequence[Reply], None]:
        url, rows, probed = self._rows_of(repo)
        questions = [Question(type=row.type, url=self._first(row, url)) for row in probed]
        *replies, pulls, issues = answers = yield [*questions, *_newest(url)]
        if all(reply.refused for reply in answers):  # blocked: a crawl asks for nothing below it either
            return
        suites, pages = self._calls[_SUITES.type], {row.type: reply for row, reply in zip(probed, replies, strict=True)}
        total = _last(pulls) or len(sequence(pulls.body))
        if self._since:
            total = sum(self._pulls_in(row, pages[row.type]) for row in probed)
        self._described(repo, rows, pages, {}, newest=_number(issues), pulls=total)
        found = [(row.element, pages[row.type]) for row in probed]
        yield from self._checks(url, [*found, ("pull_request", pulls)], self._calls[_SUITES.type] - suites)

    def _counted_repo(
        self, repo: JsonObject, counts: Counts
    ) -> Generator[Sequence[Question], Sequence[Reply], _Example]:
        """The same of a repository of which the lengths of some lists are known."""
        url, rows, probed = self._rows_of(repo)
        asked = [row for row in probed if row.type not in counts or row.type in _READ or self._leads_on(row)]
        replies = yield [Question(type=row.type, url=row.url(url)) for row in asked]
        suites, pages = self._calls[_SUITES.type], dict[str, Reply]()
        totals, items = dict(counts), dict[str, Sequence[Json]]()
        for row, reply in zip(asked, replies, strict=True):
            pages[row.type], items[row.type] = reply, _items(reply, row)
            totals.setdefault(row.type, _total(items[row.type], _pages(reply, counts["issues"])))
        example = _Example(items=items, counts=totals)
        pages |= {row.type: example.reply(row.type, counts) for row in probed if row.type not in pages}
        self._described(repo, rows, pages, counts, newest=counts["issues"], pulls=counts["pull_requests"])
        found = [(row.element, pages[row.type]) for row in asked]
        yield from self._checks(url, found, self._calls[_SUITES.type] - suites)
        return example

    def _like(self, repo: JsonObject, counts: Counts, example: _Example) -> None:
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
        step = self._next_hops(row.of).links.get(row.link)
        links = self._scenarios.next_hops(step.thing).links if step is not None and step.thing is not None else {}
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
        items = [mapping(item) for item in _items(reply, row)] if row.type == "issues" else []
        named = sum("pull_request" in item and not self._older(row, item) for item in items)
        return round(named * _total(items, _last(reply) or 1) / len(items)) if items else 0

    def _checks(
        self, url: str, found: Sequence[tuple[str, Reply]], suites: int
    ) -> Generator[Sequence[Question], Sequence[Reply], None]:
        """What was run for commits, of which `suites` are asked for their suites: a call for each that has any."""
        if not suites or "check_runs" not in self._next_hops("check_suite").links:
            return
        shas = [
            sha
            for type, reply in found
            if type in (_SUITES.of, *_SUITES.via) and _SUITES.link in self._next_hops(type).links
            for item in mappings(reply.body)
            if (sha := text(item.get("sha")) if type == _SUITES.of else _SUITES.via[type](item))
        ]
        asked = _evenly(list(dict.fromkeys(shas)), self._checked)
        replies = yield [Question(type=_SUITES.type, url=_SUITES.url(f"{url}/commits/{sha}")) for sha in asked]
        held = [[mapping(suite) for suite in _items(reply, _SUITES)] for reply in replies]
        ran = [[count(suite.get("latest_check_runs_count")) for suite in each] for each in held]
        share = suites / len(asked) if asked else 0.0
        self._calls["check_runs"] += round(share * sum(any(each) for each in ran))
        self._documents["check_suite"] += round(share * sum(map(len, ran)))
        self._documents["check_run"] += round(share * sum(map(sum, ran)))

    def _probed(self, row: Listing, reply: Reply, newest: int, total: int | None) -> None:
        items, pages = [mapping(item) for item in _items(reply, row)], _pages(reply, newest)
        self._whole = self._whole and pages == 1
        total = _total(items, pages) if total is None else total
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
        step = self._next_hops(row.of).links.get(row.link)
        links = self._scenarios.next_hops(step.thing).links if step is not None and step.thing is not None else {}
        for item in items:
            people = [item] if row.element == "user" and step is not None and step.thing is not None else []
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

    # Conclusions ----------------------------------------------------------------------------------------------

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


def _items(reply: Reply, row: Listing) -> list[Json]:
    body = reply.body
    return sequence(mapping(body).get(row.item_at)) if row.item_at and not isinstance(body, list) else sequence(body)


def _children(element: str, links: Container[str]) -> Iterable[Listing]:
    """The lists that each such element leads to, and that no list of the whole repository stands for."""
    for row in LISTINGS:
        of_it = row.of == element or element in row.via
        if of_it and row.link in links and not (row.covered_by or row.embedded or row.known_only):
            yield row


def _pages(reply: Reply, newest: int) -> int:
    """How many pages there are. newest: number of elements of a list that is read by cursor and does not say."""
    return _last(reply) or (-(-newest // PER_PAGE) if "next" in reply.link else 1)


def _newest(url: str) -> Sequence[Question]:
    """One a page: the number of the last page is how many there are; the first issue has the largest number."""
    return [Question(type=type, url=f"{url}/{type}?state=all&per_page=1") for type in ("pulls", "issues")]


def _number(reply: Reply) -> int:
    return max((number(mapping(item).get("number")) or 0 for item in sequence(reply.body)), default=0)


def _counts(repo: JsonObject, node: JsonObject) -> Counts:
    """Type of a list → how many elements it has, as GraphQL says."""
    history = mapping(at(node, "defaultBranchRef", "target", "history"))
    found = {type: _count_of(node.get(name)) for type, name in _CONNECTIONS.items()}
    issues = _count_of(node.get("issues")) + found["pull_requests"]  # REST's list has both
    return {**found, "issues": issues, "commits": _count_of(history), _SIZE: count(repo.get("size"))}


def _count_of(connection: Json) -> int:
    return count(mapping(connection).get("totalCount"))


def _total(items: Sequence[object], pages: int) -> int:
    """The elements on `pages` pages, of which the first holds `items`."""
    return len(items) if pages == 1 else (pages - 1) * PER_PAGE + PER_PAGE // 2


def _last(reply: Reply) -> int:
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


def _spread(repos: Sequence[JsonObject], wanted: int) -> Sequence[JsonObject]:
    """`wanted` of them, evenly from the largest to the smallest."""
    by_size = sorted(repos, key=lambda repo: (count(repo.get("open_issues_count")), count(repo.get("size"))))
    return _evenly(by_size, wanted)


def _evenly(things: Sequence[Thing], wanted: int) -> Sequence[Thing]:
    step = len(things) / wanted
    return things if len(things) <= wanted else [things[int((place + 0.5) * step)] for place in range(wanted)]
