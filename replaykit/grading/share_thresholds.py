"""Verdicts by a share of votes, members or rubric weight; no verdict between two thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from msgspec import UNSET, Struct
from msgspec.structs import replace

from replaykit.errors import JudgeError
from replaykit.grading.verdict import Judgement, JudgeOutcome

BELOW = "below_threshold"
"""Reason of an ABSTAIN between both thresholds."""

PROCESS_PARTS = 20
"""Steps between thresholds of a process score, which has no steps of its own."""

S, F, A = JudgeOutcome.SUCCESS, JudgeOutcome.FAILURE, JudgeOutcome.ABSTAIN


class Share(NamedTuple):
    """How much speaks for a success, from 0 to 1."""

    low: Fraction
    """Where what was not decided speaks against it."""
    high: Fraction
    """Where what was not decided speaks for it."""
    parts: int
    """Thresholds are multiples of one over this number."""


class ShareThresholds(Struct, frozen=True, kw_only=True):
    """Thresholds between which a judge abstains."""

    accept: str | None = None
    """Fraction such as `2/3`; a share of at least this is a SUCCESS; null = never."""
    reject: str | None = None
    """Fraction; a share of at most this is a FAILURE; null = never."""


class ThresholdFile(Struct, frozen=True, kw_only=True):
    """The thresholds of a calibration."""

    name: str
    """File name, without its folder."""
    digest: str
    """Digest of the file, `sha256:...`."""
    judges: Mapping[str, ShareThresholds]
    """Fingerprint of each judge to its thresholds."""
    rubrics: Mapping[str, Mapping[str, tuple[str, ...]]] = {}
    """Fingerprint to task to the digests of the criteria by which its labelled runs were judged."""

    def check_judge(self, judge: str, fingerprint: str) -> ShareThresholds:
        """Return the thresholds of a judge. Raises JudgeError for a judge without thresholds in the file."""
        known = self.judges.get(fingerprint)
        if known is None:
            raise JudgeError(what=_unknown(judge, fingerprint, self))
        return known

    def check_rubric(self, judge: str, fingerprint: str, task: str, basis: str | None) -> None:
        """Raise JudgeError for other criteria of a task than the calibrated ones; None = not known yet."""
        known = self.rubrics.get(fingerprint, {}).get(task)
        if known is not None and basis not in known:
            raise JudgeError(what=_other_rubric(judge, task, basis, known))


def share_of(one: Judgement) -> Share | None:
    """Return the share of a judgement: of a panel's members, else of its votes, else of the process score.

    None where it has none, or could not be asked. A process score never makes a verdict: it only takes one
    back. A veto speaks against everything, and nothing speaks for a success while a member is missing.
    """
    if one.outcome not in (S, F, A):
        return None
    if one.members is not UNSET:
        outcomes = [str(member["outcome"]) for member in one.members]
        return _of_panel(outcomes, is_vetoed=one.reason == "veto")
    if len(one.votes) > 1:
        return _counted(one.votes)
    return _of_process(one)


def by_thresholds(one: Judgement, file: ThresholdFile, task: str) -> Judgement:
    """Return the judgement that the thresholds of its judge give.

    Raises JudgeError for a judge that the file has no thresholds of, and for one that judged the task by
    other criteria than the calibrated ones.
    """
    if one.outcome is JudgeOutcome.NOT_EVALUATED:
        return one
    known = file.check_judge(one.judge, one.fingerprint)
    for digest in one.bases:
        file.check_rubric(one.judge, one.fingerprint, task, digest)
    basis = " ".join(filter(None, (one.rubric, f"calibration:{file.digest}")))
    share = share_of(one)
    if share is None:
        return replace(one, basis=basis)
    outcome = _decided(share, known)
    reason = one.reason if outcome is one.outcome else BELOW if outcome is A else "threshold"
    kept = {
        "low": float(share.low),
        "high": float(share.high),
        "accept": known.accept,
        "reject": known.reject,
        "was": str(one.outcome),
    }
    return replace(one, outcome=outcome, reason=reason, basis=basis, share=kept)


def _of_panel(outcomes: Sequence[str], *, is_vetoed: bool) -> Share:
    found = _counted(outcomes)
    low = Fraction(0) if is_vetoed or JudgeOutcome.ERROR in outcomes else found.low
    return Share(low, Fraction(0) if is_vetoed else found.high, found.parts)


def _counted(outcomes: Sequence[str]) -> Share:
    n = len(outcomes)
    return Share(Fraction(outcomes.count(S), n), 1 - Fraction(outcomes.count(F), n), n)


def _of_process(one: Judgement) -> Share | None:
    if one.process is UNSET:
        return None
    score, upper = one.process["score"], one.process["upper"]
    low = Fraction(str(score)) if one.outcome is S and score is not None else Fraction(0)
    high = Fraction(str(upper)) if one.outcome is F and upper is not None else Fraction(1)
    return Share(low, high, PROCESS_PARTS)


def _decided(share: Share, known: ShareThresholds) -> JudgeOutcome:
    if known.accept is not None and share.low >= Fraction(known.accept):
        return S
    if known.reject is not None and share.high <= Fraction(known.reject):
        return F
    return A


def _unknown(judge: str, fingerprint: str, file: ThresholdFile) -> str:
    known = ", ".join(mark[:19] for mark in file.judges) or "none"
    return (
        f"judge {judge}: fingerprint {fingerprint[:19]} has no thresholds in {file.name}, which has "
        f"those of {known}; write them with `replaykit agree LABELS REPORT --choose 'fpr<=0.05' -o FILE`"
    )


def _other_rubric(judge: str, task: str, basis: str | None, known: Sequence[str]) -> str:
    here = f"its rubric is {basis[:19]}" if basis is not None else "it has no rubric yet"
    calibrated = ", ".join(one[:19] for one in known)
    return (
        f"judge {judge} is not calibrated for task {task}: {here}, that of the calibration is {calibrated}; "
        "give that one with --rubrics DIR, or on the tape"
    )
