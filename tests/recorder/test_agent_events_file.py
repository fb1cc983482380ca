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


class ReceivingSession:
    """A session that keeps what it is fed."""

    is_ending = False
    is_ready = True

    def __init__(self) -> None:
        self.received: list[Input] = []

    def start(self, at: float) -> list[Any]:
        return []

    def feed(self, item: Input) -> list[Any]:
        self.received.append(item)
        return []


class EventsFile:
    """An events file with a run behind it."""

    def __init__(self, folder: Path, *, user: User | None = AGREES, has_harness: bool = False) -> None:
        self.session = ReceivingSession()
        clock = Clock(wall=lambda: 1000.0, ticks=lambda: 0.0)
        driver = Driver(lambda _: self.session, lambda _: None, "", clock=clock)
        driver.begin(Environment())
        self.run = LiveRun(driver, user)
        self.events, self.replies = folder / "events.jsonl", folder / "replies.jsonl"
        self.harness = folder / "harness.jsonl" if has_harness else None
        self.agent_events = AgentEvents(self.events, self.replies, self.run, self.harness)

    @property
    def words(self) -> list[tuple[str, str]]:
        return [(item.kind, item.text) for item in self.session.received if isinstance(item, Utterance)]

    def write(self, *lines: Any, end: str = "\n") -> None:
        with self.events.open("a") as file:
            file.write("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + end)


@pytest.fixture
def events_file(tmp_path: Path) -> EventsFile:
    return EventsFile(tmp_path)


def test_events_are_received_in_order_with_their_times(events_file: EventsFile) -> None:
    events_file.write(
        {"type": "thought", "text": "first", "t": 1_000_250},
        {"type": "message", "text": "hello"},
        {"type": "answer", "text": "42"},
    )
    events_file.agent_events.receive()
    assert events_file.session.received == [
        Utterance(at=0, kind="thought", text="first", stated_at=250),
        Utterance(at=0, kind="say", text="hello"),
        Utterance(at=0, kind="answer", text="42"),
    ]
    assert events_file.run.ending().answer == "42"
    assert events_file.run.ending().kind == "answered"


def test_unfinished_line_waits_for_its_end(events_file: EventsFile) -> None:
    events_file.write('{"type":"thought",', end="")
    events_file.agent_events.receive()
    assert events_file.session.received == []
    events_file.write('"text":"whole"}', end="")
    events_file.agent_events.receive()
    assert events_file.session.received == []
    events_file.agent_events.receive(is_last=True)
    assert events_file.session.received == [Utterance(at=0, kind="thought", text="whole")]
    events_file.agent_events.receive(is_last=True)
    assert len(events_file.session.received) == 1


def test_every_question_gets_a_line(events_file: EventsFile) -> None:
    events_file.write({"type": "ask", "text": "May I refund?"}, {"type": "ask", "text": "And now?"})
    events_file.agent_events.receive()
    assert events_file.replies.read_text().splitlines() == ['{"text": "Yes.", "approved": true}', "null"]
    assert [
        (item.kind, item.approved) for item in events_file.session.received if isinstance(item, Utterance)
    ] == [
        ("ask", None),
        ("reply", True),
        ("ask", None),
    ]


def test_steps(events_file: EventsFile) -> None:
    events_file.write(
        {"type": "step", "phase": "start", "action": "click('a51')", "thought": "now"},
        {"type": "step", "phase": "end", "error": {"name": "TimeoutError", "message": "late"}},
        {"type": "step", "phase": "end"},
    )
    events_file.agent_events.receive()
    entered, left = events_file.session.received
    assert entered == StepEnter(
        at=0, actions=(Click(element=Element(ref="a51")),), thought="now", raw="click('a51')"
    )
    assert left == StepExit(at=0, error=("TimeoutError", "late"))
    assert events_file.agent_events.warnings == []


def test_end_of_its_own(events_file: EventsFile) -> None:
    events_file.write({"type": "end", "kind": "stopped", "error": "captcha"})
    events_file.agent_events.receive()
    end = events_file.run.ending()
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
def test_end_that_somebody_else_caused_is_a_claim(events_file: EventsFile, line: dict[str, str]) -> None:
    events_file.write({"type": "answer", "text": "42"}, line)
    events_file.agent_events.receive()
    end = events_file.run.ending()
    assert (end.kind, end.cause, end.validity) == ("answered", "agent", "valid")
    assert [kind for kind, _ in events_file.words] == ["answer", "claim"]
    assert events_file.session.received[-1].of == "end"  # type: ignore[union-attr]  # another kind has no `of`, and fails
    assert events_file.agent_events.warnings == []


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
def test_what_the_agent_says_of_others_is_a_claim(events_file: EventsFile, line: dict[str, Any]) -> None:
    events_file.write(line)
    events_file.agent_events.receive()
    assert events_file.session.received == [Utterance(at=0, kind="claim", text="Yes", of=line["type"])]
    assert events_file.run.ending().answer is None
    assert events_file.replies.read_text() == ""


def test_question_of_the_agent_carries_no_decision(events_file: EventsFile) -> None:
    events_file.write({"type": "ask", "text": "May I?", "approved": True, "kind": "reply", "cause": "person"})
    events_file.agent_events.receive()
    assert events_file.session.received == [Utterance(at=0, kind="ask", text="May I?")]


def test_harness_reports_the_replies_of_the_user_and_the_end(tmp_path: Path) -> None:
    events_file = EventsFile(tmp_path, user=None, has_harness=True)
    assert events_file.harness is not None
    events_file.harness.write_text('{"type":"reply","text":"Do.","approved":true}\n')
    events_file.write({"type": "ask", "text": "May I?"})
    events_file.agent_events.receive()
    assert events_file.words == [("ask", "May I?"), ("reply", "Do.")]
    assert events_file.replies.read_text().splitlines() == ['{"text": "Do.", "approved": true}']
    with events_file.harness.open("a") as file:
        file.write('{"type":"end","kind":"stopped","cause":"harness","validity":"site_down"}\n')
    events_file.write({"type": "end", "kind": "answered"})
    events_file.agent_events.receive()
    end = events_file.run.ending()
    assert (end.kind, end.cause, end.validity) == ("stopped", "harness", "site_down")


def test_harness_reports_nothing_for_the_agent(tmp_path: Path) -> None:
    events_file = EventsFile(tmp_path, has_harness=True)
    assert events_file.harness is not None
    events_file.harness.write_text('{"type":"answer","text":"42"}\n')
    events_file.agent_events.receive()
    assert events_file.session.received == []
    assert events_file.agent_events.warnings[0].startswith("harness events file, line 1: ")


def test_file_that_is_cut_is_read_from_its_start(events_file: EventsFile) -> None:
    events_file.write({"type": "thought", "text": "a long first thought"})
    events_file.agent_events.receive()
    events_file.events.write_text('{"type":"thought","text":"b"}\n')
    events_file.agent_events.receive(is_last=True)
    assert events_file.words == [("thought", "a long first thought"), ("thought", "b")]
    assert "cut or replaced" in events_file.agent_events.warnings[0]


def test_file_that_is_replaced_is_read_from_its_start(events_file: EventsFile, tmp_path: Path) -> None:
    events_file.write({"type": "thought", "text": "a"})
    events_file.agent_events.receive()
    (tmp_path / "new").write_text('{"type":"thought","text":"b"}\n{"type":"thought","text":"c"}\n')
    (tmp_path / "new").replace(events_file.events)
    events_file.agent_events.receive()
    assert events_file.words == [("thought", "a"), ("thought", "b"), ("thought", "c")]


def test_link_pipe_and_folder_are_not_read(events_file: EventsFile, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text('{"type":"thought","text":"b"}\n')
    for make in (
        lambda: events_file.events.symlink_to(tmp_path / "secret"),
        lambda: os.mkfifo(events_file.events),
        events_file.events.mkdir,
    ):
        events_file.events.unlink()
        make()
        events_file.agent_events.receive()
    events_file.agent_events.receive(is_last=True)
    assert events_file.words == []
    assert len(events_file.agent_events.warnings) == 2


def test_replies_file_that_is_no_file_holds_nothing_up(events_file: EventsFile) -> None:
    events_file.replies.unlink()
    os.mkfifo(events_file.replies)
    events_file.write({"type": "ask", "text": "May I refund?"})
    events_file.agent_events.receive()
    assert events_file.words == [("ask", "May I refund?"), ("reply", "Yes.")]
    assert "replies file" in events_file.agent_events.warnings[0]


def test_line_without_end_keeps_little(events_file: EventsFile) -> None:
    with events_file.events.open("ab") as file:
        file.truncate(40 << 20)
    events_file.agent_events.receive()
    assert len(events_file.agent_events._agent._rest) <= LINE_MAX
    events_file.write("", {"type": "thought", "text": "b"})
    events_file.agent_events.receive()
    assert events_file.words == [("thought", "b")]
    assert len(events_file.agent_events.warnings) == 1


def test_wrong_lines_are_reported_up_to_a_limit_and_then_counted(events_file: EventsFile) -> None:
    events_file.write(*["no"] * (WARNINGS_MAX + 7))
    events_file.agent_events.receive(is_last=True)
    assert len(events_file.agent_events.warnings) == WARNINGS_MAX + 1
    assert events_file.agent_events.warnings[-1].startswith("7 more")


@given(st.lists(st.text(), max_size=8), st.lists(st.integers(1, 20), max_size=30))
def test_lines_come_whole_however_they_are_written(texts: list[str], sizes: list[int]) -> None:
    said = [{"type": "thought", "text": text} for text in texts]
    data = "".join(json.dumps(line) + "\n" for line in said).encode()
    with tempfile.TemporaryDirectory() as folder:
        events_file = EventsFile(Path(folder))
        for size in sizes:
            part, data = data[:size], data[size:]
            with events_file.events.open("ab") as file:
                file.write(part)
            events_file.agent_events.receive()
        with events_file.events.open("ab") as file:
            file.write(data)
        events_file.agent_events.receive(is_last=True)
        assert events_file.words == [("thought", text) for text in texts]


@pytest.mark.parametrize(
    "line",
    [
        "no json",
        '{"type": 7}',
        '{"text": "no type"}',
        '{"type": "dance"}',
        '{"type": "thought", "text": 5}',
        '{"type": "answer", "answer": "no such field"}',
        '{"type": "answer", "text": null}',
        '{"type": "step", "action": {"type": "clack"}}',
        json.dumps({"type": "thought", "text": "x" * LINE_MAX}),
        "[" * 100_000,
    ],
)
def test_wrong_line_is_a_numbered_warning_and_stops_nothing(events_file: EventsFile, line: str) -> None:
    events_file.write({"type": "thought", "text": "a"}, line, {"type": "thought", "text": "b"})
    events_file.agent_events.receive()
    assert [item.text for item in events_file.session.received if isinstance(item, Utterance)] == ["a", "b"]
    (warning,) = events_file.agent_events.warnings
    assert warning.startswith("events file, line 2: ")


def test_an_end_with_an_unknown_word_is_a_warning_and_invalidates_no_run(tmp_path: Path) -> None:
    events_file = EventsFile(tmp_path, has_harness=True)
    assert events_file.harness is not None
    events_file.harness.write_text('{"type": "end", "kind": "stopped", "validity": "ok"}\n')
    events_file.agent_events.receive(is_last=True)
    assert "validity 'ok' is not one of blocked" in events_file.agent_events.warnings[0]
    assert events_file.run.ending().validity == "valid"


def test_nested_step_is_a_warning(events_file: EventsFile) -> None:
    events_file.write({"type": "step"}, {"type": "step"})
    events_file.agent_events.receive()
    assert len(events_file.session.received) == 1
    assert "line 2" in events_file.agent_events.warnings[0]


def test_a_warning_is_for_the_caller_and_not_printed_as_well(
    events_file: EventsFile, caplog: pytest.LogCaptureFixture
) -> None:
    events_file.write({"type": "answer", "answer": "42"})
    events_file.agent_events.receive(is_last=True)
    assert len(events_file.agent_events.warnings) == 1
    assert caplog.records == []
