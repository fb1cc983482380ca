"""Every code of missing evidence has a sentence, and reports show it with what judges said."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

import replaykit
from replaykit.grading.engine import build_report
from replaykit.grading.policies.events.event_stream import KIND_CHANNELS
from replaykit.grading.saved_reports import read_report
from replaykit.grading.verdict import (
    CheckResult,
    Judgement,
    JudgeOutcome,
    Outcome,
    PolicyOutcome,
    PolicyResult,
    Verdict,
)
from replaykit.report.github import as_github
from replaykit.report.html.run_details import run_data
from replaykit.report.json_report import as_json
from replaykit.report.junit import as_junit
from replaykit.report.remedies import REMEDIES, family, remedies, remedy
from replaykit.report.text.text_report import as_text
from replaykit.trajectory.completeness_proof import GAPS, WITNESSES
from replaykit.trajectory.step import CHANNELS

SOURCES = Path(replaykit.__file__).parent
MAKERS = {"undecided", "unknown", "Missing", "NotRecorded", "ApiMissing"}
"""Calls that take codes; the first word of `undecided` in checks is a reason."""
WORDS = {"text", "fuzzy", "where", "items", "excludes", "target", "data", "sites", "func", "lambda", "s"}
"""Beginnings of other f-strings that look alike and name items, arguments and prompts."""


def codes() -> Iterator[str]:
    yield from GAPS
    yield from CHANNELS
    yield from (f"proof:{witness}" for witness in WITNESSES)
    yield from (code for _, code in KIND_CHANNELS.values())
    for folder in ("grading/checks", "grading/policies"):
        for path in sorted((SOURCES / folder).rglob("*.py")):
            yield from codes_of(ast.parse(path.read_text()), is_check=folder.endswith("checks"))


def codes_of(tree: ast.AST, is_check: bool) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in MAKERS:
            skipped = 1 if is_check and node.func.id == "undecided" else 0
            for argument in node.args[skipped:]:
                yield from heads(argument)
        if isinstance(node, ast.keyword) and node.arg == "missing":
            yield from heads(node.value)
        if isinstance(node, ast.Assign) and any(ast.unparse(one) == "code" for one in node.targets):
            yield from heads(node.value)
        if isinstance(node, ast.JoinedStr) and (found := head(node)) and found[-1] in ":@":
            yield from () if family(found) in WORDS - {"target"} else (found,)


def heads(node: ast.AST) -> Iterator[str]:
    rows = [node] if not isinstance(node, ast.Tuple | ast.List) else node.elts
    for row in rows:
        if isinstance(row, ast.JoinedStr):
            yield head(row) or "?"
        elif isinstance(row, ast.Constant) and isinstance(row.value, str):
            yield row.value


def head(node: ast.JoinedStr) -> str | None:
    first = node.values[0] if node.values else None
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        return None
    return first.value if first.value and set(first.value) <= set("abcdefghijklmnopqrstuvwxyz_.:@") else None


def test_each_code_of_the_package_has_a_sentence() -> None:
    found = {family(code) for code in codes() if code not in ("?", ":", "@")}
    assert {"page", "reply", "trajectory.end", "proof", "site", "names", "body", "network"} <= found
    assert not {code for code in found if code not in REMEDIES and code.partition(".")[0] not in REMEDIES}


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("page:http://a.test/x", "record with --evidence task"),
        ("page.unreached:http://a.test/x", "let the site run"),
        ("reply:webarena.fuzzy", "replaykit judge run"),
        ("site:shop", "--site shop=URL"),
        ("names@12", "keeps names of targets"),
        ("body:7", "--network bodies"),
        ("snapshot.before@3", "replaykit record"),
        ("netlog.timeout", "let it close the browser"),
        ("names.closed@12", "the target lies in a closed shadow root"),
        ("value.redacted@2", "masked, is a secret or looks like one"),
        ("value.pattern@2", "looks like a card number or a key"),
        ("my-own.code", "a plugin names this evidence"),
    ],
)
def test_a_code_names_its_command(code: str, words: str) -> None:
    assert words in remedy(code)


def test_one_sentence_stands_once() -> None:
    assert remedies(["body:1", "body:2", "network"]) == [remedy("body:1")]


CHECK = CheckResult(
    id="page[1]", type="page", dialect="native", mode="strict", score=0.0,
    outcome=Outcome.UNDECIDED, reason="not_recorded", missing=("page:http://a.test/x",),
)  # fmt: skip
POLICY = PolicyResult(
    id="ask", index=0, source="task", dimension="user_consent", mode="strict",
    outcome=PolicyOutcome.UNDECIDED, missing=("user_reply",),
)  # fmt: skip
JUDGED = Judgement(
    judge="webjudge", outcome=JudgeOutcome.SUCCESS, reason="token", fingerprint="f",
    stages=({"reply_text": "first"}, {"reply_text": "The cart is\nempty. <b>Status: success</b>"}),
)  # fmt: skip
VERDICT = Verdict(
    task_id="a", trajectory="sha256:0", suite=None,
    checks=(CHECK,), policies=(POLICY,), judgements=(JUDGED,),
)  # fmt: skip


def test_reports_list_remedies_and_outcomes_of_judges(tmp_path: Path) -> None:
    report = build_report([VERDICT])
    text, junit = as_text(report), as_junit(report).decode()
    for shown in (text, junit):
        assert "to decide it: record with --evidence task" in shown
        assert "to decide it: record with --user FILE" in shown
    assert json.loads(as_json(report))["summary"]["remedies"] == {
        "page": remedy("page"),
        "user_reply": remedy("user_reply"),
    }
    assert as_json(read_report(as_json(report), "r.json")) == as_json(report)
    assert "The cart is empty." in text
    assert "The cart is empty" in as_github(report).decode()
    row = run_data(str(tmp_path / "a.zst"), VERDICT, None, None)  # type: ignore[arg-type]
    assert row["remedies"]["user_reply"] == remedy("user_reply")
    assert "The cart is empty." in row["quotes"][0]


def test_a_judge_that_fails_a_run_is_quoted_in_junit() -> None:
    failed = replace(VERDICT, judgements=(replace(JUDGED, outcome=JudgeOutcome.FAILURE),))
    assert "The cart is empty. &lt;b&gt;Status" in as_junit(build_report([failed])).decode()
