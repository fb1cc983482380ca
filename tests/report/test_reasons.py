"""Every reason that grading can give has a sentence, in the reports, on one page and in `explain`."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import replaykit
from replaykit.cli.main import cli
from replaykit.grading import judge_rates, metrics
from replaykit.grading.verdict import JudgeOutcome, Outcome, PolicyOutcome
from replaykit.report.reasons import SECTIONS, reason_text, reason_words
from replaykit.report.remedies import REMEDIES

SOURCES = Path(replaykit.__file__).parent
PAGE = SOURCES.parent / "docs" / "reasons.md"

MAKERS = {
    "check": {"undecided": 0, "error": 0, "failed": 0, "_error": 0, "_failed": 0, "Difference": 1},
    "policy": {"dormant": 0, "broken": 0, "_unmet": 2, "_error": 0, "_Consent": 0},
    "judge": {"unasked": 2, "abstain": 0},
}
"""Calls that take a reason, with its place."""

FOLDERS = {
    "check": ("grading/checks", "grading/values"),
    "policy": ("grading/policies",),
    "judge": ("grading/judges", "grading/judge_runs/check_requests.py"),
}
NAMED = {"reason", "kind"}
ELSEWHERE = {
    "Unsupported",
    "TapeError",
    "BundleWriteError",
    "LabelError",
    "TaskError",
    "Gap",
    "Scored",
    "Dialog",
}
HEADINGS = {
    "outcome": "Outcomes",
    "check": "Checks",
    "policy": "Policies",
    "judge": "Judges",
    "rate": "Rates that are null",
}


def files(kind: str) -> Iterator[Path]:
    for name in FOLDERS[kind]:
        place = SOURCES / name
        yield from [place] if place.is_file() else sorted(place.rglob("*.py"))


def texts(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Constant(value=str() as text):
            yield text
        case ast.IfExp(body=body, orelse=other):
            yield from (*texts(body), *texts(other))
        case ast.BoolOp(values=values):
            yield from (text for value in values for text in texts(value))


def reasons(kind: str) -> Iterator[tuple[str, str]]:
    """Yield file and word of every reason that stands in the code."""
    for path in files(kind):
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            place = MAKERS[kind].get(name, 99)
            given = [node.args[place]] if place < len(node.args) else []
            named = [one.value for one in node.keywords if one.arg in NAMED]
            given += (
                named
                if name in ("ReplyFailure", "Parsed", "Ruling", "Finding", "Comparison", "CheckResult")
                else []
            )
            for argument in given:
                yield from ((path.name, word) for word in texts(argument) if word and " " not in word)


@pytest.mark.parametrize("kind", MAKERS)
def test_each_reason_of_the_code_has_a_sentence(kind: str) -> None:
    found = list(reasons(kind))
    assert len({word for _, word in found}) > 15
    assert [one for one in found if not reason_words(kind, one[1])] == []


def test_kinds_of_failed_requests_have_sentences() -> None:
    from replaykit.grading.judges.clients import failures
    from replaykit.grading.model_request import _CUT_SHORT

    source = Path(failures.__file__).read_text()
    returned = [
        node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Return) and node.value
    ]
    words = {word for value in returned for word in texts(value)} | set(failures._STATUS.values())
    words |= set(_CUT_SHORT.values()) | {"stopped", "no_quorum", "tie", "verdict"}
    assert (
        sorted(word for word in words if word and " " not in word and not reason_words("judge", word)) == []
    )


def test_reasons_of_rates_that_are_null_have_sentences() -> None:
    words = {
        metrics.NO_RUNS,
        metrics.NO_POLICIES,
        metrics.NO_ACTIVE,
        metrics.JUDGE_ERRORS,
        metrics.NONE_GRADED,
        judge_rates.TWO_RUBRICS,
    }
    assert words == set(SECTIONS["rate"])


def test_each_outcome_has_a_sentence() -> None:
    assert set(SECTIONS["outcome"]) == {*Outcome, *PolicyOutcome, *JudgeOutcome}
    shown = CliRunner().invoke(cli, ["explain", "UNDECIDED"])
    assert shown.output.startswith("UNDECIDED (outcome): the bundle does not show it")


def test_sentences_are_plain() -> None:
    for kind, part in SECTIONS.items():
        for word, sentence in part.items():
            assert sentence[0].islower() or sentence.startswith("API"), (kind, word)
            assert not sentence.endswith("."), (kind, word)
            assert len(sentence.split()) < 25, (kind, word)


def test_a_reason_is_spelled_out_and_a_plugins_own_stays() -> None:
    assert reason_text("policy", "no_request") == "no approval was requested before this action (no_request)"
    assert reason_text("check", "no_request") == "the run made no such request (no_request)"
    assert reason_text("check", "not_a_date") == "the value cannot be read as a date (not_a_date)"
    assert (reason_text("policy", "of its own"), reason_text("check", None)) == ("of its own", "")


def page() -> str:
    lines = [
        "# Reasons",
        "",
        "What the words in reports mean: the reason of each result, and the evidence that an undecided result lacks.",
        "`replaykit explain WORD` prints the same. Made from the code: `REPLAYKIT_UPDATE=1 pytest",
        "tests/report/test_reasons.py` writes this page again.",
    ]
    for kind, part in SECTIONS.items():
        lines += ["", f"## {HEADINGS[kind]}", "", "| reason | means |", "| --- | --- |"]
        lines += [f"| `{word}` | {sentence} |" for word, sentence in sorted(part.items())]
        if kind == "check":
            lines += [
                "| `not_a_TYPE` | the value cannot be read as that type: `not_a_number`, `not_a_date` ... |"
            ]
    lines += [
        "",
        "## Missing evidence",
        "",
        "A code may have a detail behind `:` or `@`, such as a URL or a step.",
    ]
    lines += ["", "| code | what records it |", "| --- | --- |"]
    lines += [f"| `{code}` | {sentence} |" for code, sentence in sorted(REMEDIES.items())]
    return "\n".join(lines) + "\n"


def test_the_page_is_that_of_the_code() -> None:
    if os.environ.get("REPLAYKIT_UPDATE"):
        PAGE.write_text(page())
    assert PAGE.read_text() == page()


def test_explain_says_what_a_word_means() -> None:
    found = CliRunner().invoke(cli, ["explain", "no_request", "page:http://h.test/orders", "not_a_date"])
    assert found.exit_code == 0
    assert found.output.splitlines() == [
        "no_request (check): the run made no such request.",
        "no_request (policy): no approval was requested before this action.",
        f"page:http://h.test/orders (missing evidence): to record it, {REMEDIES['page']}.",
        "not_a_date (check): the value cannot be read as a date.",
    ]


def test_explain_names_the_nearest_word() -> None:
    found = CliRunner().invoke(cli, ["explain", "no_reqest"])
    assert "did you mean no_request" in str(found.exception)
    assert "lists all words" in str(CliRunner().invoke(cli, ["explain", "zzz"]).exception)
    assert "use `replaykit grade`" in str(CliRunner().invoke(cli, ["explain", "good.zst"]).exception)


def test_explain_lists_every_word() -> None:
    words = {line.split(" ")[0] for line in CliRunner().invoke(cli, ["explain"]).output.splitlines()}
    assert words == {*(word for part in SECTIONS.values() for word in part), *REMEDIES}
