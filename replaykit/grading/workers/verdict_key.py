"""What a verdict depends on beside the bundle."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from replaykit.grading.grader import Case
from replaykit.grading.verdict import SEMANTICS
from replaykit.replay.offline_page.chromium_tier import version_of


def grader_digest(case: Case) -> str:
    """Return `sha256:` of what a verdict depends on beside the bundle: task, rules, judges, their tape."""
    task, panel, options = case.task, case.panel, case.options
    says = {
        "semantics": SEMANTICS,
        "mode": panel.mode,
        "dialect": task.dialect,
        "task": task.digest,
        "judge_mode": panel.how,
        "judges": msgspec.to_builtins(panel.settings),
        "tape": _digest_of(panel.tape) if panel.how != "off" else None,
        "compose": options.compose or task.compose,
        "thresholds": options.thresholds.digest if options.thresholds is not None else None,
        "require_strong": options.require_strong,
        "require_proof": options.require_proof,
        "verifiers": options.verifiers is not None,
        "replay": options.replay,
        "browser": version_of(options.replay),
    }
    return _sha256(msgspec.json.encode(says, order="sorted"))


def _digest_of(path: Path) -> str | None:
    try:
        return _sha256(path.read_bytes())
    except OSError:
        return None


def _sha256(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()
