"""Files that are no YAML are reported: where, and what was expected."""

from __future__ import annotations

import pytest

from replaykit.tasks.yaml_text import parsed_yaml, words_of


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1", "line 1, column 6: expected ',' or ']', but got '<stream end>'"),
        ("a: 1\nb: c: d", "line 2, column 5: mapping values are not allowed here"),
        ("a: 1\n\x00", "line 2: a character that YAML has not, #x0000"),
        ("a: !!python/name:os.system x", "could not determine a constructor for the tag"),
        ("\ta: 1", "line 1, column 1: found character '\\t' that cannot start any token"),
    ],
)
def test_a_fault_is_reported_with_its_place(text: str, said: str) -> None:
    with pytest.raises(ValueError) as caught:  # the words are compared below
        parsed_yaml(text)
    assert said in words_of(caught.value)
    assert "<unicode string>" not in str(caught.value)


def test_bytes_that_are_no_text_are_reported() -> None:
    with pytest.raises(UnicodeDecodeError) as caught:
        b"id: \xff".decode()
    assert words_of(caught.value) == "it is not UTF-8: byte 0xff at 4"
