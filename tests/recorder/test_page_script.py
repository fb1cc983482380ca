"""Messages of the page script, decoded; the script itself is tested in a browser."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import RecorderError
from replaykit.recorder.page.page_script import (
    PARTS_MAX,
    PENDING_MAX,
    PageEvent,
    PageGap,
    PageNode,
    PageOptions,
    PagePart,
    PagePush,
    Parts,
    decode_message,
    page_script,
)
from replaykit.trajectory.action import Names

EVENT: dict[str, Any] = {
    "k": "event",
    "seq": 4,
    "at": 1700000000000.5,
    "name": "click",
    "trusted": True,
    "element": {
        "tag": "button",
        "role": "button",
        "name": "Pay",
        "names": {"text": "Pay"},
        "box": [1, 2, 3, 4],
        "node": {"push": 3, "number": 18},
    },
    "data": {"point": [2, 3], "button": 0, "modifiers": [], "detail": 1},
}
PUSH: dict[str, Any] = {
    "k": "push",
    "seq": 3,
    "at": 1700000000000.0,
    "purpose": "before",
    "cost": 2.5,
    "stale": {"ms": 40, "mutations": 2},
    "settled": True,
    "url": "http://shop.test/",
    "title": "Shop",
    "viewport": [800, 600],
    "pointer": None,
    "repaired": 1,
    "changed": [["#qty", "1", "2"]],
    "snapshot": "{}\n[]\n[]\n[]\n",
    "frames": [{"number": 7, "path": [0, 1], "url": "http://ads.test/"}],
}


def test_an_event_gives_its_element_and_apart_its_place_in_a_push() -> None:
    event = decode_message(json.dumps(EVENT))
    assert isinstance(event, PageEvent)
    assert (event.seq, event.name, event.trusted, event.data["point"]) == (4, "click", True, [2, 3])
    assert event.node == PageNode(push=3, number=18)
    assert event.element is not None
    assert event.element.node is None
    assert event.element.names == Names(text="Pay")
    assert event.element.box == (1, 2, 3, 4)


def test_an_event_may_have_no_element_and_an_element_no_place() -> None:
    assert decode_message(json.dumps(EVENT | {"element": None})) == msgspec.structs.replace(
        _event(EVENT), element=None, node=None
    )
    placeless = {key: value for key, value in EVENT["element"].items() if key != "node"}
    assert _event(EVENT | {"element": placeless}).node is None


def _event(message: dict[str, Any]) -> PageEvent:
    event = decode_message(json.dumps(message))
    assert isinstance(event, PageEvent)
    return event


def test_a_push_gives_its_snapshot_and_what_was_true_at_its_time() -> None:
    push = decode_message(json.dumps(PUSH))
    assert isinstance(push, PagePush)
    assert push.stale is not None
    assert (push.stale.ms, push.stale.mutations) == (40, 2)
    assert push.changed == (("#qty", "1", "2"),)
    assert push.snapshot == "{}\n[]\n[]\n[]\n"
    assert push.viewport == (800, 600)
    assert push.frames[0].path == (0, 1)


def test_a_gap_says_how_many_messages_are_missing() -> None:
    assert decode_message('{"k":"gap","seq":9,"why":"flood","count":12}') == PageGap(
        seq=9, why="flood", count=12
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        '{"k":"story"}',
        '{"k":"event"}',
        '{"k":"push","seq":-1}',
        '{"k":"part","id":0,"i":0,"of":0,"text":""}',
        '{"k":"event","seq":1,"at":1,"name":"click","element":[]}',
        '{"k":"event","seq":1,"at":1,"name":"click","element":{"box":["a"]}}',
        '{"k":"event","seq":1,"at":1,"name":"\\ud800"}',
        '{"k":"event","seq":1,"at":1,"name":"\ud800"}',
        '{"k":"event","a":' + "[" * 100_000,
    ],
)
def test_whatever_else_a_page_sends_is_refused_by_our_own_error(text: str) -> None:
    with pytest.raises(RecorderError, match="not ours"):
        decode_message(text)


@given(st.text() | st.builds(json.dumps, st.dictionaries(st.text(max_size=5), st.integers() | st.text())))
def test_only_our_own_error_leaves_the_decoder(text: str) -> None:
    try:
        decode_message(text)
    except RecorderError:
        return


@given(st.text(min_size=1, max_size=40), st.integers(1, 9), st.randoms(use_true_random=False))
def test_parts_in_any_order_make_the_message(text: str, count: int, random: Any) -> None:
    size = -(-len(text) // count)
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    sent = [PagePart(id=3, i=i, of=len(pieces), text=piece) for i, piece in enumerate(pieces)]
    random.shuffle(sent)
    parts = Parts()
    assert [parts.add(part) for part in sent] == [None] * (len(sent) - 1) + [text]


def test_messages_in_parts_may_interleave() -> None:
    parts = Parts()
    assert parts.add(PagePart(id=0, i=0, of=2, text="a")) is None
    assert parts.add(PagePart(id=1, i=0, of=2, text="x")) is None
    assert parts.add(PagePart(id=0, i=1, of=2, text="b")) == "ab"
    assert parts.add(PagePart(id=1, i=1, of=2, text="y")) == "xy"


@pytest.mark.parametrize(("i", "of"), [(2, 2), (1, 3)])
def test_a_part_that_contradicts_the_ones_before_is_refused(i: int, of: int) -> None:
    parts = Parts()
    parts.add(PagePart(id=0, i=0, of=2, text="a"))
    with pytest.raises(RecorderError, match="announced"):
        parts.add(PagePart(id=0, i=i, of=of, text="b"))


def test_unfinished_messages_cannot_pile_up() -> None:
    parts = Parts()
    for number in range(PENDING_MAX + 1):
        parts.add(PagePart(id=number, i=0, of=2, text="a"))
    assert parts.add(PagePart(id=0, i=1, of=2, text="b")) is None
    assert parts.add(PagePart(id=PENDING_MAX, i=1, of=2, text="b")) == "ab"


def test_a_message_of_too_many_parts_is_refused() -> None:
    with pytest.raises(RecorderError):
        decode_message(json.dumps({"k": "part", "id": 0, "i": 0, "of": PARTS_MAX + 1, "text": ""}))


def test_the_script_is_one_function_that_carries_its_options() -> None:
    options = PageOptions(mask=("#card", 'a"b\u2028</script>'), nonce="n")
    script = page_script(options)
    assert script.startswith("(() => {\n'use strict';\n")
    assert script.endswith(f"install();\n}})();\n//# sourceURL={options.label}\n")
    literal = script.split("const OPTIONS = ", 1)[1].split(";\n", 1)[0]
    assert msgspec.json.decode(literal, type=PageOptions) == options
    assert page_script(options) == script


def test_two_recordings_share_no_event_name() -> None:
    assert PageOptions().nonce != PageOptions().nonce


def test_no_two_files_of_the_page_script_declare_the_same_function() -> None:
    # They share one scope, in which the later of two functions replaces the earlier one.
    names = re.findall(r"^(?:async )?function\*? (\w+)", page_script(PageOptions()), re.MULTILINE)
    assert len(names) > 300
    assert [name for name, count in Counter(names).items() if count > 1] == []
