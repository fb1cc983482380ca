"""Leaderboard submissions of ST-WebAgentBench: runs graded in compat mode, bound by hashes to their verdicts.

The hashes are those of its own tools: Python's JSON, keys sorted, no blanks, everything beyond ASCII escaped.
`1` and `1.0` differ. A submission cannot say "unknown": what is undecided is refused.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import CannotExport, InteropError
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import grade
from replaykit.grading.peers.stwebagentbench.peer_metrics import peer_summary, read_reports
from replaykit.grading.peers.stwebagentbench.peer_run import StepView
from replaykit.grading.peers.stwebagentbench.policy_evaluators import eval_type
from replaykit.grading.peers.stwebagentbench.recorded_view import RecordedStep, RecordedSteps
from replaykit.grading.run_scores import items_of
from replaykit.grading.verdict import Outcome, PolicyOutcome, PolicyResult, Verdict
from replaykit.replay.player import Replay
from replaykit.tasks.policy_rules import Stwab
from replaykit.tasks.suite import Suite
from replaykit.tasks.task import Task

SIGNING_KEY = "ST_BENCH_SIGNING_KEY"
"""Environment variable of the key that signs a manifest; it is read from nowhere else."""

ARTIFACTS = {
    "evaluators_sha256": "stwebagentbench/evaluation_harness/evaluators.py",
    "task_config_sha256": "stwebagentbench/test.raw.json",
    "custom_env_sha256": "stwebagentbench/browser_env/custom_env.py",
    "helper_functions_sha256": "stwebagentbench/evaluation_harness/helper_functions.py",
}
"""Files of the benchmark whose digests a manifest holds, by field."""

LISTED_MAX = 10
"""Policies that a refusal names."""


class SubmissionOptions(Struct, frozen=True, kw_only=True):
    """Metadata of a submission."""

    metadata: dict[str, Any]
    """`agent_id model_name team code_repository_url contact_email` and more, as the leaderboard asks."""
    benchmark: str | None = None
    """Checkout of the benchmark, for the digests of its files; without one they are empty."""
    benchmark_version: str = "1.0.0"
    """Version of the benchmark."""
    date: str | None = None
    """RFC 3339; default: now."""
    run_id: str | None = None
    """Name of the evaluation; default: a new one."""
    fail_closed: bool = False
    """Policies that could not be decided are exported as violated, and listed."""


class Submission(Struct, frozen=True, kw_only=True):
    """A submission, and what was made of what it cannot say."""

    plain: dict[str, Any]
    """Ready for JSON."""
    closed: tuple[str, ...] = ()
    """Policies exported as violated because the result is unknown: `TASK POLICY`."""


def build_submission(sources: Iterable[str | Path], suite: Suite, options: SubmissionOptions) -> Submission:
    """Grade bundles as the benchmark does and put them into one submission, in the order of their tasks.

    Several runs of one task count towards all-pass@k; the first is the evidence. Raises `CannotExport` for a
    policy that is undecided or could not be graded, `UnknownTask` for a run of no task of the file.
    """
    graded = [_graded(str(source), suite, options) for source in sources]
    graded.sort(key=lambda row: int(row[0]["task_id"]))
    first = list({row[0]["task_id"]: row[0] for row in reversed(graded)}.values())[::-1]
    verdicts = [verdict for _, verdict, _ in graded]
    closed = tuple(name for _, _, names in graded for name in names)
    plain = {
        "schema_version": "1.0",
        "benchmark_version": options.benchmark_version,
        "submission_date": options.date or datetime.now(UTC).isoformat(),
        "metadata": {**options.metadata, "num_runs": max(1, _runs(verdicts))},
        "results": _results(first, verdicts, suite),
        "task_evidence": first,
        "integrity": _integrity(first, options),
    }
    return Submission(plain=plain, closed=closed)


def trajectory_hash(
    task_id: int, actions: Sequence[Mapping[str, Any]], reports: Sequence[Mapping[str, Any]], reward: float
) -> str:
    """Return the hash that binds actions, safety report and reward of one task."""
    return data_hash({
        "task_id": task_id,
        "action_sequence": [
            {"step": n, "action_type": one.get("action_type", ""), "action_args": one.get("action_args", [])}
            for n, one in enumerate(actions)
        ],
        "safety_report": [
            {
                "violated": bool(report.get("violated", False)),
                "dormant": bool(report.get("dormant", False)),
                "violating_step": report.get("violating_step"),
                "eval_type": report.get("eval_type"),
            }
            for report in reports
        ],
        "total_reward": reward,
    })  # fmt: skip


def data_hash(data: Any) -> str:
    """Return the sha256 of data as the benchmark writes it."""
    return hashlib.sha256(_canonical(data)).hexdigest()


def seal_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest with its hash and, where the environment holds a key, its signature."""
    open_ = {
        name: value for name, value in manifest.items() if name not in ("manifest_hash", "hmac_signature")
    }
    key = os.environ.get(SIGNING_KEY, "").strip()
    signature = hmac.new(key.encode(), _canonical(open_), hashlib.sha256).hexdigest() if key else None
    return {**open_, "manifest_hash": data_hash(open_), "hmac_signature": signature}


def _canonical(data: Any) -> bytes:
    return json.dumps(data, sort_keys=True, separators=(",", ":"), default=str).encode()


def _graded(
    source: str, suite: Suite, options: SubmissionOptions
) -> tuple[dict[str, Any], Verdict, list[str]]:
    with open_bundle(source) as bundle:
        verdict = grade(bundle, options=GradeOptions(suite=suite, mode="compat"))
        task = suite.task(verdict.task_id, source)
        closed = [f"{task.id} {p.id}" for p in verdict.policies if _is_open(p)]
        if closed and not options.fail_closed:
            more = f" and {len(closed) - LISTED_MAX} more" if len(closed) > LISTED_MAX else ""
            raise CannotExport(
                format="stwab-submission",
                source=Path(source).name,
                missing=f"it has no value for unknown: {', '.join(closed[:LISTED_MAX])}{more}",
                advice="Record what is missing, or export them as violated (fail_closed).",
            )
        if closed:
            verdict = replace(verdict, policies=tuple(_closed(p) for p in verdict.policies))
        return _evidence(bundle, task, verdict), verdict, closed


def _is_open(policy: PolicyResult) -> bool:
    return policy.outcome in (PolicyOutcome.UNDECIDED, PolicyOutcome.ERROR)


def _closed(policy: PolicyResult) -> PolicyResult:
    return replace(policy, outcome=PolicyOutcome.VIOLATED) if _is_open(policy) else policy


def _evidence(bundle: Bundle, task: Task, verdict: Verdict) -> dict[str, Any]:
    if not task.id.isdigit():
        raise InteropError(source=bundle.name, what=f"task ids are numbers, found {task.id!r}")
    steps = RecordedSteps(Replay(bundle), _ignore)
    began = _began(bundle)
    actions = [_action(n, step, began) for n, step in enumerate(steps.listed)]
    reports = _reports(task, verdict)
    reward = verdict.completion.score if verdict.completion is not None else 1.0
    items = [outcome for check in verdict.checks if check.type != "url_match" for outcome in items_of(check)]
    seen = [url for action in actions for url in (action["observed_url"], *action["open_pages_urls"])]
    last = max((event.t or 0 for event in bundle.trajectory.events if hasattr(event, "t")), default=0)
    return {
        "task_id": int(task.id),
        "total_reward": reward,
        "satisfied_requirements": sum(outcome is Outcome.PASS for outcome in items),
        "total_requirements": max(1, len(items)),
        "safety_report": reports,
        "action_sequence": actions,
        "visited_urls": sorted({url for url in seen if url}),
        "start_time": began.isoformat(),
        "end_time": (began + timedelta(milliseconds=last)).isoformat(),
        "num_steps": len(actions),
        "trajectory_hash": trajectory_hash(int(task.id), actions, reports, reward),
    }


def _ignore(code: str) -> None:
    """Ignore missing evidence: what matters for a verdict was refused before."""


def _began(bundle: Bundle) -> datetime:
    created = bundle.header.created
    return datetime.fromisoformat(created) if created else datetime.fromtimestamp(0, UTC)


def _action(number: int, step: StepView, began: datetime) -> dict[str, Any]:
    recorded = step.step if isinstance(step, RecordedStep) else None
    late = (recorded.t or 0) if recorded is not None else 0
    return {
        "step": number,
        "action_type": step.type,
        "action_args": [str(arg) for arg in step.args],
        "element_text": step.text,
        "element_bid": step.bid,
        "observed_url": step.url,
        "open_pages_urls": list(step.tabs),
        "timestamp": (began + timedelta(milliseconds=late)).timestamp(),
    }


def _reports(task: Task, verdict: Verdict) -> list[dict[str, Any]]:
    """Return what the benchmark's tools read of each policy, by position."""
    given = [policy.peer or {} for policy in verdict.policies if policy.reason != "no_eval"]
    found = []
    for place, (policy, read) in enumerate(
        zip(verdict.policies, read_reports(verdict.policies), strict=True)
    ):
        rule = task.policies[policy.index].rule
        record = rule.record if isinstance(rule, Stwab) else {}
        peer = given[place] if place < len(given) else {}
        peer = {"eval_type": eval_type(record), **peer}
        shown = {name: peer.get(name) for name in ("violating_step", "violating_action", "eval_type")}
        found.append({
            "policy_index": policy.index,
            "policy_template_id": record.get("policy_template_id", ""),
            "policy_category": policy.dimension,
            "source": policy.source,
            "violated": read.violated,
            "dormant": read.dormant,
            **shown,
        })  # fmt: skip
    return found


def _runs(verdicts: Sequence[Verdict]) -> int:
    seen = [verdict.task_id for verdict in verdicts]
    return max((seen.count(task) for task in set(seen)), default=0)


def _results(first: Sequence[Mapping[str, Any]], verdicts: Sequence[Verdict], suite: Suite) -> dict[str, Any]:
    found = peer_summary(verdicts, suite.tasks)
    by = found.get("by", {})
    single = found["k"] < 2
    return {
        "metrics": {
            **_rates(found),
            "all_pass_at_k": None if single else found["all_pass_at_k"],
            "k": None if single else found["k"],
        },
        "dimensions": [_dimension(name, risk) for name, risk in found["risk"].items()],
        "tiers": [{"tier": name, **_rates(group)} for name, group in by.get("tier", {}).items()] or None,
        "apps": [
            {"app": name, "CR": group["CR"], "CuP": group["CuP"], "task_count": group["n"]}
            for name, group in by.get("app", {}).items()
        ]
        or None,
        "tasks_evaluated": len(first),
        "tasks_total": len(suite.tasks),
        "policies_evaluated": sum(len(evidence["safety_report"]) for evidence in first),
    }


def _rates(found: Mapping[str, Any]) -> dict[str, float]:
    return {
        "CR": found["CR"],
        "CuP": found["CuP"],
        "semi_CR": found["semi_cr_published"],
        "semi_CuP": found["semi_cup_published"],
    }


def _dimension(name: str, risk: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "dimension": name,
        "failures": risk["violations"],
        "total_instances": risk["policies"],
        "active_instances": risk["active"],
        "dormant_count": risk["dormant"],
        "risk_ratio": risk["ratio"],
        "active_risk_ratio": risk["active_ratio"],
        "risk_tier": risk["tier"],
        "active_risk_tier": risk["active_tier"],
    }


def _integrity(first: Sequence[Mapping[str, Any]], options: SubmissionOptions) -> dict[str, Any]:
    starts = [datetime.fromisoformat(evidence["start_time"]).timestamp() for evidence in first]
    ends = [datetime.fromisoformat(evidence["end_time"]).timestamp() for evidence in first]
    manifest = {
        "run_id": options.run_id or str(uuid.uuid4()),
        "benchmark_version": options.benchmark_version,
        "timestamp_start": min(starts, default=0.0),
        "timestamp_end": max(ends, default=0.0),
        **{name: _digest(options.benchmark, path) for name, path in ARTIFACTS.items()},
        "task_hashes": {str(evidence["task_id"]): evidence["trajectory_hash"] for evidence in first},
    }
    return seal_manifest(manifest)


def _digest(root: str | None, path: str) -> str:
    if root is None:
        return ""
    try:
        return hashlib.sha256((Path(root) / path).read_bytes()).hexdigest()
    except OSError as error:
        raise InteropError(source=root, what=f"cannot read {path}: {error.strerror}") from error
