"""Scenario names that say what of a scenario is wanted: only some types, all but some, what changed since a date.

The wish is written into the scenario's name (`default__only__issue__user__since__20260101`), so that every process
that finds a request, however much later, knows what was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from ghcrawl.values.errors import SpecError
from ghcrawl.values.frozen import replace
from ghcrawl.values.policy import parse

ONLY: Final = "only"
EXCEPT: Final = "except"
SINCE: Final = "since"


def name_of(base: str, *, only: Sequence[str] = (), without: Sequence[str] = (), since: str = "") -> str:
    """The name of scenario `base` (empty: default) narrowed like that. since: a date, `2026-01-31`."""
    words = [base or "default"]
    for word, types in ((ONLY, only), (EXCEPT, without), (SINCE, [since.replace("-", "")] if since else [])):
        words += [word, *sorted(types)] if types else []
    return "__".join(words) if len(words) > 1 else base


def narrow(
    spec: str, *, scenario: str = "", only: Sequence[str] = (), without: Sequence[str] = (), since: str = ""
) -> str:
    """Policy `spec` in that scenario, narrowed like that. Raises SpecError for a policy or a date that is none."""
    policy = parse(spec)
    if since:
        try:
            since = date.fromisoformat(since).isoformat()
        except ValueError:
            raise SpecError(f"{since!r} is not a date; write 2026-01-31") from None
    return replace(policy, scenario=name_of(scenario or policy.scenario, only=only, without=without, since=since)).spec
