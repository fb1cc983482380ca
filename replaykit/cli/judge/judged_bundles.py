"""Choice of the bundles that `replaykit judge` plans for: those that can be read, each run once.

Own module: the commands of `judge` fill theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from replaykit.bundle.byte_source import BundleNames
from replaykit.cli.console import notice
from replaykit.errors import BundleError, ReplaykitError
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_run import UNREAD, plan_judges
from replaykit.grading.judge_runs.rubric_authoring import tasks_of
from replaykit.grading.workers.duplicate_bundles import distinct
from replaykit.report.text.table import safe

_Row = TypeVar("_Row")


class JudgedBundles(Struct, Generic[_Row], frozen=True, kw_only=True):
    """Bundles that are judged, and what was found about each."""

    sources: BundleNames
    """One source for each run, in order."""
    rows: list[_Row]
    """Findings about all bundles, in order."""
    unread: int
    """Number of bundles that were left out, each with a notice."""

    @property
    def code(self) -> int:
        """Return the exit code where everything else went well."""
        return 3 if self.unread else 0


def judged_bundles(sources: Sequence[str], find: Callable[[list[str]], list[_Row]]) -> JudgedBundles[_Row]:
    """Return the bundles to judge. A notice names each that cannot be judged, and the copies of a run.

    `find`: returns the findings about a bundle, which is opened there and nowhere else.
    """
    once = distinct_runs(sources)
    by_source = {source: found for source in once if (found := _found(source, find)) is not None}
    return JudgedBundles(
        sources=BundleNames(by_source),
        rows=[one for found in by_source.values() for one in found],
        unread=len(once) - len(by_source),
    )


def distinct_runs(sources: Sequence[str]) -> BundleNames:
    """Return one source for each run: copies would cost the same requests twice."""
    once, copies = distinct(sources)
    for first, others in copies.items():
        notice(f"one run, judged once: {safe(', '.join([first, *others]))}")
    return BundleNames(once)


def readable_runs(sources: Sequence[str], options: GradeOptions) -> BundleNames:
    """Return the bundles about which judges can be asked; nothing is printed."""
    return BundleNames(source for source in sources if _is_planned(source, options))


def _is_planned(source: str, options: GradeOptions) -> bool:
    try:
        plan_judges([source], options)
    except UNREAD:
        return False
    return True


def is_task_readable(source: str, options: GradeOptions) -> bool:
    """Whether the task of a bundle can be read; a notice names one of which it cannot."""
    try:
        tasks_of([source], options)
    except BundleError as error:
        notice(f"left out: {safe(str(error))}")
        return False
    return True


def _found(source: str, find: Callable[[list[str]], list[_Row]]) -> list[_Row] | None:
    try:
        return find([source])
    except UNREAD as error:
        report_unread(error)
        return None


def report_unread(error: ReplaykitError) -> None:
    """Print a notice about a bundle that cannot be judged."""
    notice(f"not judged: {safe(str(error))}")
