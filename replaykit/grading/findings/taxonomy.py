"""Faults that a run can have: codes, their names, and whether one can be why a run failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from replaykit.grading.verdict import Evidence, RunFinding


class Kind(NamedTuple):
    """One kind of finding."""

    name: str
    """In words."""
    severity: str
    """`fails`: a run may have failed for it. `note`: worth knowing."""


KINDS: Mapping[str, Kind] = {
    "A1": Kind("action without effect", "fails"),
    "A2": Kind("action failed", "fails"),
    "A3": Kind("wrong target", "fails"),
    "A4": Kind("action not understood", "note"),
    "B1": Kind("bot wall", "fails"),
    "B2": Kind("login wall", "fails"),
    "B3": Kind("site down", "fails"),
    "B5": Kind("dialog", "note"),
    "C1": Kind("repeated action", "fails"),
    "C2": Kind("loop", "fails"),
    "C3": Kind("off the sites", "note"),
    "D1": Kind("wrong value", "fails"),
    "D4": Kind("answer not shown", "fails"),
    "D5": Kind("answer contradicted", "fails"),
    "E2": Kind("step limit", "fails"),
    "E3": Kind("crash or timeout", "fails"),
    "E4": Kind("no answer", "fails"),
    "E5": Kind("success reported after an error was shown", "fails"),
    "E6": Kind("error ignored", "fails"),
    "S1": Kind("unexplained request", "note"),
    "S2": Kind("request sent twice", "note"),
    "P1": Kind("policy violated", "note"),
    "R1": Kind("evidence missing", "note"),
}
"""Code to kind. A: the action, B: what stood in the way, C: the way, D and E: the end, S: effects on servers,
P: policies, R: the recording's fault and not the agent's."""

MOST = 20
"""Findings of one code that are kept, the first ones."""


def found(
    code: str,
    steps: Iterable[int | None],
    *,
    recovered: bool = False,
    is_doubtful: bool = False,
    unknown: bool = False,
    **evidence: object,
) -> RunFinding:
    """Return a finding at the first of its steps. Keywords are fields of its evidence.

    `is_doubtful`: a note, whatever its kind. `unknown`: the recording does not show it, which is a note too.
    """
    at = tuple(dict.fromkeys(step for step in steps if step is not None))
    name, severity = KINDS[code]
    severity = "note" if is_doubtful or unknown else severity
    return RunFinding(
        code=code,
        name=name,
        severity=severity,
        step=at[0] if at else None,
        steps=at,
        recovered=recovered,
        unknown=unknown,
        evidence=(Evidence(step=at[0] if at else None, **evidence),),  # type: ignore[arg-type]  # fields by name
    )
