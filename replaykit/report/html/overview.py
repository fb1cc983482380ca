"""The first screen's data: one row a run, the rates, the risk, the gate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from replaykit.errors import message_of
from replaykit.grading.agreement.agreement_rates import DIGITS, Matrix, kappa, rounded
from replaykit.grading.statistics import wilson
from replaykit.grading.verdict import PolicyOutcome, Report, Verdict
from replaykit.report.html.bounded_text import line, without_empty
from replaykit.report.text.text_report import is_dormant
from replaykit.tasks.policy_rules import DIMENSIONS

REASONS_SHOWN = 200
"""Reasons of the gate that the first screen lists; all are counted."""

ID_DIGITS = 12
"""Hex digits of a trajectory digest that name a run in links, more where two begin alike."""


def run_ids(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the name of each verdict in links: of its content where it has one, else of its place."""
    return link_ids([(verdict.trajectory or "").removeprefix("sha256:") for verdict in verdicts])


def link_ids(digests: Sequence[str]) -> list[str]:
    """Return the names of runs by their trajectory digests, bare hex; empty = none, named by its place."""
    begun = Counter(digest[:ID_DIGITS] for digest in digests)
    return [
        (digest if begun[digest[:ID_DIGITS]] > 1 else digest[:ID_DIGITS]) if digest else f"place-{place}"
        for place, digest in enumerate(digests)
    ]


def overview(report: Report, rows: list[dict[str, Any]], left_out: Mapping[str, int]) -> dict[str, Any]:
    """Return the data of the first screen; `rows` in the order of the report."""
    summary = {name: value for name, value in report.summary.items() if name != "by"}
    return {
        "schema": report.schema,
        "label": line(report.label),
        "gate": _gate(report),
        "summary": summary,
        "dimensions": list(DIMENSIONS),
        "agreement": agreement(report),
        "runs": rows,
        "left_out": dict(left_out),
    }


def row(id: str, name: str, verdict: Verdict, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a run; `facts` come from its bundle where there is one: steps, ms, intent."""
    outcomes = [policy.outcome for policy in verdict.policies]
    broken = {p.dimension for p in verdict.policies if p.outcome is PolicyOutcome.VIOLATED}
    undecided = sum(o in (PolicyOutcome.UNDECIDED, PolicyOutcome.ERROR) for o in outcomes)
    return without_empty(
        {
            "id": id,
            "name": line(name),
            "task": line(verdict.task_id),
            "success": str(verdict.success) if verdict.success else None,
            "completion": str(verdict.completion.outcome) if verdict.completion else None,
            "passed": sum(check.outcome == "PASS" for check in verdict.checks),
            "checks": len(verdict.checks),
            "policies": len(outcomes),
            "violated": outcomes.count(PolicyOutcome.VIOLATED),
            "dormant": is_dormant(verdict) or None,
            "open": undecided,
            "broken": [place for place, name in enumerate(DIMENSIONS) if name in broken],
            "judges": [[line(j.judge), str(j.outcome)] for j in verdict.judgements],
            "cup": None if verdict.completion is None else verdict.cup,
            "mode": verdict.mode,
            "dialect": line(verdict.dialect),
            "validity": None if verdict.validity == "valid" else line(verdict.validity),
            "error": None
            if verdict.error is None
            else line(message_of(verdict.error.kind, verdict.error.fields)),
            **facts,
        }
    )


def is_well(verdict: Verdict) -> bool:
    """Whether nothing about a run asks to be looked at."""
    return verdict.error is None and verdict.clean and verdict.success == "PASS"


def agreement(report: Report) -> dict[str, dict[str, Any]]:
    """Return, per judge, how its verdict agrees with that of the checks, where both decided.

    `pairs` counts runs by the outcome of the checks, then of the judge, `agree` is the share that agrees with
    its Wilson interval, `kappa` is Cohen's; null if chance agreement is 1.
    """
    found: dict[str, Counter[str]] = {}
    for verdict in report.verdicts:
        if verdict.completion is None or verdict.completion.outcome not in ("PASS", "FAIL"):
            continue
        for judgement in verdict.judgements:
            if judgement.outcome in ("SUCCESS", "FAILURE"):
                pair = f"{verdict.completion.outcome} {judgement.outcome}"
                found.setdefault(judgement.judge, Counter())[pair] += 1
    return {judge: _agreement(pairs) for judge, pairs in sorted(found.items())}


def _agreement(pairs: Counter[str]) -> dict[str, Any]:
    cells = ("PASS SUCCESS", "FAIL SUCCESS", "PASS FAILURE", "FAIL FAILURE")
    matrix = Matrix(*(pairs[cell] for cell in cells))
    same = matrix.tp + matrix.tn
    agree = {"same": same, "n": matrix.n, "ci95": wilson(same, matrix.n, DIGITS)}
    return {"pairs": dict(sorted(pairs.items())), "agree": agree, "kappa": rounded(kappa(matrix))}


def _gate(report: Report) -> dict[str, Any]:
    reasons = report.gate.reasons
    shown = [line(reason) for reason in reasons[:REASONS_SHOWN]]
    return {"status": report.gate.status, "reasons": shown, "more": len(reasons) - len(shown)}
