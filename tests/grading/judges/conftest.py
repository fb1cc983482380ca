"""Runs with screenshots, and tapes beside them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from replaykit.grading.judges.clients.connection import CALL
from replaykit.grading.judges.judge_evidence import gather
from replaykit.grading.judges.judge_loop import drive
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.model_request import ModelReply, ModelRequest, ReplyFailure
from replaykit.grading.verdict import Judgement
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task
from replaykit.testing import trajectory

DIGEST = "d" * 64


class Recorded:
    """A built run as a bundle in memory; counts the screenshots that are read."""

    def __init__(self, builder: Any) -> None:
        self.trajectory = builder.build()
        self.blobs = builder.blobs()
        self.read: list[str] = []

    def __contains__(self, id: object) -> bool:
        return id in self.blobs

    def blob(self, id: str) -> bytes:
        self.read.append(id)
        return self.blobs[id][1]

    def blob_type(self, id: str) -> str:
        return self.blobs[id][0]


def shots(count: int, answer: str | None = "It is 42.") -> Recorded:
    """Return a run of so many steps, each with a screenshot of its own."""
    built = trajectory().goto("http://shop.test/", "<p>Order 42</p>")
    for number in range(count - 1):
        built.screenshot(colour=(number, 0, 0)).click("#next")
    if count:
        built.screenshot(colour=(250, 0, 0))
    return Recorded(built.answer(answer, kind="answered" if answer is not None else "stopped"))


@pytest.fixture
def recorded() -> Callable[..., Recorded]:
    return shots


@pytest.fixture
def as_bundle() -> Callable[[Any], Recorded]:
    return Recorded


@pytest.fixture
def task() -> Task:
    return Task(id="t1", intent="Find the order number.")


@pytest.fixture
def reply() -> Callable[..., ModelReply]:
    def make(text: str, **fields: Any) -> ModelReply:
        made = {"stop_reason": "end_turn", "model": "claude-sonnet-5-5", "origin": "synthetic", **fields}
        return ModelReply(text=text, **made)

    return make


class Asking:
    """Runs a judge with said replies; keeps its requests."""

    def __init__(self, say: Callable[[ModelRequest], str | ReplyFailure]) -> None:
        self.say = say
        self.requests: list[ModelRequest] = []

    def __call__(self, request: ModelRequest, ordinal: tuple[int, int]) -> ModelReply | ReplyFailure:
        self.requests.append(request)
        said = self.say(request)
        if isinstance(said, ReplyFailure):
            return said
        return ModelReply(text=said, stop_reason="end_turn", model="claude-sonnet-5-5", origin="synthetic")


@pytest.fixture
def ask() -> Callable[..., tuple[Judgement, list[ModelRequest]]]:
    """Return (judgement, requests) of a judge that gets the same replies, or those of a function."""

    def run(bundle: Any, task: Task, say: Any, mode: str = "strict", **settings: Any) -> Any:
        judge = build_judge(JudgeSettings(**settings), mode)
        asking = Asking(say if callable(say) else lambda request: say)
        return drive(judge, gather(task, Replay(bundle), judge.needs), asking), asking.requests

    return run


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "run.replies.jsonl"


@pytest.fixture
def replay() -> Callable[[Recorded], Replay]:
    return Replay


PATIENCE_S = 5.0
"""SDKs ask a dead server twice more within two seconds."""


@pytest.fixture
def retries_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """SDKs ask again without waiting, as often as ever."""
    for sdk in filter(find_spec, ("anthropic", "openai")):
        monkeypatch.setattr(f"{sdk}._base_client.INITIAL_RETRY_DELAY", 0.0)


@pytest.fixture
def sleeps() -> None:
    """For a test whose server asks for an hour: its call sleeps from then on, and draws no more."""


@pytest.fixture(autouse=True)
def calls_end_with_their_test(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Wait for calls that met their deadline: SDKs draw random waits, which Hypothesis forbids at the same time."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before if "sleeps" not in request.fixturenames else ():
        if thread.name == CALL:
            thread.join(PATIENCE_S)
