"""Runs in memory, and checks graded over them in both modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from replaykit.grading.checks.check_grading import grade_checks
from replaykit.grading.verdict import CheckResult
from replaykit.replay.player import Replay
from replaykit.tasks.task import decode_task
from replaykit.testing.builder import Builder, trajectory
from replaykit.trajectory.step import Trajectory

S = "http://s.test"


class Recorded:
    """A built run as a replay reads it."""

    def __init__(self, builder: Builder) -> None:
        self.trajectory: Trajectory = builder.build()
        self.blobs = builder.blobs()

    def __contains__(self, id: object) -> bool:
        return id in self.blobs

    def blob(self, id: str) -> bytes:
        return self.blobs[id][1]

    def blob_type(self, id: str) -> str:
        return self.blobs[id][0]


def replay_of(builder: Builder) -> Replay:
    return Replay(Recorded(builder))


@pytest.fixture
def run() -> Callable[..., Builder]:
    def start(**header: Any) -> Builder:
        return trajectory(**{"sites": {"shop": (S,)}, **header})

    return start


@pytest.fixture
def replay() -> Callable[[Builder], Replay]:
    return replay_of


@pytest.fixture
def grade() -> Callable[..., CheckResult]:
    """Grade one check, written as in a file, over a run."""

    def grade_one(run: Builder, check: dict[str, Any], mode: str = "strict", **options: Any) -> CheckResult:
        task = {"id": "t", "intent": "Do it.", "checks": [check]}
        for name in ("dialect", "require_reason", "source_record", "start_urls"):
            if name in options:
                task[name] = options.pop(name)
        (result,) = grade_checks(decode_task(task), replay_of(run), mode, **options)
        return result

    return grade_one
