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

_ERRORS = "replaykit.errors"

# Loaded on first use: `import replaykit` costs what is asked of it, and never a browser driver.
_HOMES = {
    "AgentTask": "replaykit.tasks.task",
    "AsyncRecorder": "replaykit.recorder.recorder",
    "Bundle": "replaykit.bundle.reader",
    "BundleError": _ERRORS,
    "CheckFunction": "replaykit.grading.checks.check_plugins",
    "EngineError": _ERRORS,
    "Evidence": "replaykit.grading.verdict",
    "Finding": "replaykit.grading.policies.rule_finding",
    "GradeOptions": "replaykit.grading.grade_options",
    "InteropError": _ERRORS,
    "Judge": "replaykit.grading.judges.judge_interface",
    "JudgeError": _ERRORS,
    "MissingExtra": _ERRORS,
    "OfflinePage": "replaykit.replay.offline_page.offline_page",
    "Outcome": "replaykit.grading.verdict",
    "PolicyFunction": "replaykit.grading.policies.policy_plugins",
    "PolicyOutcome": "replaykit.grading.verdict",
    "RayExecutor": "replaykit.grading.workers.ray_executor",
    "Recorder": "replaykit.recorder.recorder",
    "RecorderError": _ERRORS,
    "Replay": "replaykit.replay.player",
    "ReplayError": _ERRORS,
    "ReplaykitError": _ERRORS,
    "Report": "replaykit.grading.verdict",
    "Ruling": "replaykit.grading.checks.requirement",
    "Suite": "replaykit.tasks.suite",
    "TapeError": _ERRORS,
    "Task": "replaykit.tasks.task",
    "TaskError": _ERRORS,
    "UsageError": _ERRORS,
    "Verdict": "replaykit.grading.verdict",
    "agree": "replaykit.grading.agreement.calibration",
    "build_report": "replaykit.grading.engine",
    "diff": "replaykit.report.report_diff",
    "explain": "replaykit.report.explanation",
    "export_run": "replaykit.interop.bundle_export",
    "extract": "replaykit.bundle.extraction",
    "find_browser": "replaykit.browser",
    "grade": "replaykit.grading.grader",
    "grade_async": "replaykit.grading.grader",
    "grade_many": "replaykit.grading.engine",
    "import_run": "replaykit.interop.run_import",
    "iter_grades": "replaykit.grading.engine",
    "load_policies": "replaykit.tasks.suite",
    "load_suite": "replaykit.tasks.suite",
    "load_tasks": "replaykit.tasks.suite",
    "mark_untrusted": "replaykit.grading.untrusted_text",
    "merge": "replaykit.grading.workers.stored_verdicts",
    "open_bundle": "replaykit.bundle.reader",
    "pack": "replaykit.grading.judges.tape.packed_tape",
    "plan_judges": "replaykit.grading.judge_runs.judge_run",
    "read_rows": "replaykit.grading.workers.shards",
    "redact": "replaykit.redaction.bundle_redaction",
    "render": "replaykit.report.report_output",
    "rerun": "replaykit.reruns.live_rerun",
    "run_judges": "replaykit.grading.judge_runs.judge_run",
    "salvage": "replaykit.bundle.writer",
    "seal": "replaykit.bundle.writer",
    "serve": "replaykit.http_replay.http_server",
    "summarize": "replaykit.grading.metrics",
    "try_policies": "replaykit.grading.policy_trials",
    "verify": "replaykit.bundle.verification",
    "write_report": "replaykit.report.report_output",
}


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
