from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.story_lines import decode_line, decode_story, encode_line
from replaykit.errors import EventInvalid
from replaykit.trajectory.action import Action, Click, Element, Fill, Goto, ToolCall, Unknown
from replaykit.trajectory.command import Command
from replaykit.trajectory.completeness_proof import WITNESSES, Proof
from replaykit.trajectory.exchange import Console, Exchange, Imported, Message
from replaykit.trajectory.observation import Observation, Read
from replaykit.trajectory.scalars import Omitted
from replaykit.trajectory.step import Ending, Event, Header, Step

ids = st.text("0123456789abcdef", min_size=64, max_size=64)
counts = st.integers(0, 2**53)
numbers = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
json_values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
elements = st.builds(
    Element,
    tag=st.none() | st.text(),
    attributes=st.none() | st.dictionaries(st.text(), st.text(), max_size=3),
)
actions = st.one_of(
    st.builds(Click, element=st.none() | elements, point=st.none() | st.tuples(counts, counts)),
    st.builds(Fill, value=st.text(), submit=st.booleans()),
    st.builds(Goto, url=st.text()),
    st.builds(ToolCall, name=st.text(), arguments=st.dictionaries(st.text(), json_values, max_size=3)),
)
reads = st.builds(Read, locator=st.text(), kind=st.just("string"), value=json_values)
looks = st.builds(
    Observation,
    role=st.sampled_from(["start", "before", "after", "final"]),
    title=st.none() | st.text(),
    snapshot=st.none() | ids | st.builds(Omitted, why=st.just("cap"), n=st.none() | counts),
    sheets=st.lists(st.none() | ids, max_size=3).map(tuple),
    reads=st.lists(reads, max_size=2).map(tuple),
)
events = st.one_of(
    st.builds(
        Step, index=counts, t=st.none() | counts, action=actions, declared=st.none() | actions,
        observed=st.lists(actions, max_size=2).map(tuple), before=st.none() | looks, raw=json_values,
    ),
    looks,
    st.builds(Console, level=st.just("log"), text=st.text()),
    st.builds(Exchange, id=counts, method=st.text(), url=st.text(), post=st.none() | ids),
    st.builds(Command, origin=st.just("driver"), kind=st.just("input"), name=st.text(), selector=st.none() | st.text()),
    st.builds(Message, role=st.just("agent"), kind=st.just("say"), text=st.text()),
    st.builds(Message, role=st.just("agent"), kind=st.just("claim"), of=st.just("reply"), stated_at=counts),
    st.builds(
        Proof,
        witness=st.sampled_from(WITNESSES),
        closed=st.booleans(),
        lacks=st.lists(st.sampled_from(["target.late", "seq.broken"])).map(tuple),
        counts=st.dictionaries(st.text(), counts, max_size=3),
    ),
    st.builds(Imported, kind=st.just("label"), value=json_values),
    st.builds(Ending, kind=st.just("answered"), answer=st.none() | st.text()),
)  # fmt: skip


@given(events)
def test_round_trip(event: Event) -> None:
    line, repaired = encode_line(event, 0, "test")
    assert b"\n" not in line
    assert repaired == 0
    assert decode_line(line, 0, "test") == event


lines = st.one_of(
    events.map(lambda event: encode_line(event, 0, "test")[0]),
    st.sampled_from([b'{"type":"hologram","t":5}', b'{"type":"step"}', b'{"type":"tab","x":"\xff"}', b"{}", b""]),
    st.just(b'{"type":"imported","kind":"label","value":%d}' % 2**60),
)  # fmt: skip


@given(st.lists(lines, max_size=4))
def test_a_story_is_its_lines(stored: list[bytes]) -> None:
    story = [encode_line(Header(channels={}), -1, "test")[0], *stored]

    def outcome(read: Callable[[], object]) -> object:
        try:
            return read()
        except EventInvalid as error:
            return error.fields

    one_by_one = outcome(lambda: [decode_line(line, at, "test") for at, line in enumerate(story, -1)])
    assert outcome(lambda: decode_story(story, "test")) == one_by_one


@given(st.dictionaries(st.text(), json_values, max_size=4), st.text())
def test_header_round_trip(task: dict, run: str) -> None:
    header = Header(task=task, run=run, channels={"actions": "recorded"})
    line, _ = encode_line(header, -1, "test")
    assert decode_line(line, -1, "test") == header


@given(st.text(st.characters(exclude_categories=())), st.floats(), st.integers())
def test_bad_values_never_lose_a_step(text: str, number: float, end: int) -> None:
    step = Step(index=3, action=Fill(value=text), thought=text, raw={"n": number, "t": text}, end=end)
    line, repaired = encode_line(step, 0, "test")
    read = decode_line(line, 0, "test")
    assert isinstance(read, Step)
    assert read.index == 3
    assert encode_line(read, 0, "test") == (line, 0)
    assert repaired or read == step


def test_type_comes_first_and_defaults_are_left_out() -> None:
    line, _ = encode_line(Ending(kind="answered", answer="7", t=9), 0, "test")
    assert line == b'{"type":"ending","t":9,"kind":"answered","answer":"7"}'


def test_a_required_field_of_the_wrong_type_is_refused() -> None:
    with pytest.raises(EventInvalid) as caught:
        encode_line(Step(index=0, action=Fill(value=3)), 4, "run.zst")
    assert caught.value.fields["number"] == 4
    assert caught.value.fields["path"] == "$.action.value"


def test_unknown_event() -> None:
    line = b'{"type":"hologram","t":5,"new":[1,2]}'
    event = decode_line(line, 0, "test")
    assert event == Unknown(name="hologram", raw=line.decode())
    assert encode_line(event, 0, "test") == (line, 0)


def test_unknown_event_made_by_hand() -> None:
    assert encode_line(Unknown(name="hologram"), 0, "test")[0] == b'{"type":"hologram"}'
    line, _ = encode_line(Unknown(name="hologram", raw='{"type":\n"hologram"}'), 0, "test")
    assert line == b'{"type": "hologram"}'


def test_unknown_actions() -> None:
    line = (
        b'{"type":"step","index":2,"action":{"type":"fly","to":[1]},"declared":{"type":"click"},'
        b'"observed":[{"type":"swim"},{"type":"goto","url":"/"}],"later":{"x":1}}'
    )
    step = decode_line(line, 0, "test")
    assert isinstance(step, Step)
    assert step.action == Unknown(name="fly", raw='{"type":"fly","to":[1]}')
    assert step.declared == Click()
    assert step.observed == (Unknown(name="swim", raw='{"type":"swim"}'), Goto(url="/"))


def test_unknown_fields_are_ignored() -> None:
    line = b'{"type":"ending","kind":"answered","mood":{"a":[1,2,{"b":null}]}}'
    assert decode_line(line, 0, "test") == Ending(kind="answered")


def test_every_action_tag_is_known() -> None:
    for member in Action.__args__:
        tag = member.__struct_config__.tag
        line = b'{"type":"step","index":0,"action":{"type":"%b"}}' % tag.encode()
        try:
            step = decode_line(line, 0, "test")
        except EventInvalid:
            continue
        assert isinstance(step, Step)
        assert type(step.action) is member


DEEP = b"[" * 500_000 + b"]" * 500_000


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b"[]",
        b"null",
        b'"ending"',
        b'{"type":7}',
        b'{"type":"header","channels":{}}',
        b'{"type":"ending"}',
        b'{"type":"ending","kind":"answered"}x',
        b'{"type":"ending","kind":"answered","t":-1}',
        b'{"type":"ending","kind":"answered","t":9007199254740993}',
        b'{"type":"ending","kind":"answered","t":' + b"9" * 30 + b"}",
        b'{"type":"ending","kind":"answered","t":' + b"9" * 50_000 + b"}",
        b'{"type":"ending","kind":"answered","t":1.5}',
        b'{"type":"ending","kind":"answered","t":NaN}',
        b'{"type":"ending","kind":"answered","x":NaN}',
        b'{"type":"observation","role":"after","shot_scale":1e999}',
        b'{"type":"observation","role":"after","shot_scale":null}',
        b'{"type":"imported","kind":"label","value":' + b"9" * 30 + b"}",
        b'{"type":"imported","kind":"label","value":[{"a":' + b"9" * 50_000 + b"}]}",
        b'{"type":"imported","kind":"label","value":1e999}',
        b'{"type":"ending","kind":"answered","answer":"\xff"}',
        b'{"type":"ending","kind":"answered","unknown":"\xff"}',
        b'{"type":"hologram","x":"\xc3"}',
        b'{"type":"ending","kind":"answered","answer":"\\ud83d"}',
        b'{"type":"ending","kind":"answered","answer":"\\ud83d and more text"}',
        b'{"type":"ending","kind":"answered","answer":"\\ude00\\ud83d"}',
        b'{"type":"imported","kind":"label","value":' + DEEP + b"}",
        b'{"type":"ending","kind":"answered","unknown":' + DEEP + b"}",
        b'{"type":"hologram","x":' + DEEP + b"}",
        b'{"type":"step","index":0,"action":{"type":"fly","x":' + DEEP + b"}}",
        b'{"type":"step","index":0,"action":{}}',
        b'{"type":"step","index":0,"action":7}',
        b'{"type":"step","index":0,"action":{"type":"click"},"observed":{"type":"fly"}}',
        b'{"type":"step","index":0,"action":{"type":"click"},"declared":[{"type":"fly"}]}',
    ],
)
def test_refused(line: bytes) -> None:
    with pytest.raises(EventInvalid):
        decode_line(line, 0, "test")


@given(st.binary(max_size=60))
def test_any_bytes(line: bytes) -> None:
    for number in (-1, 0):
        try:
            decode_line(line, number, "test")
        except EventInvalid as error:
            assert error.fields["number"] == number


@given(json_values)
def test_any_json(value: object) -> None:
    try:
        decode_line(msgspec.json.encode(value), 0, "test")
    except EventInvalid:
        return
    assert isinstance(value, dict)


READ = b'{"locator":"#a","kind":"number","value":%b}'
FREE = [
    b'{"type":"imported","kind":"label","value":{"a":[%b]}}',
    b'{"type":"observation","role":"after","reads":[%b,%b]}' % (READ % b"1", READ),
    b'{"type":"probe","id":"p","phase":"pre","reads":[%b]}' % READ,
    b'{"type":"script","name":"s","read":%b}' % READ,
    b'{"type":"step","index":0,"action":{"type":"click"},"raw":[%b]}',
    b'{"type":"step","index":0,"action":{"type":"click"},"before":{"type":"observation","role":"before",'
    b'"reads":[%b]}}' % READ,
    *(
        b'{"type":"step","index":0,"action":{"type":"click"},%b:%b}' % (field, action)
        for action in [b'{"type":"tool_call","name":"f","arguments":{"n":%b}}']
        for field, action in ((b'"declared"', action), (b'"observed"', b"[%b]" % action))
    ),
    b'{"type":"step","index":0,"action":{"type":"tool_call","name":"f","arguments":{"n":[%b]}}}',
    b'{"type":"header","channels":{},"task":{"n":%b}}',
    b'{"type":"header","channels":{},"options":{"n":%b}}',
    b'{"type":"header","channels":{},"source":{"format":"x","options":{"n":%b}}}',
    b'{"type":"header","channels":{},"source":{"format":"x","extra":{"n":%b}}}',
]


@pytest.mark.parametrize("line", FREE)
def test_numbers_in_fields_of_any_type_have_a_range(line: bytes) -> None:
    number = -1 if b'"header"' in line else 0
    decode_line(line % b"-9007199254740992", number, "test")
    with pytest.raises(EventInvalid, match="2\\^53"):
        decode_line(line % b"9007199254740993", number, "test")


def test_an_invalid_word_is_refused_with_the_expected_pattern() -> None:
    with pytest.raises(EventInvalid) as refused:
        decode_line(b'{"type":"ending","kind":"not a word"}', 3, "run.zst")
    assert refused.value.fields["path"] == "$.kind"
    assert (
        refused.value.fields["reason"] == "Expected `str` matching regex '^[A-Za-z][A-Za-z0-9_.-]{0,63}\\\\Z'"
    )
