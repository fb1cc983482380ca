"""Outcome of a rule about one action of an agent on an open page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from replaykit.grading.grader import grade
from replaykit.recorder.recorder import Recorder


def outcome_of(
    rule: dict[str, Any], act: Callable[[Any], object], page: Any, path: Path, network: Any = "off"
) -> str:
    """Record to `path` what is done on a page, and return the outcome of a policy with that rule."""
    task = {"id": "t", "intent": "x", "policies": [{"id": "p", "dimension": "user_consent", "rule": rule}]}
    with Recorder(path, task=task, screenshots="off", network=network) as run:
        run.attach(page)
        act(page)
        run.answer("done")
    (policy,) = grade(path).policies
    return policy.outcome
