"""`replaykit grade`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from replaykit.bundle.reader import open_bundle
from replaykit.bundle.source import bundles_in, is_remote
from replaykit.cli.console import notice, progress
from replaykit.cli.sites import parse_sites
from replaykit.errors import ReplaykitError, SourceError, UsageError
from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.farm.rows import failed
from replaykit.grading.gate import KINDS, GateOptions, exit_code, judge_warnings
from replaykit.grading.grader import GradeOptions, grade
from replaykit.grading.verdict import Report, Verdict
from replaykit.report.github import write_github
from replaykit.report.reward import write_reward
from replaykit.report.write import FORMATS, render, write_report
from replaykit.tasks.task import Dialect

if TYPE_CHECKING:
    from replaykit.tasks.judging import JudgeSettings
    from replaykit.tasks.suite import Suite


@click.command(epilog="Example: replaykit grade recordings/conformance -o report.json")
@click.argument("bundles", nargs=-1, required=True, metavar="BUNDLE_OR_DIR...")
@click.option(
    "--task", "task_file", metavar="FILE[#ID]", help="Grade against this task instead of the recorded one."
)
@click.option(
    "--site", "sites", multiple=True, metavar="NAME=URL", help="Root of a site, instead of the recorded one."
)
@click.option(
    "--mode", type=click.Choice(["strict", "compat"]), help="Strict, or as the peer grades, bugs included."
)
@click.option("--dialect", type=click.Choice(get_args(Dialect)), help="Whose rules the checks follow.")
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="NAME|FILE",
    help="Ask this judge too: webvoyager, webjudge, agent_reward, a file of settings (of a judge, or of how "
    "checks ask), or file.py@NAME.",
)
@click.option(
    "--judge-mode",
    type=click.Choice(["none", "new", "refresh", "off"]),
    default="none",
    show_default=True,
    help="none: replies come from the tape only; new: a model is asked for missing ones, refresh: for all; "
    "off: no judge is evaluated. Checks that need a model are answered the same way.",
)
@click.option("--judge-model", metavar="MODEL", help="Model of all judges and checks, as provider:name.")
@click.option("--judge-base-url", metavar="URL", help="Server asked instead of the provider's own.")
@click.option("--replies", metavar="PATH", help="Tape, or folder of tapes; default: beside each bundle.")
@click.option(
    "--compose", type=click.Choice(["rules_first", "and", "or"]), help="How checks and judge make one result."
)
@click.option(
    "--max-error-share",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Share of judgements that may be errors.",
)
@click.option(
    "--require-calibration",
    "calibration",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Let only judges decide that `replaykit agree -o FILE` compared with people.",
)
@click.option(
    "--replay",
    type=click.Choice(["static", "auto", "chromium"]),
    default="static",
    show_default=True,
    help="Who reads recorded pages. static: no browser is started; auto: an offline Chromium answers what "
    "static reading cannot; chromium: it answers all that was not read live.",
)
@click.option(
    "--allow-verifiers",
    is_flag=True,
    help="Run the programs that the --task file names: trusted code.",
)
@click.option("--require-strong", is_flag=True, help="Weak evidence leaves a check undecided.")
@click.option("--jobs", "-j", type=click.IntRange(1, 256), default=1, show_default=True, help="Processes.")
@click.option(
    "--resume",
    "results",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep results here as they come; what is there already is not graded again.",
)
@click.option(
    "--fail-on",
    default="check,policy",
    show_default=True,
    metavar="KINDS",
    help=f"Of {', '.join(KINDS)}; empty = none.",
)
@click.option(
    "--fail-under", multiple=True, metavar="METRIC=VALUE", help="Least value of a metric, such as CuP=0.8."
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report; the format follows the extension (.json .jsonl .csv .xml .md .txt .html).",
)
@click.option("--format", "format", type=click.Choice(list(FORMATS)), help="Format on stdout, and of -o.")
@click.option(
    "--no-fallback",
    is_flag=True,
    help="In WABE's results an agent's own end is no success, even where no judge could judge.",
)
@click.option(
    "--reward-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write reward.txt, reward.json and grading_details.json for one bundle, on every path.",
)
@click.option("--label", metavar="TEXT", help="Name of this report.")
@click.pass_context
def command(ctx: click.Context, /, reward_dir: Path | None, **said: Any) -> None:
    """Grade bundles offline: no browser, no network, the same bytes every time.

    BUNDLE_OR_DIR: files written by `replaykit record`, or folders of *.zst.
    """
    try:
        report = _grade(**said)
    except ReplaykitError as error:
        if reward_dir is not None:
            write_reward(build_report([failed("", error)]), reward_dir)
        raise
    if reward_dir is not None:
        _write_reward(report, reward_dir)
    judgements = [one for verdict in report.verdicts for one in verdict.judgements]
    for warning in judge_warnings(judgements, said["max_error_share"]):
        notice(warning)
    for verdict in report.verdicts:
        if verdict.error is not None:
            notice(f"{verdict.task_id}: {verdict.error.kind}: see the report for its fields")
    ctx.exit(exit_code(report.gate))


def _grade(
    bundles: tuple[str, ...],
    task_file: str | None,
    sites: tuple[str, ...],
    fail_on: str,
    fail_under: tuple[str, ...],
    max_error_share: float,
    calibration: Path | None,
    jobs: int,
    results: Path | None,
    outputs: tuple[Path, ...],
    format: str | None,
    label: str | None,
    judges: tuple[str, ...],
    allow_verifiers: bool,
    no_fallback: bool,
    **options: Any,
) -> Report:
    sources = find_bundles(bundles)
    gate = GateOptions(
        fail_on=_kinds(fail_on),
        fail_under=_thresholds(fail_under),
        max_error_share=max_error_share,
        calibrated=_calibrated(calibration),
    )
    folder = _verifiers(task_file) if allow_verifiers else None
    suite, settings = _suite(task_file), tuple(map(_judge, judges))
    how = GradeOptions(suite=suite, sites=parse_sites(sites), judges=settings, verifiers=folder, **options)
    if len(sources) == 1 and results is None:
        # One bundle that cannot be graded is the command's own failure, told in full.
        with open_bundle(sources[0]) as bundle:
            report = build_report([grade(bundle, options=how)], gate=gate, label=label)
    else:
        report = _grade_many(sources, how, gate=gate, jobs=jobs, results=results, label=label)
    if format == "github":
        click.echo(write_github(report, os.environ), nl=False)
    else:
        click.echo(render(report, format or "text", sources, has_fallback=not no_fallback), nl=False)
    for output in outputs:
        with progress("writing", len(sources) if output.suffix.startswith(".htm") else 0) as tick:
            write_report(report, output, format, sources, has_fallback=not no_fallback, on_run=tick)
    return report


# Readers of files are loaded for who names files: YAML, TOML and entry points take longer than grading.


def _suite(task_file: str | None) -> Suite | None:
    if task_file is None:
        return None
    from replaykit.tasks.suite import load_suite

    return load_suite(task_file)


def _judge(named: str) -> JudgeSettings:
    from replaykit.grading.judges.settings_file import named_judge

    return named_judge(named)


def _calibrated(file: Path | None) -> tuple[str, ...] | None:
    if file is None:
        return None
    from replaykit.grading.calibration import read_calibration

    return read_calibration(file)


def _verifiers(task_file: str | None) -> str:
    """Return the folder whose verifiers may run."""
    if task_file is None:
        raise UsageError(what="--allow-verifiers: name the task file with --task; bundles bring no programs")
    return str(Path(task_file.partition("#")[0]).parent)


def _grade_many(sources: list[str], how: GradeOptions, **said: Any) -> Report:
    with progress("grading", len(sources)) as tick:

        def advance(_: str, verdict: Verdict) -> None:
            tick(verdict.task_id)

        return grade_many(sources, how, on_progress=advance, **said)


def find_bundles(named: tuple[str, ...]) -> list[str]:
    """Return the files named and the *.zst of the folders named, in order, each once."""
    return list(dict.fromkeys(path for name in named for path in _expand(name)))


def _expand(name: str) -> Iterable[str]:
    if not is_remote(name) and not (name and Path(name).exists()):
        raise SourceError(source=name, operation="read the bundle", reason="no such file or folder")
    return bundles_in(name)


def _kinds(said: str) -> tuple[str, ...]:
    kinds = tuple(kind.strip() for kind in said.split(",") if kind.strip())
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(what=f"--fail-on: no kind {kind!r}; there are {', '.join(KINDS)}")
    return kinds


def _thresholds(said: tuple[str, ...]) -> dict[str, float]:
    return dict(_threshold(text) for text in said)


def _threshold(text: str) -> tuple[str, float]:
    name, _, value = text.partition("=")
    try:
        return name, float(value)
    except ValueError:
        raise UsageError(what=f"--fail-under: expected METRIC=VALUE, got {text!r}") from None


def _write_reward(report: Report, folder: Path) -> None:
    if len(report.verdicts) != 1:
        raise UsageError(what=f"--reward-dir takes one bundle, got {len(report.verdicts)}")
    write_reward(report, folder)
