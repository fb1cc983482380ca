"""What a command's agent says through its events file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from replaykit.recorder.clock import Clock
from replaykit.recorder.driver import Driver
from replaykit.recorder.messages import Input, Said, StepEnter, StepExit
from replaykit.recorder.run import Run
from replaykit.recorder.spoken import LINE_MAX, Spoken
from replaykit.recorder.user import User, UserRule
from replaykit.trajectory.action import Click, Element
from replaykit.trajectory.step import Environment

AGREES = User(rules=(UserRule(match="refund", reply="Yes.", approved=True),))


class Ear:
    """A session that keeps what it is fed."""

    is_ending = False
    is_ready = True

    def __init__(self) -> None:
        self.heard: list[Input] = []

    def start(self, at: float) -> list[Any]:
        return []

    def feed(self, item: Input) -> list[Any]:
        self.heard.append(item)
        return []


class Talk:
    """An events file with a run behind it."""

    def __init__(self, folder: Path) -> None:
        self.ear = Ear()
        clock = Clock(wall=lambda: 1000.0, ticks=lambda: 0.0)
        driver = Driver(lambda _: self.ear, lambda _: None, "", clock=clock)
        driver.begin(Environment())
        self.run = Run(driver, AGREES)
        self.events, self.replies = folder / "events.jsonl", folder / "replies.jsonl"
        self.spoken = Spoken(self.events, self.replies, self.run)

    def write(self, *lines: Any, end: str = "\n") -> None:
        with self.events.open("a") as file:
            file.write("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + end)


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return Talk(tmp_path)


def test_words_in_order_with_their_times(talk: Talk) -> None:
    talk.write(
        {"type": "thought", "text": "first", "t": 1_000_250},
        {"type": "message", "text": "hello"},
        {"type": "answer", "text": "42"},
    )
    talk.spoken.hear()
    assert talk.ear.heard == [
        Said(at=250, kind="thought", text="first"),
        Said(at=0, kind="say", text="hello"),
        Said(at=0, kind="answer", text="42"),
    ]
    assert talk.run.ending().answer == "42"
    assert talk.run.ending().kind == "answered"


def test_unfinished_line_waits_for_its_end(talk: Talk) -> None:
    talk.write('{"type":"thought",', end="")
    talk.spoken.hear()
    assert talk.ear.heard == []
    talk.write('"text":"whole"}', end="")
    talk.spoken.hear()
    assert talk.ear.heard == []
    talk.spoken.hear(is_last=True)
    assert talk.ear.heard == [Said(at=0, kind="thought", text="whole")]
    talk.spoken.hear(is_last=True)
    assert len(talk.ear.heard) == 1


def test_every_question_gets_a_line(talk: Talk) -> None:
    talk.write({"type": "ask", "text": "May I refund?"}, {"type": "ask", "text": "And now?"})
    talk.spoken.hear()
    assert talk.replies.read_text().splitlines() == ['{"text": "Yes.", "approved": true}', "null"]
    assert [(item.kind, item.approved) for item in talk.ear.heard if isinstance(item, Said)] == [
        ("ask", None),
        ("reply", True),
        ("ask", None),
    ]


def test_steps(talk: Talk) -> None:
    talk.write(
        {"type": "step", "phase": "start", "action": "click('a51')", "thought": "now"},
        {"type": "step", "phase": "end", "error": {"name": "TimeoutError", "message": "late"}},
        {"type": "step", "phase": "end"},
    )
    talk.spoken.hear()
    entered, left = talk.ear.heard
    assert entered == StepEnter(
        at=0, actions=(Click(element=Element(ref="a51")),), thought="now", raw="click('a51')"
    )
    assert left == StepExit(at=0, error=("TimeoutError", "late"))
    assert talk.spoken.warnings == []


def test_end(talk: Talk) -> None:
    talk.write({"type": "end", "kind": "stopped", "validity": "blocked", "error": "captcha"})
    talk.spoken.hear()
    end = talk.run.ending()
    assert (end.kind, end.cause, end.validity, end.error) == (
        "stopped",
        "agent",
        "blocked",
        ("Error", "captcha"),
    )


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        '{"type": 7}',
        '{"text": "no type"}',
        '{"type": "dance"}',
        '{"type": "thought", "text": 5}',
        '{"type": "step", "action": {"type": "clack"}}',
        json.dumps({"type": "thought", "text": "x" * LINE_MAX}),
        "[" * 100_000,
    ],
)
def test_wrong_line_is_a_numbered_warning_and_stops_nothing(talk: Talk, line: str) -> None:
    talk.write({"type": "thought", "text": "a"}, line, {"type": "thought", "text": "b"})
    talk.spoken.hear()
    assert [item.text for item in talk.ear.heard if isinstance(item, Said)] == ["a", "b"]
    (warning,) = talk.spoken.warnings
    assert warning.startswith("events file, line 2: ")


def test_nested_step_is_a_warning(talk: Talk) -> None:
    talk.write({"type": "step"}, {"type": "step"})
    talk.spoken.hear()
    assert len(talk.ear.heard) == 1
    assert "line 2" in talk.spoken.warnings[0]
