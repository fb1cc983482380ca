"""One graded bundle as it is stored: the verdict, and the two digests that say what it is a verdict of."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from replaykit.errors import NondeterministicVerdict, ReplaykitError
from replaykit.grading.verdict import Duplicate, ErrorInfo, Verdict


class GradingAttempt(Struct, frozen=True, kw_only=True, gc=False):
    """Circumstances of one grading; no comparison or report uses them."""

    number: int = 1
    """Number of the attempt, from 1."""
    seconds: float = 0.0
    """Wall time of opening and grading, in seconds."""


class Row(Struct, frozen=True, kw_only=True, gc=False):
    """One graded bundle. `trajectory` and `grader` together identify it."""

    trajectory: str | None
    """Digest of the bundle's content, `sha256:...`; null if it could not be read."""
    grader: str
    """Digest of everything else that the verdict depends on, `sha256:...`; empty if unknown."""
    source: str
    """Path or URL of the bundle."""
    verdict: Verdict
    """Verdict on the run."""
    run: GradingAttempt = GradingAttempt()
    """Circumstances of the grading."""

    @property
    def is_error(self) -> bool:
        """Whether the verdict holds only an error. Such bundles are graded again."""
        return self.verdict.error is not None


def failed_row(source: str, error: ReplaykitError, *, attempt: int = 1) -> Row:
    """Return the row of a bundle that could not be graded."""
    run = GradingAttempt(number=attempt)
    return Row(trajectory=None, grader="", source=source, verdict=failed(source, error), run=run)


def failed(source: str, error: ReplaykitError) -> Verdict:
    """Return the verdict of a bundle that could not be graded; paths are cut to base names."""
    name = Path(source).name.encode(errors="replace").decode()  # of a name that is no UTF-8
    fields = {key: str(value).replace(source, name) for key, value in error.fields.items()}
    return Verdict(
        task_id=name, trajectory=None, suite=None, error=ErrorInfo(kind=type(error).__name__, fields=fields)
    )


def merge(rows: Iterable[Row]) -> list[Row]:
    """Sort rows of grading, and keep one row for each run.

    Rows are sorted by task id, digest, file name and error. Of several rows of one run, one with a tape is
    kept. A verdict replaces an error of the same source. Raises NondeterministicVerdict if two rows of one
    run have different verdicts.
    """
    return merge_by(rows, _verdict)


def merge_by(rows: Iterable[Row], verdict_of: Callable[[Row], Verdict]) -> list[Row]:
    """Return rows as `merge` does; `verdict_of`: what two rows of one run are compared by."""
    rows = list(rows)
    decided = {row.source for row in rows if not row.is_error}
    ordered = sorted((row for row in rows if not row.is_error or row.source not in decided), key=_order)
    kept: list[Row] = []
    by_key: dict[tuple[str, str], Row] = {}
    seen: set[str] = set()
    for row in ordered:
        if row.trajectory is not None:
            first = by_key.setdefault((row.trajectory, row.grader), row)
            if first is not row:
                _compare(row.trajectory, verdict_of(first), verdict_of(row))
            if row.trajectory in seen:
                continue
            seen.add(row.trajectory)
        kept.append(row)
    return kept


def names_of(rows: Iterable[Row]) -> dict[str, str]:
    """Return the file name of each trajectory, without `.zst`."""
    return {row.trajectory: _name(row).removesuffix(".zst") for row in rows if row.trajectory is not None}


def duplicates_of(rows: Iterable[Row]) -> tuple[Duplicate, ...]:
    """Return the trajectories that several of the files hold, by their digest."""
    given = list(rows)
    counts = Counter(row.trajectory for row in given)
    files: dict[str, dict[str, None]] = {}
    for row in sorted((row for row in given if counts[row.trajectory] > 1), key=lambda row: row.source):
        if row.trajectory is not None:
            files.setdefault(row.trajectory, {})[row.source] = None
    found = {digest: tuple(map(_base_name, sources)) for digest, sources in files.items() if len(sources) > 1}
    return tuple(
        Duplicate(trajectory=digest, files=tuple(sorted(names))) for digest, names in sorted(found.items())
    )


def _name(row: Row) -> str:
    return _base_name(row.source)


def _base_name(source: str) -> str:
    return os.path.basename(source).encode(errors="replace").decode()  # noqa: PTH119 - also of URLs


def _verdict(row: Row) -> Verdict:
    return row.verdict


def _compare(trajectory: str, first: Verdict, second: Verdict) -> None:
    if first != second:
        raise NondeterministicVerdict(trajectory=trajectory, first=_shown(first), second=_shown(second))


def _shown(verdict: Verdict) -> str:
    return f"sha256:{hashlib.sha256(msgspec.json.encode(verdict, order='sorted')).hexdigest()[:16]}"


def _order(row: Row) -> tuple[str | bytes, ...]:
    name = os.path.basename(row.source)  # noqa: PTH119 - a Path costs ten times as much, for every row
    key = (
        row.verdict.task_id,
        row.trajectory or "",
        "" if row.verdict.tape else "-",  # of two copies of a bundle the one with replies can be judged
        os.fsencode(name),
        row.grader,
    )
    # Broken bundles of one name in many folders differ in their errors only.
    return *key, msgspec.json.encode(row.verdict, order="sorted") if row.is_error else b""
