"""The answers by which GitHub declines, with its own words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ghcrawl.simulator.answers import Answer, Refusal
from ghcrawl.simulator.github.principals import Denial

DOCUMENTATION = "https://docs.github.com/rest"


def refused(status: int, message: str, *, headers: Mapping[str, str] | None = None, **more: Any) -> Answer:
    """An answer in GitHub's form for errors."""
    body = {"message": message, **more, "documentation_url": DOCUMENTATION, "status": str(status)}
    return Answer(status=status, body=body, headers=headers or {})


def not_found() -> Refusal:
    """It is not there, or not for you: the two are not told apart."""
    return Refusal(refused(404, "Not Found"))


def moved(location: str) -> Answer:
    """It has another name now; `location` is its route by number."""
    body = {"message": "Moved Permanently", "url": location, "documentation_url": DOCUMENTATION}
    return Answer(status=301, body=body, headers={"Location": location})


def blocked(page: str, *, reason: str, created_at: str) -> Refusal:
    """GitHub itself has blocked the repository."""
    status = 451 if reason == "dmca" else 403
    notice = {"reason": reason, "created_at": created_at, "html_url": page}
    return Refusal(Answer(status=status, body={"message": "Repository access blocked", "block": notice}))


def denied(why: Denial, owner: str, base: str) -> Refusal:
    """The owner turns this credential away."""
    url = f"{base}/orgs/{owner}/sso?authorization_request=AAAA"
    words = {
        "sso": "Resource protected by organization SAML enforcement. You must grant your Personal Access token access "
        "to this organization.",
        "ip_allow_list": f"Although you appear to have the correct authorization credentials, the `{owner}` "
        "organization has an IP allow list enabled, and your IP address is not permitted to access this resource.",
        "classic_pat": f"`{owner}` forbids access via a personal access token (classic). Please use a GitHub App, "
        "OAuth App, or a personal access token with fine-grained permissions.",
        "pat_lifetime": f"The '{owner}' organization forbids access via a fine-grained personal access tokens if the "
        "token's lifetime is greater than 366 days.",
    }
    headers = {"X-GitHub-SSO": f"required; url={url}"} if why == "sso" else {}
    return Refusal(refused(403, words[why], headers=headers))


def primary_limit(who: str, *, anonymous: bool, status: int) -> Answer:
    """The window is used up."""
    text = f"API rate limit exceeded for {who}."
    if anonymous:
        text += " (But here's the good news: Authenticated requests get a higher rate limit.)"
    return refused(status, text)


def secondary_limit(*, retry_after_s: int | None, status: int) -> Answer:
    """Too much at once, even within the window."""
    headers = {} if retry_after_s is None else {"Retry-After": str(retry_after_s)}
    text = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return refused(status, text, headers=headers)


UNICORN = (
    "<!DOCTYPE html>\n<html><head><title>Unicorn! &middot; GitHub</title></head>\n<body><h1>This page is taking too "
    "long to load.</h1>\n<p>Sorry about that. Please try refreshing and contact us if the problem persists.</p></body>"
    "</html>\n"
)


def broken(status: int) -> Answer:
    """GitHub failed: 503 is a page for people, the others are JSON."""
    if status == 503:
        return Answer(status=503, body=UNICORN, headers={"Content-Type": "text/html; charset=utf-8"})
    return Answer(status=status, body={"message": "Server Error"})
