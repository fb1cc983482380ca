"""The table: any reader of CSV gets back what was decided, and no cell is a formula."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from replaykit.grading.engine import grade_many
from replaykit.grading.verdict import ErrorInfo, Outcome, PolicyOutcome, Report
from replaykit.report.csv_report import as_csv
from replaykit.report.report_output import write_report
from tests.report.test_junit import MIXED, check, policy, report, verdict


def rows(found: Report) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(as_csv(found).decode(), newline=""), strict=True))


def test_a_run_is_a_line_of_what_was_decided() -> None:
    first, second = rows(MIXED)
    assert (first["checks"], first["checks_passed"], first["policies_violated"]) == ("1", "0", "1")
    assert first["judgements"] == "webvoyager:ERROR webvoyager:ABSTAIN"
    assert (second["checks"], second["checks_passed"], second["completion"]) == ("2", "1", "")
    assert (second["policies"], second["policies_violated"], second["policies_open"]) == ("0", "", "")
    (failed,) = rows(report(verdict(trajectory=None, error=ErrorInfo(kind="BundleDamaged", fields={}))))
    assert (failed["checks"], failed["checks_passed"], failed["policies"]) == ("", "", "")
    assert (failed["error"], failed["trajectory"], failed["success"]) == ("BundleDamaged", "", "")


def test_undecided_policies_are_open() -> None:
    outcomes = (PolicyOutcome.UNDECIDED, PolicyOutcome.ERROR, PolicyOutcome.OK, PolicyOutcome.VIOLATED)
    (row,) = rows(report(verdict(policies=tuple(map(policy, outcomes)))))
    assert (row["policies"], row["policies_open"], row["policies_violated"]) == ("4", "2", "1")


@given(st.text())
@example('=HYPERLINK("http://x.test","y")')
@example('a,b\r\n"c"\x00\'')
def test_a_text_comes_back_and_is_no_formula(text: str) -> None:
    (row,) = rows(report(verdict(task_id=text, checks=(check(Outcome.PASS),))))
    assert row["task_id"].removeprefix("'") == text.removeprefix("'")
    assert not row["task_id"].startswith(("=", "+", "-", "@", "\t", "\r"))


def test_lone_surrogates_do_not_stop_it() -> None:
    assert [row["task_id"] for row in rows(report(verdict(task_id="a\ud800")))] == ["a?"]


def test_the_extension_names_the_format(recordings: list[Path], tmp_path: Path) -> None:
    graded = grade_many(recordings)
    write_report(graded, tmp_path / "runs.csv")
    assert (tmp_path / "runs.csv").read_bytes() == as_csv(graded)
    said = [(row["task_id"], row["success"], row["cup"]) for row in rows(graded)]
    assert said == [(one.task_id, str(one.success or ""), str(one.cup)) for one in graded.verdicts]
