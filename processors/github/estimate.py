"""About how many calls a first crawl would take, worked out of counters and first pages before anything is crawled.

`survey` is a generator, so that it needs neither a network nor a clock: it yields questions in batches, is sent their
answers, and returns what it makes of them. Lists that may be long are looked at on page 1, whose `Link` header says how
many pages there are. Where changes since a date are wanted, lists are asked as the crawl will ask them, and what is
older leads nowhere. Of many repositories only some are looked at that closely, and count for the others. People are
extrapolated from those on the first pages by how many of them were seen only once (Chao 1984).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Generator, Iterable, Sequence
from typing import Final, TypeVar

from ghcrawl.platforms.survey import Estimate, Question, Reply, Survey
from ghcrawl.values.model import Json, JsonObject, Request
from ghcrawl.values.policy import parse
from ghcrawl.values.visitor_map import NextHops, Scenarios
from processors.github.batches import WORTH_A_LIST
from processors.github.entities import BY_TYPE
from processors.github.graph import count, mapping, number, sequence, text
from processors.github.listing import PER_PAGE, Listing
from processors.github.listings import LISTINGS
from processors.github.maps import PEOPLE_LINKS
from processors.github.pagination import LOOKED_AGAIN
from processors.github.parts import PARTS
from processors.github.registry import USUAL, Depths, listings
from processors.github.scenarios import floor_of

SAMPLED: Final = 12
"""So many repositories are looked at closely."""
KNOWN: Final = 3
"""As often is somebody taken to be seen who stands in a list that was read to its end: it says nothing of others."""
_SURVEYED: Final = frozenset({"org", "user", "repo"})
_PROBED: Final = frozenset(
    {"issues", "pull_requests", "commits", "issue_comments", "review_comments", "commit_comments", "issue_events"}
    | {"branches", "contributors", "deployments", "workflow_runs", "releases", "dependabot_alerts"}
)
_COUNTED: Final = {"stargazers": "stargazers_count", "forks": "forks_count", "subscribers": "subscribers_count"}
PULLS_IN_A_BATCH: Final = 50
REVIEWED_IN_A_BATCH: Final = 25
NEW_IN_A_BATCH: Final = 15
"""People of a batch whom no earlier one brought, on the average: every page names some."""
PROVEN: Final = 3
"""The first of each kind that batches bring are asked for alone as well, and then one in so many."""
PROVEN_ONE_IN: Final = 500
CHECKED: Final = 36
"""Of so many commits, of all repositories that are looked at, it is asked whether anything was run for them."""
_TWICE: Final = frozenset(part.type for part in PARTS if part.path.startswith("/stats/"))
"""Statistics are not there yet when they are first asked for."""
_LAST = re.compile(r"[?&]page=(\d+)")


Thing = TypeVar("Thing")
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
        sample = _spread(repos, SAMPLED)
        before, seen_before = self._calls.copy(), self._documents.copy()
        self._checked = CHECKED // max(1, len(sample))
        for repo in sample:
            yield from self._repo(repo)
        self._extrapolate(before, seen_before, len(repos), len(sample))
        self._people()
        self._proofs()
        return Estimate(calls=self._calls, documents=self._documents, repos=len(repos), sampled=len(sample))

    def _onward(self, map_name: str) -> NextHops:
        policy = parse(self._policy)
        return self._scenarios.onward(policy.at(map_name).spec)

    def _lists(self, map_name: str, body: JsonObject) -> Iterable[Listing]:
        """The lists that are followed from there, as far as its counters say that there is anything."""
        for link in self._onward(map_name).links:
            row = self._rows.get((map_name, link))
            if row is not None and row.when(body):
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
        lists = len(self._onward("team").links.keys() & {"members", "repos"})
        self._calls["team"] += len(teams)
        self._calls["team_members"] += len(teams) * lists
        self._documents["team"] += len(teams)

    # Repositories ---------------------------------------------------------------------------------------------

    def _repo(self, repo: JsonObject) -> Generator[Sequence[Question], Sequence[Reply], None]:
        url, rows = text(repo.get("url")), list(self._lists("repo", repo))
        probed = [row for row in rows if row.type in _PROBED]
        questions = [Question(type=row.type, url=self._first(row, url)) for row in probed]
        # One a page: the number of the last page is how many there are; the first issue has the largest number.
        questions += [Question(type=type, url=f"{url}/{type}?state=all&per_page=1") for type in ("pulls", "issues")]
        *replies, pulls, issues = answers = yield questions
        if all(reply.refused for reply in answers):  # blocked: a crawl asks for nothing below it either
            return
        newest = max((number(mapping(item).get("number")) or 0 for item in sequence(issues.body)), default=0)
        suites = self._calls[_SUITES.type]
        for row, reply in zip(probed, replies, strict=True):
            self._probed(row, reply, newest)
        led_to = "pull_request" in self._onward("issue").links and any(row.type == "issues" for row in rows)
        if led_to and self._depths.pull_requests == "full":
            changed = sum(self._pulls_in(row, reply) for row, reply in zip(probed, replies, strict=True))
            total = changed if self._since else _last(pulls) or len(sequence(pulls.body))
            self._pulls(total, listed="pull_request" in self._batched and not self._since and total >= WORTH_A_LIST)
        for row in rows:
            if row.type not in _PROBED:
                self._calls[row.type] += _counted(row, repo)
        self._parts(repo)
        found = [(row.element, reply) for row, reply in zip(probed, replies, strict=True)]
        yield from self._checks(url, [*found, ("pull_request", pulls)], self._calls[_SUITES.type] - suites)

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
        if not suites or "check_runs" not in self._onward("check_suite").links:
            return
        shas = [
            sha
            for type, reply in found
            if type in (_SUITES.of, *_SUITES.via) and _SUITES.link in self._onward(type).links
            for item in map(mapping, sequence(reply.body))
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

    def _probed(self, row: Listing, reply: Reply, newest: int) -> None:
        items, pages = [mapping(item) for item in _items(reply, row)], _last(reply)
        if not pages:  # one page, or a list that is read by cursor and does not say how long it is
            pages = -(-newest // PER_PAGE) if "next" in reply.link else 1
        self._whole = self._whole and pages == 1
        total = _total(items, pages)
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
        step = self._onward(row.of).links.get(row.link)
        links = self._scenarios.onward(step.thing).links if step is not None and step.thing is not None else {}
        for item in items:
            people = [item] if row.element == "user" and step is not None and step.thing is not None else []
            for link in links.keys() & PEOPLE_LINKS:
                found = item.get(link)
                people += map(mapping, found if isinstance(found, list) else [found])
            self._meet(people, KNOWN if known else 1)
        for child in _children(row.element, links) if row.element != "pull_request" else ():  # `_pulls` counts those
            self._calls[child.type] += round(share * sum(child.when(item) for item in items))

    def _meet(self, people: Iterable[JsonObject], times: int) -> None:
        for person in people:
            identity = number(person.get("id"))
            if identity is not None and person.get("type") != "Organization":
                self._seen[identity] += times

    def _pulls(self, total: int, *, listed: bool) -> None:
        """listed: they are read page by page, and completed in batches."""
        self._documents["pull_request"] += total
        pages = -(-total // PER_PAGE)
        batches = pages + -(-total // PULLS_IN_A_BATCH) if listed else 0  # open ones and others by themselves
        whole = self._depths.pull_requests == "full"
        self._calls["pull_request"] += total if whole and not listed else 0
        self._calls["pull_requests"] += 2 * pages - min(pages, 1) if listed else 0
        self._calls["pull_request_batch"] += batches
        for child in _children("pull_request", self._onward("pull_request").links):
            in_batches = (listed or not whole) and child.type in self._batched
            reviews = batches or -(-total // REVIEWED_IN_A_BATCH)
            self._calls["review_batch" if in_batches else child.type] += reviews if in_batches else total
            self._batched_things[child.type] += total if in_batches else 0
        self._batched_things["pull_request"] += total if listed else 0

    def _parts(self, repo: JsonObject) -> None:
        links = self._onward("repo").links
        for part in PARTS:
            if part.type not in links or not part.when(repo):
                continue
            self._documents[part.type] += 1
            if part.embedded(repo) is None:
                self._calls[part.type] += 2 if part.type in _TWICE or part.elsewhere else 1

    # Conclusions ----------------------------------------------------------------------------------------------

    def _extrapolate(self, calls: Counter[str], documents: Counter[str], repos: int, sampled: int) -> None:
        """Whatever was counted since then counts for the repositories that were not looked at as well."""
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


def _total(items: Sequence[object], pages: int) -> int:
    """How many elements so many pages hold, of which the first holds `items`."""
    return len(items) if pages == 1 else (pages - 1) * PER_PAGE + PER_PAGE // 2


def _last(reply: Reply) -> int:
    """The number of the last page; 0 where there is only one, or nobody says."""
    found = _LAST.search(reply.link.get("last", ""))
    return int(found[1]) if found else 0


def _counted(row: Listing, repo: JsonObject) -> int:
    if row.known_only:
        return 0
    return max(1, -(-count(repo.get(_COUNTED[row.type])) // PER_PAGE)) if row.type in _COUNTED else 1


def _looked_at_again(row: Listing, pages: int) -> int:
    """The free calls that show whether anything moved while a list was read (`pagination.look_again`)."""
    if row.relation and pages > LOOKED_AGAIN:
        return 0
    return min(pages - 1, 1) if row.between else pages - 1


def _spread(repos: Sequence[JsonObject], wanted: int) -> Sequence[JsonObject]:
    """So many of them, evenly from the largest to the smallest."""
    by_size = sorted(repos, key=lambda repo: (count(repo.get("open_issues_count")), count(repo.get("size"))))
    return _evenly(by_size, wanted)


def _evenly(things: Sequence[Thing], wanted: int) -> Sequence[Thing]:
    step = len(things) / wanted
    return things if len(things) <= wanted else [things[int((place + 0.5) * step)] for place in range(wanted)]
