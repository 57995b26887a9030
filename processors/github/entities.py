"""The things that there are. A module says at its end which it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from processors.github import (
    account_resources,
    activity,
    automation,
    commit,
    issue,
    org,
    planning,
    protection,
    pull_request,
    repo,
)
from processors.github.entity import Entity

ENTITIES: Final[tuple[Entity, ...]] = (
    *org.ENTITIES,
    *repo.ENTITIES,
    *issue.ENTITIES,
    *pull_request.ENTITIES,
    *commit.ENTITIES,
    *activity.ENTITIES,
    *automation.ENTITIES,
    *planning.ENTITIES,
    *protection.ENTITIES,
    *account_resources.ENTITIES,
)
BY_TYPE: Final[Mapping[str, Entity]] = {row.type: row for row in ENTITIES}
"""The same by their types."""
