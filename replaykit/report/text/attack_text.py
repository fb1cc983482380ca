"""Effects of attacks on judges, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from replaykit.grading.judge_runs.judge_attacks import AttackResult, Flips
from replaykit.report.text.table import table

_HEAD = [
    "judge", "attack", "n", "missing", "skipped", "immune", "flips", "95 %", "to success", "95 %",
    "stays success", "p", "synthetic",
]  # fmt: skip


def attack_text(results: Sequence[AttackResult]) -> str:
    """Return a row for each judge and attack, and with labels the false positives; ends in a newline."""
    lines = table([_HEAD, *map(_row, results)]) if results else ["nothing asks a model"]
    lines += [
        f"{one.judge} under {one.attack}: false positives {_of(one.false_positives)}, "
        f"without it {_of(one.false_positives_before)}"
        for one in results
        if one.false_positives is not None and one.false_positives_before is not None
    ]
    return "\n".join(lines) + "\n"


def _row(one: AttackResult) -> list[str]:
    return [
        one.judge,
        one.attack,
        str(one.n),
        str(one.n_missing),
        str(one.n_skipped),
        str(one.n_immune),
        _of(one.flipped),
        _interval(one.flipped),
        _of(one.susceptible),
        _interval(one.susceptible),
        _of(one.stays),
        "-" if one.mcnemar_p is None else f"{one.mcnemar_p:.3f}",
        str(one.origins.get("synthetic", 0)),
    ]


def _of(flips: Flips) -> str:
    return f"{flips.flips}/{flips.n}"


def _interval(flips: Flips) -> str:
    return "-" if flips.ci95 is None else f"{flips.ci95[0]:.2f}-{flips.ci95[1]:.2f}"
