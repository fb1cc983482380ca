"""Who grades whether runs succeeded: the judges and the checks of a report, or the annotators of a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import UNSET, Struct

from replaykit.errors import LabelError
from replaykit.file_types import read_whole
from replaykit.grading.agreement.labels import Labels, is_parquet, labels_of, read_labels
from replaykit.grading.calibration_scope import JudgedRun
from replaykit.grading.saved_reports import names_a_report, read_report
from replaykit.grading.share_thresholds import Share, share_of
from replaykit.grading.verdict import Judgement, JudgeOutcome, Report, Verdict

SUCCESS, FAILURE = "success", "failure"

_ASKED = (JudgeOutcome.SUCCESS, JudgeOutcome.FAILURE, JudgeOutcome.ABSTAIN)

_VERDICTS = {"SUCCESS": SUCCESS, "PASS": SUCCESS, "FAILURE": FAILURE, "FAIL": FAILURE}


class Grader(Struct, frozen=True, kw_only=True):
    """A person or a program that grades whether runs succeeded."""

    name: str
    """A judge, `checks`, `success`, or an annotator."""
    answer: dict[str, str]
    """Run to `success`, `failure`, or why there is neither."""
    tasks: dict[str, str] = {}
    """Run to task: runs of one task are drawn together."""
    fingerprint: str | None = None
    """Only for a judge: its fingerprint, the settings that affect its answer."""
    origins: dict[str, int] = {}
    """Of a judge: where its replies come from, `live imported synthetic`, with counts."""
    rubrics: dict[str, tuple[str, ...]] = {}
    """Of a judge: run to the digests of the criteria that it was judged by, where it has any."""
    runs: dict[str, JudgedRun] = {}
    """Only for a judge: run to its agent and site."""
    shares: dict[str, Share] = {}
    """Only for a judge with shares: run to the share for a success."""
    stages: dict[str, tuple[dict[str, Any], ...]] = {}
    """Of a judge: run to each reply that contributed, of runs that it could be asked about."""
    depends_on: str | None = None
    """Of a judge: name of the grader whose result it reads, or rests on."""
    has_thresholds: bool = False
    """Of a judge: thresholds were applied to it, so that its shares choose no others."""
    duplicates: int = 0
    """Further verdicts of runs that the report names already, all of them the same."""


def graders_of(path: str | Path, agent: str | None = None) -> list[Grader]:
    """Return the graders of a report (JSON), or of a file of labels.

    Raises LabelError, also where a report has two verdicts of one run that differ, TaskError for a report of
    another version.
    """
    file = Path(path)
    if is_parquet(file):
        return [_of_labels(read_labels(file, agent))]
    data = _bytes(file)
    if names_a_report(data):
        return list(_of_report(read_report(data, file.name), file.name))
    return [_of_labels(labels_of(data, file.name, agent))]


def runs_of(path: str | Path) -> tuple[dict[str, Verdict], int]:
    """Return run to verdict of a report (JSON), and how many further verdicts of the same runs it has.

    Raises LabelError, also where two verdicts of one run differ, TaskError for what is not a report.
    """
    file = Path(path)
    return _distinct(read_report(_bytes(file), file.name), file.name)


def _of_labels(labels: Labels) -> Grader:
    primary = labels.primary()
    answer: dict[str, str] = {run: label.label for run, label in primary.items()}
    tasks = {run: label.task for run, label in primary.items() if label.task}
    return Grader(name=labels.name, answer=answer, tasks=tasks)


def _bytes(file: Path) -> bytes:
    try:
        return read_whole(file)
    except OSError as error:
        raise LabelError(
            source=file.name, line=0, reason=f"cannot read the labels or the report: {error.strerror}"
        ) from error


def _of_report(report: Report, source: str) -> Iterator[Grader]:
    verdicts, duplicates = _distinct(report, source)
    tasks = {run: verdict.task_id for run, verdict in verdicts.items()}
    yield from _judges(verdicts, tasks, duplicates)
    yield from _columns(verdicts, tasks, duplicates)


def _distinct(report: Report, source: str) -> tuple[dict[str, Verdict], int]:
    """Return run to verdict, and how many verdicts there are more."""
    rows: dict[str, list[Verdict]] = {}
    for one in report.verdicts:
        if one.trajectory:
            rows.setdefault(one.trajectory.removeprefix("sha256:"), []).append(one)
    verdicts = {run: _only(report, several, source) for run, several in rows.items()}
    return verdicts, sum(map(len, rows.values())) - len(rows)


def _only(report: Report, several: Sequence[Verdict], source: str) -> Verdict:
    """Return the verdict of a run; raise LabelError where the report has two that differ."""
    first = _outcomes(several[0])
    for other in several[1:]:
        found = _outcomes(other)
        name = next((name for name in {**first, **found} if first.get(name) != found.get(name)), None)
        if name is not None:
            both = f"{first.get(name, 'none')} and {found.get(name, 'none')}"
            reason = (
                f"two verdicts of {report.name(other)} ({other.trajectory}) differ in {name}: {both}. "
                "Grade the run once, with one tape, and compare that report"
            )
            raise LabelError(source=source, line=0, reason=reason)
    return several[0]


def _outcomes(verdict: Verdict) -> dict[str, str]:
    """Return the answer of each grader about a run."""
    found = {f"judge {one.judge} {one.fingerprint}".strip(): str(one.outcome) for one in verdict.judgements}
    if verdict.completion is not None and verdict.checks:
        found["checks"] = str(verdict.completion.outcome)
    if verdict.success is not None:
        found["success"] = str(verdict.success)
    return found


def _judges(verdicts: Mapping[str, Verdict], tasks: dict[str, str], duplicates: int) -> Iterator[Grader]:
    named: dict[tuple[str, str], dict[str, Judgement]] = {}
    for run, verdict in verdicts.items():
        for one in verdict.judgements:
            named.setdefault((one.judge, one.fingerprint), {})[run] = one
    for (name, mark), given in sorted(named.items()):
        origins: Counter[str] = Counter()
        for one in given.values():
            origins.update(one.origins)
        answer = {run: _VERDICTS.get(one.outcome, str(one.outcome)) for run, one in given.items()}
        yield Grader(
            name=name,
            answer=answer,
            tasks=tasks,
            fingerprint=mark or None,
            origins=dict(sorted(origins.items())),
            rubrics={run: one.bases for run, one in given.items() if one.bases},
            runs={run: judged for run in given if (judged := verdicts[run].judged) is not UNSET},
            shares={run: share for run, one in given.items() if (share := share_of(one)) is not None},
            stages={run: one.stages for run, one in given.items() if one.outcome in _ASKED},
            depends_on=next(
                (one.depends_on for one in given.values() if isinstance(one.depends_on, str)), None
            ),
            has_thresholds=any(one.share is not UNSET for one in given.values()),
            duplicates=duplicates,
        )


def _columns(verdicts: Mapping[str, Verdict], tasks: dict[str, str], duplicates: int) -> Iterator[Grader]:
    checks = {run: one.completion.outcome for run, one in verdicts.items() if one.completion and one.checks}
    success = {run: one.success for run, one in verdicts.items() if one.success is not None}
    for name, column in (("checks", checks), ("success", success)):
        if column:
            answer = {run: _VERDICTS.get(outcome, str(outcome)) for run, outcome in column.items()}
            yield Grader(name=name, answer=answer, tasks=tasks, duplicates=duplicates)
