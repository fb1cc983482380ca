"""Texts of an agent: a call with anything else fails, and the recording itself goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.errors import TaskError, UsageError
from replaykit.recorder.recorder import Recorder
from replaykit.trajectory.scalars import Threw

WRONG: dict[str, Callable[[Any], object]] = {
    "answer: expected str, found int": lambda run: run.answer(42),
    "thought: expected str, found NoneType": lambda run: run.thought(None),
    "say: expected str, found list": lambda run: run.message(["a"]),
    "reply: expected str, found bool": lambda run: run.reply(True),
    "approved: expected bool, found str": lambda run: run.ask("May I?", "Go on.", "yes"),
    "thought: expected str, found float": lambda run: run.enter("noop()", 1.5),
    "not an action: 7": lambda run: run.enter(7),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_is_no_text_fails_its_call_and_nothing_else(tmp_path: Path, words: str) -> None:
    with Recorder(tmp_path / "run.zst") as run:
        run.thought("before")
        with pytest.raises(UsageError, match=words):
            WRONG[words](run)
        run.answer("tin")
    with open_bundle(tmp_path / "run.zst") as bundle:
        ending = bundle.trajectory.ending
    assert ending is not None
    assert (ending.kind, ending.answer, ending.thought) == ("answered", "tin", "before")


def test_an_end_s_error_may_be_words(tmp_path: Path) -> None:
    with Recorder(tmp_path / "run.zst") as run:
        run.end("crashed", error="out of money")
    with open_bundle(tmp_path / "run.zst") as bundle:
        ending = bundle.trajectory.ending
    assert ending is not None
    assert ending.error == Threw(name="Error", message="out of money")


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (Exception("Page.click: Connection closed while reading from the driver"), "browser"),
        (Exception("Connection closed by the bank"), "agent"),
        (ValueError("Connection closed while reading from the driver"), "agent"),
    ],
)
def test_who_ended_a_run_whose_driver_died(tmp_path: Path, error: Exception, cause: str) -> None:
    """Playwright before 1.65 raises a plain Exception where its process ends."""

    def work() -> None:
        with Recorder(tmp_path / "run.zst"):
            raise error

    with pytest.raises(type(error)):
        work()
    with open_bundle(tmp_path / "run.zst") as bundle:
        ending = bundle.trajectory.ending
    assert ending is not None
    assert (ending.kind, ending.cause) == ("crashed", cause)


def test_a_task_as_plain_text_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="cannot read the task file"):
        Recorder(tmp_path / "run.zst", task="Open the shop.")
    assert not list(tmp_path.iterdir())
