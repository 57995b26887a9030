"""A Scrapy spider of GitHub's API, written the obvious way: lists by the hundred, links followed, elements yielded."""

import os
from collections.abc import Iterator
from typing import Any

import scrapy

LISTS = {
    "labels": "label",
    "milestones?state=all": "milestone",
    "releases": "release",
    "branches": "branch",
    "tags": "tag",
    "commits": "commit",
    "comments": "commit_comment",
    "issues?state=all": "issue",
    "issues/comments": "issue_comment",
    "issues/events": "issue_event",
    "pulls?state=all": "pull_request",
    "pulls/comments": "review_comment",
}


class GitHub(scrapy.Spider):  # type: ignore[misc]  # typed where it is installed
    """Everything below one organisation."""

    name = "github"

    async def start(self) -> Any:
        """The organisation, its people, teams and repositories."""
        org = f"{os.environ['PEER_API_URL']}/orgs/{os.environ['PEER_ORG']}"
        yield self.page(org, "org")
        for part, kind in (("members", "user"), ("teams", "team"), ("repos", "repo")):
            yield self.page(f"{org}/{part}", kind)

    def page(self, url: str, kind: str) -> scrapy.Request:
        """A list, or one thing, by the hundred."""
        url = url if "per_page" in url else f"{url}{'&' if '?' in url else '?'}per_page=100"
        headers = {"Authorization": f"Bearer {os.environ['PEER_TOKEN']}"}
        return scrapy.Request(url, headers=headers, cb_kwargs={"kind": kind})

    def parse(self, response: Any, kind: str) -> Iterator[Any]:
        """What is there, what it leads to, and the next page."""
        found = response.json()
        for thing in found if isinstance(found, list) else [found]:
            yield {"kind": kind, **thing}
            if kind == "repo":
                for path, of in LISTS.items():
                    yield self.page(f"{thing['url']}/{path}", of)
            elif kind == "pull_request":
                yield self.page(f"{thing['url']}/reviews", "review")
            elif kind == "team":
                yield self.page(f"{thing['url']}/members", "user")
        for link in response.headers.get("Link", b"").decode().split(", "):
            if link.endswith('rel="next"'):
                yield self.page(link[1 : link.index(">")], kind)
