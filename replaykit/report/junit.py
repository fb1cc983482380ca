"""Reports as JUnit XML: a run is a suite, a check, policy or judge a case. No times and no host names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from replaykit.errors import message_of
from replaykit.grading.verdict import CheckResult, Judgement, PolicyResult, Report, Verdict
from replaykit.patterns import lazy_pattern
from replaykit.report.judge_quotes import quoted
from replaykit.report.reasons import reason_text
from replaykit.report.remedies import remedies
from replaykit.report.report_formats import UndecidedTag
from replaykit.report.task_file_lines import TaskFile
from replaykit.report.text.text_report import compared, facts, lacks_checks

TEXT_MAX = 4000
"""Characters of one message: whoever shows it in a table is not helped by more."""

_ILLEGAL = lazy_pattern("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot hold, not even escaped."""

_FAILED = ("FAIL", "VIOLATED", "FAILURE")
_UNDECIDED = ("UNDECIDED", "ABSTAIN")
_SKIPPED = ("DORMANT", "NOT_EVALUATED")
_GATE = {"passed": "PASS", "none": "NOT_EVALUATED", "undecided": "UNDECIDED", "error": "ERROR"}


class _Case(NamedTuple):
    kind: str
    name: str
    outcome: str
    words: str
    file: str | None = None
    line: int | None = None
    tag: str | None = None


def as_junit(report: Report, tasks: TaskFile | None = None, *, undecided: UndecidedTag = "error") -> bytes:
    """Return the report as JUnit XML, the gate and the rates in a suite of their own at the end.

    `tasks`: the file that holds the checks; each case then names it with a line. `undecided`: the element of
    a case that could not be decided; the gate's own case stays an error, because it did not pass.
    """
    cases = [
        [_tagged(_counted(one, verdict), undecided) for one in _cases(verdict, tasks)]
        for verdict in report.verdicts
    ]
    gate = _tagged(_gate(report), "error")
    suites = [_suite(*pair, report) for pair in zip(report.verdicts, cases, strict=True)]
    body = "\n".join([*suites, _element("gate", [gate], _rates(report))])
    head = _counts([gate, *(case for run in cases for case in run)])
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites{head}>\n{body}\n</testsuites>\n'.encode()


def _suite(verdict: Verdict, cases: list[_Case], report: Report) -> str:
    properties: dict[str, object] = {
        "task": verdict.task_id,
        "trajectory": verdict.trajectory,
        "success": verdict.success,
    }
    properties |= {
        "cup": verdict.cup,
        "reward": verdict.reward,
        "validity": verdict.validity,
        "mode": verdict.mode,
    }
    return _element(
        report.name(verdict) or "unknown", cases, {k: str(v) for k, v in properties.items() if v is not None}
    )


def _cases(verdict: Verdict, tasks: TaskFile | None) -> Iterator[_Case]:
    task = verdict.task_id
    for check in verdict.checks:
        name = check.id if check.id.startswith(check.type) else f"{check.id} ({check.type})"
        place = _place(tasks, task, "check", check.id)
        yield _Case(f"{task}.check", name, check.outcome, _words("check", check), *place)
    if lacks_checks(verdict):
        yield _Case(f"{task}.check", "no_checks", "ERROR", reason_text("check", "no_checks"))
    for policy in verdict.policies:
        name = f"{policy.id} ({policy.dimension})"
        place = _place(tasks, task, "policy", policy.id)
        yield _Case(f"{task}.policy", name, policy.outcome, _words("policy", policy), *place)
    for judgement in verdict.judgements:
        yield _Case(f"{task}.judge", judgement.judge, judgement.outcome, _judged(judgement))
    if verdict.error is not None:
        words = message_of(verdict.error.kind, verdict.error.fields)
        yield _Case(f"{task}.run", "graded", "ERROR", f"{verdict.error.kind}: {words}")


def _place(tasks: TaskFile | None, task: str, kind: str, id: str) -> tuple[str | None, int | None]:
    return (None, None) if tasks is None else (tasks.name, tasks.line(task, kind, id))


def _rates(report: Report) -> dict[str, str]:
    metrics = report.summary.get("metrics", {})
    rates = {name: one.get("value") for name, one in metrics.items() if isinstance(one, dict)}
    return {name: f"{value:.4f}" for name, value in rates.items() if isinstance(value, int | float)}


def _gate(report: Report) -> _Case:
    outcome = _GATE.get(report.gate.status, "FAIL")
    return _Case("gate", report.gate.status, outcome, "; ".join(report.gate.reasons))


def _counts(cases: list[_Case]) -> str:
    counts = {
        "tests": len(cases),
        "failures": sum(case.tag == "failure" for case in cases),
        "errors": sum(case.tag == "error" for case in cases),
        "skipped": sum(case.tag == "skipped" for case in cases),
    }
    return "".join(f' {key}="{value}"' for key, value in counts.items())


def _element(name: str, cases: list[_Case], properties: dict[str, str]) -> str:
    lines = [f"<testsuite name={_quoted(name)}{_counts(cases)}>"]
    lines += ["<properties>"] if properties else []
    lines += [f"<property name={_quoted(k)} value={_quoted(v)}/>" for k, v in properties.items()]
    lines += ["</properties>"] if properties else []
    return "\n".join([*lines, *map(_case, cases), "</testsuite>"])


def _case(case: _Case) -> str:
    head = f"<testcase classname={_quoted(case.kind)} name={_quoted(case.name)}"
    head += "" if case.file is None else f' file={_quoted(case.file)} line="{case.line}"'
    if case.tag is None and not case.kind.endswith(".judge"):
        return f"{head}/>"
    if case.tag is None:
        # Whoever reads a green verdict also wants the judge's reason.
        return f"{head}><system-out>{_plain(case.words)}</system-out></testcase>"
    first = (case.words.splitlines() or [""])[0]
    opening = f"<{case.tag} message={_quoted(f'{case.outcome} {first}'.strip())}"
    words = _plain(case.words)
    if case.tag != "skipped":
        return f"{head}>{opening} type={_quoted(case.outcome.lower())}>{words}</{case.tag}></testcase>"
    # Readers take `skipped` for an element without content: what would decide it stands beside.
    beside = f"<system-out>{words}</system-out>" if case.outcome in _UNDECIDED else ""
    return f"{head}>{opening}/>{beside}</testcase>"


def _counted(case: _Case, verdict: Verdict) -> _Case:
    """Return a case as the gate counts it: what a run that is not valid reached decides nothing."""
    if verdict.validity == "valid" or case.kind.endswith((".policy", ".run")):
        return case
    words = f"{case.outcome} in a run that its harness reported as {verdict.validity}"
    return case._replace(outcome="UNDECIDED", words="\n".join(filter(None, (words, case.words))))


def _tagged(case: _Case, undecided: UndecidedTag) -> _Case:
    if case.outcome in _FAILED:
        return case._replace(tag="failure")
    if case.outcome in _UNDECIDED:
        return case._replace(tag=undecided)
    return case._replace(tag={"ERROR": "error", **dict.fromkeys(_SKIPPED, "skipped")}.get(case.outcome))


def _words(kind: str, result: CheckResult | PolicyResult) -> str:
    missing = f"missing {', '.join(result.missing)}" if result.missing else ""
    first = " ".join(word for word in (reason_text(kind, result.reason), missing) if word)
    first = ", ".join(filter(None, (first, compared(result.evidence))))
    how = remedies(result.missing) if result.outcome == "UNDECIDED" else []
    steps = (f"to decide it: {sentence}" for sentence in how)
    return "\n".join([first, *filter(None, map(facts, result.evidence)), *steps])


def _judged(judgement: Judgement) -> str:
    """Return the reason in a word, what went wrong, and what the model replied."""
    first = ": ".join([reason_text("judge", judgement.reason), *quoted(judgement)])
    return "\n".join([first, *([judgement.detail] if judgement.detail else [])])


def _plain(text: str) -> str:
    return escape(_ILLEGAL.sub("\ufffd", _cut(text)))


def _quoted(text: str) -> str:
    return quoteattr(_ILLEGAL.sub("\ufffd", _cut(text)))


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_MAX else text[: TEXT_MAX - 1] + "…"
