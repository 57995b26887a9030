"""Hypothesis strategies for what JSON can hold.

`st.text()` computes which characters UTF-8 can encode, which takes seconds in every new clone.
"""

from __future__ import annotations

from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
"""Without surrogates, which no UTF-8 holds."""
ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=8)
"""With them: JSON can escape one."""


def json_values(text: st.SearchStrategy[str] = TEXT) -> st.SearchStrategy[object]:
    """Any value, a few levels deep, whose text is of `text`."""
    return st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | text,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
        max_leaves=8,
    )


JSON = json_values()
