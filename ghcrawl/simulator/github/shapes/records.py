"""What happened, who likes it, what was discussed and planned."""

from __future__ import annotations

from ghcrawl.simulator.github.entities import IssueComment, Repo
from ghcrawl.simulator.github.people import Org
from ghcrawl.simulator.github.records import Discussion, IssueEvent, Project, ProjectItem, Reaction, Star
from ghcrawl.simulator.github.shapes.accounts import maybe_user, simple_user
from ghcrawl.simulator.github.shapes.issues import issue_comment, listed_issue
from ghcrawl.simulator.github.shapes.site import Body, Site, dated, ids, node_id


def bare_event(site: Site, repo: Repo, event: IssueEvent) -> Body:
    """An event in the list of its issue, which it does not name there."""
    url = site.repo(repo)
    body: Body = {
        **ids("IE", repo.id, event.id),
        "url": f"{url}/issues/events/{event.id}",
        "actor": maybe_user(site, event.actor),
        "event": event.event,
        "commit_id": event.commit_id,
        "commit_url": f"{url}/commits/{event.commit_id}" if event.commit_id else None,
        "created_at": event.created_at,
        "performed_via_github_app": None,
    }
    if event.label is not None:
        body["label"] = {"name": event.label.name, "color": event.label.color}
    if event.assignee is not None:
        body |= {"assignee": simple_user(site, event.assignee), "assigner": maybe_user(site, event.actor)}
    return body


def issue_event(site: Site, repo: Repo, event: IssueEvent) -> Body:
    """An event alone, or in the list of the whole repository: with its issue as that is today."""
    return {**bare_event(site, repo, event), "issue": listed_issue(site, repo, event.issue)}


def timeline_item(site: Site, repo: Repo, item: IssueEvent | IssueComment) -> Body:
    """An event or a comment in the timeline of its issue."""
    if isinstance(item, IssueEvent):
        return bare_event(site, repo, item)
    comment = issue_comment(site, repo, item)
    return {**comment, "event": "commented", "actor": comment["user"]}


def star(site: Site, star: Star, *, dated: bool) -> Body:
    """A stargazer; with the date for those who ask for that form."""
    user = simple_user(site, star.user)
    return {"starred_at": star.starred_at, "user": user} if dated else user


def reaction(site: Site, repo: Repo, reaction: Reaction) -> Body:
    """A reaction: the same wherever it is listed."""
    return {
        **ids("REA", repo.id, reaction.id),
        "user": maybe_user(site, reaction.user),
        "content": reaction.content,
        "created_at": reaction.created_at,
    }


def discussion(site: Site, repo: Repo, talk: Discussion) -> Body:
    """A discussion: the same alone and in lists."""
    return {
        "repository_url": site.repo(repo),
        "category": {
            "id": 1,
            "node_id": node_id("DIC", repo.id),
            "repository_id": repo.id,
            "emoji": ":speech_balloon:",
            "name": "General",
            "description": "Anything",
            "created_at": repo.created_at,
            "updated_at": repo.created_at,
            "slug": "general",
            "is_answerable": False,
        },
        "answer_html_url": None,
        "answer_chosen_at": None,
        "answer_chosen_by": None,
        "html_url": f"{site.page(repo)}/discussions/{talk.number}",
        **ids("D", repo.id, talk.id),
        "number": talk.number,
        "title": talk.title,
        "user": maybe_user(site, talk.user),
        "state": "open",
        "state_reason": None,
        "locked": False,
        "comments": 0,
        **dated(talk),
        "active_lock_reason": None,
        "body": talk.title,
    }


def project(site: Site, org: Org, project: Project) -> Body:
    """A project: the same alone and in lists."""
    return {
        **ids("PVT", project.id),
        "owner": simple_user(site, org),
        "creator": simple_user(site, project.creator),
        "title": project.title,
        "description": None,
        "public": False,
        "closed_at": None,
        **dated(project),
        "number": project.number,
        "short_description": None,
        "deleted_at": None,
        "deleted_by": None,
        "state": "open",
    }


def project_item(site: Site, org: Org, project: Project, item: ProjectItem) -> Body:
    """Something on a board, with no more of its content than its number."""
    url = f"{site.base}/orgs/{org.login}/projectsV2/{project.number}"
    return {
        **ids("PVTI", item.id),
        "project_url": url,
        "item_url": f"{url}/items/{item.id}",
        "content_type": "Issue",
        "content": {"number": item.issue_number},
        "creator": simple_user(site, item.creator),
        **dated(item),
        "archived_at": None,
        "fields": [],
    }
