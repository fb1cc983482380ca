from __future__ import annotations

import pytest

from replaykit.bundle import migrate, story
from replaykit.bundle.format import FORMAT_VERSION
from replaykit.bundle.migrate import STEPS, upgrade
from replaykit.trajectory.step import Ending


def test_there_is_a_step_for_every_older_format() -> None:
    assert set(STEPS) == set(range(1, FORMAT_VERSION))


def test_steps_follow_one_another() -> None:
    steps = {
        1: lambda event: event | {"seen": ["1"]},
        2: lambda event: event | {"seen": [*event["seen"], "2"]},
    }
    assert upgrade({"type": "x"}, 1, steps, 3) == {"type": "x", "seen": ["1", "2"]}
    assert upgrade({"type": "x"}, 3, steps, 3) == {"type": "x"}


def test_an_older_format_is_read_through_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    def rename(event: dict) -> dict:
        return {("kind" if key == "outcome" else key): value for key, value in event.items()}

    monkeypatch.setattr(story, "FORMAT_VERSION", 2)
    monkeypatch.setattr(story, "upgrade", lambda event, found: migrate.upgrade(event, found, {1: rename}, 2))
    line = b'{"type":"ending","outcome":"answered"}'
    assert story.decode_line(line, 0, "test", 1) == Ending(kind="answered")
