from __future__ import annotations

from contextlib import ExitStack

from queues.amqp.prefetch import Loops

CALM_S = 60.0


def reckoned(demand: Loops, now: float) -> int:
    demand.reckon(now)
    return demand.number


def popping(demand: Loops, number: int, *, in_flight: int = 0) -> None:
    """That many pops at once."""
    with ExitStack() as stack:
        for _ in range(number):
            stack.enter_context(demand.popping(in_flight))


def test_what_it_was_told_at_first_holds_while_nobody_pops() -> None:
    demand = Loops(20, CALM_S)
    assert [reckoned(demand, now) for now in (0.0, 59.0, 61.0, 1000.0)] == [20, 20, 20, 20]


def test_pops_and_what_is_in_flight_count_together_and_at_once() -> None:
    demand = Loops(20, CALM_S)
    popping(demand, 30)
    assert reckoned(demand, 0.0) == 30
    popping(demand, 1, in_flight=49)
    assert reckoned(demand, 1.0) == 50


def test_fewer_count_once_there_were_no_more_of_them_for_long() -> None:
    demand = Loops(20, CALM_S)
    popping(demand, 20)
    demand.reckon(0.0)
    popping(demand, 5)
    assert reckoned(demand, 60.0) == 20, "there were twenty within this time"
    popping(demand, 5)
    assert reckoned(demand, 119.0) == 20
    assert reckoned(demand, 120.0) == 5


def test_hardly_fewer_are_not_worth_it() -> None:
    demand = Loops(20, CALM_S)
    demand.reckon(0.0)
    popping(demand, 16)
    assert reckoned(demand, 60.0) == 20
