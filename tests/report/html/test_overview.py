"""The first screen's data."""

from __future__ import annotations

from msgspec.structs import replace

from replaykit.grading.engine import build_report
from replaykit.grading.verdict import Completion, Gate, Judgement, JudgeOutcome, Outcome, Verdict
from replaykit.report.html.overview import agreement, overview


def seen(checks: str, *judged: str) -> Verdict:
    """A verdict by what the checks and what judges said."""
    completion = Completion(outcome=Outcome(checks), score=0.0, partial_any=False, partial_fraction=0.0)
    judgements = tuple(
        Judgement(judge=f"j{n}", outcome=JudgeOutcome(one), reason="verdict", fingerprint="")
        for n, one in enumerate(judged)
    )
    return Verdict(task_id="t", trajectory=None, suite=None, completion=completion, judgements=judgements)


def test_agreement_counts_where_both_decided() -> None:
    verdicts = [
        *[seen("PASS", "SUCCESS")] * 4, seen("PASS", "FAILURE"), seen("FAIL", "SUCCESS"),
        *[seen("FAIL", "FAILURE")] * 2, seen("PASS", "ABSTAIN"), seen("ERROR", "SUCCESS"), seen("UNDECIDED", "FAILURE"),
    ]  # fmt: skip
    found = agreement(build_report(verdicts))["j0"]
    assert found["pairs"] == {
        "FAIL FAILURE": 2, "FAIL SUCCESS": 1, "PASS FAILURE": 1, "PASS SUCCESS": 4,
    }  # fmt: skip
    assert (found["agree"]["same"], found["agree"]["n"]) == (6, 8)
    low, high = found["agree"]["ci95"]
    assert low < 6 / 8 < high
    # Observed 6/8; by chance 5/8 of 5/8 and 3/8 of 3/8, together 34/64.
    assert found["kappa"] == round((6 / 8 - 34 / 64) / (1 - 34 / 64), 4)


def test_agreement_by_chance_alone_has_no_kappa() -> None:
    assert agreement(build_report([seen("PASS", "SUCCESS", "ABSTAIN")])) == {
        "j0": {
            "pairs": {"PASS SUCCESS": 1},
            "agree": {"same": 1, "n": 1, "ci95": (0.2065, 1.0)},
            "kappa": None,
        }
    }


def test_reasons_of_the_gate_are_all_counted() -> None:
    report = build_report([])
    many = replace(report, gate=Gate(status="failed", reasons=tuple(f"reason {n}" for n in range(700))))
    gate = overview(many, [], {})["gate"]
    assert len(gate["reasons"]) + gate["more"] == 700
    assert gate["reasons"][0] == "reason 0"
