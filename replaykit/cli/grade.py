"""`replaykit grade`: its options; `replaykit.cli.grading` does it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click

from replaykit.grading.kinds import DEFAULT, KINDS
from replaykit.report.report_formats import FORMATS, SUMMARY_FROM
from replaykit.tasks.dialect import Dialect


@click.command(epilog="Example: replaykit grade recordings/conformance -o report.json")
@click.argument("bundles", nargs=-1, required=True, metavar="BUNDLE_OR_DIR...")
@click.option(
    "--task",
    "task_file",
    metavar="FILE[#ID]",
    help="Grade against this task instead of the recorded one; a file of many tasks without #ID gives "
    "each run the task of its own id.",
)
@click.option(
    "--site",
    "sites",
    multiple=True,
    metavar="NAME=URL",
    help="Root of a site instead of the recorded one, such as shop=http://127.0.0.1:8000; may be given "
    "again.",
)
@click.option(
    "--mode",
    type=click.Choice(["strict", "compat"]),
    help="strict: as a careful person grades; compat: as the peer does, bugs included. Default: what the "
    "task says, else strict.",
)
@click.option(
    "--dialect",
    type=click.Choice(get_args(Dialect)),
    help="Whose rules the checks follow. Default: those of the task file.",
)
@click.option(
    "--judge",
    "judges",
    multiple=True,
    metavar="NAME|FILE",
    help="Ask this judge too: webvoyager, webjudge, agent_reward, claims, rubric, a file of settings (of a "
    "judge, or of how checks ask), or file.py@NAME; may be given again.",
)
@click.option(
    "--judge-mode",
    type=click.Choice(["none", "new", "refresh", "off"]),
    default="none",
    show_default=True,
    help="none: replies come from the tape only; new: a model is asked for missing ones, refresh: for all; "
    "off: no judge is evaluated. Checks that need a model are answered the same way.",
)
@click.option(
    "--judge-model",
    metavar="MODEL",
    help="Model of all judges and checks, as provider:name, such as anthropic:claude-sonnet-5-5 or "
    "openai:NAME.",
)
@click.option(
    "--rubrics",
    metavar="DIR",
    help="Criteria of judge rubric, one file a task, as `judge rubric` writes them.",
)
@click.option(
    "--pool-rubrics",
    is_flag=True,
    help="Count judgements by several rubrics of one task together; else the judge's rates are null.",
)
@click.option("--judge-base-url", metavar="URL", help="Server asked instead of the provider's own.")
@click.option("--replies", metavar="PATH", help="Tape, or folder of tapes; default: beside each bundle.")
@click.option(
    "--compose",
    type=click.Choice(["rules_first", "and", "or"]),
    help="How checks and judge make one result. rules_first: the judge decides only where the checks do "
    "not; and: any failure fails; or: any success is enough. Default: what the task says, else "
    "rules_first.",
)
@click.option(
    "--max-error-share",
    type=click.FloatRange(0, 1),
    default=0.05,
    show_default=True,
    help="Share of judgements, 0 to 1, that may be errors; more leave the gate open (exit 3).",
)
@click.option(
    "--require-calibration",
    "calibration",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Let only judges decide that `replaykit agree -o FILE` compared with people, and that reach "
    "--calibration-min there.",
)
@click.option(
    "--calibrated",
    "thresholds",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Decide by the thresholds that `replaykit agree --choose AIM -o FILE` chose; between them a judge "
    "abstains. A judge that has none there is refused.",
)
@click.option(
    "--side-effects",
    "shows_side_effects",
    is_flag=True,
    help="List requests that changed something and that neither a passing check nor `allow` of the task "
    "explains; --fail-on side_effect lets them fail the gate.",
)
@click.option(
    "--calibration-min",
    default="",
    metavar="NAME=VALUE,...",
    help="What a calibrated judge has to reach. Default: kappa_low=0.4,fpr_high=0.15,n=50,n_pos=20,n_neg=20.",
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
    help="Run the programs that checks of the --task file name. They are run as they are: only for files "
    "that you trust.",
)
@click.option(
    "--require-strong",
    is_flag=True,
    help="Weak evidence (a page that the agent happened to visit) leaves a check undecided.",
)
@click.option(
    "--require-proof",
    is_flag=True,
    help="What rests on a channel that is recorded, and not proven complete, is undecided.",
)
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Processes that grade at once.",
)
@click.option(
    "--resume",
    "results",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep results here as they come; what is there already is not graded again.",
)
@click.option(
    "--fail-on",
    default=",".join(DEFAULT),
    show_default=True,
    metavar="KINDS",
    help=f"What closes the gate, of {', '.join(KINDS)}, with commas between; empty = nothing.",
)
@click.option(
    "--fail-under",
    multiple=True,
    metavar="METRIC=VALUE",
    help="Least value of a metric, 0 to 1, such as CuP=0.8; may be given again.",
)
@click.option(
    "-o",
    "--output",
    "outputs",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the report; the format follows the extension (.json .jsonl .csv .xml .md .txt .html); "
    "may be given again.",
)
@click.option(
    "--format",
    "format",
    type=click.Choice(list(FORMATS)),
    help="Format on stdout, and of -o. Default: text, and by the extension.",
)
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
@click.option(
    "--summary-only",
    "is_summary",
    is_flag=True,
    help=f"Print the rates and the gate, no row for each run; the default from {SUMMARY_FROM} runs on "
    "(--format text lists them all).",
)
@click.option("--label", metavar="TEXT", help="Name of this report.")
@click.option(
    "--timings",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write the seconds of each bundle, a line of JSON each; no report holds them.",
)
@click.pass_context
def command(ctx: click.Context, /, reward_dir: Path | None, **said: Any) -> None:
    """Grade bundles offline: no browser, no network, the same bytes every time.

    BUNDLE_OR_DIR: files written by `replaykit record`, or folders of *.zst.
    """
    if said["jobs"] > 1:
        from replaykit.grading.workers import fork_server

        fork_server.start()  # it loads the grader while this process loads the rest
    from replaykit.cli.grading import graded

    ctx.exit(graded(reward_dir, **said))
