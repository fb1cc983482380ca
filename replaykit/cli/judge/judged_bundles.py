"""Choice of the bundles that `replaykit judge` plans for: those that can be read, each run once.

Own module: the commands of `judge` fill theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from replaykit.bundle.byte_source import BundleNames
from replaykit.cli.console import notice
from replaykit.errors import BundleError, ReplayError, ReplaykitError, UnknownTask
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_run import PlannedJudge, plan_judges
from replaykit.grading.judge_runs.rubric_authoring import tasks_of
from replaykit.grading.workers.duplicate_bundles import distinct
from replaykit.report.text.table import safe


class JudgedBundles(Struct, frozen=True, kw_only=True):
    """Bundles that are judged, and what their judges would ask."""

    sources: BundleNames
    """One source for each run, in order."""
    planned: list[PlannedJudge]
    """Requests of their judges and checks."""
    unread: int
    """Number of bundles that were left out, each with a notice."""

    @property
    def code(self) -> int:
        """Return the exit code where everything else went well."""
        return 3 if self.unread else 0


def judged_bundles(sources: Sequence[str], options: GradeOptions) -> JudgedBundles:
    """Return the bundles to judge. A notice names each that cannot be judged, and the copies of a run."""
    once = distinct_runs(sources)
    plans = {source: found for source in once if (found := _planned(source, options)) is not None}
    return JudgedBundles(
        sources=BundleNames(plans),
        planned=[one for found in plans.values() for one in found],
        unread=len(once) - len(plans),
    )


def distinct_runs(sources: Sequence[str]) -> BundleNames:
    """Return one source for each run: copies would cost the same requests twice."""
    once, copies = distinct(sources)
    for first, others in copies.items():
        notice(f"one run, judged once: {safe(', '.join([first, *others]))}")
    return BundleNames(once)


def readable_runs(sources: Sequence[str], options: GradeOptions) -> BundleNames:
    """Return the bundles about which judges can be asked; nothing is printed."""
    return BundleNames(source for source in sources if isinstance(_plans(source, options), list))


def is_task_readable(source: str, options: GradeOptions) -> bool:
    """Whether the task of a bundle can be read; a notice names one of which it cannot."""
    try:
        tasks_of([source], options)
    except BundleError as error:
        notice(f"left out: {safe(str(error))}")
        return False
    return True


def _planned(source: str, options: GradeOptions) -> list[PlannedJudge] | None:
    found = _plans(source, options)
    if isinstance(found, list):
        return found
    notice(f"not judged: {safe(str(found))}")
    return None


def _plans(source: str, options: GradeOptions) -> list[PlannedJudge] | ReplaykitError:
    try:
        return plan_judges([source], options)
    except (BundleError, ReplayError, UnknownTask) as error:
        return error
