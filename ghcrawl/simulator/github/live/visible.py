"""From webhooks to event feeds: which of them feeds show, and how little of them since October 2025."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from ghcrawl.simulator.github.live.hook import Hook
from ghcrawl.simulator.github.shapes.site import Body

_PULL_ACTIONS: Final = frozenset({"opened", "closed", "reopened"})


def feed_event(hook: Hook) -> tuple[str, Body] | None:
    """Type and payload in the feed; None: feeds do not show it. Nothing that is deleted or edited is shown."""
    shown = _SHOWN.get((hook.event, hook.payload.get("action", "")))
    return shown(hook.payload) if shown else None


def _only(type: str, *fields: str, **fixed: Any) -> Callable[[Body], tuple[str, Body]]:
    return lambda body: (type, {name: body[name] for name in fields} | fixed)


def _push(body: Body) -> tuple[str, Body]:
    repository = body["repository"]["id"]
    told = {"repository_id": repository, "push_id": int(body["after"][:12], 16), "ref": body["ref"]}
    return "PushEvent", told | {"head": body["after"], "before": body["before"]}


def _ref(type: str) -> Callable[[Body], tuple[str, Body]]:
    def shown(body: Body) -> tuple[str, Body]:
        full = f"refs/{'tags' if body['ref_type'] == 'tag' else 'heads'}/{body['ref']}"
        return type, {"ref": body["ref"], "ref_type": body["ref_type"], "full_ref": full, "pusher_type": "user"}

    return shown


def least(pull: Body) -> Body:
    """All that is left of a pull request: where it is, and its two ends."""

    def end(side: str) -> Body:
        repo = pull[side]["repo"]
        where = {"id": repo["id"], "url": repo["url"], "name": repo["name"]} if repo else None
        return {"ref": pull[side]["ref"], "sha": pull[side]["sha"], "repo": where}

    return {
        "url": pull["url"],
        "id": pull["id"],
        "number": pull["number"],
        "head": end("head"),
        "base": end("base"),
    }


def _pull(body: Body) -> tuple[str, Body]:
    told = {"action": body["action"], "number": body["number"], "pull_request": least(body["pull_request"])}
    return "PullRequestEvent", told


def _on_pull(type: str, field: str) -> Callable[[Body], tuple[str, Body]]:
    def shown(body: Body) -> tuple[str, Body]:
        return type, {"action": "created", field: body[field], "pull_request": least(body["pull_request"])}

    return shown


_SHOWN: Final[Mapping[tuple[str, str], Callable[[Body], tuple[str, Body]]]] = {
    ("push", ""): _push,
    ("create", ""): _ref("CreateEvent"),
    ("delete", ""): _ref("DeleteEvent"),
    **{("issues", action): _only("IssuesEvent", "action", "issue") for action in ("opened", "closed", "reopened")},
    ("issue_comment", "created"): _only("IssueCommentEvent", "action", "issue", "comment"),
    **{("pull_request", action): _pull for action in _PULL_ACTIONS},
    ("pull_request_review", "submitted"): _on_pull("PullRequestReviewEvent", "review"),
    ("pull_request_review_comment", "created"): _on_pull("PullRequestReviewCommentEvent", "comment"),
    ("commit_comment", "created"): _only("CommitCommentEvent", "action", "comment"),
    ("release", "published"): _only("ReleaseEvent", "action", "release"),
    ("watch", "started"): _only("WatchEvent", "action"),
}
