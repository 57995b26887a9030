"""Settings as values: what every section of them has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """A part of the settings. An unknown name is an error, so that typos are found."""

    model_config = ConfigDict(frozen=True, extra="forbid")
