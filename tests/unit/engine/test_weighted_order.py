from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.engine.weighted_order import draw
from ghcrawl.values.lanes import QUEUES, QueueName
from ghcrawl.values.tuning import DEFAULT_WEIGHTS

weightings = st.dictionaries(st.sampled_from(QUEUES), st.integers(-2, 1000))


@given(weightings, st.randoms(use_true_random=False))
def test_every_queue_with_a_weight_is_in_the_order_once(weights: dict[QueueName, int], source: random.Random) -> None:
    order = draw(weights, source.random)
    assert sorted(order) == sorted(name for name, weight in weights.items() if weight > 0)


@given(weightings, st.sampled_from(QUEUES))
def test_no_queue_with_a_weight_starves(weights: dict[QueueName, int], name: QueueName) -> None:
    """Even the lightest comes first when the dice fall for it."""
    weights[name] = 1
    dice = {other: 0.0 if other == name else 1.0 - 2**-53 for other in weights if weights[other] > 0}
    throws = iter(dice.values())
    assert draw(weights, lambda: next(throws))[0] == name


@pytest.mark.parametrize("empty", [(), ("event",), ("event", "normal"), ("immediate", "soon", "later")])
def test_a_pop_is_shared_out_by_weight_among_the_queues_that_have_something(empty: tuple[QueueName, ...]) -> None:
    source, rounds = random.Random(7), 20_000
    taken = Counter(
        next(name for name in draw(DEFAULT_WEIGHTS, source.random) if name not in empty) for _ in range(rounds)
    )
    full = {name: weight for name, weight in DEFAULT_WEIGHTS.items() if name not in empty}
    for name, weight in full.items():
        assert taken[name] / rounds == pytest.approx(weight / sum(full.values()), abs=0.015)


@pytest.mark.parametrize("number", [0.0, 1.0 - 2**-53])
def test_the_ends_of_the_dice_are_fine(number: float) -> None:
    assert len(draw(DEFAULT_WEIGHTS, lambda: number)) == 5


def test_no_weights_are_no_queues() -> None:
    assert list(draw({})) == []
