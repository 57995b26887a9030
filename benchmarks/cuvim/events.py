"""Events of many sources, and what one call sees of them."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from msgspec import Struct

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]


class Events(Struct, frozen=True):
    """times: days, sorted within each source; source i has times[starts[i]:starts[i + 1]]. horizon: days that count."""

    times: Floats
    starts: Ints
    horizon: float

    @property
    def sources(self) -> int:
        """How many there are, the silent included."""
        return len(self.starts) - 1

    @property
    def scored(self) -> int:
        """Items from time 0 to the horizon: those that are to be found."""
        return int(((self.times >= 0) & (self.times < self.horizon)).sum())

    def of(self, source: int) -> Floats:
        """The times of one source, sorted."""
        return self.times[self.starts[source] : self.starts[source + 1]]


def events_of(source: npt.ArrayLike, time: npt.ArrayLike, *, sources: int = 0, horizon: float = 0.0) -> Events:
    """Events in any order. sources: how many there are at least. horizon: days; 0: up to the last event, rounded up."""
    owners, times = np.asarray(source, dtype=np.int64), np.asarray(time, dtype=np.float64)
    if len(owners) != len(times):
        raise SystemExit(f"{len(owners)} sources and {len(times)} times: the two arrays must have the same length")
    if len(owners) and (owners.min() < 0 or not np.isfinite(times).all()):
        raise SystemExit("sources must be integers from 0, and times finite numbers of days")
    if not sources:  # numbers may have gaps: only those that occur are sources
        owners = np.unique(owners, return_inverse=True)[1].astype(np.int64)
        sources = int(owners.max()) + 1 if len(owners) else 0
    order = np.lexsort((times, owners))
    owners, times = owners[order], times[order]
    starts = np.searchsorted(owners, np.arange(sources + 1)).astype(np.int64)
    if not horizon:
        horizon = float(ceil(times.max())) if len(times) and times.max() > 0 else 1.0
    return Events(times, starts, horizon)


def read_events(path: Path) -> Events:
    """Events of an NPZ file with arrays `source` (integers) and `time` (days; negative: history)."""
    with np.load(path) as file:
        missing = {"source", "time"} - set(file.files)
        if missing:
            raise SystemExit(f"{path} has no array {' and no array '.join(sorted(missing))}")
        return events_of(file["source"], file["time"])
