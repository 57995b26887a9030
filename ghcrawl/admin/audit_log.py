"""What the log keeps of an act: what it was about and how much came of it, and nothing that may be a secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel, RootModel

MAX_NAMED: Final = 10
"""Of a list. How long it was is always said."""
MAX_TEXT: Final = 200


def asked_for(path: Mapping[str, str], query: BaseModel, body: object) -> dict[str, Any]:
    """The values of the path, and what was said of fields that have a name.

    A body that its route reads for itself has none: tokens are put there.
    """
    said = {**path, **_said(query)}
    if isinstance(body, BaseModel) and not isinstance(body, RootModel):
        said |= _said(body)
    return {name: short for name, value in said.items() for name, short in _shortened(name, value).items()}


def came_to(value: object) -> dict[str, int]:
    """The numbers of an answer; of a list, how long it is."""
    if isinstance(value, list):
        return {"count": len(value)}
    fields = dict(value) if isinstance(value, BaseModel) else {}
    sizes = {name: len(found) for name, found in fields.items() if isinstance(found, list)}
    return sizes | {name: found for name, found in fields.items() if isinstance(found, int)}


def _said(shape: BaseModel) -> dict[str, Any]:
    return shape.model_dump(mode="json", exclude_unset=True)


def _shortened(name: str, value: Any) -> dict[str, Any]:
    """The field, short enough for a line; things in a list are only counted."""
    if not isinstance(value, list):
        return {name: value[:MAX_TEXT] if isinstance(value, str) else value}
    named = [one[:MAX_TEXT] for one in value if isinstance(one, str)][:MAX_NAMED]
    return ({name: named} if named else {}) | ({f"{name}_count": len(value)} if len(value) != len(named) else {})
