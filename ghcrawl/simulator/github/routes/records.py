"""Stars, events, reactions, discussions, advisories and alerts of a repository; projects of an organisation."""

from __future__ import annotations

from typing import Final

from ghcrawl.simulator.answers import Refusal
from ghcrawl.simulator.github.entities import IssueComment, Repo
from ghcrawl.simulator.github.people import Org, User
from ghcrawl.simulator.github.records import (
    Advisory,
    Alert,
    Discussion,
    IssueEvent,
    Project,
    ProjectItem,
    Reaction,
    Star,
)
from ghcrawl.simulator.github.refusals import refused
from ghcrawl.simulator.github.routes.ask import Ask, Many, One, found, number, ordered
from ghcrawl.simulator.github.routes.issues import find_issue
from ghcrawl.simulator.github.routes.table import Finder
from ghcrawl.simulator.github.shapes import accounts
from ghcrawl.simulator.github.shapes import records as shapes


def stargazers(ask: Ask, repo: Repo) -> Many[Star]:
    """`/stargazers`: in the order in which they came; no more of them than `stars_cap`."""
    came = ordered(repo.records.stars.values(), lambda each: (each.starred_at, each.user.id), descending=False)
    dated = "star+json" in ask.accept
    return Many(elements=came[: ask.manners.stars_cap], shape=lambda each: shapes.star(ask.site, each, dated=dated))


def subscribers(ask: Ask, repo: Repo) -> Many[User]:
    """`/subscribers`."""
    people = list(repo.records.subscribers.values())
    return Many(elements=people, shape=lambda each: accounts.simple_user(ask.site, each))


def issue_events(ask: Ask, repo: Repo) -> Many[IssueEvent]:
    """`/issues/events`: newest first."""
    return Many(
        elements=list(repo.records.issue_events.values())[::-1],
        shape=lambda each: shapes.issue_event(ask.site, repo, each),
    )


def issue_event(ask: Ask, repo: Repo, text: str) -> One:
    """`/issues/events/{id}`."""
    return One(body=shapes.issue_event(ask.site, repo, found(repo.records.issue_events.get(number(text)))))


def events_of(ask: Ask, repo: Repo, text: str) -> Many[IssueEvent]:
    """`/issues/{number}/events`: oldest first, none of them with its issue."""
    issue = find_issue(repo, text)
    return Many(
        elements=[each for each in repo.records.issue_events.values() if each.issue is issue],
        shape=lambda each: shapes.bare_event(ask.site, repo, each),
    )


def timeline(ask: Ask, repo: Repo, text: str) -> Many[IssueEvent | IssueComment]:
    """`/issues/{number}/timeline`: events and comments as they came."""
    issue = find_issue(repo, text)
    events = [each for each in repo.records.issue_events.values() if each.issue is issue]
    return Many(
        elements=ordered([*events, *issue.comments], lambda each: (each.created_at, each.id), descending=False),
        shape=lambda each: shapes.timeline_item(ask.site, repo, each),
    )


def _reactions(ask: Ask, repo: Repo, thing: object) -> Many[Reaction]:
    held = repo.records.reactions.get(found(thing), [])
    return Many(elements=held, shape=lambda each: shapes.reaction(ask.site, repo, each))


def issue_reactions(ask: Ask, repo: Repo, text: str) -> Many[Reaction]:
    """`/issues/{number}/reactions`."""
    return _reactions(ask, repo, find_issue(repo, text))


def issue_comment_reactions(ask: Ask, repo: Repo, text: str) -> Many[Reaction]:
    """`/issues/comments/{id}/reactions`."""
    return _reactions(ask, repo, repo.issue_comments.get(number(text)))


def review_comment_reactions(ask: Ask, repo: Repo, text: str) -> Many[Reaction]:
    """`/pulls/comments/{id}/reactions`."""
    return _reactions(ask, repo, repo.review_comments.get(number(text)))


def commit_comment_reactions(ask: Ask, repo: Repo, text: str) -> Many[Reaction]:
    """`/comments/{id}/reactions`."""
    return _reactions(ask, repo, repo.commit_comments.get(number(text)))


def release_reactions(ask: Ask, repo: Repo, text: str) -> Many[Reaction]:
    """`/releases/{id}/reactions`."""
    return _reactions(ask, repo, repo.releases.get(number(text)))


def discussions(ask: Ask, repo: Repo) -> Many[Discussion]:
    """`/discussions`: newest first."""
    held = list(repo.records.discussions.values())[::-1]
    return Many(elements=held, shape=lambda each: shapes.discussion(ask.site, repo, each))


def discussion(ask: Ask, repo: Repo, text: str) -> One:
    """`/discussions/{number}`."""
    return One(body=shapes.discussion(ask.site, repo, found(repo.records.discussions.get(number(text)))))


def advisories(ask: Ask, repo: Repo) -> Many[Advisory]:
    """`/security-advisories`."""
    held = list(repo.records.advisories.values())
    return Many(elements=held, shape=lambda each: shapes.advisory(ask.site, repo, each))


def advisory(ask: Ask, repo: Repo, text: str) -> One:
    """`/security-advisories/{ghsa}`."""
    return One(body=shapes.advisory(ask.site, repo, found(repo.records.advisories.get(text))))


def _admit_to_alerts(ask: Ask, repo: Repo) -> None:
    if not ask.viewer.insider(repo.owner) or not ask.manners.alerts_shown:
        raise Refusal(refused(403, "You are not authorized to perform this operation."))


def alerts(ask: Ask, repo: Repo) -> Many[Alert]:
    """`/dependabot/alerts`, for those who are entitled: newest first."""
    _admit_to_alerts(ask, repo)
    held = list(repo.records.alerts.values())[::-1]
    return Many(elements=held, shape=lambda each: shapes.alert(ask.site, repo, each))


def alert(ask: Ask, repo: Repo, text: str) -> One:
    """`/dependabot/alerts/{number}`."""
    _admit_to_alerts(ask, repo)
    return One(body=shapes.alert(ask.site, repo, found(repo.records.alerts.get(number(text)))))


def _insiders_only(ask: Ask, org: Org) -> None:
    if not ask.viewer.insider(org):
        raise Refusal(refused(403, "Resource not accessible by personal access token"))


def outside_collaborators(ask: Ask, org: Org) -> Many[User]:
    """`/outside_collaborators`, for members."""
    _insiders_only(ask, org)
    return Many(elements=list(org.outsiders.values()), shape=lambda each: accounts.simple_user(ask.site, each))


def projects(ask: Ask, org: Org) -> Many[Project]:
    """`/projectsV2`, for members."""
    _insiders_only(ask, org)
    held = list(org.projects.values())
    return Many(elements=held, shape=lambda each: shapes.project(ask.site, org, each))


def project(ask: Ask, org: Org, text: str) -> One:
    """`/projectsV2/{number}`."""
    _insiders_only(ask, org)
    return One(body=shapes.project(ask.site, org, found(org.projects.get(number(text)))))


def project_items(ask: Ask, org: Org, text: str) -> Many[ProjectItem]:
    """`/projectsV2/{number}/items`."""
    _insiders_only(ask, org)
    held = found(org.projects.get(number(text)))
    return Many(elements=held.items, shape=lambda each: shapes.project_item(ask.site, org, held, each))


def project_item(ask: Ask, org: Org, text: str, item: str) -> One:
    """`/projectsV2/{number}/items/{id}`."""
    _insiders_only(ask, org)
    held, wanted = found(org.projects.get(number(text))), number(item)
    hit = found(next((each for each in held.items if each.id == wanted), None))
    return One(body=shapes.project_item(ask.site, org, held, hit))


ROUTES: Final[dict[str, Finder]] = {
    "stargazers": stargazers,
    "subscribers": subscribers,
    "issues/events": issue_events,
    "issues/events/{id}": issue_event,
    "issues/{number}/events": events_of,
    "issues/{number}/timeline": timeline,
    "issues/{number}/reactions": issue_reactions,
    "issues/comments/{id}/reactions": issue_comment_reactions,
    "pulls/comments/{id}/reactions": review_comment_reactions,
    "comments/{id}/reactions": commit_comment_reactions,
    "releases/{id}/reactions": release_reactions,
    "discussions": discussions,
    "discussions/{number}": discussion,
    "security-advisories": advisories,
    "security-advisories/{ghsa}": advisory,
    "dependabot/alerts": alerts,
    "dependabot/alerts/{number}": alert,
}
ORG_ROUTES: Final[dict[str, Finder]] = {
    "outside_collaborators": outside_collaborators,
    "projectsV2": projects,
    "projectsV2/{number}": project,
    "projectsV2/{number}/items": project_items,
    "projectsV2/{number}/items/{id}": project_item,
}
