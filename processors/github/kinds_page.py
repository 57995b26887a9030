"""`docs/github.md`, written from the registry: `python -m processors.github.kinds_page > docs/github.md`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ghcrawl.values.visitor_map import NONE, PAGES, Node, followed
from processors.github.batches import BATCHES
from processors.github.entities import BY_TYPE, ENTITIES
from processors.github.entity import Entity
from processors.github.events import event_kinds
from processors.github.listing import Listing, UpdateMode
from processors.github.listings import LISTINGS
from processors.github.maps import SCENARIOS
from processors.github.part import Part
from processors.github.parts import PARTS
from processors.github.registry import listings

_INTRODUCTION: Final = """\
# What is crawled of GitHub

Written from the registry by `make docs`; a test holds this page to it.

Each thing is one document under a name that survives renames, whichever way it was found. If the element of a list is
the complete resource, it is saved from the list: a hundred documents per call. An unchanged answer costs nothing.
Resources that the token may not see, that do not exist, or that are too large are skipped, and the summary says why
(`missing`, `denied_…`, `too_large`). A refused list or part is not requested again while the thing that it belongs to
is unchanged and the tokens are the same, for seven days at most. A refused account, team or repository to which
something else refers is not requested again either, unless a command names it, an event reports it, or an audit runs.
If it had been stored before, the refusal costs one more call.
"""
_BATCHES: Final = f"""\
Lists leave out a few fields of pull requests, reviews and users. With a token, GraphQL completes up to a hundred of
them in one call ({", ".join(f"`{name}`" for name in BATCHES)}); each is saved as the document that REST would have
given. GraphQL has a budget of its own: 5,000 points an hour for a user, and a batch takes about one.

* A node is used only if it is as old as the element of the list. Nodes that GraphQL refuses, lacks or returns too
  slowly are requested from REST, one by one.
* Documents that are stored with a validator are requested from REST, where an unchanged answer is free. So a refresh
  costs what it costs without batches.
* The first three things of each type, and then one in five hundred, are requested from REST as well. A field that
  differs turns batches of that type off in all replicas until the version changes. The log
  (`batches_differ_from_rest`), the alert GhcrawlBatchesDiffer and `ghcrawl tokens check` report it.

Two settings save calls and store less: `github.pull_requests = "list"` and `github.users = "list"` keep these as lists
give them. Such documents are marked as partial; with `"full"` again, `--policy audit` completes them, except for people
that no link leads to: name them. `github.batches = "off"` requests each thing with a call of its own."""

_SCENARIO_WORDS: Final = """\
Select another scenario with `--scenario NAME`, or in the policy: `refresh:issues/`. To crawl a list that the scenario
leaves out, name it (`ghcrawl crawl deployments:https://api.github.com/repos/acme/web/deployments`), or use `--only
TYPE,…`, which follows only the links that lead to those types; `--exclude TYPE,…` leaves those links out. `--since
DATE` asks only for changes since then where a list supports it, drops older elements of the others, and moves no
watermark. `--max-calls N` stops before call N + 1; the remaining requests wait in the file.

Why `default` is not `everything`: reactions, statuses and checks, the commits of each pull request, deployments,
traffic and statistics cost about a call for every one or two documents, and the stars of a popular project take
hundreds of pages that say little. What `default` adds to the core kinds comes a hundred per call or costs no call at
all.

No scenario has timelines: they take a call per issue, and the repository's lists of events, comments and reviews
contain everything in them but cross-references. Nor has any the pull requests of a commit, which would take a call per
commit. Name their URLs, or their types in `--only`. Roles come from `admins` and `maintainers`, at one page each; the
membership of one person, by its URL, says whether an invitation is open. Container packages are listed; packages of
other types are read by the URL of their list. Secret scanning alerts are requested without the secret.
"""
_NOT_CRAWLED: Final[tuple[tuple[str, str], ...]] = (
    (
        "review threads",
        "REST has none: a review comment names the one it replies to (`in_reply_to_id`); whether a thread is "
        "resolved comes in webhooks, which are kept",
    ),
    (
        "comments in discussions",
        "undocumented in REST, like the list of discussions; webhooks are kept, and bring the discussion that counts "
        "them",
    ),
    ("logs of workflow runs", "archives; runs, jobs and checks have the results"),
    (
        "webhooks, deploy keys, invitations",
        "settings that only administrators may see, not work",
    ),
    (
        "followers, following, starred repositories",
        "lists of a person, not of a repository; stargazers are crawled by repository",
    ),
    ("pages, wikis, sponsors", "not part of issues, code or reviews; webhooks are kept"),
)
"""The parts of GitHub's REST API that are not crawled, and why."""
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
        "Each is a document of its own, from a webhook or a feed, and links to the things that it reports. Things that "
        "an event contains completely cost no call. No event contains statuses of commits or projects completely: they "
        "are requested in scenarios that follow them.\n",
        _table(("feed", "endpoint", "of", "kept up to date", "predecessor"), _FEEDS),
        "",
        _wrapped(f"`{name}`" for name in sorted(event_kinds(BY_TYPE, listings()))),
        "\nTwo more: `cursor` remembers how far a list was read, and `reconciliation` (`census` in earlier versions) "
        "finds stored things that a complete list does not contain.\n",
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
    return name, _code(endpoint + row.path), _code(row.element), row.when.words, _upkeep(row), row.was


def _upkeep(row: Listing) -> str:
    if row.embedded:
        return "with its owner, which holds it"
    if row.relation and row.updates is not UpdateMode.END:
        return "page by page, 304 if unchanged; any change makes a new generation"
    if row.covered_by:
        return f"by the list of the whole {row.covered_by}, where that is read"
    if row.updates is UpdateMode.HEAD and row.lively:
        return f"{_UPKEEP[row.updates]}; page 1 is saved whole"
    return _UPKEEP[row.updates]


_UPKEEP: Final = {
    UpdateMode.SINCE: "`since=` the last complete walk",
    UpdateMode.HEAD: "page 1, then on to the newest known one",
    UpdateMode.END: "on from the last page; of more than ten pages, an audit finds what is gone",
    UpdateMode.PAGES: "page by page, 304 if unchanged",
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
    return _code(row.type), paths, row.when.words, upkeep, _codes(row.was)


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
