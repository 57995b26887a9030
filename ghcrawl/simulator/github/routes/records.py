"""Stars, events, reactions and discussions of a repository; projects of an organisation."""

from __future__ import annotations

from typing import Final

from ghcrawl.simulator.answers import Refusal
from ghcrawl.simulator.github.entities import IssueComment, Repo
from ghcrawl.simulator.github.people import Org
from ghcrawl.simulator.github.records import IssueEvent, Project, ProjectItem, Reaction, Star
from ghcrawl.simulator.github.refusals import refused
from ghcrawl.simulator.github.routes.ask import Ask, Many, found
from ghcrawl.simulator.github.routes.finders import Rule, every, guarded, listed, newest, numbered, of_id, single
from ghcrawl.simulator.github.routes.issues import find_issue
from ghcrawl.simulator.github.routes.table import Finder
from ghcrawl.simulator.github.shapes import accounts
from ghcrawl.simulator.github.shapes import records as shapes


def stargazers(ask: Ask, repo: Repo) -> Many[Star]:
    """`/stargazers`: in the order in which they came; no more of them than `stars_cap`."""
    came = sorted(repo.records.stars.values(), key=lambda each: (each.starred_at, each.user.id))
    dated = "star+json" in ask.accept
    return Many(elements=came[: ask.manners.stars_cap], shape=lambda each: shapes.star(ask.site, each, dated=dated))


def _events_of(repo: Repo, text: str) -> list[IssueEvent]:
    issue = find_issue(repo, text)
    return [each for each in repo.records.issue_events.values() if each.issue is issue]


def _timeline(repo: Repo, text: str) -> list[IssueEvent | IssueComment]:
    """Events and comments as they came."""
    items: list[IssueEvent | IssueComment] = [*_events_of(repo, text), *find_issue(repo, text).comments]
    return sorted(items, key=lambda each: (each.created_at, each.id))


def _reactions(thing: Rule) -> Finder:
    """The reactions to what `thing` finds."""

    def held(repo: Repo, text: str) -> list[Reaction]:
        return repo.records.reactions.get(found(thing(repo, text)), [])

    return listed(held, shapes.reaction)


def _insiders_only(ask: Ask, org: Org) -> None:
    if not ask.viewer.insider(org):
        raise Refusal(refused(403, "Resource not accessible by personal access token"))


_project: Final = numbered("projects")


def _items(org: Org, text: str) -> list[tuple[Project, ProjectItem]]:
    held = found(_project(org, text))
    return [(held, each) for each in held.items]


ROUTES: Final[dict[str, Finder]] = {
    "stargazers": stargazers,
    "subscribers": listed(every("records.subscribers"), accounts.simple_user, alone=True),
    "issues/events": listed(newest("records.issue_events"), shapes.issue_event),
    "issues/events/{id}": single(numbered("records.issue_events"), shapes.issue_event),
    "issues/{number}/events": listed(_events_of, shapes.bare_event),
    "issues/{number}/timeline": listed(_timeline, shapes.timeline_item),
    "issues/{number}/reactions": _reactions(find_issue),
    "issues/comments/{id}/reactions": _reactions(numbered("issue_comments")),
    "pulls/comments/{id}/reactions": _reactions(numbered("review_comments")),
    "comments/{id}/reactions": _reactions(numbered("commit_comments")),
    "releases/{id}/reactions": _reactions(numbered("releases")),
    "discussions": listed(newest("records.discussions"), shapes.discussion),
    "discussions/{number}": single(numbered("records.discussions"), shapes.discussion),
}
ORG_ROUTES: Final = guarded(
    _insiders_only,
    {
        "outside_collaborators": listed(every("outsiders"), accounts.simple_user, alone=True),
        "projectsV2": listed(every("projects"), shapes.project),
        "projectsV2/{number}": single(_project, shapes.project),
        "projectsV2/{number}/items": listed(_items, shapes.project_item),
        "projectsV2/{number}/items/{id}": single(of_id(_items), shapes.project_item),
    },
)
