"""`replaykit view`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from replaykit.cli.bundles import check_tape, find_bundles, warn_of_unmatched
from replaykit.cli.command_options import PATH, option
from replaykit.cli.console import notice, progress
from replaykit.cli.maintain import completion
from replaykit.errors import UsageError, message_of
from replaykit.grading.agreement.calibration_gate import read_measured
from replaykit.grading.engine import grade_many
from replaykit.grading.gate import GateOptions
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs.judge_attacks import read_attacks
from replaykit.grading.saved_reports import is_report, load_report
from replaykit.grading.verdict import Report, Verdict
from replaykit.report.html.measured_judges import JudgeMeasures
from replaykit.report.html.report_file import EVIDENCE_MAX, HtmlOptions
from replaykit.report.report_output import check_place, write_html_file
from replaykit.trajectory.plurals import counted

MIB = 2**20


@click.command(epilog="Example: replaykit view runs/ -o report.html")
@click.argument(
    "sources", nargs=-1, required=True, metavar="REPORT_OR_BUNDLE_OR_DIR...", shell_complete=completion.files
)
@option(
    "-o --output",
    "File to write.",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("report.html"),
)
@option("--open", "Open the file in the default browser.", name="opens")
@option("--label TEXT", "Name of the report, shown at its top.")
@option("--replies PATH", "Tape, or folder of tapes. Default: the one beside each bundle.")
@option("--jobs -j", "Number of processes.", type=click.IntRange(1, 256), default=1)
@option(
    "--require-proof",
    "Bundles only: report UNDECIDED where a result needs a channel that is recorded but not proven complete.",
)
@option(
    "--max-size MIB",
    "Most MiB of screenshots and pages in the file; 0 means no limit. Runs with problems come first.",
    type=click.IntRange(0),
    default=EVIDENCE_MAX // MIB,
)
@option(
    "--sensitivity FILE",
    "Show how easily the judges are fooled: what `judge sensitivity --attacks all --json` printed.",
    type=PATH,
)
@option(
    "--calibration FILE", "Show how well the judges agree with people: what `agree -o FILE` wrote.", type=PATH
)
@click.pass_context
def command(
    ctx: click.Context,
    sources: tuple[str, ...],
    output: Path,
    opens: bool,
    label: str | None,
    replies: str | None,
    jobs: int,
    require_proof: bool,
    max_size: int,
    sensitivity: Path | None,
    calibration: Path | None,
) -> None:
    """Write runs and their verdicts as one self-contained HTML page.

    Bundles are graded against the task they contain. A report of `replaykit grade` (.json) supplies the
    verdicts instead; the bundles named with it supply their runs.
    """
    reports = [source for source in sources if is_report(source)]
    bundles = find_bundles(tuple(source for source in sources if source not in reports), "report or bundle")
    _check_reports(reports, require_proof=require_proof)
    if not reports and not bundles:
        ctx.exit(4)
    if output.suffix.lower() not in (".html", ".htm"):
        raise UsageError(what=f"view writes a page: {output} does not end in .html")
    check_place(output)
    check_tape(replies)
    measures = JudgeMeasures(
        attacks=read_attacks(sensitivity) if sensitivity is not None else (),
        calibration=read_measured(calibration) if calibration is not None else {},
    )
    grading = GradeOptions(replies=replies, require_proof=require_proof)
    report = load_report(reports[0]) if reports else _graded(bundles, grading, jobs, label)
    options = HtmlOptions(most=max_size * MIB or None, replies=replies, measures=measures)
    with progress("writing", len(report.verdicts)) as tick:
        write_html_file(report, bundles, output, options, tick)
    notice(f"written: {output} ({counted(len(report.verdicts), 'run')})")
    if reports:
        warn_of_unmatched(report.verdicts, bundles)
    if opens:
        click.launch(str(output.resolve()))
    if not report.verdicts:
        ctx.exit(4)
    ctx.exit(0 if reports else _unread(report))


def _check_reports(reports: Sequence[str], *, require_proof: bool) -> None:
    if len(reports) > 1:
        raise UsageError(
            what=f"view takes one report, got {len(reports)}; `replaykit diff A B -o x.html` shows two"
        )
    if reports and require_proof:
        raise UsageError(
            what=f"--require-proof is for grading, and the verdicts of {reports[0]} are given;"
            " grade again with it: replaykit grade --require-proof"
        )


def _unread(report: Report) -> int:
    """Report what could not be graded; return 3 where a bundle could not be read."""
    for verdict in report.verdicts:
        if verdict.error is not None:
            notice(f"not graded: {message_of(verdict.error.kind, verdict.error.fields)}")
    return 3 if any(verdict.trajectory is None for verdict in report.verdicts) else 0


def _graded(bundles: list[str], options: GradeOptions, jobs: int, label: str | None) -> Report:
    with progress("grading", len(bundles)) as tick:

        def advance(_: str, verdict: Verdict) -> None:
            tick(verdict.task_id)

        return grade_many(
            bundles,
            options,
            gate=GateOptions(),
            jobs=jobs,
            label=label,
            on_progress=advance,
        )
