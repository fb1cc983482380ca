"""Two reports, or two recorded runs, compared."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import overload

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import UsageError
from replaykit.grading.verdict import Report
from replaykit.report.comparison import Comparison, compare
from replaykit.report.report_reader import is_report, load_report
from replaykit.report.run_diff import Parting, part


@overload
def diff(before: Report, after: Report) -> Comparison: ...
@overload
def diff(before: Bundle, after: Bundle) -> Parting: ...
@overload
def diff(
    before: Report | Bundle | str | Path, after: Report | Bundle | str | Path
) -> Comparison | Parting: ...
def diff(before: Report | Bundle | str | Path, after: Report | Bundle | str | Path) -> Comparison | Parting:
    """Compare two reports, or two runs.

    Each argument is a report or a bundle, or the path of one. For reports, the result has `pairs` of verdicts
    that `regressed`, were `fixed` or `changed`, and `rates` over the tasks that both have. For bundles, it
    has `rows` of steps side by side; the first `common` of them are equal. It also has other `facts`. Raises
    UsageError for a report with a run, TaskError for JSON that is no report, BundleError for an unreadable
    bundle.

    Example:
        for pair in replaykit.diff("before.json", "after.json").pairs:
            print(pair.task_id, pair.kind)
    """
    with ExitStack() as opened:
        one, other = _read(before, opened), _read(after, opened)
        if isinstance(one, Report) and isinstance(other, Report):
            return compare(one, other)
        if isinstance(one, Bundle) and isinstance(other, Bundle):
            return part(one, other)
        kinds = f"{type(one).__name__} with {type(other).__name__}"
        raise UsageError(what=f"diff compares two reports or two bundles, not {kinds}")


def _read(source: Report | Bundle | str | Path, opened: ExitStack) -> Report | Bundle:
    if not isinstance(source, str | Path):
        return source
    if is_report(str(source)):
        return load_report(str(source))
    return opened.enter_context(open_bundle(source))
