"""`docs/github.md`, written from the registry: `python -m processors.github.table > docs/github.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ghcrawl.values.visitor_map import (
    NONE,
    PAGES,
    Node,
    followed,
)
from processors.github.batches import BATCHES
from processors.github.entities import BY_TYPE, ENTITIES
from processors.github.entity import Entity
from processors.github.events import event_kinds
from processors.github.listing import Listing, Walking
from processors.github.listings import LISTINGS
from processors.github.maps import SCENARIOS
from processors.github.part import Part
from processors.github.parts import PARTS
from processors.github.registry import listings

_INTRODUCTION: Final = """\
# What is crawled of GitHub

Written from the registry by `python -m processors.github.table`; a test holds this page to it.

A thing is saved once, under a name that no rename changes, whichever way it was found. Where the element of a list is
the whole resource, it is saved from there: a hundred documents a call. An unchanged answer costs nothing. What a token
may not see, what is not there at all, and what there is too much of is skipped, and the summary says why (`missing`,
`denied_…`, `too_large`). A list or a part is not asked for again while what it belongs to stays as it is and the same
tokens ask, for seven days at the most. Nor is an account, a team or a repository to which something else refers,
unless somebody names it, an event tells of it, or an audit looks. What we held and is refused costs one call more.
"""
_BATCHES: Final = f"""\
Lists leave out a few fields of pull requests, reviews and users. With a token, GraphQL completes up to a hundred of
them in one call ({", ".join(f"`{name}`" for name in BATCHES)}); each is saved as the document that REST would have
given. GraphQL has a budget of its own: 5,000 points an hour for a user, and a batch takes about one.

* A node counts only if it is of the same moment as the list's element. What GraphQL refuses, lacks or answers too
  slowly is asked of REST, one by one.
* What is stored with a validator is asked of REST, where an unchanged answer is free. A refresh costs what it costs
  without batches.
* The first three things of each type, and then one in five hundred, are asked of REST as well. A field that differs
  turns batches of that type off in all replicas until the version changes: `batches_differ_from_rest` in the log, the
  alert GhcrawlBatchesDiffer, `ghcrawl tokens check`.

Two settings take fewer calls for less: `github.pull_requests = "list"` and `github.users = "list"` keep these as lists
give them. Such documents are marked as partial; with `"full"` again, a later crawl completes them.
`github.batches = "off"` asks for each thing with a call of its own."""

_SCENARIO_WORDS: Final = """\
Crawl in another scenario with `--scenario NAME`, or by the policy: `refresh:issues/`. What a scenario leaves out can be
asked for by itself (`ghcrawl crawl deployments:https://api.github.com/repos/acme/web/deployments`), or with
`--only TYPE,…`, which follows whatever leads to those types and nothing else; `--exclude TYPE,…` leaves out whatever
would lead to them. `--since DATE` asks lists that can tell for what changed since then, leaves out older elements of
the others, and moves no watermark. `--max-calls N` stops before call N + 1; what is left waits in the file.

Why `default` is not `everything`: reactions, statuses and checks, the commits of each pull request, deployments,
traffic and statistics cost about a call for every one or two documents, and the stars of a known project take hundreds
of pages that say little. What `default` adds to the core kinds comes a hundred to a call or costs no call at all.
Timelines are in no scenario but on request: they take a call an issue, and the repository's lists of events, comments
and reviews hold all of them but cross-references. So are the pull requests of a commit, which would take a call for
every commit where pull requests lead to theirs: name their URLs, or name the types in `--only`. Roles are told by
`admins` and `maintainers`, at a page each; the membership of one person, by its URL, says whether an invitation is
open. Of packages containers are listed; those of other types are read by the URL of their list. Secrets that were
found are asked for without the secret itself.
"""
_NOT_CRAWLED: Final[tuple[tuple[str, str], ...]] = (
    (
        "review threads",
        "REST has none: a review comment says whom it answers (`in_reply_to_id`); whether a thread is "
        "resolved is told by webhooks, which are kept",
    ),
    (
        "comments in discussions",
        "undocumented in REST, as the list of discussions is; webhooks are kept, and bring the discussion that counts "
        "them",
    ),
    ("logs of workflow runs", "archives; runs, jobs and checks say what became of them"),
    (
        "webhooks, deploy keys, invitations",
        "settings that only administrators may see, and say nothing of the work done",
    ),
    (
        "followers, following, starred repositories",
        "lists of a person, not of the work; stargazers say it by repository",
    ),
    ("pages, wikis, sponsors", "no part of issues, code or reviews; webhooks are kept"),
)
"""What of GitHub's REST API is left, and why."""
_FEEDS: Final = (
    (
        "`events`",
        "`~/events`",
        "`org`, `user`, `repo`",
        "with `--follow`: page 1, then on to the events that were seen; 304 if unchanged",
        "events (event_trigger, update_events)",
    ),
)


def page() -> str:
    """The whole page."""
    parts = [
        _INTRODUCTION,
        "## Things\n",
        _table(("kind", "own URL", "saved from", "a document costs", "predecessor"), map(_entity, ENTITIES)),
        "\n## Lists\n",
        "A page of a collection keeps names and URLs; one of a *relation* keeps the elements themselves.\n",
        _table(("list", "endpoint", "lists", "only if", "kept up to date", "predecessor"), map(_listing, LISTINGS)),
        "\n## Parts\n",
        "What a repository has exactly one of.\n",
        _table(("kind", "endpoint", "only if", "kept up to date and costs", "predecessor"), map(_part, PARTS)),
        "\n## Events\n",
        "Each is a document of its own, from a webhook or a feed, and leads to what it tells of. "
        "No call is made for what an event carries whole; statuses of commits and projects, which no event does, are "
        "asked for in scenarios that follow them.\n",
        _table(("feed", "endpoint", "of", "kept up to date", "predecessor"), _FEEDS),
        "",
        _wrapped(f"`{name}`" for name in sorted(event_kinds(BY_TYPE, listings()))),
        "\nBesides, `cursor` remembers how far a list was read, and `reconciliation` (`census` in earlier versions) "
        "finds what a complete list left out.\n",
        "## Batches\n",
        _BATCHES,
        "\n## Not crawled\n",
        _table(("what", "why"), _NOT_CRAWLED),
        "\n## Scenarios\n",
        _table(("from", *SCENARIOS), _scenario_rows()),
        "",
        _SCENARIO_WORDS,
    ]
    return "\n".join(parts)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell or '–' for cell in line)} |" for line in lines)


def _wrapped(words: Iterable[str]) -> str:
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) > 116:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return "\n".join(lines)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _codes(names: str) -> str:
    return ", ".join(map(_code, names.split()))


def _entity(row: Entity) -> Sequence[str]:
    found = [each for each in LISTINGS if each.element == row.type]
    whole = [each for each in found if each.complete]
    cost = "1 call"
    if any(each.embedded for each in whole):
        cost = "no call: its owner carries it"
    elif any(each.of in ("repo", "org") for each in whole):
        cost = "1/100 call: a page of its list"
    elif whole:
        cost = "a share of 1 call for all of one owner"
    sources = dict.fromkeys(_code(f"{each.of}.{each.link}") for each in whole)
    return _code(row.type), _code(row.endpoint), ", ".join(sources) or "its own URL", cost, _codes(row.was)


def _listing(row: Listing) -> Sequence[str]:
    endpoint = BY_TYPE[row.of].endpoint or "…"
    name = f"{_code(row.type)}{' (relation)' if row.relation else ''}"
    return name, _code(endpoint + row.path), _code(row.element), row.only_if, _upkeep(row), row.was


def _upkeep(row: Listing) -> str:
    if row.embedded:
        return "with its owner, which holds it"
    if row.relation and row.walking is not Walking.END:
        return "page by page, 304 if unchanged; any change makes a new generation"
    if row.covered_by:
        return f"by the list of the whole {row.covered_by}, where that is walked"
    if row.walking is Walking.HEAD and row.lively:
        return f"{_UPKEEP[row.walking]}; page 1 is saved whole"
    return _UPKEEP[row.walking]


_UPKEEP: Final = {
    Walking.SINCE: "`since=` the last complete walk",
    Walking.HEAD: "page 1, then on to the newest known one",
    Walking.END: "on from the last page; of more than ten pages, an audit finds what is gone",
    Walking.PAGES: "page by page, 304 if unchanged",
}


def _part(row: Part) -> Sequence[str]:
    paths = " or ".join(_code("~" + path) for path in (row.path, *row.elsewhere))
    if row.embedded(_SAMPLE) is not None:
        upkeep = "no call: the repository carries it"
    elif row.daily:
        upkeep = "1 call, 304 if unchanged; a document for each day"
    elif row.settled:
        upkeep = "1 call when the repository changed"
        upkeep += f"; refused where it has {row.limited}" if row.limited else ""
    else:
        upkeep = "1 call, 304 if unchanged"
    return _code(row.type), paths, row.only_if, upkeep, _codes(row.was)


_SAMPLE: Final = {"topics": ["crawler"]}


def _scenario_rows() -> Iterable[Sequence[str]]:
    links = {(name, link) for maps in SCENARIOS.values() for name, to in maps.items() for link in to}
    named = {(owner, row.link) for row in LISTINGS for owner in (row.of, *row.via)} | {
        (row.of, row.type) for row in PARTS
    }
    for name, link in sorted(links & named):
        cells = [_followed(maps.get(name), link) for maps in SCENARIOS.values()]
        yield _code(f"{name}.{link}"), *cells


def _followed(links: Node | None, link: str) -> str:
    target = links.get(link, NONE) if isinstance(links, Mapping) else NONE
    if not followed(target):
        return "–"
    return "pages" if target == PAGES else "yes"


if __name__ == "__main__":
    sys.stdout.write(page())
