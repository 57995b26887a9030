"""Settings of a schedule."""

from __future__ import annotations

from msgspec import Struct

from ghcrawl.schedule.strategies import EXPONENT, Strategy, strategy_of
from ghcrawl.values.source import StrategyName
from ghcrawl.values.type_names import TypeName


class Options(Struct, frozen=True, kw_only=True):
    """Settings of the schedule; they may change at any moment.

    discover: types of which every document that is saved becomes a source, while there are fewer than discover_limit.
    """

    budget_share: float = 0.5
    calls_per_hour: float = 0.0
    exponent: float = EXPONENT
    max_age_d: float = 30.0
    strategy: StrategyName = "power"
    discover: frozenset[TypeName] = frozenset()
    discover_limit: int = 0

    @property
    def chosen(self) -> Strategy:
        """The strategy."""
        return strategy_of(self.strategy, self.exponent)
