"""Chance that is the same every time."""

from __future__ import annotations

from random import Random


def seeded(seed: int, *names: str) -> Random:
    """A generator of its own for every seed and name, so that one thing's luck is not another's."""
    return Random(":".join((str(seed), *names)))  # noqa: S311  # worlds are made up; nothing here is secret
