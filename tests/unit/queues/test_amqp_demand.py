from __future__ import annotations

from contextlib import ExitStack

from queues.amqp.prefetch import Prefetch

CALM_S = 60.0


def popping(demand: Prefetch, number: int, *, in_hand: int = 0) -> None:
    """So many pops at once."""
    with ExitStack() as stack:
        for _ in range(number):
            stack.enter_context(demand.popping(in_hand))


def test_what_it_was_told_at_first_holds_while_nobody_pops() -> None:
    demand = Prefetch(20, CALM_S)
    assert [demand.reckon(now) for now in (0.0, 59.0, 61.0, 1000.0)] == [20, 20, 20, 20]


def test_pops_and_what_is_in_hand_count_together_and_at_once() -> None:
    demand = Prefetch(20, CALM_S)
    popping(demand, 30)
    assert demand.reckon(0.0) == 30
    popping(demand, 1, in_hand=49)
    assert demand.reckon(1.0) == 50


def test_fewer_count_once_there_were_no_more_of_them_for_long() -> None:
    demand = Prefetch(20, CALM_S)
    popping(demand, 20)
    demand.reckon(0.0)
    popping(demand, 5)
    assert demand.reckon(60.0) == 20, "there were twenty within this time"
    popping(demand, 5)
    assert demand.reckon(119.0) == 20
    assert demand.reckon(120.0) == 5


def test_hardly_fewer_are_not_worth_it() -> None:
    demand = Prefetch(20, CALM_S)
    demand.reckon(0.0)
    popping(demand, 16)
    assert demand.reckon(60.0) == 20
