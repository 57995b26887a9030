"""What each strategy finds at equal budget, and how soon; the seed's tables beside our own results.

    python -m benchmarks freshness [--seeds 1 2 3] [--budgets 27 150] [--users 10000] [--plot freshness.png]
    python -m benchmarks freshness --events FILE.npz --budget 150 --json

Needs numpy and matplotlib, which the product does not. The first form plays on synthetic worlds that were fitted to
the figures of the seed (CUVIM, arXiv 1312.2094) and takes a quarter of an hour on two cores. The second plays on any
events: arrays `source` (integers) and `time` (days as floats; negative: history that a first call can still see).
Every source is read once at time 0, charged; then hourly ticks spend `--budget` calls an hour on pages of 100 items.

`power` is the scheduler as it ships: `ghcrawl.schedule.tick` over candidates in order of due. The other strategies go
through the same code. `power_exact` values all sources at every tick, which is what the ticker is measured by.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, get_args

from msgspec import Struct

from benchmarks.cuvim import division, paper
from benchmarks.cuvim.events import Events, read_events
from benchmarks.cuvim.playing import MAX_AGE_D, PAGE, Player, Score
from benchmarks.cuvim.world import SCORED_D, USERS, world
from ghcrawl.schedule.strategies import EXPONENT, strategy_of
from ghcrawl.values.source import StrategyName

NAMES: Final[tuple[str, ...]] = get_args(StrategyName)
EXACT: Final = "power_exact"
HISTORY_D: Final = 30


class Match(Struct, frozen=True, kw_only=True):
    """One strategy against one world. events: of a file; else the world of this seed."""

    name: str
    budget: float
    seed: int = 0
    users: int = USERS
    days: int = SCORED_D
    events: Path | None = None
    horizon: float = 0.0
    exponent: float = EXPONENT
    max_age_d: float = MAX_AGE_D


def played(match: Match) -> Score:
    """The score of one match; in a process of its own."""
    events = _events(match)
    name: Any = "power" if match.name == EXACT else match.name
    player = Player(
        events=events,
        strategy=strategy_of(name, match.exponent),
        budget=lambda _: match.budget,
        exact=match.name == EXACT,
        page=PAGE,
        max_age_d=match.max_age_d,
    )
    return player.play()


def _events(match: Match) -> Events:
    if match.events is None:
        return _of_world(match.seed, match.users, match.days)
    events = read_events(match.events)
    return Events(events.times, events.starts, match.horizon) if match.horizon else events


@lru_cache(maxsize=1)
def _of_world(seed: int, users: int, days: int) -> Events:
    """A process plays the matches of one world one after the other."""
    return world(seed, users=users, scored=days).events


def compared(matches: Sequence[Match], jobs: int) -> list[Score]:
    """The scores of all matches, in their order."""
    if jobs == 1:
        return [played(match) for match in matches]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(played, matches))


def on_events(asked: argparse.Namespace) -> dict[str, Any]:
    """Every strategy on the events of a file."""
    events = read_events(asked.events)
    matches = [
        Match(
            name=name,
            budget=asked.budget,
            events=asked.events,
            horizon=asked.days or 0.0,
            exponent=asked.exponent,
            max_age_d=asked.max_age,
        )
        for name in asked.strategies
    ]
    scores = compared(matches, asked.jobs)
    return {
        "events": str(asked.events),
        "sources": events.sources,
        "items": events.scored,
        "budget": asked.budget,
        "shipped": "power",
        "strategies": {match.name: score.row() for match, score in zip(matches, scores, strict=True)},
    }


def on_worlds(asked: argparse.Namespace) -> dict[str, Any]:
    """Every strategy on every synthetic world at every budget: the mean of the seeds."""
    days = asked.days or SCORED_D
    matches = [
        Match(name=name, budget=budget, seed=seed, users=asked.users, days=days)
        for budget in sorted(asked.budgets, reverse=True)  # the longest first, so that no CPU idles at the end
        for seed in asked.seeds
        for name in (EXACT, *NAMES)
        if name in asked.strategies
    ]
    rows = zip(matches, compared(matches, asked.jobs), strict=True)
    found: dict[str, dict[str, list[Score]]] = {}
    for match, score in rows:
        found.setdefault(f"{match.budget:g}", {}).setdefault(match.name, []).append(score)
    return {budget: {name: _mean(scores) for name, scores in row.items()} for budget, row in found.items()}


def _mean(scores: Sequence[Score]) -> dict[str, float]:
    rows = [each.row() for each in scores]
    return {name: round(sum(row[name] for row in rows) / len(rows), 4) for name in rows[0]}


def seed_tables(users: int, days: int, seeds: Sequence[int]) -> dict[str, Any]:
    """Tables 1 to 6 and section 6.1: what the paper prints, and what we get."""
    scale = users / USERS
    events = world(seeds[0], users=users, scored=days).events
    counts = paper.hourly(events, HISTORY_D)[:, HISTORY_D * 24 :]
    ascending = paper.history_rates(events).argsort(kind="stable").tolist()
    many = [round(number * scale) for number in division.HALVES]
    sixteen = [round(number * scale) for number in division.SIXTEENTHS]
    machines = list(division.CENTRAL)
    return {
        "total": {"paper": paper.TOTAL, "ours": events.scored},
        "table1_hash": {
            weight: {
                "paper": row,
                "h2": paper.hash_model(counts, weight, fixed=True),
                "h1": paper.hash_model(counts, weight, fixed=False),
            }
            for weight, row in paper.HASH.items()
        },
        "table2_round_robin": {
            times: {"paper": row, "ours": paper.round_robin(events, times)} for times, row in paper.ROUND_ROBIN.items()
        },
        "once": {
            "round robin": {"paper": paper.ONCE["round robin"], "ours": paper.once(events, range(users))},
            "organ pipe": {
                "paper": paper.ONCE["organ pipe"],
                "ours": paper.once(events, paper.organ_pipe(ascending)),
            },
            "ascending": {"paper": None, "ours": paper.once(events, ascending)},
        },
        "table3_two_parts": _beside(division.HALVES, division.table(many, 2)),
        "table4_sixteen_parts": _beside(division.SIXTEENTHS, division.table(sixteen, 16)),
        "table5_6_machines": {
            count: {"central": division.CENTRAL[count], "distributed": division.DISTRIBUTED[count], "ours": row}
            for count, row in division.architectures(machines, seeds).items()
        },
    }


def _beside(printed: dict[int, tuple[float, float]], ours: dict[int, dict[str, float]]) -> dict[int, dict[str, Any]]:
    return {
        users: {"paper": row, "ours": own} for (users, row), own in zip(printed.items(), ours.values(), strict=True)
    }


def main() -> None:
    """Print the comparison, as a table or as JSON; draw the plot."""
    asked = _arguments()
    if asked.events is not None:
        result = on_events(asked)
        budgets = {f"{asked.budget:g}": result["strategies"]}
    else:
        budgets = on_worlds(asked)
        result = {"strategies": budgets, "seed": seed_tables(asked.users, asked.days or SCORED_D, asked.seeds)}
    if asked.plot:
        from benchmarks.cuvim.plot import draw  # noqa: PLC0415  # matplotlib takes a second to load

        draw(budgets, asked.plot)
    if asked.json:
        print(json.dumps(result))
        return
    from benchmarks.cuvim.printing import strategies, tables  # noqa: PLC0415  # --json needs none of it

    print(strategies(budgets))
    if "seed" in result:
        print(tables(result["seed"]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks freshness", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    option = parser.add_argument
    option("--events", type=Path, help="NPZ file with arrays source and time; without it, synthetic worlds")
    option("--budget", type=float, default=150.0, help="calls an hour, with --events (default 150)")
    option("--budgets", type=float, nargs="+", default=[27.0, 150.0], help="calls an hour, on synthetic worlds")
    option("--seeds", type=int, nargs="+", default=[1, 2, 3], help="synthetic worlds to play on")
    option("--users", type=int, default=USERS, help="users of a synthetic world (default 10000)")
    option("--days", type=int, default=0, help="days that count; default 61, or up to the last event")
    option("--strategies", nargs="+", default=[*NAMES, EXACT], choices=[*NAMES, EXACT], help="default: all")
    option("--exponent", type=float, default=EXPONENT, help="of power (default 0.5)")
    option("--max-age", type=float, default=MAX_AGE_D, help="days after which a source is asked anyway (default 30)")
    option("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: one for each CPU)")
    option("--plot", type=Path, help="write a PNG plot to this file; on synthetic worlds by default freshness.png")
    option("--json", action="store_true", help="print one JSON object instead of tables")
    asked = parser.parse_args()
    if asked.budget < 0 or min(asked.budgets) < 0 or asked.jobs < 1 or asked.users < 1 or asked.days < 0:
        parser.error("budgets and days must not be negative, users and jobs at least 1")
    if asked.events is None and asked.plot is None:
        asked.plot = Path("freshness.png")
    return asked


if __name__ == "__main__":
    main()
