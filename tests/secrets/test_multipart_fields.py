"""Fields of multipart forms: the content of each part, also of one that is cut off."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.secrets.multipart_fields import hide_in_parts

NAMES = st.text(st.sampled_from("abckey-_ "), min_size=1, max_size=8)
CONTENTS = st.text(st.sampled_from('ab=;:"\r\n -'), max_size=20).filter(lambda text: "\n--" not in text)


def part(name: str, content: str, more: str = "") -> str:
    return f'--b\r\nContent-Disposition: form-data; name="{name}"{more}\r\n\r\n{content}\r\n'


@given(st.lists(st.tuples(NAMES, CONTENTS), max_size=5))
def test_each_field_is_seen(fields: list[tuple[str, str]]) -> None:
    seen: list[tuple[str, str]] = []

    def keep(name: str, value: str) -> str:
        seen.append((name, value))
        return value

    text = "".join(part(*field) for field in fields) + "--b--"
    assert hide_in_parts(text, keep) == text
    assert [(name, value.rstrip("\r\n")) for name, value in seen] == [
        (name, content.rstrip("\r\n")) for name, content in fields
    ]


@pytest.mark.parametrize("more", ["", "\r\nContent-Type: text/plain", '; filename="a.txt"\r\nX: 1'])
def test_the_content_of_a_field_is_hidden(more: str) -> None:
    text = part("key", "open sesame", more) + part("b", "2") + "--b--"
    shown = part("key", "X", more) + part("b", "2") + "--b--"
    assert hide_in_parts(text, lambda name, value: "X" if name == "key" else value) == shown


def test_the_content_of_a_part_that_is_cut_off_is_hidden() -> None:
    text = part("b", "2") + part("key", "open ses").rstrip()
    assert hide_in_parts(text, lambda name, value: "X" if name == "key" else value).endswith("\r\n\r\nX")


@pytest.mark.parametrize(
    "piece",
    [
        "content-disposition:",
        "content-disposition: name=a\n",
        "content-disposition: name=a\n\n",
        "name=",
        'name="',
    ],
)
def test_no_body_takes_long(piece: str) -> None:
    text = "content-disposition:" + piece * (2**18 // len(piece))
    began = time.process_time()
    hide_in_parts(text, lambda _, value: value)
    assert time.process_time() - began < 20
