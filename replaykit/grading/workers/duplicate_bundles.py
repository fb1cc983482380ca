"""Before models are asked: copies of one bundle are found, and judges without a calibration are refused."""

from __future__ import annotations

from collections.abc import Iterable

from replaykit.bundle.reader import open_bundle
from replaykit.errors import BundleError, ReplaykitError, TaskError
from replaykit.grading.calibrated_judges import refuse_uncalibrated
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import case_of
from replaykit.grading.judges.tape.tape import tape_beside
from replaykit.grading.share_thresholds import ThresholdFile


def distinct(sources: Iterable[str]) -> tuple[list[str], dict[str, list[str]]]:
    """Return one source for each content, one with a tape before one without, and the others by it."""
    by_digest: dict[str, list[str]] = {}
    for source in sources:
        by_digest.setdefault(_digest(source), []).append(source)
    ordered = [
        sorted(same, key=lambda source: not tape_beside(source).exists()) for same in by_digest.values()
    ]
    return [same[0] for same in ordered], {same[0]: same[1:] for same in ordered if len(same) > 1}


def refuse_any(sources: Iterable[str], options: GradeOptions, file: ThresholdFile) -> None:
    """Raise JudgeError where the thresholds do not cover a judge of any bundle: then nothing is asked at all.

    Bundles that cannot be read are left to their own rows.
    """
    for source in sources:
        try:
            with open_bundle(source) as bundle:
                case = case_of(bundle, options)
                refuse_uncalibrated(case.panel, case.bundle, case.task, file)
        except (BundleError, TaskError):
            continue


def _digest(source: str) -> str:
    """Return the digest of a bundle; of one that cannot be read its own name: it is no one's copy."""
    try:
        with open_bundle(source) as bundle:
            return bundle.digest
    except ReplaykitError:
        return source
