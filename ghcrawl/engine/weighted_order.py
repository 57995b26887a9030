"""The order in which one pop tries the queues."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from math import log

from ghcrawl.values.lanes import QueueName


def draw(weights: Mapping[QueueName, int], random: Callable[[], float] = random.random) -> Sequence[QueueName]:
    """Every queue with a weight, in a random order in which the heavy ones tend to come first.

    Whichever queues are empty, the first of the others comes up with probability proportional to its weight among
    them. So a pop that takes the first queue that has something shares itself out by weight, and starves none.

    random: a number in [0, 1) at each call.
    Source: Efraimidis and Spirakis, "Weighted random sampling with a reservoir" (2006): the smallest of independent
    exponential times falls to each with probability proportional to its rate.
    """
    times = {name: -log(1.0 - random()) / weight for name, weight in weights.items() if weight > 0}
    return sorted(times, key=times.__getitem__)
