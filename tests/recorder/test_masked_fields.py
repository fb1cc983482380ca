"""Values of masked fields on this side of the page; `tests/live/test_declared_passwords.py` has the other one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.page.masked_fields import MaskedFields, decrypted

KEY = tuple(range(1, 9))


def opened(shown: str, digits: str = "0" * 32) -> str:
    return MaskedFields(lambda value: shown).opened(f"a ⟦field:{digits}⟧ b")


@given(st.integers(2, 129).flatmap(lambda blocks: st.binary(min_size=8 * blocks, max_size=8 * blocks)))
def test_a_mark_that_another_key_made_is_no_value(data: bytes) -> None:
    assert decrypted(data.hex(), KEY) is None
    assert opened("shown", data.hex()) == "a ⟦masked⟧ b"


@pytest.mark.parametrize(
    "text", ["⟦field:⟧", "⟦field:00⟧", f"⟦field:{'g' * 32}⟧", "⟦field:" + "0" * 33 + "⟧", "x"]
)
def test_other_texts_stay(text: str) -> None:
    assert MaskedFields().opened(text) == text


def test_every_recording_has_its_own_key() -> None:
    assert MaskedFields().key != MaskedFields().key
    assert all(0 <= word < 2**32 for word in MaskedFields().key) and len(MaskedFields().key) == 8
