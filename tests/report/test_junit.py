"""JUnit, GitHub and WABE: strict readers read them, hostile evidence does nothing."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.errors import CannotExport
from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.verdict import (
    CheckResult,
    ErrorInfo,
    Evidence,
    Judgement,
    JudgeOutcome,
    Outcome,
    PolicyOutcome,
    PolicyResult,
    Report,
    Verdict,
)
from replaykit.report.github import SUMMARY_MAX, as_github, error_lines, write_github
from replaykit.report.junit import as_junit
from replaykit.report.report_formats import UndecidedTag
from replaykit.report.wabe_report import as_wabe
from replaykit.testing.builder import trajectory


def check(outcome: Outcome, **fields: Any) -> CheckResult:
    return CheckResult(
        id="c1", type="page", dialect="native", mode="strict", outcome=outcome, score=0.0, **fields
    )


def policy(outcome: PolicyOutcome, **fields: Any) -> PolicyResult:
    return PolicyResult(
        id="p1", index=0, dimension="user_consent", source="user", mode="strict", outcome=outcome, **fields
    )


def report(*verdicts: Verdict) -> Report:
    return build_report(list(verdicts))


def verdict(**fields: Any) -> Verdict:
    return Verdict(**{"task_id": "t1", "trajectory": "sha256:0", "suite": None, **fields})


def judged(outcome: JudgeOutcome, reason: str = "x") -> Judgement:
    return Judgement(judge="webvoyager", outcome=outcome, reason=reason, fingerprint="f")


MIXED = report(
    verdict(
        checks=(check(Outcome.FAIL, reason="differs", evidence=(Evidence(step=3, url="http://x.test/"),)),),
        policies=(policy(PolicyOutcome.DORMANT), policy(PolicyOutcome.VIOLATED, reason="asked too late")),
        judgements=(judged(JudgeOutcome.ERROR), judged(JudgeOutcome.ABSTAIN)),
    ),
    verdict(checks=(check(Outcome.UNDECIDED, missing=("urls.incomplete",)), check(Outcome.PASS))),
)


def test_each_outcome_has_its_element() -> None:
    root = ElementTree.fromstring(as_junit(MIXED))
    first, second, gate = root.findall("testsuite")
    kinds = [[child.tag for child in case] for case in first.findall("testcase")]
    assert kinds == [["failure"], ["skipped"], ["failure"], ["error"], ["error"]]
    assert (first.get("failures"), first.get("errors"), first.get("skipped")) == ("2", "2", "1")
    assert [[child.tag for child in case] for case in second.findall("testcase")] == [["error"], []]
    assert gate.get("name") == "gate" and not re.search(rb"timestamp|hostname| time=", as_junit(MIXED))
    failure = first.find("testcase/failure")
    assert failure is not None and "step 3" in (failure.text or "")


@pytest.mark.parametrize("tag", ["skipped", "failure", "error"])
def test_what_is_undecided_is_called_as_asked(tag: UndecidedTag) -> None:
    open_ = report(
        verdict(checks=(check(Outcome.UNDECIDED, missing=("urls.incomplete",)), check(Outcome.ERROR)))
    )
    root = ElementTree.fromstring(as_junit(open_, undecided=tag))
    first, gate = root.findall("testsuite")
    undecided, broken = first.findall("testcase")
    assert (undecided[0].tag, broken[0].tag) == (tag, "error")
    assert "UNDECIDED" in (undecided[0].get("message") or "")
    assert "to decide it:" in "".join(undecided.itertext())
    # However its reasons are called, a gate that did not pass is not green.
    assert gate.findall("testcase")[0][0].tag == "error"
    counts = {"skipped": "skipped", "failure": "failures", "error": "errors"}
    assert int(first.get(counts[tag]) or 0) == (2 if tag == "error" else 1)


@given(st.text())
def test_hostile_evidence_is_text(text: str) -> None:
    hostile = verdict(
        checks=(check(Outcome.FAIL, reason=f"\x00]]>{text}", evidence=(Evidence(excerpt=text),)),)
    )
    root = ElementTree.fromstring(as_junit(report(hostile)))
    assert len(root.findall("testsuite")[0].findall("testcase")) == 1


def test_evidence_of_a_megabyte_is_cut() -> None:
    assert len(as_junit(report(verdict(checks=(check(Outcome.FAIL, reason="<" * 1_000_000),))))) < 100_000


def test_the_summary_is_a_table_and_errors_are_lines(tmp_path: Path) -> None:
    text = as_github(MIXED).decode()
    assert "| run | success |" in text and "p1 VIOLATED" in text
    assert error_lines(MIXED) and all(
        line.startswith(("::error ", "::warning ")) for line in error_lines(MIXED)
    )
    target = tmp_path / "summary.md"
    target.write_text("before\n")
    assert write_github(MIXED, {"GITHUB_STEP_SUMMARY": str(target)}).startswith("::error")
    assert target.read_bytes() == b"before\n" + as_github(MIXED)
    assert write_github(MIXED, {}).startswith("## replaykit")


RUNS = "| run | success | checks | policies | judges | CuP |"


@given(st.text())
def test_recorded_text_commands_nothing(text: str) -> None:
    hostile = report(verdict(task_id=f"{text}\n::error::x @all <b> | `", checks=(check(Outcome.FAIL),)))
    lines = as_github(hostile).decode().splitlines()
    rows = [line for line in lines[lines.index(RUNS) + 2 :] if line.startswith("| ")]
    assert len(rows) == 1 and rows[0].count("|") == 7
    assert not any(line.startswith("::") for line in lines) and "@all" not in rows[0] and "<b>" not in rows[0]
    assert all("\n" not in line and "\r" not in line for line in error_lines(hostile))


def test_a_long_summary_is_cut_at_whole_rows() -> None:
    many = report(*(verdict(task_id=f"{number} " + "x" * 190) for number in range(8000)))
    text = as_github(many)
    assert len(text) <= SUMMARY_MAX and b"more runs are left out" in text


def test_results_of_wabe(tmp_path: Path) -> None:
    task = {
        "id": "t1", "intent": "Buy.", "max_steps": 9, "metadata": {"level": "hard"},
        "start_urls": ["http://shop.test/"],
    }  # fmt: skip
    path = (
        trajectory(task)
        .click("#b", "<p>x</p>", tag="button", name="Buy")
        .answer("Done")
        .write(tmp_path / "a.zst")
    )
    graded = grade_many([str(path)])
    plain = json.loads(as_wabe(graded, [path]))
    (one,) = plain["results"][0]["detail"]["tasks"]
    assert plain["results"][0]["detail"]["success_rate"] == 0.0  # no judge spoke
    assert (one["success"], one["success_source"], one["level"]) == (True, "loop_fallback", "hard")
    assert one["action_history"] == ["<button> Buy -> CLICK"] and one["steps_taken"] == 1
    assert (one["website"], one["task_description"]) == ("http://shop.test/", "Buy.")
    assert plain["results"][0]["winner"] == "white_agent"
    (alone,) = json.loads(as_wabe(graded, [path], has_fallback=False))["results"]
    assert (alone["winner"], alone["detail"]["successful_tasks"]) == ("none", 0)


def test_checks_decide_where_no_judge_does(tmp_path: Path) -> None:
    path = trajectory().click("#b", "<p>x</p>").answer("Done").write(tmp_path / "a.zst")
    (graded,) = grade_many([str(path)]).verdicts
    cases = [
        ({"checks": (check(Outcome.PASS),), "success": Outcome.PASS}, 100.0, True, "checks"),
        ({"checks": (check(Outcome.FAIL),), "success": Outcome.FAIL}, 0.0, False, "checks"),
        ({"checks": (check(Outcome.UNDECIDED),), "success": Outcome.UNDECIDED}, 0.0, False, "checks"),
        ({"error": ErrorInfo(kind="x")}, 0.0, False, "none"),
    ]
    for fields, rate, success, source in cases:
        one = msgspec.structs.replace(graded, **fields)
        detail = json.loads(as_wabe(build_report([one]), [path]))["results"][0]["detail"]
        first = detail["tasks"][0]
        assert (detail["success_rate"], first["success"], first["success_source"]) == (rate, success, source)


def test_a_judge_decides_alone_and_an_abstention_is_no_success(tmp_path: Path) -> None:
    path = trajectory().click("#b", "<p>x</p>").answer("Done").write(tmp_path / "a.zst")
    (graded,) = grade_many([str(path)]).verdicts
    cases = [
        (judged(JudgeOutcome.SUCCESS), 100.0, True, "judge"),
        (judged(JudgeOutcome.FAILURE), 0.0, False, "judge"),
        (judged(JudgeOutcome.ABSTAIN), 0.0, False, "judge_abstain"),
        (judged(JudgeOutcome.ABSTAIN, "no_evidence"), 0.0, True, "loop_fallback"),
    ]
    for judgement, rate, success, source in cases:
        one = msgspec.structs.replace(graded, judgements=(judgement,))
        detail = json.loads(as_wabe(build_report([one]), [path]))["results"][0]["detail"]
        assert isinstance(detail["success_rate"], float) and detail["success_rate"] == rate
        assert (detail["tasks"][0]["success"], detail["tasks"][0]["success_source"]) == (success, source)


def test_a_file_of_nothing_but_errors_of_judges_is_not_written(tmp_path: Path) -> None:
    path = trajectory().click("#b", "<p>x</p>").answer("Done").write(tmp_path / "a.zst")
    (graded,) = grade_many([str(path)]).verdicts
    report = build_report([msgspec.structs.replace(graded, judgements=(judged(JudgeOutcome.ERROR),))])
    assert report.summary["metrics"]["success_rate"]["reason"] == "judge_errors"
    assert report.summary["metrics"]["success_rate"]["value"] is None
    with pytest.raises(CannotExport, match="every judgement is an error"):
        as_wabe(report, [path])


def test_the_reason_of_a_judge_for_a_success_stands_in_its_case() -> None:
    said = Judgement(
        judge="webvoyager", outcome=JudgeOutcome.SUCCESS, reason="verdict", fingerprint="f",
        stages=({"reply_text": "The total is shown.\nSUCCESS"},),
    )  # fmt: skip
    report = build_report([verdict(judgements=(said,))])
    assert "<system-out>" in as_junit(report).decode()
    assert "The total is shown. SUCCESS" in as_junit(report).decode()
