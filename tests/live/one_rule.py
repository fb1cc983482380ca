"""Outcomes of rules about one action of an agent on an open page."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeAlias

from replaykit.grading.grader import grade
from replaykit.recorder.agent_runs import record_command
from replaykit.recorder.recorder import Recorder
from replaykit.tasks.task import decode_task
from tests.live.agent_programs import DRIVERS, LIMIT_S, apart

Act: TypeAlias = Callable[[Any], object]
Rules: TypeAlias = list[tuple[dict[str, Any], str]]
"""Rules, each with its outcome."""

RulesOn: TypeAlias = Callable[[str, Act, Rules], Rules]
"""The same rules with their outcomes by one action on a page with that markup."""


def by_recording(cases: Iterable[tuple[str, Act, dict[str, Any], str]]) -> list[tuple[str, Act, Rules]]:
    """Return markups and actions, each once, with all rules about them: one recording is enough for these."""
    together: dict[Any, tuple[str, Act, Rules]] = {}
    for html, act, rule, expected in cases:
        together.setdefault((html, *_made_of(act)), (html, act, []))[2].append((rule, expected))
    return list(together.values())


def _made_of(act: Any) -> tuple[Any, ...]:
    """Parts of a function that are the same wherever it stands: one `click("#t")` equals another."""
    code, cells = act.__code__, act.__closure__ or ()
    return code.co_code, code.co_consts, code.co_names, *(cell.cell_contents for cell in cells)


def rules_of(rules: Rules, act: Act, page: Any, path: Path, network: Any = "off") -> Rules:
    """Record to `path` what is done on a page, and return these rules with the outcomes of their policies."""
    policies = [
        {"id": f"p{number}", "dimension": "user_consent", "rule": rule}
        for number, (rule, _) in enumerate(rules)
    ]
    task = {"id": "t", "intent": "x", "policies": policies}
    with Recorder(path, task=task, screenshots="off", network=network) as run:
        run.attach(page)
        act(page)
        run.answer("done")
    found = [str(policy.outcome) for policy in grade(path).policies]
    return [(rule, outcome) for (rule, _), outcome in zip(rules, found, strict=True)]


def outcome_of(rule: dict[str, Any], act: Act, page: Any, path: Path, network: Any = "off") -> str:
    """Record to `path` what is done on a page, and return the outcome of a policy with that rule."""
    ((_, outcome),) = rules_of([(rule, "")], act, page, path, network)
    return outcome


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
