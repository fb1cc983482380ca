"""Recorded text in a prompt: nothing in it can end its block."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from replaykit import mark_untrusted


def test_the_markers_follow_from_the_text_alone() -> None:
    assert mark_untrusted("a") == mark_untrusted("a") != mark_untrusted("b")
    assert mark_untrusted("a", "page").startswith("<<page ")


@given(st.text(), st.booleans())
def test_a_text_never_contains_its_end(text: str, forges: bool) -> None:
    if forges:  # the markers that the text would have had
        text += mark_untrusted(text)
    lines = mark_untrusted(text)
    found = re.fullmatch(r"<<recorded ([0-9a-f]{12})>>\n(.*)\n<<end \1>>", lines, flags=re.S)
    assert found is not None
    assert found[2] == text and found[1] not in text
