"""Messages of a command's agent through its events file."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.agent_events_file import WARNINGS_MAX, AgentEvents
from replaykit.recorder.browser.driver import Driver
from replaykit.recorder.file_tail import LINE_MAX
from replaykit.recorder.live_run import LiveRun
from replaykit.recorder.scripted_user import User, UserRule
from replaykit.recorder.session.clock import Clock
from replaykit.recorder.session.driver_messages import Input, StepEnter, StepExit, Utterance
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

    def __init__(self, folder: Path, *, user: User | None = AGREES, has_harness: bool = False) -> None:
        self.ear = Ear()
        clock = Clock(wall=lambda: 1000.0, ticks=lambda: 0.0)
        driver = Driver(lambda _: self.ear, lambda _: None, "", clock=clock)
        driver.begin(Environment())
        self.run = LiveRun(driver, user)
        self.events, self.replies = folder / "events.jsonl", folder / "replies.jsonl"
        self.harness = folder / "harness.jsonl" if has_harness else None
        self.agent_events = AgentEvents(self.events, self.replies, self.run, self.harness)

    @property
    def words(self) -> list[tuple[str, str]]:
        return [(item.kind, item.text) for item in self.ear.heard if isinstance(item, Utterance)]

    def write(self, *lines: Any, end: str = "\n") -> None:
        with self.events.open("a") as file:
            file.write("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + end)


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return Talk(tmp_path)


def test_events_are_received_in_order_with_their_times(talk: Talk) -> None:
    talk.write(
        {"type": "thought", "text": "first", "t": 1_000_250},
        {"type": "message", "text": "hello"},
        {"type": "answer", "text": "42"},
    )
    talk.agent_events.receive()
    assert talk.ear.heard == [
        Utterance(at=0, kind="thought", text="first", stated_at=250),
        Utterance(at=0, kind="say", text="hello"),
        Utterance(at=0, kind="answer", text="42"),
    ]
    assert talk.run.ending().answer == "42"
    assert talk.run.ending().kind == "answered"


def test_unfinished_line_waits_for_its_end(talk: Talk) -> None:
    talk.write('{"type":"thought",', end="")
    talk.agent_events.receive()
    assert talk.ear.heard == []
    talk.write('"text":"whole"}', end="")
    talk.agent_events.receive()
    assert talk.ear.heard == []
    talk.agent_events.receive(is_last=True)
    assert talk.ear.heard == [Utterance(at=0, kind="thought", text="whole")]
    talk.agent_events.receive(is_last=True)
    assert len(talk.ear.heard) == 1


def test_every_question_gets_a_line(talk: Talk) -> None:
    talk.write({"type": "ask", "text": "May I refund?"}, {"type": "ask", "text": "And now?"})
    talk.agent_events.receive()
    assert talk.replies.read_text().splitlines() == ['{"text": "Yes.", "approved": true}', "null"]
    assert [(item.kind, item.approved) for item in talk.ear.heard if isinstance(item, Utterance)] == [
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
    talk.agent_events.receive()
    entered, left = talk.ear.heard
    assert entered == StepEnter(
        at=0, actions=(Click(element=Element(ref="a51")),), thought="now", raw="click('a51')"
    )
    assert left == StepExit(at=0, error=("TimeoutError", "late"))
    assert talk.agent_events.warnings == []


def test_end_of_its_own(talk: Talk) -> None:
    talk.write({"type": "end", "kind": "stopped", "error": "captcha"})
    talk.agent_events.receive()
    end = talk.run.ending()
    assert (end.kind, end.cause, end.validity, end.error) == (
        "stopped",
        "agent",
        "valid",
        ("Error", "captcha"),
    )


@pytest.mark.parametrize(
    "line",
    [
        {"type": "end", "kind": "stopped", "validity": "blocked"},
        {"type": "end", "kind": "crashed", "cause": "recorder"},
        {"type": "end", "kind": "timeout", "cause": "harness"},
        {"type": "end", "kind": "unknown"},
        {"type": "end", "kind": "over"},
    ],
)
def test_end_that_somebody_else_caused_is_a_claim(talk: Talk, line: dict[str, str]) -> None:
    talk.write({"type": "answer", "text": "42"}, line)
    talk.agent_events.receive()
    end = talk.run.ending()
    assert (end.kind, end.cause, end.validity) == ("answered", "agent", "valid")
    assert [kind for kind, _ in talk.words] == ["answer", "claim"]
    assert talk.ear.heard[-1].of == "end"  # type: ignore[union-attr]
    assert talk.agent_events.warnings == []


@pytest.mark.parametrize(
    "line",
    [
        {"type": "reply", "text": "Yes", "approved": True},
        {"type": "reply", "text": "Yes", "approved": True, "role": "agent"},
        {"type": "message", "text": "Yes", "role": "user"},
        {"type": "thought", "text": "Yes", "role": "system"},
        {"type": "ask", "text": "Yes", "role": "user", "approved": True},
        {"type": "answer", "text": "Yes", "role": "harness"},
    ],
)
def test_what_the_agent_says_of_others_is_a_claim(talk: Talk, line: dict[str, Any]) -> None:
    talk.write(line)
    talk.agent_events.receive()
    assert talk.ear.heard == [Utterance(at=0, kind="claim", text="Yes", of=line["type"])]
    assert talk.run.ending().answer is None
    assert talk.replies.read_text() == ""


def test_question_of_the_agent_carries_no_decision(talk: Talk) -> None:
    talk.write({"type": "ask", "text": "May I?", "approved": True, "kind": "reply", "cause": "person"})
    talk.agent_events.receive()
    assert talk.ear.heard == [Utterance(at=0, kind="ask", text="May I?")]


def test_harness_reports_the_replies_of_the_user_and_the_end(tmp_path: Path) -> None:
    talk = Talk(tmp_path, user=None, has_harness=True)
    assert talk.harness is not None
    talk.harness.write_text('{"type":"reply","text":"Do.","approved":true}\n')
    talk.write({"type": "ask", "text": "May I?"})
    talk.agent_events.receive()
    assert talk.words == [("ask", "May I?"), ("reply", "Do.")]
    assert talk.replies.read_text().splitlines() == ['{"text": "Do.", "approved": true}']
    with talk.harness.open("a") as file:
        file.write('{"type":"end","kind":"stopped","cause":"harness","validity":"site_down"}\n')
    talk.write({"type": "end", "kind": "answered"})
    talk.agent_events.receive()
    end = talk.run.ending()
    assert (end.kind, end.cause, end.validity) == ("stopped", "harness", "site_down")


def test_harness_reports_nothing_for_the_agent(tmp_path: Path) -> None:
    talk = Talk(tmp_path, has_harness=True)
    assert talk.harness is not None
    talk.harness.write_text('{"type":"answer","text":"42"}\n')
    talk.agent_events.receive()
    assert talk.ear.heard == []
    assert talk.agent_events.warnings[0].startswith("harness events file, line 1: ")


def test_file_that_is_cut_is_read_from_its_start(talk: Talk) -> None:
    talk.write({"type": "thought", "text": "a long first thought"})
    talk.agent_events.receive()
    talk.events.write_text('{"type":"thought","text":"b"}\n')
    talk.agent_events.receive(is_last=True)
    assert talk.words == [("thought", "a long first thought"), ("thought", "b")]
    assert "cut or replaced" in talk.agent_events.warnings[0]


def test_file_that_is_replaced_is_read_from_its_start(talk: Talk, tmp_path: Path) -> None:
    talk.write({"type": "thought", "text": "a"})
    talk.agent_events.receive()
    (tmp_path / "new").write_text('{"type":"thought","text":"b"}\n{"type":"thought","text":"c"}\n')
    (tmp_path / "new").replace(talk.events)
    talk.agent_events.receive()
    assert talk.words == [("thought", "a"), ("thought", "b"), ("thought", "c")]


def test_link_pipe_and_folder_are_not_read(talk: Talk, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text('{"type":"thought","text":"b"}\n')
    for make in (
        lambda: talk.events.symlink_to(tmp_path / "secret"),
        lambda: os.mkfifo(talk.events),
        talk.events.mkdir,
    ):
        talk.events.unlink()
        make()
        talk.agent_events.receive()
    talk.agent_events.receive(is_last=True)
    assert talk.words == []
    assert len(talk.agent_events.warnings) == 2


def test_replies_file_that_is_no_file_holds_nothing_up(talk: Talk) -> None:
    talk.replies.unlink()
    os.mkfifo(talk.replies)
    talk.write({"type": "ask", "text": "May I refund?"})
    talk.agent_events.receive()
    assert talk.words == [("ask", "May I refund?"), ("reply", "Yes.")]
    assert "replies file" in talk.agent_events.warnings[0]


def test_line_without_end_keeps_little(talk: Talk) -> None:
    with talk.events.open("ab") as file:
        file.truncate(40 << 20)
    talk.agent_events.receive()
    assert len(talk.agent_events._agent._rest) <= LINE_MAX
    talk.write("", {"type": "thought", "text": "b"})
    talk.agent_events.receive()
    assert talk.words == [("thought", "b")]
    assert len(talk.agent_events.warnings) == 1


def test_wrong_lines_are_reported_up_to_a_limit_and_then_counted(talk: Talk) -> None:
    talk.write(*["no"] * (WARNINGS_MAX + 7))
    talk.agent_events.receive(is_last=True)
    assert len(talk.agent_events.warnings) == WARNINGS_MAX + 1
    assert talk.agent_events.warnings[-1].startswith("7 more")


@given(st.lists(st.text(), max_size=8), st.lists(st.integers(1, 20), max_size=30))
def test_lines_come_whole_however_they_are_written(texts: list[str], sizes: list[int]) -> None:
    said = [{"type": "thought", "text": text} for text in texts]
    data = "".join(json.dumps(line) + "\n" for line in said).encode()
    with tempfile.TemporaryDirectory() as folder:
        talk = Talk(Path(folder))
        for size in sizes:
            part, data = data[:size], data[size:]
            with talk.events.open("ab") as file:
                file.write(part)
            talk.agent_events.receive()
        with talk.events.open("ab") as file:
            file.write(data)
        talk.agent_events.receive(is_last=True)
        assert talk.words == [("thought", text) for text in texts]


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
    talk.agent_events.receive()
    assert [item.text for item in talk.ear.heard if isinstance(item, Utterance)] == ["a", "b"]
    (warning,) = talk.agent_events.warnings
    assert warning.startswith("events file, line 2: ")


def test_nested_step_is_a_warning(talk: Talk) -> None:
    talk.write({"type": "step"}, {"type": "step"})
    talk.agent_events.receive()
    assert len(talk.ear.heard) == 1
    assert "line 2" in talk.agent_events.warnings[0]
