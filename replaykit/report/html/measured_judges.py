"""How judges were measured, for the first screen: under attack, and against people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from replaykit.grading.agreement.calibration_gate import MINIMUM, Measured, missed_minimum
from replaykit.grading.judge_runs.judge_attacks import AttackResult
from replaykit.grading.verdict import Report
from replaykit.report.html.bounded_text import line, without_empty
from replaykit.report.text.attack_text import attack_text

ROWS = 500
"""Attacks and calibrated judges that are shown, each."""


class JudgeMeasures(Struct, frozen=True, kw_only=True):
    """Measurements of judges that stand beside a report."""

    attacks: tuple[AttackResult, ...] = ()
    """Counts of `judge sensitivity --attacks`."""
    calibration: Mapping[str, Measured] = {}
    """Figures of `agree -o`: fingerprint to figures."""


def measured_judges(measures: JudgeMeasures, report: Report) -> dict[str, Any]:
    """Return rows of attacks and calibrations; each marks a judge, by fingerprint, that the report lacks."""
    here = {one.fingerprint for verdict in report.verdicts for one in verdict.judgements}
    attacks = [_attacked(one, is_here=one.fingerprint in here) for one in measures.attacks[:ROWS]]
    known = list(measures.calibration.items())[:ROWS]
    calibrated = [_calibrated(one, is_here=mark in here) for mark, one in known]
    return {name: rows for name, rows in (("attacks", attacks), ("calibration", calibrated)) if rows}


def measured_text(measures: JudgeMeasures) -> str:
    """Return the same in words, for readers without a program; empty where nothing was measured."""
    lines = [attack_text(measures.attacks)] if measures.attacks else []
    lines += [f"{line}\n" for line in _calibrations(measures.calibration)]
    return "".join(lines)


def _attacked(one: AttackResult, *, is_here: bool) -> dict[str, Any]:
    return without_empty(
        {
            "judge": line(one.judge),
            "attack": line(one.attack),
            "danger": line(one.danger),
            "n": one.n,
            "missing": one.n_missing,
            "immune": one.n_immune,
            "flips": [one.flipped.flips, one.flipped.n],
            "success": [one.susceptible.flips, one.susceptible.n],
            "high": one.susceptible.high95,
            "stays": [one.stays.flips, one.stays.n],
            "again": one.beyond_again,
            "synthetic": one.origins.get("synthetic", 0),
            "elsewhere": not is_here,
        }
    )


def _calibrated(one: Measured, *, is_here: bool) -> dict[str, Any]:
    return without_empty(
        {
            "judge": line(one.name),
            "n": one.n,
            "n_pos": one.n_pos,
            "n_neg": one.n_neg,
            "kappa_low": one.kappa_low,
            "fpr_high": one.fpr_high,
            "lacks": [line(lack) for lack in missed_minimum(one, MINIMUM)],
            "synthetic": one.origins.get("synthetic", 0),
            "elsewhere": not is_here,
        }
    )


def _calibrations(known: Mapping[str, Measured]) -> Iterator[str]:
    for one in known.values():
        reached: Sequence[str] = tuple(missed_minimum(one, MINIMUM)) or ("every minimum is reached",)
        yield f"calibration of {line(one.name)}, {one.n} labelled runs: {'; '.join(reached)}"
