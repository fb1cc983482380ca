"""JSON is read to one depth, whatever Python reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from replaykit import decoders
from replaykit.bundle.story_lines import decode_line, decode_story, encode_line
from replaykit.decoders import (
    NEST_MAX,
    STORED_NEST_MAX,
    check_nesting,
    check_nesting_of_all,
    decode,
    decode_as_python,
    decode_plain,
    decode_within,
    is_nested_deeper,
)
from replaykit.errors import EventInvalid, TaskError
from replaykit.grading.values.bodies import json_value
from replaykit.tasks.suite import load_suite
from replaykit.trajectory.action import ToolCall
from replaykit.trajectory.step import Step

VALUES = st.recursive(
    st.none() | st.integers() | st.text('[]{}"\\ aé/', max_size=6),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.text('[]{}"\\a'), part, max_size=3),
    max_leaves=30,
)


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


def levels_of(value: Any) -> int:
    parts = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if parts is None else 1 + max(map(levels_of, parts), default=0)


def is_refused(look: Callable[[], Any]) -> bool:
    try:
        look()
    except RecursionError:
        return True
    return False


@given(VALUES, st.integers(0, 6), st.sampled_from([1, 3, 1 << 20]), st.booleans())
def test_the_depth_of_a_text_is_that_of_its_value(value: Any, levels: int, part: int, is_ascii: bool) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoders, "_PART", part)
        expected = levels_of(value) > levels
        assert is_refused(lambda: check_nesting(text, levels)) is expected
        assert is_refused(lambda: check_nesting(text.encode(), levels)) is expected
        assert is_nested_deeper(value, levels) is expected


CHAINS = st.lists(st.sampled_from(["[{}]", '{{"":{}}}']), max_size=9)


@given(VALUES, CHAINS, st.integers(0, 8), st.booleans())
@example(None, ["[{}]"] * 7, 6, True)
@example({}, ['{{"":{}}}'] * 6, 6, True)
def test_the_shortest_text_of_a_depth_is_counted(
    value: Any, around: list[str], levels: int, is_short: bool
) -> None:
    text = json.dumps(value, separators=(",", ":") if is_short else None)
    for form in around:
        text = form.format(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoders, "NEST_MAX", levels)
        refused = is_refused(lambda: check_nesting_of_all([b"{}", text.encode()]))
    assert refused is (levels_of(value) + len(around) > levels or levels == 0)


@given(VALUES, st.text('[]{}" a'), st.integers(0, 6))
def test_what_follows_a_value_does_not_count(value: Any, rest: str, levels: int) -> None:
    text = json.dumps({"a": value})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoders, "NEST_MAX", levels)
        refused = is_refused(lambda: decode_within(f"so: {text}{rest}", 4, json.JSONDecoder()))
    assert refused is (levels_of({"a": value}) > levels)


@given(st.binary())
def test_any_bytes_can_be_looked_at(data: bytes) -> None:
    check_nesting(data)


@pytest.mark.parametrize(
    "read",
    [
        lambda text: decode(text, Any),
        lambda text: decode(text.encode(), msgspec.Raw),
        decode_plain,
        decode_as_python,
        lambda text: decode_as_python(text.encode("utf-16")),
        lambda text: decode_within(text, 0, json.JSONDecoder()),
    ],
)
def test_every_decoder_has_the_limit(read: Callable[[str], Any]) -> None:
    read(deep(NEST_MAX))
    read(json.dumps([deep(1000)] * 3))
    for levels in (NEST_MAX + 1, 900, 5000, 500_000):
        with pytest.raises(RecursionError, match="nested deeper than 200 levels"):
            read(deep(levels))


def test_parts_that_stand_in_themselves_are_nested_without_end() -> None:
    loop: list[Any] = []
    loop += [loop, loop]
    assert is_nested_deeper(loop, NEST_MAX)


@pytest.mark.parametrize("levels", [NEST_MAX, 900, 5000])
def test_a_line_that_is_too_deep_is_no_event(levels: int) -> None:
    header = b'{"type":"header","channels":{}}'
    line = b'{"type":"ending","kind":"answered","unknown":%b}' % deep(levels).encode()
    with pytest.raises(EventInvalid, match="nested deeper than 200 levels"):
        decode_line(line, 0, "run")
    with pytest.raises(EventInvalid, match="nested deeper than 200 levels"):
        decode_story([header, line], "run")
    decode_story([header, line.replace(deep(levels).encode(), deep(NEST_MAX - 1).encode())], "run")


@pytest.mark.parametrize(("levels", "is_kept"), [(STORED_NEST_MAX, True), (NEST_MAX, False), (5000, False)])
def test_a_value_that_is_too_deep_is_left_out_and_counted(levels: int, is_kept: bool) -> None:
    value: Any = []
    for _ in range(levels - 1):
        value = [value]
    line, repaired = encode_line(Step(index=0, action=ToolCall(name="a"), returned=value), 0, "run")
    assert (b"[[" in line, repaired) == (is_kept, int(not is_kept))
    assert isinstance(decode_line(line, 0, "run"), Step)


def test_a_body_that_is_too_deep_says_nothing() -> None:
    assert json_value(deep(NEST_MAX)) is not None
    assert json_value(deep(NEST_MAX + 1)) is json_value(deep(5000)) is None


@pytest.mark.parametrize("levels", [NEST_MAX + 1, 470, 5000])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"tasks": [{"id": "a", "intent": "b", "metadata": {"a": %s}}]}'),
        ("a.jsonl", '{"id": "a", "intent": "b", "metadata": {"a": %s}}'),
        ("a.yaml", "id: a\nintent: b\nmetadata: {a: %s}"),
        ("a.toml", 'id = "a"\nintent = "b"\nmetadata = {a = %s}'),
    ],
)
def test_a_task_file_that_is_too_deep_is_refused(name: str, text: str, levels: int, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(text % deep(levels))
    with pytest.raises(TaskError, match="nested deeper than 200 levels"):
        load_suite(file)
