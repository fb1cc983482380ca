"""Text and data inside HTML: nothing gets out, everything comes back."""

from __future__ import annotations

import base64
import json
import zlib
from html.parser import HTMLParser
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from replaykit.report.html.escaping import data_block, inert_json, packed, packed_json, text

NASTY = st.one_of(
    st.text(),
    st.sampled_from(
        ["</script>", "<!--", "]]>", "<script>", "\u2028", "</ScRiPt ", "&lt;", "'\"`", "\ud800"]
    ),
)
VALUES = st.recursive(
    NASTY | st.none() | st.integers() | st.booleans(),
    lambda inner: st.lists(inner) | st.dictionaries(NASTY, inner),
)


class Events(HTMLParser):
    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.seen: list[Any] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, attrs))

    def handle_comment(self, data: str) -> None:
        self.seen.append("comment")


@given(VALUES)
def test_json_comes_back_and_cannot_leave_its_element(value: Any) -> None:
    said = inert_json(value)
    assert not set("<>&") & set(said)
    assert json.loads(said) == value
    assert Events(data_block("x", "application/json", said)).seen == [
        ("script", [("type", "application/json"), ("id", "x")])
    ]


@given(NASTY, NASTY)
def test_text_stays_text_between_tags_and_in_attributes(inside: str, quoted: str) -> None:
    found = Events(f'<p title="{text(quoted)}">{text(inside)}</p>').seen
    assert [tag for tag, _ in found] == ["p"]
    assert [name for name, _ in found[0][1]] == ["title"]


@given(st.binary(), VALUES)
def test_packed_data_are_base64_and_come_back(data: bytes, value: Any) -> None:
    assert zlib.decompress(base64.b64decode(packed(data), validate=True)) == data
    assert json.loads(zlib.decompress(base64.b64decode(packed_json(value)))) == value


def test_integers_that_json_readers_round_come_back_whole() -> None:
    assert json.loads(inert_json({"n": 2**80})) == {"n": 2**80}
