"""Runs that nothing watched: what only a browser shows is absent, and no absence is proven by it."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from replaykit.bundle.reader import open_bundle
from replaykit.errors import NotAttachable
from replaykit.grading.grader import grade
from replaykit.recorder.recorder import AsyncRecorder, Recorder

TASK: dict[str, Any] = {
    "id": "t",
    "intent": "What is the total?",
    "checks": [
        {"type": "string_match", "exact": "42"},
        {"type": "network", "should_not_exist": True, "expected": {"url": "http://a.test/pay"}},
    ],
    "policies": [
        {
            "id": "p",
            "dimension": "boundary_and_scope_limitation",
            "rule": {"type": "url_boundary", "deny": ["/admin"]},
        }
    ],
}


def record(path: Path) -> None:
    with Recorder(path, task=TASK) as run:
        run.answer("42")


def record_after_an_error(path: Path) -> None:
    with Recorder(path, task=TASK) as run:
        with pytest.raises(NotAttachable):
            run.attach("http://a.test")  # type: ignore[type-var]  # the mistake under test
        run.answer("42")


def record_async(path: Path) -> None:
    async def agent() -> None:
        async with AsyncRecorder(path, task=TASK) as run:
            run.answer("42")

    asyncio.run(agent())


@pytest.mark.parametrize("recorded", [record, record_after_an_error, record_async])
def test_nothing_is_proven_without_a_browser(
    recorded: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "replaykit.recorder")
    recorded(tmp_path / "run.zst")
    assert "nothing was attached" in caplog.text
    with open_bundle(tmp_path / "run.zst") as bundle:
        verdict = grade(bundle)
        channels = bundle.header.channels
    assert [str(check.outcome) for check in verdict.checks] == ["PASS", "UNDECIDED"]
    assert [str(policy.outcome) for policy in verdict.policies] == ["UNDECIDED"]
    assert {name for name, state in channels.items() if state == "recorded"} == {
        "thoughts", "messages", "replies",
    }  # fmt: skip
    assert channels["actions"] == "partial"


@pytest.mark.parametrize("is_used", [True, False])
def test_steps_without_a_block_are_reported(
    is_used: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "replaykit.recorder")
    with Recorder(tmp_path / "run.zst") as run:
        step = run.step("click('a1')")
        if is_used:
            with step:
                pass
    assert ("`run.step(...)` without `with` declares nothing; it was called so 1 times" in caplog.text) is (
        not is_used
    )
