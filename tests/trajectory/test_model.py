"""The data model: every field documented, every struct round-trips, defaults stay off the disk."""

from __future__ import annotations

import ast
import inspect
import re
from types import ModuleType
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.grading import model_request, verdict
from replaykit.tasks import checks, policy_rules, task
from replaykit.trajectory import action, exchange, observation, scalars, step
from replaykit.trajectory.action import Action, ActionBase, Answer, Click, Fill, Unknown, tag_of
from replaykit.trajectory.exchange import Gap, Message
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Record
from replaykit.trajectory.step import Ending, Event, Header, Step, Trajectory

MODEL = (scalars, action, observation, exchange, step)


def structs(*modules: ModuleType) -> list[type[msgspec.Struct]]:
    return [
        kind
        for module in modules
        for _, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, msgspec.Struct) and kind.__module__ == module.__name__
    ]


@pytest.mark.parametrize("module", [*MODEL, checks, policy_rules, task, verdict, model_request])
def test_every_field_says_what_it_means(module: ModuleType) -> None:
    undocumented = []
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(node, ast.ClassDef):
            continue
        for here, after in zip(node.body, [*node.body[1:], None], strict=True):
            is_text = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            if isinstance(here, ast.AnnAssign) and not is_text:
                undocumented.append(f"{node.name}.{ast.unparse(here.target)}")
    assert not undocumented


@pytest.mark.parametrize("kind", structs(*MODEL))
def test_every_struct_is_frozen_and_by_keyword(kind: type[msgspec.Struct]) -> None:
    assert kind.__struct_config__.frozen
    if issubclass(kind, Record):
        assert kind.__struct_config__.omit_defaults
    with pytest.raises(TypeError):
        kind("positional")


def test_a_tag_never_collides_with_a_field() -> None:
    for kind in (*get_args(Action), *get_args(Event)):
        assert kind.__struct_config__.tag_field == "type"
        assert "type" not in kind.__struct_fields__


def test_tags_are_unique() -> None:
    for union in (Action, Event):
        tags = [kind.__struct_config__.tag for kind in get_args(union)]
        assert len(tags) == len(set(tags))


def test_defaults_stay_off_the_disk() -> None:
    written = msgspec.json.encode(Step(index=0, t=1, action=Click(), before=Observation(role="before")))
    assert written == (
        b'{"type":"step","t":1,"index":0,"action":{"type":"click"},'
        b'"before":{"type":"observation","role":"before"}}'
    )


def test_keys_stand_in_declared_order_type_first() -> None:
    line = msgspec.json.encode(Message(t=5, page=1, seq=2, role="agent", kind="say", text="hi"))
    assert line == b'{"type":"message","t":5,"page":1,"seq":2,"role":"agent","kind":"say","text":"hi"}'


WORDS = st.from_regex(r"\A[A-Za-z][A-Za-z0-9_.-]{0,63}\Z")


@given(st.data())
@pytest.mark.parametrize("kind", get_args(Action))
def test_actions_round_trip(kind: type[ActionBase], data: st.DataObject) -> None:
    drawn = data.draw(st.builds(kind, **_fields(kind)))
    assert msgspec.json.decode(msgspec.json.encode(drawn), type=Action) == drawn


def _fields(kind: type[ActionBase]) -> dict[str, st.SearchStrategy[Any]]:
    text = st.text(st.characters(codec="utf-8"), max_size=20)
    number = st.integers(0, 2**53)
    known = {
        "value": text, "text": text, "name": text, "raw": text, "url": text, "key": text,
        "point": st.tuples(number, number), "files": st.just(()), "values": st.tuples(text),
        "element": st.just(action.Element(tag="a", box=(1, 2, 3, 4))), "button": WORDS,
    }  # fmt: skip
    return {name: strategy for name, strategy in known.items() if name in kind.__struct_fields__}


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"step","index":-1,"action":{"type":"click"}}',
        b'{"type":"step","index":9007199254740993,"action":{"type":"click"}}',
        b'{"type":"observation","role":"not a word"}',
        b'{"type":"observation","role":"after","snapshot":"abc"}',
        b'{"type":"message","role":"agent","kind":"say"}',
        b'{"type":"exchange","id":0,"method":"GET","url":7}',
    ],
)
def test_what_contradicts_the_model_is_refused(line: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(line, type=Event)


def run(*events: Event | Unknown) -> Trajectory:
    return Trajectory(header=Header(channels={"actions": "recorded"}), events=events)


TEXTS = st.sampled_from(
    ["page", "Page", "wheel-2.x_", "9", "-inf", "", "a b", "é", "page\n", "a" * 64, "a" * 65]
)


@given(TEXTS | st.text(max_size=3) | st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{0,70}", fullmatch=True))
def test_a_word_is_a_plain_text_of_its_own_letters(text: str) -> None:
    line = msgspec.json.encode({"type": "ending", "kind": text, "cause": text})
    if re.fullmatch("[A-Za-z][A-Za-z0-9_.-]{0,63}", text) is None:
        with pytest.raises(msgspec.ValidationError):
            msgspec.json.decode(line, type=Ending)
        return
    found = msgspec.json.decode(line, type=Ending)
    assert found == msgspec.convert(msgspec.json.decode(line), Ending)
    assert (type(found.kind), found.kind, found.cause) == (str, text, text)
    assert msgspec.json.encode(found.kind) == msgspec.json.encode(text)


@pytest.mark.parametrize("value", [5, True, None, ["page"]])
def test_a_word_is_a_text(value: object) -> None:
    with pytest.raises(msgspec.ValidationError, match="Expected `str`"):
        msgspec.convert({"type": "ending", "kind": value}, Ending)


def test_the_answer_is_that_of_the_ending_else_message_else_action() -> None:
    said = Message(role="agent", kind="answer", text="said")
    acted = Step(index=0, action=Answer(text="acted"))
    assert run(acted, said, Ending(kind="answered", answer="")).answer == ""
    assert run(acted, said, Ending(kind="stopped")).answer == "said"
    assert run(acted).answer == "acted"
    assert run().answer is None


def test_after_is_the_last_look_and_the_others_are_interim() -> None:
    first, last = Observation(role="after", of=0, t=1), Observation(role="after", of=0, t=2)
    one = Step(index=0, action=Click())
    whole = run(one, first, last, Observation(role="after", of=1, t=3))
    assert whole.after(one) == last
    assert whole.looks(one) == (first, last)


def test_a_gap_makes_its_channel_partial() -> None:
    assert run().channel("actions") == "recorded"
    assert run(Gap(channel="actions", why="flood")).channel("actions") == "partial"
    assert run(Gap(channel="actions", why="flood")).channel("network") == "absent"


def test_actions_are_the_observed_ones_and_reported_is_the_declared_one() -> None:
    seen, said = Click(), Fill(value="x")
    step_ = Step(index=0, action=seen, declared=said, observed=(seen, seen))
    assert step_.actions == (seen, seen)
    assert step_.reported == said
    assert step_.mismatch
    assert Step(index=0, action=seen).actions == (seen,)


def test_an_unknown_action_keeps_its_name() -> None:
    assert tag_of(Unknown(name="teleport")) == "teleport"
    assert tag_of(Click()) == "click"
