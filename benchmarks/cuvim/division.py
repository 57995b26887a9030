"""Dividing users among machines: the seed's methods, two better ones, and one queue that makes all of them needless."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from benchmarks.cuvim.events import Floats
from benchmarks.cuvim.paper import organ_pipe

Parts = list[list[float]]

MEDIAN, SPREAD = 0.93, 1.82
"""Of the users' daily frequencies, lognormal: total and spread as in table 3."""
MOST = 700.0
"""Messages a day of a user at most; without it, the busiest user alone would be the difference by round-robin."""
DRAWS: Final = 20
"""Draws of users that tables 3 and 4 are the mean of; the paper's are single ones."""
HALVES: Final = {
    10_000: (1_995.68, 145.11),
    20_000: (3_413.03, 37.54),
    30_000: (5_828.93, 37.03),
    40_000: (5_421.92, 85.72),
    50_000: (728.22, 83.47),
    60_000: (8_205.22, 430.90),
    70_000: (5_651.32, 343.31),
}
"""Table 3: users → difference of two parts, at random and by round-robin."""
SIXTEENTHS: Final = {
    10_000: (2_557.92, 339.55),
    20_000: (3_096.89, 276.63),
    40_000: (3_264.10, 185.39),
    80_000: (6_585.32, 643.81),
}
"""Table 4: users → difference of sixteen parts, at random and by recursive round-robin."""
CENTRAL: Final = {1: (22_474, 0), 2: (42_495, 627), 4: (83_271, 4_079), 8: (172_473, 3_530), 16: (344_540, 5_008)}
DISTRIBUTED: Final = {1: (20_916, 0), 2: (43_886, 1_404), 4: (87_679, 3_575), 8: (177_534, 4_271), 16: (348_800, 5_269)}
"""Tables 5 and 6: machines, of 2,000 users each → messages and difference of the workloads."""
USERS_EACH: Final = 2_000
FULL_PAGES: Final = 0.1


def frequencies(random: np.random.Generator, users: int) -> Floats:
    """Daily frequencies of users."""
    return np.minimum(MEDIAN * np.exp(SPREAD * random.standard_normal(users)), MOST)


def at_random(loads: Sequence[float], parts: int, random: np.random.Generator) -> Parts:
    """As many to each, drawn by lot."""
    drawn = random.permutation(np.asarray(loads))
    return [drawn[part::parts].tolist() for part in range(parts)]


def round_robin(loads: Sequence[float], parts: int) -> Parts:
    """Position modulo machines in the organ pipe's order."""
    order = organ_pipe(sorted(loads))
    return [order[part::parts] for part in range(parts)]


def recursive(loads: Sequence[float], parts: int) -> Parts:
    """Halved by round-robin, and each half again: the same as round-robin, as each half of an organ pipe is one."""
    if parts == 1:
        return [list(loads)]
    return [piece for half in round_robin(loads, 2) for piece in recursive(half, parts // 2)]


def set_division(loads: Sequence[float], parts: int) -> Parts:
    """One machine after the other filled up to its share of what is left: repeated subset sum, greedily."""
    left, divided = sorted(loads, reverse=True), []
    for machines in range(parts, 1, -1):
        room, taken, rest = sum(left) / machines, list[float](), list[float]()
        for load in left:
            (taken if load <= room else rest).append(load)
            room -= load if load <= room else 0.0
        divided.append(taken)
        left = rest
    return [*divided, left]


def longest_first(loads: Sequence[float], parts: int) -> Parts:
    """LPT: sorted, each to the machine with the least load."""
    return one_queue(sorted(loads, reverse=True), parts)


def one_queue(loads: Sequence[float], parts: int) -> Parts:
    """Workers that take the next from one queue when they are done: unplanned."""
    heap, divided = [(0.0, part) for part in range(parts)], [list[float]() for _ in range(parts)]
    for load in loads:
        busy, part = heap[0]
        heapq.heapreplace(heap, (busy + load, part))
        divided[part].append(load)
    return divided


def shortest_list(loads: Sequence[float], parts: int, random: np.random.Generator) -> Parts:
    """The seed's central server: to the client with the fewest tasks, ties by lot."""
    divided = [list[float]() for _ in range(parts)]
    for begin in range(0, len(loads), parts):
        for part, load in zip(random.permutation(parts), loads[begin : begin + parts], strict=False):
            divided[int(part)].append(load)
    return divided


def difference(parts: Parts) -> float:
    """The largest load less the smallest."""
    sums = [sum(part) for part in parts]
    return max(sums) - min(sums)


def answers(random: np.random.Generator, users: int) -> Floats:
    """Messages that one crawl of each user returns: a full page of few, next to nothing of most."""
    full = random.random(users) < FULL_PAGES
    return np.where(full, 100.0, random.geometric(0.55, size=users) - 1.0)


def table(users: Sequence[int], parts: int) -> dict[int, dict[str, float]]:
    """Mean difference of each method's parts, by number of users."""
    rows = {}
    for count in users:
        found: dict[str, list[float]] = {}
        for seed in range(DRAWS):
            random = np.random.default_rng(seed)
            loads = frequencies(random, count).tolist()
            for name, method in _methods(random).items():
                found.setdefault(name, []).append(difference(method(loads, parts)))
        rows[count] = {name: float(np.mean(values)) for name, values in found.items()}
    return rows


def _methods(random: np.random.Generator) -> dict[str, Callable[[Sequence[float], int], Parts]]:
    return {
        "random": lambda loads, parts: at_random(loads, parts, random),
        "round_robin": round_robin,
        "recursive": recursive,
        "set": set_division,
        "lpt": longest_first,
        "one_queue": one_queue,
    }


def architectures(machines: Sequence[int], seeds: Sequence[int]) -> dict[int, dict[str, float]]:
    """Messages and differences of the central and the distributed architecture, and of workers on one queue."""
    rows = {}
    for count in machines:
        found: dict[str, list[float]] = {}
        for seed in seeds:
            random = np.random.default_rng(seed)
            loads = answers(random, USERS_EACH * count).tolist()
            own = [loads[part * USERS_EACH : (part + 1) * USERS_EACH] for part in range(count)]
            found.setdefault("total", []).append(sum(loads))
            found.setdefault("central", []).append(difference(shortest_list(loads, count, random)))
            found.setdefault("distributed", []).append(difference(own))
            found.setdefault("one_queue", []).append(difference(one_queue(loads, count)))
        rows[count] = {name: float(np.mean(values)) for name, values in found.items()}
    return rows
