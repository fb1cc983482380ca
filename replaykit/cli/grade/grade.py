"""`replaykit grade`: its options; `grade_command` beside it does the work."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click

from replaykit.cli.command_groups import SectionedCommand
from replaykit.cli.command_options import FOLDER, PATH, option
from replaykit.cli.maintain import completion
from replaykit.grading.gate_kinds import DEFAULT, KINDS
from replaykit.report.report_formats import FORMATS, SUMMARY_FROM, UndecidedTag
from replaykit.tasks.dialect import Dialect

SECTIONS = {
    "Task": ["task_file", "policies", "sites", "mode", "dialect"],
    "Judges": [
        "judges", "judge_mode", "judge_model", "judge_base_url", "replies", "rubrics", "pool_rubrics",
        "compose",
    ],
    "Evidence": ["replay", "require_strong", "require_proof", "allow_verifiers"],
    "Gate": ["fail_on", "fail_under", "max_error_share", "calibration", "calibration_min", "thresholds"],
    "Output": [
        "outputs", "format", "junit_undecided", "is_summary", "shows_side_effects", "label", "reward_dir",
        "no_fallback", "timings", "otel", "has_spans", "results_as",
    ],
    "Processes": ["jobs", "results"],
}  # fmt: skip
"""Heading in the help to its options."""


@click.command(
    cls=SectionedCommand,
    sections=SECTIONS,
    epilog="Example: replaykit grade runs/ -o report.json",
)
@click.argument(
    "bundles", nargs=-1, required=True, metavar="BUNDLE_OR_DIR...", shell_complete=completion.files
)
@option(
    "--task FILE[#ID]",
    "Grade against this task in place of the recorded one. Without #ID each run gets the task of the file "
    "with its own id, and a run that has none there is not graded.",
    name="task_file",
    shell_complete=completion.tasks,
)
@option(
    "--policies FILE",
    "Policies that every run must keep, in addition to those of its task; one with the same id takes the "
    "place of the task's; may be given again.",
    multiple=True,
    shell_complete=completion.files,
)
@option(
    "--site NAME=URL",
    "Root URL of a site, in place of the recorded one, such as shop=http://127.0.0.1:8000; "
    "may be given again.",
    name="sites",
    multiple=True,
)
@option(
    "--mode",
    "strict: careful rules. compat: the rules of the original benchmark, bugs included. "
    "Default: the task's own mode, else strict.",
    choices=["strict", "compat"],
)
@option(
    "--dialect",
    "Benchmark whose rules the checks follow. Default: that of the task file.",
    choices=get_args(Dialect),
)
@option(
    "--judge NAME|FILE",
    "Also use this judge: webvoyager, webjudge, agent_reward, claims, rubric, a settings "
    "file (of a judge, or of how checks ask a model), or file.py@NAME; may be given again.",
    name="judges",
    shell_complete=completion.judges,
    multiple=True,
)
@option(
    "--judge-mode",
    "none: replies come from the tape only. new: ask a model for missing replies. refresh: ask for all "
    "replies again. off: use no judge. Checks that need a model follow the same rule.",
    choices=["none", "new", "refresh", "off"],
    default="none",
)
@option(
    "--judge-model MODEL",
    "Model of all judges and checks, as provider:name, such as anthropic:claude-sonnet-5-5 or openai:NAME.",
)
@option(
    "--rubrics DIR",
    "Folder of criteria for the judge rubric, one file per task, as `judge rubric` writes them.",
)
@option(
    "--pool-rubrics",
    "Count judgements by different rubrics of one task together. Without it the judge's rates are null.",
)
@option("--judge-base-url URL", "Server to ask in place of the provider's own.")
@option("--replies PATH", "Tape, or folder of tapes. Default: the one beside each bundle.")
@option(
    "--compose",
    "How checks and judge make one result. rules_first: the judge decides only where the checks do not. and:"
    " any failure fails. or: one success is enough. Default: the task's own, else rules_first.",
    choices=["rules_first", "and", "or"],
)
@option(
    "--max-error-share",
    "Share of judgements, 0 to 1, that may be errors. Above it the gate ends in an error (exit 3).",
    type=click.FloatRange(0, 1),
    default=0.05,
)
@option(
    "--require-calibration FILE",
    "Let only those judges decide that `replaykit agree -o FILE` compared with people and "
    "that reach --calibration-min.",
    name="calibration",
    type=PATH,
)
@option(
    "--calibrated FILE",
    "Decide by the thresholds that `replaykit agree --choose AIM -o FILE` chose; between them a judge "
    "abstains. A judge that has none there is refused.",
    name="thresholds",
    type=PATH,
)
@option(
    "--side-effects",
    "List requests that changed something and that neither a passing check nor `allow` of "
    "the task explains. With --fail-on side_effect they fail the gate.",
    name="shows_side_effects",
)
@option(
    "--calibration-min NAME=VALUE,...",
    "Values that a calibrated judge has to reach. Default: "
    "kappa_low=0.4,fpr_high=0.15,n=50,n_pos=20,n_neg=20.",
    show_default=False,
    default="",
)
@option(
    "--replay",
    "How recorded pages are read. static: without a browser. auto: an offline Chromium answers what static "
    "reading cannot. chromium: it answers everything that was not read live.",
    choices=["static", "auto", "chromium"],
    default="static",
)
@option(
    "--allow-verifiers",
    "Run the programs that checks of the --task file name. They are not sandboxed: use only "
    "files that you trust.",
)
@option(
    "--require-strong",
    "Report UNDECIDED where a check has only weak evidence, such as a page that the agent happened to visit.",
)
@option(
    "--require-proof",
    "Report UNDECIDED where a result needs a channel that is recorded but not proven complete.",
)
@option("--jobs -j", "Number of processes.", type=click.IntRange(1, 256), default=1)
@option(
    "--resume DIR",
    "Keep each result in this folder and skip bundles that already have one there.",
    name="results",
    type=FOLDER,
)
@option(
    "--fail-on KINDS",
    f"What fails the gate, separated by commas: {', '.join(KINDS)}. Empty: nothing.",
    default=",".join(DEFAULT),
)
@option(
    "--fail-under METRIC=VALUE",
    "Least value of a metric, 0 to 1, such as CuP=0.8; may be given again.",
    multiple=True,
)
@option(
    "-o --output",
    "Write the report. The extension sets the format (.json .jsonl .csv .xml .md .txt "
    ".html); may be given again.",
    name="outputs",
    type=click.Path(dir_okay=False, path_type=Path),
    multiple=True,
)
@option(
    "--format",
    "Format on stdout and of -o. Default: text on stdout, and the extension of -o.",
    choices=list(FORMATS),
)
@option(
    "--junit-undecided",
    "What JUnit calls a result that is UNDECIDED or ABSTAIN. Most systems show skipped as green; the "
    "gate has a case of its own, which stays an error.",
    choices=get_args(UndecidedTag),
    default="error",
)
@option(
    "--no-fallback",
    "In WABE results, do not count the agent's own ending as success where no judge could judge.",
)
@option(
    "--reward-dir",
    "Write reward.txt, reward.json and grading_details.json for one bundle, also after an error.",
    type=FOLDER,
)
@option(
    "--summary-only",
    f"Print the rates and the gate, no row for each run; the default from {SUMMARY_FROM} runs on "
    "(--format text lists them all).",
    name="is_summary",
)
@option("--label TEXT", "Name of this report.")
@option(
    "--otel EXPORTER",
    "Also send the results as OpenTelemetry events with this exporter, such as otlp_proto_http or "
    "console. Its own variables (OTEL_EXPORTER_OTLP_ENDPOINT) configure it.",
)
@option(
    "--otel-spans", "With --otel, send a span for each run and step: names and times only.", name="has_spans"
)
@option(
    "--otel-as",
    "With --otel, send each result as a log record, or as a span below that of its run, for tools that "
    "take only traces. Default: log.",
    name="results_as",
    choices=["log", "span"],
)
@option(
    "--timings FILE",
    "Write the seconds that each bundle took, one line of JSON per bundle. Reports contain no times.",
    type=click.Path(dir_okay=False, path_type=Path),
)
@click.pass_context
def command(ctx: click.Context, /, reward_dir: Path | None, **options: Any) -> None:
    """Grade bundles offline: no browser, no network, the same bytes every time.

    BUNDLE_OR_DIR is a bundle (*.zst), or a folder of bundles. Only what decides is read: `replaykit verify`
    checks every byte.
    """
    if options["jobs"] > 1:
        from replaykit.grading.workers import fork_server

        fork_server.start()  # it loads the grader while this process loads the rest
    from replaykit.cli.grade.grade_command import graded

    ctx.exit(graded(reward_dir, **options))
