"""Reports for GitHub Actions: a step summary in Markdown, and lines that mark errors.

Recorded text may hold Markdown, HTML, mentions and workflow commands: none of it works here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

from replaykit.errors import message_of, write_refused
from replaykit.grading.gate import in_words
from replaykit.grading.verdict import Judgement, Outcome, Report, Verdict
from replaykit.report.judge_quotes import quoted
from replaykit.report.reasons import reason_text
from replaykit.report.task_file_lines import TaskFile
from replaykit.report.text.text_report import compared, describe, few, is_dormant, lacks_checks
from replaykit.report.text_cards import problems, step_of
from replaykit.trajectory.completeness import ASSUMED
from replaykit.trajectory.plurals import counted

SUMMARY = "GITHUB_STEP_SUMMARY"
"""Variable that names the file of a step's summary."""

SUMMARY_MAX = 1024 * 1024
"""Bytes that a step's summary may have."""

ERRORS_MAX = 10
"""Error lines that a step may show."""

CELL_MAX = 200
"""Characters of one cell."""

LINE_MAX = 600
"""Characters of one line of a reason."""

GATE_ROOM = 32 * 1024
"""Bytes that are kept for the reasons of the gate."""

_NOTE = "\n\n{left} more runs are left out: the summary is full.\n"
_ACTIVE = {char: f"&#{ord(char)};" for char in "&<>|`*_[]()#@\\~!"}


def as_github(report: Report) -> bytes:
    """Return the summary as Markdown, cut at whole rows where it would be too long."""
    opening = [
        f"## replaykit: gate {in_words(report.gate, has_code=True)}",
        "",
        _sentence(report),
        *_notes(report),
    ]
    head = "\n".join([*opening, "", *_metrics(report), *_head()])
    rows = [_row(verdict, report.name(verdict)) for verdict in report.verdicts]
    room = SUMMARY_MAX - len(head.encode()) - len(_NOTE) - 16
    kept, size = 0, 0
    for row in rows:
        size += len(row.encode()) + 1
        if size > room:
            break
        kept += 1
    if kept < len(rows):
        return ("\n".join([head, *rows[:kept]]) + _NOTE.format(left=len(rows) - kept)).encode()
    return ("\n".join([head, *rows, *_gate(report), *_reasons(report, room - size)]) + "\n").encode()


def error_lines(report: Report, tasks: TaskFile | None = None) -> list[str]:
    """Return workflow commands for what failed the gate, at most ten.

    Each check and policy has a line: UNDECIDED is a warning unless the gate asks for it. With the file that
    holds them, each is marked at its place. Other reasons of the gate, such as a metric, come first.
    """
    if report.gate.status in ("passed", "none"):
        return []
    marks = dict(_marks(report, tasks))
    others = [reason for reason in report.gate.reasons if reason not in marks]
    lines = [*(f"::error title=replaykit::{_data(reason)}" for reason in others), *marks.values()]
    if len(lines) > ERRORS_MAX:
        more = f"{len(lines) - ERRORS_MAX + 1} more reasons: see the summary"
        return [*lines[: ERRORS_MAX - 1], f"::error title=replaykit::{_data(more)}"]
    return lines


def _marks(report: Report, tasks: TaskFile | None) -> Iterator[tuple[str, str]]:
    """Yield what the gate calls each check and policy that is not well, and its line."""
    is_open_gated = report.gate.status in ("undecided", "error")
    for verdict in report.verdicts:
        for kind, name, result in problems(verdict):
            if isinstance(result, Judgement):
                continue
            is_open = result.outcome in ("UNDECIDED", "ERROR") and not is_open_gated
            step = step_of(result.evidence)
            words = [
                reason_text(kind, result.reason),
                compared(result.evidence),
                "" if step is None else f"step {step}",
            ]
            title = f"{report.name(verdict)}: {kind} {name} is {result.outcome}"
            place = "" if tasks is None else _place(tasks, verdict, kind, result.id)
            text = _data(", ".join(filter(None, words)))
            line = f"::{'warning' if is_open else 'error'} {place}title={_property(title)}::{text}"
            yield f"{report.name(verdict)}: {kind} {result.id} is {result.outcome}", line


def _place(tasks: TaskFile, verdict: Verdict, kind: str, id: str) -> str:
    return f"file={_property(tasks.name)},line={tasks.line(verdict.task_id, kind, id)},"


def write_github(report: Report, environ: Mapping[str, str], tasks: TaskFile | None = None) -> str:
    """Append the summary to the step's own file; return what belongs on stdout.

    Raises UsageError, BundleWriteError.
    """
    lines = "".join(line + "\n" for line in error_lines(report, tasks))
    target = environ.get(SUMMARY)
    if not target:
        return as_github(report).decode() + lines
    try:
        with Path(target).open("ab") as stream:
            stream.write(as_github(report))
    except OSError as error:
        raise write_refused(target, "write the summary to", error) from error
    return lines


def _gate(report: Report) -> list[str]:
    reasons = [f"- {_cell(reason)}" for reason in report.gate.reasons[:ERRORS_MAX]]
    left = len(report.gate.reasons) - len(reasons)
    return ["", "### Gate", "", *reasons, *([f"- and {left} more"] if left else [])] if reasons else []


def _reasons(report: Report, room: int) -> Iterator[str]:
    """Yield in words what every run that is not well rests on, as long as there is room."""
    for number, verdict in enumerate(report.verdicts):
        lines = [_line(line) for line in describe(verdict).splitlines() if line.strip()]
        # In `pre` nothing is Markdown: neither a link nor a mention.
        text = "\n".join(["", f"### {_cell(report.name(verdict))}", "", "<pre>", *lines, "</pre>"])
        room -= len(text.encode()) + 1
        if room < GATE_ROOM:
            yield f"\nThe reasons of {len(report.verdicts) - number} runs are left out: the summary is full."
            return
        if lines:
            yield text


def _line(text: str) -> str:
    plain = "".join(char if char.isprintable() else " " for char in text.removeprefix("  "))
    return escape(plain if len(plain) <= LINE_MAX else plain[: LINE_MAX - 1] + "…")


def _sentence(report: Report) -> str:
    """Return the report's result in one line."""
    graded = [verdict for verdict in report.verdicts if verdict.error is None]
    well = [verdict for verdict in graded if verdict.success is Outcome.PASS]
    broken = [verdict for verdict in graded if any(p.outcome == "VIOLATED" for p in verdict.policies)]
    open_ = [verdict for verdict in graded if verdict.success in (Outcome.UNDECIDED, Outcome.ERROR)]
    lost = len(report.verdicts) - len(graded)
    parts = [
        f"{len(well)} of {counted(len(report.verdicts), 'run')} succeeded.",
        f"{counted(len(broken), 'run')} violated a policy." if broken else "",
        f"{counted(len(open_), 'run')} could not be decided." if open_ else "",
        f"{counted(lost, 'bundle')} could not be graded." if lost else "",
    ]
    return " ".join(filter(None, parts))


def _notes(report: Report) -> list[str]:
    assumed = report.summary.get("assumes") or {}
    lines = [f"This assumes {'; '.join(ASSUMED.get(who, _cell(who)) for who in assumed)}."] if assumed else []
    return ["", *few(report), *lines] if report.summary.get("metrics") else ["", *lines]


def _metrics(report: Report) -> list[str]:
    rows = []
    for name, one in report.summary.get("metrics", {}).items():
        value = one.get("value") if isinstance(one, dict) else None
        if isinstance(value, int | float):
            rows.append(f"| {_cell(name)} | {100 * value:.1f} % | {one.get('n')} |")
    table = ["| metric | value | runs |", "| --- | ---: | ---: |", *rows]
    return ["<details><summary>Metrics</summary>", "", *table, "", "</details>", ""] if rows else []


def _head() -> list[str]:
    return ["| run | success | checks | policies | judges | CuP |", "| --- | --- | --- | --- | --- | --- |"]


def _row(verdict: Verdict, name: str) -> str:
    checks = [f"{one.id} {one.outcome}" for one in verdict.checks if one.outcome != "PASS"]
    policies = [f"{one.id} {one.outcome}" for one in verdict.policies if one.outcome not in ("OK", "DORMANT")]
    judges = [": ".join([f"{one.judge} {one.outcome}", *quoted(one)]) for one in verdict.judgements]
    if verdict.error is not None:
        words = " ".join(message_of(verdict.error.kind, verdict.error.fields).split())
        cells = [name, "-", f"ERROR {verdict.error.kind}: {words}", "-", "-", "-"]
        return "| " + " | ".join(map(_cell, cells)) + " |"
    checks += ["ERROR no_checks"] if lacks_checks(verdict) else []
    cells = [
        name,
        str(verdict.success or "-"),
        ", ".join(checks) or ("ok" if verdict.checks else "-"),
        ", ".join(policies) or ("dormant" if is_dormant(verdict) else "ok" if verdict.policies else "-"),
        ", ".join(judges) or "-",
        "-" if verdict.completion is None else str(verdict.cup),
    ]
    return "| " + " | ".join(map(_cell, cells)) + " |"


def _cell(text: str) -> str:
    line = "".join(char if char.isprintable() else " " for char in text)
    line = line if len(line) <= CELL_MAX else line[: CELL_MAX - 1] + "…"
    return "".join(_ACTIVE.get(char, char) for char in line)


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _data(text: str) -> str:
    return text[:CELL_MAX].replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
