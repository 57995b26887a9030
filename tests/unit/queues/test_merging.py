from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ghcrawl.values.lanes import QUEUES
from queues.merging import Copy, Merged, merge
from tests.support.builders import at

copies = st.builds(
    Copy,
    queue=st.sampled_from(QUEUES),
    asked_at=st.none() | st.integers(0, 3).map(at),
    not_before=st.none() | st.integers(0, 3).map(at),
)


@pytest.mark.parametrize(
    ("waiting", "pushed", "merged"),
    [
        (Copy("normal", at(1), None), Copy("normal", at(1), None), None),
        (Copy("normal", at(1), None), Copy("later", at(0), None), None),
        (Copy("normal", None, None), Copy("normal", None, None), None),
        (Copy("normal", None, None), Copy("normal", at(9), None), None),
        (Copy("normal", at(1), at(60)), Copy("normal", at(1), None), None),
        (Copy("normal", at(1), None), Copy("normal", at(2), None), Merged("normal", None, replaced=True)),
        (Copy("normal", at(1), None), Copy("normal", None, None), Merged("normal", None, replaced=True)),
        (Copy("later", at(1), None), Copy("event", at(1), None), Merged("event", None, replaced=False)),
        (Copy("later", at(2), None), Copy("event", at(1), None), Merged("event", None, replaced=False)),
        (Copy("event", at(1), None), Copy("later", at(2), None), Merged("event", None, replaced=True)),
        (Copy("later", at(1), at(60)), Copy("soon", at(1), None), Merged("soon", None, replaced=False)),
        (Copy("later", at(1), at(60)), Copy("soon", at(1), at(30)), Merged("soon", at(30), replaced=False)),
        (Copy("later", at(1), at(30)), Copy("soon", at(1), at(60)), Merged("soon", at(30), replaced=False)),
        (Copy("normal", at(1), None), Copy("normal", at(2), at(60)), Merged("normal", None, replaced=True)),
    ],
)
def test_the_later_and_more_urgent_copy_wins(waiting: Copy, pushed: Copy, merged: Merged | None) -> None:
    assert merge(waiting, pushed) == merged


def after(waiting: Copy, pushed: Copy) -> Copy:
    merged = merge(waiting, pushed)
    if merged is None:
        return waiting
    return Copy(merged.queue, pushed.asked_at if merged.replaced else waiting.asked_at, merged.not_before)


@given(copies, copies)
def test_the_same_push_again_changes_nothing_more(waiting: Copy, pushed: Copy) -> None:
    once = after(waiting, pushed)
    assert after(once, pushed) == once


@given(copies, copies, copies)
def test_of_many_pushes_the_order_decides_neither_queue_nor_deadline(one: Copy, two: Copy, three: Copy) -> None:
    ends = {
        (end.queue, end.asked_at)
        for end in (
            after(after(one, two), three),
            after(after(one, three), two),
            after(after(three, two), one),
        )
    }
    assert len(ends) == 1
