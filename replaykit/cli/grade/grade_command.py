"""Body of the command `replaykit grade`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
from msgspec import Struct

from replaykit.bundle.byte_source import FoundBundles
from replaykit.cli.bundles import (
    check_tape,
    find_bundles,
    found_bundles,
    warn_of_unused_tapes,
)
from replaykit.cli.console import notice, progress
from replaykit.cli.site_options import check_model, check_server, parse_sites, warn_of_sites
from replaykit.errors import ReplaykitError, UsageError, message_of
from replaykit.grading.engine import (
    build_report,
    compact_report_of,
    grade_alone,
    grades_in,
    iter_grades,
    report_of,
)
from replaykit.grading.gate import (
    Calibrated,
    GateOptions,
    calibration_warnings,
    check_directions,
    check_metrics,
    exit_code,
    judge_warnings,
)
from replaykit.grading.gate_kinds import KINDS
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.verdict import Report
from replaykit.grading.workers.stored_verdicts import Row, failed, failed_row
from replaykit.report.report_formats import SUMMARY_FROM, UndecidedTag
from replaykit.report.report_output import check_place, render, write_report

if TYPE_CHECKING:
    from replaykit.grading.share_thresholds import ThresholdFile
    from replaykit.integrations.otel import Telemetry
    from replaykit.tasks.judge_settings import JudgeSettings
    from replaykit.tasks.policy_rules import Policy
    from replaykit.tasks.suite import Suite
    from replaykit.tasks.task import Task


class GradeCommand(Struct, frozen=True, kw_only=True):
    """The options of the command line, in fields of their names."""

    bundles: tuple[str, ...]
    task_file: str | None
    policies: tuple[str, ...]
    sites: tuple[str, ...]
    fail_on: str
    fail_under: tuple[str, ...]
    max_error_share: float
    pool_rubrics: bool
    calibration: Path | None
    calibration_min: str
    thresholds: Path | None
    jobs: int
    results: Path | None
    outputs: tuple[Path, ...]
    format: str | None
    label: str | None
    judges: tuple[str, ...]
    allow_verifiers: bool
    no_fallback: bool
    junit_undecided: UndecidedTag
    timings: Path | None
    is_summary: bool
    shows_side_effects: bool
    otel: str | None
    has_spans: bool
    results_as: Literal["log", "span"] | None
    options: dict[str, Any]
    """Options that go to `GradeOptions` unchanged."""


def graded(reward_dir: Path | None, **given: Any) -> int:
    """Grade as the options say, write what they name; return the exit code."""
    own = {name: given.pop(name) for name in GradeCommand.__struct_fields__ if name in given}
    command = GradeCommand(**own, options=given)
    try:
        telemetry = _telemetry(command)
        report = _grade(command, is_single_needed=reward_dir is not None)
    except ReplaykitError as error:
        if reward_dir is not None:
            _reward(build_report([failed("", error)]), reward_dir)
        raise
    if reward_dir is not None:
        _reward(report, reward_dir)
    _warn(report, command)
    if telemetry is not None:
        telemetry.send(report, find_bundles(command.bundles))
    return exit_code(report.gate)


def _reward(report: Report, folder: Path) -> None:
    from replaykit.report.reward import write_reward  # for harnesses

    write_reward(report, folder)


def _telemetry(command: GradeCommand) -> Telemetry | None:
    """Return what sends the results; what cannot send them fails before anything is graded."""
    if command.otel is None:
        given = "--otel-spans" if command.has_spans else "--otel-as" if command.results_as else None
        if given is not None:
            raise UsageError(what=f"{given}: name the exporter with --otel EXPORTER")
        return None
    from replaykit.integrations.otel import Telemetry

    return Telemetry(command.otel, has_spans=command.has_spans, results_as=command.results_as or "log")


def _warn(report: Report, command: GradeCommand) -> None:
    judgements = [one for verdict in report.verdicts for one in verdict.judgements]
    for warning in judge_warnings(judgements, command.max_error_share):
        notice(warning)
    for file in dict.fromkeys(file for file in (command.calibration, command.thresholds) if file is not None):
        for warning in calibration_warnings(report.verdicts, _calibrated(file, "") or {}):
            notice(warning)
    for verdict in report.verdicts:
        if verdict.error is not None:
            notice(f"not graded: {message_of(verdict.error.kind, verdict.error.fields)}")


class _Job(Struct, frozen=True, kw_only=True):
    """A command with the bundles, conditions and options that it leads to."""

    command: GradeCommand
    sources: list[str]
    gate: GateOptions
    options: GradeOptions

    def report(self, rows: list[Row], tasks: tuple[Task, ...] = ()) -> Report:
        """Return the report of rows, shown and written; `tasks`: those that have to be done."""
        report = report_of(rows, gate=self.gate, label=self.command.label, tasks=tasks)
        _output(report, rows, self.command, self.sources)
        return report

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Return the tasks of the suite."""
        return self.options.suite.tasks if self.options.suite is not None else ()


def _grade(command: GradeCommand, *, is_single_needed: bool) -> Report:
    _check_places(command)
    found = found_bundles(command.bundles)
    sources = found.names
    if is_single_needed and len(sources) != 1:
        raise UsageError(what=f"--reward-dir takes one bundle, got {len(sources)}")
    if command.options["judge_mode"] == "none":
        check_tape(command.options["replies"])
    check_server(command.options["judge_base_url"])
    check_model(command.options["judge_model"])
    gate, options = _gate(command, found), _grade_options(command)
    warn_of_sites(options.sites, options.suite, sources)
    report = _graded(
        _Job(command=command, sources=sources, gate=gate, options=options), is_single_needed=is_single_needed
    )
    if command.options["judge_mode"] == "none" and command.options["replies"] is None:
        warn_of_unused_tapes(report.verdicts, sources)
    if options.policies:
        from replaykit.cli.grade.scope_warnings import warn_of_scopes  # for who names policy files

        warn_of_scopes(options.policies, report, options.suite, sources)
    written = (*options.policies, *(one for task in _tasks_of(options) for one in task.policies))
    if written:
        from replaykit.cli.grade.url_warnings import warn_of_urls  # for who names files with policies

        warn_of_urls(written, report, options.suite, sources)
    return report


def _tasks_of(options: GradeOptions) -> tuple[Task, ...]:
    return options.suite.tasks if options.suite is not None else ()


def _check_places(command: GradeCommand) -> None:
    """Raise for a place that cannot be written, before anything is graded."""
    for output in command.outputs:
        check_place(output, command.format)
    if command.timings is not None:
        check_place(command.timings, "jsonl")


def _graded(job: _Job, *, is_single_needed: bool) -> Report:
    command = job.command
    if command.results is None and len(job.sources) == 1:
        return _single(job)
    if command.results is None or command.otel is not None or is_single_needed:
        graded = partial(iter_grades, job.sources, job.options, jobs=command.jobs, results=command.results)
        return job.report(_rows(job.sources, graded), job.tasks)
    return _compact(job, command.results)


def _single(job: _Job) -> Report:
    """Grade one bundle. One that cannot be graded is a row all the same, and the command's own failure."""
    source = job.sources[0]
    try:
        row = grade_alone(source, job.options)
    except ReplaykitError as error:
        job.report([failed_row(source, error)])
        raise
    return job.report([row])


def _compact(job: _Job, results: Path) -> Report:
    from replaykit.grading.workers.compact_rows import CompactRows
    from replaykit.grading.workers.shards import Shards

    with Shards(results, remembers=True) as shards:
        compact = CompactRows(shards)
        graded = partial(grades_in, shards, job.sources, job.options, jobs=job.command.jobs)
        rows = _rows(job.sources, lambda: map(compact.compact, graded()))
        report, whole = compact_report_of(
            rows, compact, gate=job.gate, label=job.command.label, tasks=job.tasks
        )
        _output(whole, rows, job.command, job.sources)
    return report


def _output(report: Report, rows: list[Row], command: GradeCommand, sources: list[str]) -> None:
    """Show and write the report, and what else was command for."""
    _show(report, command, sources)
    _write(report, command, sources)
    if command.timings is not None:
        from replaykit.report.text.timings import write_timings

        write_timings(rows, command.timings)


def _gate(command: GradeCommand, found: FoundBundles) -> GateOptions:
    return GateOptions(
        fail_on=_kinds(command.fail_on),
        fail_under=_thresholds(command.fail_under),
        max_error_share=command.max_error_share,
        pool_rubrics=command.pool_rubrics,
        calibrated=_calibrated(command.calibration, command.calibration_min),
        without_bundles=found.empty,
        left_out=found.left_out,
    )


def _grade_options(command: GradeCommand) -> GradeOptions:
    folder = _verifiers(command.task_file) if command.allow_verifiers else None
    suite, judges = _suite(command.task_file), tuple(map(_judge, command.judges))
    sites = parse_sites(command.sites)
    return GradeOptions(
        suite=suite,
        policies=_policies(command.policies),
        sites=sites,
        judges=judges,
        verifiers=folder,
        thresholds=_chosen(command.thresholds),
        **command.options,
    )


def _show(report: Report, command: GradeCommand, sources: list[str]) -> None:
    if command.format == "github":
        from replaykit.report.github import write_github
        from replaykit.report.task_file_lines import task_file

        named = None if command.task_file is None else task_file(command.task_file)
        click.echo(write_github(report, os.environ, named), nl=False)
        return
    is_short = command.is_summary or len(report.verdicts) >= SUMMARY_FROM
    shown = command.format or ("summary" if is_short else "text")
    shown_report = render(
        report, shown, sources,
        has_fallback=not command.no_fallback, tasks=command.task_file,
        junit_undecided=command.junit_undecided,
    )  # fmt: skip
    click.echo(shown_report, nl=False)
    if command.shows_side_effects and shown in ("text", "summary"):
        from replaykit.report.text.text_report import side_effects

        click.echo("\n" + side_effects(report), nl=False)


def _write(report: Report, command: GradeCommand, sources: list[str]) -> None:
    for output in command.outputs:
        with progress("writing", len(sources) if output.suffix.startswith(".htm") else 0) as tick:
            write_report(
                report, output, command.format, sources,
                has_fallback=not command.no_fallback, tasks=command.task_file,
                junit_undecided=command.junit_undecided, on_run=tick,
            )  # fmt: skip


def _rows(sources: list[str], graded: Callable[[], Iterable[Row]]) -> list[Row]:
    with progress("grading", len(sources)) as tick:
        rows = []
        for row in graded():
            rows.append(row)
            tick(row.verdict.task_id)
        return rows


# Readers of files are loaded for who names files: YAML, TOML and entry points take longer than grading.


def _suite(task_file: str | None) -> Suite | None:
    if task_file is None:
        return None
    from replaykit.tasks.suite import load_suite

    return load_suite(task_file)


def _policies(files: tuple[str, ...]) -> tuple[Policy, ...]:
    if not files:
        return ()
    from replaykit.tasks.suite import load_policies

    return tuple(policy for file in files for policy in load_policies(file))


def _judge(named: str) -> JudgeSettings:
    from replaykit.grading.judges.settings_file import named_judge

    return named_judge(named)


def _calibrated(file: Path | None, minimum: str) -> dict[str, Calibrated] | None:
    if file is None and minimum:
        raise UsageError(what="--calibration-min: name the calibration with --require-calibration FILE")
    if file is None:
        return None
    from replaykit.grading.agreement.calibration_gate import read_calibration, read_minimum

    return read_calibration(file, read_minimum(minimum))


def _chosen(file: Path | None) -> ThresholdFile | None:
    if file is None:
        return None
    from replaykit.grading.agreement.calibration_gate import read_thresholds

    return read_thresholds(file)


def _verifiers(task_file: str | None) -> str:
    """Return the folder whose verifiers may run."""
    if task_file is None:
        raise UsageError(what="--allow-verifiers: name the task file with --task; bundles bring no programs")
    return str(Path(task_file.partition("#")[0]).parent)


def _kinds(given: str) -> tuple[str, ...]:
    kinds = tuple(kind.strip() for kind in given.split(",") if kind.strip())
    if given and not kinds:
        raise UsageError(what=f"--fail-on: {given!r} names no kind; there are {', '.join(KINDS)}")
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(what=f"--fail-on: no kind {kind!r}; there are {', '.join(KINDS)}")
    return kinds


def _thresholds(given: tuple[str, ...]) -> dict[str, float]:
    found: dict[str, float] = {}
    for name, least in map(_threshold, given):
        if found.setdefault(name, least) != least:
            raise UsageError(what=f"--fail-under: {name} has two values, {found[name]} and {least}")
    if found:
        from replaykit.grading.metrics import summarize

        check_metrics(summarize(()), found)
        check_directions(found)
    return found


def _threshold(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    with suppress(ValueError):
        if 0 < float(value) <= 1:  # no number is neither
            return name.strip(), float(value)
    what = f"--fail-under: expected METRIC=VALUE with a value from 0 to 1, got {text!r}"
    raise UsageError(what=what + _meant(value))


def _meant(value: str) -> str:
    """Return a hint to what a wrong value means: per cent, or nothing at all."""
    with suppress(ValueError):
        percent = float(value.strip().removesuffix("%"))
        if percent == 0:
            return "; every run reaches 0, so it is no condition"
        if 1 < percent <= 100:
            return f"; {percent:g} % is {percent / 100:g}"
    return ""
