"""The lists that there are. Which of them hold whole resources was measured, not read."""

from __future__ import annotations

from typing import Final

from ghcrawl.values.visitor_map import PAGES
from processors.fields import at, count, number
from processors.github import commit
from processors.github.activity import has_reactions
from processors.github.automation import head_of_pull, tip_of_branch
from processors.github.condition import HAS_ISSUES, MAY_PUSH, OF_INSIDERS, Condition, counted
from processors.github.entities import ENTITIES
from processors.github.listing import Listing, UpdateMode

_BY_CREATION: Final = "sort=created&direction=asc"
"""A complete pagination in this order is not disturbed by what is added or changed meanwhile."""
_BY_CHANGE: Final = "sort=updated&direction=asc"
_SINCE: Final = UpdateMode.SINCE
_HEAD: Final = UpdateMode.HEAD
_END: Final = UpdateMode.END
_VIA: Final = {"pull_request": head_of_pull, "branch": tip_of_branch}

_PUBLIC_REPOS: Final = Condition(
    "`public_repos` > 0", lambda user: count(user.get("public_repos")) > 0 or "plan" in user
)
_NO_ISSUES: Final = Condition(
    "not `has_issues`: else the issues lead to them", lambda repo: repo.get("has_issues") is False
)
_HAS_COMMENTS: Final = Condition("`comment_count` > 0", commit.has_comments)
_HAS_PROJECTS: Final = Condition(
    "`has_organization_projects`", lambda org: org.get("has_organization_projects") is True
)
_OF_ORGANIZATION: Final = Condition(
    "the token may push; an organisation owns it",
    lambda repo: MAY_PUSH.holds(repo) and at(repo, "owner", "type") == "Organization",
)
_HAS_CHANGES: Final = Condition("`changed_files` is not 0", lambda pull: pull.get("changed_files") != 0)
_HAS_ANNOTATIONS: Final = Condition(
    "`output.annotations_count` > 0", lambda run: (number(at(run, "output", "annotations_count")) or 0) > 0
)
_HAS_REACTIONS: Final = Condition("`reactions.total_count` > 0", has_reactions)
_HAS_DISCUSSIONS: Final = Condition("`has_discussions`; undocumented", lambda repo: repo.get("has_discussions") is True)
_HAS_MORE_FILES: Final = Condition(
    "it has more than fit into its own answer, which says where they are", lambda _commit: False
)
_IS_NO_FORK: Final = Condition("it is no fork", lambda repo: repo.get("fork") is not True)

# fmt: off
_MORE: Final[tuple[Listing, ...]] = (
    # owner, type of its pages, element, path
    Listing("org", "repos", "repo", "/repos", topic="about", query="type=all&sort=created&direction=desc",
            newest_first=True, was="repos"),
    Listing("user", "repos", "repo", "/repos", topic="about", query="type=owner&sort=created&direction=desc",
            newest_first=True, when=_PUBLIC_REPOS, was="repos"),
    Listing("org", "members", "user", "/members", topic="about", relation=True, was="members (org_members)"),
    Listing("org", "admins", "user", "/members", leads_to=PAGES, query="role=admin", relation=True, when=OF_INSIDERS),
    Listing("org", "teams", "team", "/teams", topic="about", leads_to="team", relation=True, was="teams (org_teams)"),
    Listing("team", "team_members", "user", "/members", name="members", topic="about", relation=True,
            when=counted("members_count"), was="members (team_members)"),
    Listing("team", "team_repos", "repo", "/repos", name="repos", topic="about", relation=True,
            when=counted("repos_count"), was="repos"),
    Listing("team", "maintainers", "user", "/members", leads_to=PAGES, query="role=maintainer", relation=True,
            when=counted("members_count")),
    Listing("repo", "issues", "issue", "/issues", topic="issues", query=f"state=all&{_BY_CREATION}",
            since_query=f"state=all&{_BY_CHANGE}", complete=True, updates=_SINCE, when=HAS_ISSUES, was="issues"),
    Listing("repo", "pull_requests", "pull_request", "/pulls", topic="issues", query=f"state=all&{_BY_CREATION}",
            when=_NO_ISSUES),
    Listing("repo", "issue_comments", "issue_comment", "/issues/comments", topic="issues", query=_BY_CREATION,
            since_query=_BY_CHANGE, complete=True, updates=_SINCE, known_only=True),
    Listing("issue", "issue_comments", "issue_comment", "/comments", topic="issues", complete=True, covered_by="repo",
            when=counted("comments"), was="issue_comments"),
    Listing("pull_request", "reviews", "review", "/reviews", topic="issues", complete=True, moves_owner=True,
            was="reviews"),
    Listing("repo", "review_comments", "review_comment", "/pulls/comments", topic="issues", query=_BY_CREATION,
            since_query=_BY_CHANGE, complete=True, updates=_SINCE, known_only=True),
    Listing("pull_request", "review_comments", "review_comment", "/comments", topic="issues", complete=True,
            covered_by="repo", when=counted("review_comments"), was="review_comments"),
    Listing("repo", "commits", "commit", "/commits", topic="code", complete=True, updates=_HEAD, skip_if_empty=True,
            between="/compare/", dated=True, item_at="commits", was="commits"),
    Listing("repo", "commit_comments", "commit_comment", "/comments", topic="code", complete=True, known_only=True,
            quiet=True),
    Listing("commit", "commit_comments", "commit_comment", "/comments", topic="code", complete=True, covered_by="repo",
            when=_HAS_COMMENTS, was="commit_comments, pull_request_commit_comments"),
    Listing("repo", "contributors", "user", "/contributors", topic="about", relation=True, skip_if_empty=True,
            was="contributors"),
    Listing("org", "outside_collaborators", "user", "/outside_collaborators", relation=True, when=OF_INSIDERS),
    Listing("org", "projects", "project", "/projectsV2", complete=True, when=_HAS_PROJECTS),
    Listing("project", "project_items", "project_item", "/items", name="items", complete=True),
    Listing("user", "orgs", "org", "/orgs", leads_to=PAGES, relation=True, was="orgs"),
    Listing("repo", "repo_teams", "team", "/teams", name="teams", topic="about", leads_to=PAGES, relation=True,
            when=_OF_ORGANIZATION, was="teams (repo_teams)"),
    Listing("repo", "collaborators", "user", "/collaborators", topic="about", query="affiliation=direct", relation=True,
            when=MAY_PUSH, was="collaborators (repo_collaborators)"),
    Listing("repo", "stargazers", "user", "/stargazers", leads_to=PAGES, relation=True, updates=_END, inside="user",
            when=counted("stargazers_count"), was="stargazers"),
    Listing("repo", "subscribers", "user", "/subscribers", leads_to=PAGES, relation=True, updates=_END,
            when=counted("subscribers_count"), was="subscribers"),
    Listing("repo", "forks", "repo", "/forks", leads_to=PAGES, query="sort=oldest", relation=True, updates=_END,
            when=counted("forks_count")),
    Listing("release", "assets", "release_asset", "/assets", topic="code", complete=True, embedded="assets"),
    Listing("repo", "issue_events", "issue_event", "/issues/events", topic="issues", complete=True, updates=_HEAD,
            when=HAS_ISSUES),
    Listing("issue", "issue_events", "issue_event", "/events", name="events", on_request=True, complete=True),
    Listing("team", "child_teams", "team", "/teams", name="teams", leads_to=PAGES, relation=True),
    Listing("org", "external_groups", "", "/external-groups", relation=True, item_at="groups", when=OF_INSIDERS),
    Listing("commit", "commit_pull_requests", "pull_request", "/pulls", name="pull_requests", leads_to=PAGES,
            on_request=True, relation=True),
    Listing("pull_request", "pull_request_files", "", "/files", name="files", relation=True, when=_HAS_CHANGES),
    Listing("check_run", "annotations", "", "/annotations", relation=True, when=_HAS_ANNOTATIONS),
    Listing("issue", "timeline", "", "/timeline", on_request=True, relation=True),
    *(
        Listing(owner, "reactions", "reaction", "/reactions", complete=True, when=_HAS_REACTIONS)
        for owner in ("issue", "issue_comment", "review_comment", "commit_comment", "release")
    ),
    Listing("repo", "discussions", "discussion", "/discussions", complete=True, when=_HAS_DISCUSSIONS),
    Listing("pull_request", "pull_request_commits", "commit", "/commits", name="commits", complete=True,
            was="pull_request_commits"),
    Listing("commit", "commit_files", "", "", name="files", topic="code", relation=True, item_at="files",
            when=_HAS_MORE_FILES),
    Listing("commit", "statuses", "status", "/statuses", complete=True, newest_first=True, via=_VIA, was="statuses"),
    Listing("commit", "check_suites", "check_suite", "/check-suites", complete=True, item_at="check_suites", via=_VIA),
    Listing("commit", "check_runs", "check_run", "/check-runs", query="filter=all", complete=True, known_only=True,
            item_at="check_runs", via=_VIA),
    Listing("check_suite", "check_runs", "check_run", "/check-runs", query="filter=all", complete=True,
            covered_by="commit", item_at="check_runs", when=counted("latest_check_runs_count")),
    Listing("repo", "deployments", "deployment", "/deployments", complete=True, newest_first=True),
    Listing("deployment", "deployment_statuses", "deployment_status", "/statuses", name="statuses", complete=True,
            newest_first=True),
    Listing("repo", "workflows", "workflow", "/actions/workflows", complete=True, skip_if_empty=True,
            item_at="workflows"),
    Listing("repo", "workflow_runs", "workflow_run", "/actions/runs", complete=True, updates=_HEAD, lively=True,
            skip_if_empty=True, item_at="workflow_runs"),
    Listing("workflow", "workflow_runs", "workflow_run", "/runs", name="runs", on_request=True, complete=True,
            newest_first=True, item_at="workflow_runs"),
    Listing("repo", "security_advisories", "security_advisory", "/security-advisories", complete=True,
            newest_first=True, when=_IS_NO_FORK),
    Listing("repo", "dependabot_alerts", "dependabot_alert", "/dependabot/alerts", complete=True, newest_first=True,
            when=MAY_PUSH),
)
# fmt: on
"""Lists of several kinds of owner, or of what leads elsewhere; an entity's own list stands with the entity."""
LISTINGS: Final[tuple[Listing, ...]] = (*_MORE, *(row for each in ENTITIES for row in each.lists))
"""All lists; where several have one type, the first is the one that its pages' kind is placed by."""
