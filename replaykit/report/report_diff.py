"""Two reports compared: which verdicts differ, what else differs with them, rates over the same tasks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from fractions import Fraction
from math import comb
from pathlib import Path
from typing import Literal, overload

from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import UsageError
from replaykit.grading.run_scores import RATES, Scores, scores_of
from replaykit.grading.saved_reports import is_report, load_report
from replaykit.grading.statistics import Interval, clustered_bootstrap, mean, rounded
from replaykit.grading.verdict import Outcome, Report, Verdict
from replaykit.report.run_diff import RunDiff, compare_runs
from replaykit.report.verdict_pairs import matched

SCHEMA = "replaykit.diff/1"
"""Name and version of the comparison's JSON."""

Kind = Literal["regressed", "fixed", "changed"]


class ResultChange(Struct, frozen=True, kw_only=True):
    """One result that differs."""

    what: str
    """`success`, `validity`, `CuP`, `check ID`, `policy ID`, `judge NAME`."""
    before: str | None
    """Outcome in the first report; null = it has no such result."""
    after: str | None
    """Outcome in the second report; null = it has no such result."""
    reason: str | None = None
    """Reason in the second report, as a word."""


class Pair(Struct, frozen=True, kw_only=True):
    """One run in both reports, or two runs of one task, with verdicts that differ."""

    task_id: str
    """The task."""
    run: str | None = None
    """Name of the bundle in the second report, else in the first; null = neither report has names."""
    before: str | None
    """Digest of the run in the first report."""
    after: str | None
    """Digest of the run in the second report."""
    kind: Kind
    """`regressed`: success, CuP or a clean run is lost. `fixed`: gained, none lost. `changed`: neither."""
    changes: tuple[ResultChange, ...]
    """Results that differ."""
    why: tuple[str, ...]
    """Inputs that differ as well: `trajectory suite tape mode dialect semantics validity judge ...`."""


class Rate(Struct, frozen=True, kw_only=True):
    """A metric over the tasks that both reports have."""

    metric: str
    """Name of the metric in the reports."""
    tasks: int
    """Number of tasks that both reports have."""
    before: float
    """Mean over the tasks in the first report."""
    after: float
    """Mean over the tasks in the second report."""
    difference: float
    """`after` minus `before`."""
    ci95: Interval | None
    """95 % percentile interval of the difference, resampling tasks; null for fewer than two tasks."""
    up: int
    """Number of tasks whose value rose."""
    down: int
    """Number of tasks whose value fell."""
    p: float
    """Two-sided exact sign test over tasks that changed; McNemar's exact test if tasks have one run."""


class Comparison(Struct, frozen=True, kw_only=True):
    """Differences between two reports."""

    schema: str = SCHEMA
    """Name and version of this layout."""
    pairs: tuple[Pair, ...]
    """Runs whose verdicts differ, by task."""
    same: int
    """Number of pairs that do not differ."""
    new: tuple[str, ...]
    """Tasks of runs that only the second report has, once for each run."""
    removed: tuple[str, ...]
    """Tasks of runs that only the first report has."""
    rates: tuple[Rate, ...]
    """Each metric that both reports have."""
    remarks: tuple[str, ...] = ()
    """Reasons why the two reports are not fully comparable."""

    def count(self, kind: Kind) -> int:
        """Return the number of pairs of a kind."""
        return sum(pair.kind == kind for pair in self.pairs)


def compare(before: Report, after: Report) -> Comparison:
    """Compare two reports."""
    pairs: list[Pair] = []
    new: list[str] = []
    removed: list[str] = []
    same = 0
    for ours, theirs in matched(before, after):
        one, other = _at(before, ours), _at(after, theirs)
        if one is None or other is None:
            new += [other.task_id] if other else []
            removed += [one.task_id] if one else []
        elif (pair := difference(one, other)) is not None:
            pairs.append(replace(pair, run=_named(after, other) or _named(before, one)))
        else:
            same += 1
    return Comparison(
        pairs=tuple(pairs),
        same=same,
        new=tuple(new),
        removed=tuple(removed),
        rates=tuple(_rates(before, after)),
        remarks=tuple(_remarks(before, after)),
    )


def _named(report: Report, verdict: Verdict) -> str | None:
    return report.names.get(verdict.trajectory or "")


def _remarks(before: Report, after: Report) -> Iterator[str]:
    """Say where the verdicts of one report rest on less than those of the other."""
    ours, theirs = (report.summary.get("proof") or {"n": 0, "proven": 0} for report in (before, after))
    if ours["proven"] * theirs["n"] != theirs["proven"] * ours["n"]:
        yield (
            "passes that rest on what did not happen are not proven alike:"
            f" {ours['proven']} of {ours['n']} before, {theirs['proven']} of {theirs['n']} after"
        )
    tricks = [", ".join(report.summary.get("assumes") or ()) for report in (before, after)]
    if all(tricks) and tricks[0] != tricks[1]:
        yield f"before assumes {tricks[0]}; after assumes {tricks[1]}"
    yield from _unasked(before, after)
    invalid = [sum(one.validity != "valid" for one in report.verdicts) for report in (before, after)]
    if any(invalid):
        yield f"rates leave out runs that are not valid: {invalid[0]} before, {invalid[1]} after"


def _unasked(before: Report, after: Report) -> Iterator[str]:
    """Name the judges that could not be asked: their runs look lost, though no one judged them."""
    ours, theirs = (report.summary.get("judges") or {} for report in (before, after))
    for name in sorted({*ours, *theirs}):
        counts = [side.get(name, {"n": 0, "n_error": 0}) for side in (ours, theirs)]
        if any(one["n_error"] for one in counts):
            of = [f"{one['n_error']} of {one['n']}" for one in counts]
            yield (
                f"judge {name} could not be asked in {of[0]} runs before, {of[1]} after; "
                "rates count a run without a verdict as no success"
            )


def difference(before: Verdict, after: Verdict) -> Pair | None:
    """Return what lies between two verdicts on one task; None where every outcome is the same."""
    changes = tuple(_changes(before, after))
    if not changes:
        return None
    return Pair(
        task_id=after.task_id,
        before=before.trajectory,
        after=after.trajectory,
        kind=_kind(before, after),
        changes=changes,
        why=tuple(_why(before, after)),
    )


def sign_test(up: int, down: int) -> Fraction:
    """Return the exact two-sided probability of a split as uneven, were both ways alike; 1 without runs."""
    n = up + down
    tail = sum(comb(n, k) for k in range(min(up, down) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**n))


def _at(report: Report, place: int | None) -> Verdict | None:
    return None if place is None else report.verdicts[place]


def _kind(before: Verdict, after: Verdict) -> Kind:
    facts = list(zip(_facts(before), _facts(after), strict=True))
    if any(was and not is_now for was, is_now in facts):
        return "regressed"
    return "fixed" if any(is_now and not was for was, is_now in facts) else "changed"


def _facts(verdict: Verdict) -> tuple[bool, bool, bool]:
    is_graded = verdict.error is None
    return verdict.success is Outcome.PASS, verdict.cup == 1, is_graded and verdict.clean


def _changes(before: Verdict, after: Verdict) -> Iterator[ResultChange]:
    ours, theirs = dict(_results(before)), dict(_results(after))
    for what in dict.fromkeys([*ours, *theirs]):
        was, now = ours.get(what), theirs.get(what)
        if (was and was[0]) != (now and now[0]):
            yield ResultChange(
                what=what, before=was[0] if was else None, after=now[0] if now else None,
                reason=now[1] if now else None,
            )  # fmt: skip


def _results(verdict: Verdict) -> Iterator[tuple[str, tuple[str, str | None]]]:
    """Yield the results of a verdict: (what, (outcome, reason))."""
    if verdict.error is not None:
        yield "success", ("ERROR", verdict.error.kind)
        return
    yield "success", (str(verdict.success or "none"), None)
    yield "validity", (verdict.validity, None)
    yield "CuP", (str(verdict.cup), None)
    yield from ((f"check {c.id}", (str(c.outcome), c.reason)) for c in verdict.checks)
    yield from ((f"policy {p.id}", (str(p.outcome), p.reason)) for p in verdict.policies)
    yield from ((f"judge {j.judge}", (str(j.outcome), j.reason)) for j in verdict.judgements)
    if verdict.first_failure is not None:
        failed = verdict.first_failure
        yield "first failing step", (f"{failed.step} ({failed.code})", failed.name)


def _why(before: Verdict, after: Verdict) -> Iterator[str]:
    for name in ("trajectory", "suite", "tape", "mode", "dialect", "semantics", "validity"):
        if getattr(before, name) != getattr(after, name):
            yield name
    ours = {judgement.judge: judgement.fingerprint for judgement in before.judgements}
    theirs = {judgement.judge: judgement.fingerprint for judgement in after.judgements}
    for judge in sorted(ours.keys() | theirs.keys()):
        if ours.get(judge) != theirs.get(judge):
            yield f"judge {judge}"


def _rates(before: Report, after: Report) -> Iterator[Rate]:
    scored = _scores(before.verdicts), _scores(after.verdicts)
    for metric in RATES:
        ours, theirs = (_means(scores, metric) for scores in scored)
        tasks = sorted(ours.keys() & theirs.keys())
        if tasks:
            yield _rate(metric, [ours[task] for task in tasks], [theirs[task] for task in tasks])


def _rate(metric: str, ours: Sequence[Fraction], theirs: Sequence[Fraction]) -> Rate:
    moved = [after - before for before, after in zip(ours, theirs, strict=True)]
    up, down = sum(step > 0 for step in moved), sum(step < 0 for step in moved)
    return Rate(
        metric=metric,
        tasks=len(moved),
        before=_mean(ours),
        after=_mean(theirs),
        difference=_mean(moved),
        ci95=clustered_bootstrap([[step] for step in moved]),
        up=up,
        down=down,
        p=rounded(sign_test(up, down), 4) or 0.0,
    )


def _mean(values: Sequence[Fraction]) -> float:
    return rounded(mean(values)) or 0.0


def _scores(verdicts: Iterable[Verdict]) -> list[tuple[str, Scores]]:
    """Return the task and the scores of each valid run."""
    return [(verdict.task_id, scores_of(verdict)) for verdict in verdicts if verdict.validity == "valid"]


def _means(scored: Iterable[tuple[str, Scores]], metric: str) -> dict[str, Fraction]:
    """Return the mean of a metric by task; undecided counts as not reached."""
    found: dict[str, list[Fraction]] = defaultdict(list)
    for task, scores in scored:
        if (score := scores[metric]) is not None:
            found[task].append(score.value)
    return {task: sum(values, Fraction(0)) / len(values) for task, values in found.items()}


@overload
def diff(before: Report, after: Report) -> Comparison: ...
@overload
def diff(before: Bundle, after: Bundle) -> RunDiff: ...
@overload
def diff(
    before: Report | Bundle | str | Path, after: Report | Bundle | str | Path
) -> Comparison | RunDiff: ...
def diff(before: Report | Bundle | str | Path, after: Report | Bundle | str | Path) -> Comparison | RunDiff:
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
            return compare_runs(one, other)
        kinds = f"{type(one).__name__} with {type(other).__name__}"
        raise UsageError(what=f"diff compares two reports or two bundles, not {kinds}")


def _read(source: Report | Bundle | str | Path, opened: ExitStack) -> Report | Bundle:
    if not isinstance(source, str | Path):
        return source
    if is_report(str(source)):
        return load_report(str(source))
    return opened.enter_context(open_bundle(source))
