"""Changed copies of frozen values.

Values are `msgspec.Struct`s, made in a twentieth of the time that a frozen dataclass takes: a request makes dozens.
Those that hide a field from `repr` or from comparisons are dataclasses, because a Struct cannot.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

if TYPE_CHECKING:
    from dataclasses import replace  # checks the names and types of the changes, of Structs too
else:

    def replace(value: Any, /, **changes: Any) -> Any:
        """A copy of a Struct or dataclass with these fields changed. Raises TypeError for a field that it lacks."""
        copied = structs.replace if isinstance(value, Struct) else dataclasses.replace
        return copied(value, **changes)


__all__ = ["replace"]
