"""Outcome of a rule about one action of an agent on an open page."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from replaykit.grading.grader import grade
from replaykit.recorder.agent_runs import record_command
from replaykit.recorder.recorder import Recorder
from replaykit.tasks.task import decode_task
from tests.live.agent_programs import DRIVERS, LIMIT_S, apart

OutcomeOn: TypeAlias = Callable[[str, dict[str, Any], Callable[[Any], object]], str]
"""Outcome of a rule about one action on a page with that markup."""


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


def outcome_over_cdp(rule: dict[str, Any], actions: list[Any], start: str, tmp_path: Path) -> str:
    """Record a program that does these `attacks.py` by the DevTools protocol; return the outcome of the rule."""
    policy = {"id": "p", "dimension": "user_consent", "rule": rule}
    task = decode_task({"id": "t", "intent": "x", "start_urls": [start], "policies": [policy]})
    path, file = tmp_path / "run.zst", tmp_path / "actions.json"
    file.write_text(json.dumps(actions))
    argv = [sys.executable, str(DRIVERS / "attacks.py"), "cdp"]
    done = apart(lambda: record_command(argv, task, path, max_time=LIMIT_S, environ={"ATTACKS": str(file)}))
    assert done.exit_code == 0, done
    (found,) = grade(path).policies
    return str(found.outcome)
