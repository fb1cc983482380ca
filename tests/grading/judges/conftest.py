"""Runs with pictures, and tapes beside them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaykit.grading.request import ModelReply
from replaykit.replay.player import Replay
from replaykit.tasks.task import Task
from replaykit.testing import trajectory

DIGEST = "d" * 64


class Recorded:
    """A built run as a bundle in memory; counts the pictures that are read."""

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
    """Return a run of so many steps, each with a picture of its own."""
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
def task() -> Task:
    return Task(id="t1", intent="Find the order number.")


@pytest.fixture
def reply() -> Callable[..., ModelReply]:
    def make(text: str, **fields: Any) -> ModelReply:
        made = {"stop_reason": "end_turn", "model": "claude-sonnet-5-5", "origin": "synthetic", **fields}
        return ModelReply(text=text, **made)

    return make


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "run.replies.jsonl"


@pytest.fixture
def replay() -> Callable[[Recorded], Replay]:
    return Replay
