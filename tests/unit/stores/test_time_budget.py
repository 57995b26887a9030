"""Time for work in pieces: how many pieces, and how large they are."""

from __future__ import annotations

import pytest

from stores.deadletters import FEW_AT_ONCE, HELD_BYTES, MOST_AT_ONCE, TimeBudget
from tests.support.builders import a_deadletter, a_payload, a_request


class Watch:
    """Goes when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def sizes(seconds: float, took: list[float], at_once: int = 0) -> tuple[list[int], list[bool]]:
    """How large each piece is, and whether another is begun, where they take so long."""
    watch = Watch()
    time_budget = TimeBudget(seconds, at_once=at_once, monotonic=watch)
    found, going = [time_budget.at_once], []
    for each in took:
        watch.now += each
        going.append(time_budget.has_another())
        found.append(time_budget.at_once)
    return found, going


@pytest.mark.parametrize(
    ("took", "going"),
    [
        ([3], [True]),
        ([4, 4], [True, True]),
        ([4, 5], [True, False]),
        ([1, 1, 5, 1], [True, True, True, False]),
        ([13], [False]),
    ],
)
def test_a_piece_is_begun_while_it_would_end_in_time_if_it_were_as_slow_as_the_slowest(
    took: list[float], going: list[bool]
):
    assert sizes(12, took, at_once=8)[1] == going


def test_a_larger_piece_is_expected_to_take_longer():
    few = FEW_AT_ONCE
    assert sizes(12, [1.5, 1.5, 5]) == ([few, 2 * few, 4 * few, 2 * few], [True, True, True])
    assert sizes(12, [1.5, 1.5, 6.5])[1][-1] is False


def test_pieces_grow_while_they_are_quick_up_to_a_bound_and_shrink_when_they_are_slow():
    few = FEW_AT_ONCE
    assert sizes(12, [1] * 5)[0] == [few, 2 * few, 4 * few, 8 * few, MOST_AT_ONCE, MOST_AT_ONCE]
    assert sizes(12, [3, 5, 5])[0] == [few, few, few // 2, few // 4]
    assert sizes(12, [5] * 10)[0][-1] == 1


def test_what_was_said_stays():
    assert sizes(12, [0.1, 11], at_once=7)[0] == [7, 7, 7]


def test_without_a_bound_there_is_always_time():
    assert sizes(float("inf"), [1e6, 1e6]) == ([FEW_AT_ONCE, 2 * FEW_AT_ONCE, 4 * FEW_AT_ONCE], [True, True])


@pytest.mark.parametrize(("size", "at_once"), [(10, MOST_AT_ONCE), (HELD_BYTES // 50, 49), (HELD_BYTES, 1)])
def test_a_piece_holds_no_more_than_fits_into_memory(size: int, at_once: int):
    payload = a_payload({"text": "x" * size})
    piece = [a_deadletter(1, request=a_request(1, payload=payload))] * 20
    time_budget = TimeBudget()
    for _ in range(5):
        assert time_budget.has_another()
    time_budget.weigh(piece)
    assert time_budget.has_another()
    assert time_budget.at_once == at_once
    fixed = TimeBudget(at_once=7)
    fixed.weigh(piece)
    assert fixed.at_once == 7
