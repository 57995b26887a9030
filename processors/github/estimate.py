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

from collections.abc import Generator, Sequence
from typing import Final, TypeVar

from ghcrawl.platforms.survey import Estimate, Question, Reply, Survey
from ghcrawl.values.jsontext import Json, JsonObject
from ghcrawl.values.requests import Request
from ghcrawl.values.visitor_map import Scenarios
from processors.fields import at, count, mapping, mappings, number, sequence, text
from processors.github.estimate_counts import CHECKED, Counting, items_of, last_page, pages_of, total_of
from processors.github.estimate_example import SIZE, Counts, Example
from processors.github.listings import LISTINGS
from processors.github.registry import USUAL, Depths

SAMPLED: Final = 12
"""Repositories that are examined closely if a date is given."""
COUNTED_ALONE: Final = 16
"""Repositories whose pull requests are counted over REST."""
COUNTED: Final = "counts"
"""The type of requests for the lengths of lists, of up to this many repositories at once:"""
COUNTED_AT_ONCE: Final = 100
_SURVEYED: Final = frozenset({"org", "user", "repo"})
_CONNECTIONS: Final = {"releases": "releases", "deployments": "deployments"} | {
    "commit_comments": "commitComments",
    "branches": "refs",
    "pull_requests": "pullRequests",
}
"""Lists of a repository → the connection of GraphQL that counts them."""
_READ: Final = frozenset({"issues", "commits"})
"""Lists that name people, so that it is not enough to know how long they are."""
Thing = TypeVar("Thing")
_SUITES: Final = next(row for row in LISTINGS if row.type == "check_suites")


def survey(
    scenarios: Scenarios, request: Request, policy: str, batched: frozenset[str], depths: Depths = USUAL
) -> Survey | None:
    """For `Platform.survey`: of an organisation, a user or a repository; others take a few calls."""
    if request.type not in _SURVEYED or request.context.then:
        return None
    return _Surveyor(scenarios, policy, batched, depths).run(request.type, request.url)


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
    return {**found, "issues": issues, "commits": _count_of(history), SIZE: count(repo.get("size"))}


def _count_of(connection: Json) -> int:
    return count(mapping(connection).get("totalCount"))


def _spread(repos: Sequence[JsonObject], wanted: int) -> Sequence[JsonObject]:
    """`wanted` of them, evenly from the largest to the smallest."""
    by_size = sorted(repos, key=lambda repo: (count(repo.get("open_issues_count")), count(repo.get("size"))))
    return _evenly(by_size, wanted)


def _evenly(things: Sequence[Thing], wanted: int) -> Sequence[Thing]:
    step = len(things) / wanted
    return things if len(things) <= wanted else [things[int((place + 0.5) * step)] for place in range(wanted)]


class _Surveyor(Counting):
    """Asks for as little as tells how long the lists are."""

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
                items = [mapping(item) for item in items_of(reply, row)]
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
        counted.sort(key=lambda pair: (pair[1]["issues"], pair[1].get("commits", pair[1][SIZE])), reverse=True)
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
                total = last_page(pulls) or len(sequence(pulls.body))
                issues = max(_number(pulls), count(repo.get("open_issues_count")))
                found.append((repo, {"issues": issues, "pull_requests": total, SIZE: count(repo.get("size"))}))
        return found

    def _repo(self, repo: JsonObject) -> Generator[Sequence[Question], Sequence[Reply], None]:
        url, rows, probed = self._rows_of(repo)
        questions = [Question(type=row.type, url=self._first(row, url)) for row in probed]
        *replies, pulls, issues = answers = yield [*questions, *_newest(url)]
        if all(reply.refused for reply in answers):  # blocked: a crawl asks for nothing below it either
            return
        suites, pages = self._calls[_SUITES.type], {row.type: reply for row, reply in zip(probed, replies, strict=True)}
        total = last_page(pulls) or len(sequence(pulls.body))
        if self._since:
            total = sum(self._pulls_in(row, pages[row.type]) for row in probed)
        self._described(repo, rows, pages, {}, newest=_number(issues), pulls=total)
        found = [(row.element, pages[row.type]) for row in probed]
        yield from self._checks(url, [*found, ("pull_request", pulls)], self._calls[_SUITES.type] - suites)

    def _counted_repo(
        self, repo: JsonObject, counts: Counts
    ) -> Generator[Sequence[Question], Sequence[Reply], Example]:
        """The same of a repository of which the lengths of some lists are known."""
        url, rows, probed = self._rows_of(repo)
        asked = [row for row in probed if row.type not in counts or row.type in _READ or self._leads_on(row)]
        replies = yield [Question(type=row.type, url=row.url(url)) for row in asked]
        suites, pages = self._calls[_SUITES.type], dict[str, Reply]()
        totals, items = dict(counts), dict[str, Sequence[Json]]()
        for row, reply in zip(asked, replies, strict=True):
            pages[row.type], items[row.type] = reply, items_of(reply, row)
            totals.setdefault(row.type, total_of(items[row.type], pages_of(reply, counts["issues"])))
        example = Example(items=items, counts=totals)
        pages |= {row.type: example.reply(row.type, counts) for row in probed if row.type not in pages}
        self._described(repo, rows, pages, counts, newest=counts["issues"], pulls=counts["pull_requests"])
        found = [(row.element, pages[row.type]) for row in asked]
        yield from self._checks(url, found, self._calls[_SUITES.type] - suites)
        return example

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
        held = [[mapping(suite) for suite in items_of(reply, _SUITES)] for reply in replies]
        ran = [[count(suite.get("latest_check_runs_count")) for suite in each] for each in held]
        share = suites / len(asked) if asked else 0.0
        self._calls["check_runs"] += round(share * sum(any(each) for each in ran))
        self._documents["check_suite"] += round(share * sum(map(len, ran)))
        self._documents["check_run"] += round(share * sum(map(sum, ran)))
