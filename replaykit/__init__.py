"""Record a web agent's run once into one file, then grade it forever, offline.

::

    with replaykit.Recorder("run.zst", task=task) as run:   # live page -> bundle
        page = run.attach(page)
        ...
    with replaykit.open_bundle("run.zst") as bundle:        # bundle -> verdict, no browser, no network
        verdict = replaykit.grade(bundle)
    report = replaykit.grade_many(["run.zst"])              # many bundles -> rates with their counts
    replaykit.write_report(report, "report.json")
"""

from __future__ import annotations

import importlib
import threading

TYPE_CHECKING = (
    False  # what checkers of types take for True; importing `typing` takes longer than all of this
)

if TYPE_CHECKING:
    from typing import Any

    from replaykit.browser import find_browser
    from replaykit.bundle.extraction import extract
    from replaykit.bundle.reader import Bundle, open_bundle
    from replaykit.bundle.verification import verify
    from replaykit.bundle.writer import salvage, seal
    from replaykit.errors import (
        BundleError,
        EngineError,
        InteropError,
        JudgeError,
        MissingExtra,
        RecorderError,
        ReplayError,
        ReplaykitError,
        TapeError,
        TaskError,
        UsageError,
    )
    from replaykit.grading.agreement.calibration import agree
    from replaykit.grading.checks.check_plugins import CheckFunction
    from replaykit.grading.checks.requirement import Ruling
    from replaykit.grading.engine import build_report, grade_many, iter_grades
    from replaykit.grading.grade_options import GradeOptions
    from replaykit.grading.grader import grade, grade_async
    from replaykit.grading.judge_runs.judge_run import plan_judges, run_judges
    from replaykit.grading.judges.judge_interface import Judge
    from replaykit.grading.judges.tape.packed_tape import pack
    from replaykit.grading.metrics import summarize
    from replaykit.grading.policies.policy_plugins import PolicyFunction
    from replaykit.grading.policies.rule_finding import Finding
    from replaykit.grading.policy_trials import try_policies
    from replaykit.grading.untrusted_text import mark_untrusted
    from replaykit.grading.verdict import Evidence, Outcome, PolicyOutcome, Report, Verdict
    from replaykit.grading.workers.ray_executor import RayExecutor
    from replaykit.grading.workers.shards import read_rows
    from replaykit.grading.workers.stored_verdicts import merge
    from replaykit.http_replay.http_server import serve
    from replaykit.interop.bundle_export import export_run
    from replaykit.interop.run_import import import_run
    from replaykit.recorder.recorder import AsyncRecorder, Recorder
    from replaykit.redaction.bundle_redaction import redact
    from replaykit.replay.offline_page.offline_page import OfflinePage
    from replaykit.replay.player import Replay
    from replaykit.report.explanation import explain
    from replaykit.report.report_diff import diff
    from replaykit.report.report_output import render, write_report
    from replaykit.reruns.live_rerun import rerun
    from replaykit.tasks.suite import Suite, load_policies, load_suite, load_tasks
    from replaykit.tasks.task import AgentTask, Task

__all__ = [
    "AgentTask",
    "AsyncRecorder",
    "Bundle",
    "BundleError",
    "CheckFunction",
    "EngineError",
    "Evidence",
    "Finding",
    "GradeOptions",
    "InteropError",
    "Judge",
    "JudgeError",
    "MissingExtra",
    "OfflinePage",
    "Outcome",
    "PolicyFunction",
    "PolicyOutcome",
    "RayExecutor",
    "Recorder",
    "RecorderError",
    "Replay",
    "ReplayError",
    "ReplaykitError",
    "Report",
    "Ruling",
    "Suite",
    "TapeError",
    "Task",
    "TaskError",
    "UsageError",
    "Verdict",
    "__version__",
    "agree",
    "build_report",
    "diff",
    "explain",
    "export_run",
    "extract",
    "find_browser",
    "grade",
    "grade_async",
    "grade_many",
    "import_run",
    "iter_grades",
    "load_policies",
    "load_suite",
    "load_tasks",
    "mark_untrusted",
    "merge",
    "open_bundle",
    "pack",
    "plan_judges",
    "read_rows",
    "redact",
    "render",
    "rerun",
    "run_judges",
    "salvage",
    "seal",
    "serve",
    "summarize",
    "try_policies",
    "verify",
    "write_report",
]

__version__ = "0.1.0"

# Loaded on first use: `import replaykit` costs what is asked of it, and never a browser driver.
_NAMES = {
    "browser": "find_browser",
    "bundle.extraction": "extract",
    "bundle.reader": "Bundle open_bundle",
    "bundle.verification": "verify",
    "bundle.writer": "salvage seal",
    "errors": "BundleError EngineError InteropError JudgeError MissingExtra RecorderError ReplayError "
    "ReplaykitError TapeError TaskError UsageError",
    "grading.agreement.calibration": "agree",
    "grading.checks.check_plugins": "CheckFunction",
    "grading.checks.requirement": "Ruling",
    "grading.engine": "build_report grade_many iter_grades",
    "grading.grade_options": "GradeOptions",
    "grading.grader": "grade grade_async",
    "grading.judge_runs.judge_run": "plan_judges run_judges",
    "grading.judges.judge_interface": "Judge",
    "grading.judges.tape.packed_tape": "pack",
    "grading.metrics": "summarize",
    "grading.policies.policy_plugins": "PolicyFunction",
    "grading.policies.rule_finding": "Finding",
    "grading.policy_trials": "try_policies",
    "grading.untrusted_text": "mark_untrusted",
    "grading.verdict": "Evidence Outcome PolicyOutcome Report Verdict",
    "grading.workers.ray_executor": "RayExecutor",
    "grading.workers.shards": "read_rows",
    "grading.workers.stored_verdicts": "merge",
    "http_replay.http_server": "serve",
    "interop.bundle_export": "export_run",
    "interop.run_import": "import_run",
    "recorder.recorder": "AsyncRecorder Recorder",
    "redaction.bundle_redaction": "redact",
    "replay.offline_page.offline_page": "OfflinePage",
    "replay.player": "Replay",
    "report.explanation": "explain",
    "report.report_diff": "diff",
    "report.report_output": "render write_report",
    "reruns.live_rerun": "rerun",
    "tasks.suite": "Suite load_policies load_suite load_tasks",
    "tasks.task": "AgentTask Task",
}
_HOMES = {name: f"replaykit.{home}" for home, names in _NAMES.items() for name in names.split()}

_TURN = threading.RLock()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'replaykit' has no attribute {name!r}")
    # Threads that enter a circle of imports at different places would wait for each other.
    with _TURN:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
