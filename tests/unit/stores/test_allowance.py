"""Time for work in pieces: how many pieces, and how large they are."""

from __future__ import annotations

import pytest

from stores.deadletters import FEW_AT_ONCE, MOST_AT_ONCE, Allowance


class Watch:
    """Goes when told."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def sizes(seconds: float, took: list[float], at_once: int = 0) -> tuple[list[int], list[bool]]:
    """How large each piece is, and whether another is begun, where they take so long."""
    watch = Watch()
    allowance = Allowance(seconds, at_once=at_once, monotonic=watch)
    found, going = [allowance.at_once], []
    for each in took:
        watch.now += each
        going.append(allowance.has_another())
        found.append(allowance.at_once)
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
def test_a_piece_is_begun_while_it_would_end_in_time_if_it_took_as_long_as_the_longest(
    took: list[float], going: list[bool]
):
    assert sizes(12, took)[1] == going


def test_pieces_grow_while_they_are_quick_up_to_a_bound_and_shrink_when_they_are_slow():
    few = FEW_AT_ONCE
    assert sizes(12, [1, 1, 1])[0] == [few, 2 * few, MOST_AT_ONCE, MOST_AT_ONCE]
    assert sizes(12, [3, 5, 5])[0] == [few, few, few // 2, few // 4]
    assert sizes(12, [5] * 10)[0][-1] == 1


def test_what_was_said_stays():
    assert sizes(12, [0.1, 11], at_once=7)[0] == [7, 7, 7]


def test_without_a_bound_there_is_always_time():
    assert sizes(float("inf"), [1e6, 1e6]) == ([FEW_AT_ONCE, 2 * FEW_AT_ONCE, MOST_AT_ONCE], [True, True])
