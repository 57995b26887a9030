"""An example for an estimate: other repositories are taken to be like it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from ghcrawl.platforms.survey import Reply
from ghcrawl.values.jsontext import Json
from processors.github.listing import PER_PAGE

SIZE: Final = "size"
LARGER: Final = 4.0
"""A larger size counts as at most this many times the commits: the files may be large."""
_ALIKE: Final = {"issue_comments": "issues", "issue_events": "issues", "review_comments": "pull_requests"} | {
    **dict.fromkeys(("contributors", "workflow_runs", "commit_comments", "deployments"), "commits"),
    "commits": SIZE,
}
"""Lists without a count → the list that they are proportional to."""
Counts = Mapping[str, int]
"""Type of a list → how many elements it has in one repository."""


class Example(Struct, frozen=True, kw_only=True):
    """A repository that was looked at closely. items: of the first page, by type of list."""

    items: Mapping[str, Sequence[Json]] = {}
    counts: Counts = {}

    def reply(self, type: str, counts: Counts) -> Reply:
        """About what another repository would say."""
        items, total = self.items.get(type) or [{}], self.total(type, counts)
        shown = [items[place % len(items)] for place in range(min(total, PER_PAGE))]
        return Reply(body=shown, link={"last": f"?page={-(-total // PER_PAGE)}"} if total > PER_PAGE else {})

    def total(self, type: str, counts: Counts) -> int:
        """About how many elements a list has in a repository of these counts."""
        if type in counts:
            return counts[type]
        like = _ALIKE.get(type)
        share = self.total(like, counts) / max(1, self.counts.get(like, 0)) if like else 1.0
        return round((min(share, LARGER) if like == SIZE else share) * self.counts.get(type, 0))
