"""Further questions of a label file, such as whether a run went round in circles, and who answers them.

A code of findings answers a question without a model, and so do judges that were asked it. Yes is positive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from replaykit.errors import LabelError
from replaykit.grading.agreement.graders import FAILURE, SUCCESS, Grader, runs_of
from replaykit.grading.agreement.labels import Label, LabelAnswer, Labels
from replaykit.grading.verdict import Judgement, Verdict

PREFIX = "trajectory_"
"""Questions of AgentRewardBench begin so."""

CODES: Mapping[str, str] = {f"{PREFIX}looping": "C2", f"{PREFIX}side_effect": "S1"}
"""Question to the code of findings that answers it."""

_ANSWERS: Mapping[str, LabelAnswer] = {"yes": "success", "no": "failure", "unsure": "unsure", "": "unsure"}


def asked(labels: Labels, question: str) -> tuple[str, Labels]:
    """Return the name of a question and its answers as labels: yes is `success`, no is `failure`.

    `question`: as in the file, or without `trajectory_`. Raises LabelError for one that the file does not
    ask, that no one answers, or whose answers are neither yes nor no.
    """
    name = question if question in CODES else f"{PREFIX}{question}"
    known = sorted({one for label in labels.labels for one in label.others})
    if name not in CODES or name not in known:
        there = ", ".join(sorted(one for one in CODES if one in known)) or "none"
        reason = f"no question {question!r} that findings answer; there are {there}"
        raise LabelError(source=labels.name, line=0, reason=reason)
    return name, replace(labels, labels=tuple(_answer(label, name, labels.name) for label in labels.labels))


def answerers_of(path: str | Path, question: str) -> list[Grader]:
    """Return who answers a question in a report: the findings, and each judge that was asked it.

    Raises LabelError, TaskError.
    """
    verdicts, duplicates = runs_of(path)
    tasks = {run: verdict.task_id for run, verdict in verdicts.items()}
    code = CODES[question]
    answer = {run: _found(verdict, code) for run, verdict in verdicts.items()}
    findings = Grader(name=f"finding {code}", answer=answer, tasks=tasks, duplicates=duplicates)
    return [findings, *_judges(verdicts, question.removeprefix(PREFIX), tasks, duplicates)]


def _answer(label: Label, name: str, source: str) -> Label:
    answer = label.others.get(name, "").strip().lower()
    if answer not in _ANSWERS:
        reason = f"{name}: {answer!r} of run {label.trajectory} is not yes, no or unsure"
        raise LabelError(source=source, line=0, reason=reason)
    return replace(label, label=_ANSWERS[answer])


def _found(verdict: Verdict, code: str) -> str:
    found = [one for one in verdict.findings if one.code == code]
    if verdict.error is not None or (found and all(one.unknown for one in found)):
        return "unknown"
    return SUCCESS if found else FAILURE


def _judges(
    verdicts: Mapping[str, Verdict], name: str, tasks: dict[str, str], duplicates: int
) -> Iterator[Grader]:
    named: dict[tuple[str, str], dict[str, str]] = {}
    for run, verdict in verdicts.items():
        for one in verdict.judgements:
            answers = [parsed[name] for parsed in _parsed(one) if name in parsed]
            if answers:
                named.setdefault((one.judge, one.fingerprint), {})[run] = _agreed(answers)
    for (judge, mark), answer in sorted(named.items()):
        yield Grader(name=judge, answer=answer, tasks=tasks, fingerprint=mark or None, duplicates=duplicates)


def _parsed(one: Judgement) -> list[dict[str, Any]]:
    given = [stage.get("parsed") for stage in one.stages]
    return [parsed for parsed in given if isinstance(parsed, dict)]


def _agreed(answers: Sequence[Any]) -> str:
    """Return what all votes answer; `unknown` where they differ, or one is neither yes nor no."""
    answer = {int(one) if isinstance(one, bool) else one for one in answers}
    if answer == {1}:
        return SUCCESS
    return FAILURE if answer == {0} else "unknown"
