"""Lines of every format for each way in which a run is not well: the reason, and what would decide it."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from replaykit.grading.engine import grade_many
from replaykit.grading.verdict import Report
from replaykit.report.github import as_github
from replaykit.report.junit import as_junit
from replaykit.report.text.text_report import as_text
from replaykit.testing import Builder, trajectory

PAGE = "http://s.test/p"
EXACT = {"type": "string_match", "exact": "12"}
ORDERS = {"type": "page", "url": "http://s.test/orders", "selector": "#t", "expect": {"equals": "x"}}
OUT = {
    "id": "stay",
    "dimension": "boundary_and_scope_limitation",
    "rule": {"type": "url_boundary", "deny": ["/p"]},
}


def run(*checks: dict[str, Any], **task: Any) -> Builder:
    return trajectory({"id": "t", "intent": "Do it.", "checks": list(checks), **task}).goto(PAGE, "<p>12</p>")


SITUATIONS: dict[str, tuple[Callable[[], Builder], tuple[str, ...]]] = {
    "failed": (lambda: run(EXACT).answer("13 <b>|*x*"), ("not the expected one (differs)", "expected '12'", "found '13")),
    "no evidence": (lambda: run(ORDERS).answer("ok"), ("page:http://s.test/orders", "record with --evidence task")),
    "no model": (
        lambda: run({"type": "string_match", "fuzzy": "twelve"}).answer("12"),
        ("a model has to compare this", "--judge-mode new"),
    ),
    "no checks": (lambda: run().answer("12"), ("the task has no checks, no judge and no policies",)),
    "violated": (lambda: run(EXACT, policies=[OUT]).answer("12"), ("stay", "VIOLATED", "(denied)")),
}  # fmt: skip


def graded(build: Callable[[], Builder], folder: Path) -> Report:
    return grade_many([build().write(folder / "the-run.zst")])


@pytest.mark.parametrize("situation", SITUATIONS)
def test_each_format_describes_the_situation(situation: str, tmp_path: Path) -> None:
    build, words = SITUATIONS[situation]
    report = graded(build, tmp_path)
    junit = ElementTree.fromstring(as_junit(report))
    reports = {
        "text": as_text(report),
        "github": unescape(as_github(report).decode()),
        "junit": "\n".join(f"{one.get('message')} {one.text}" for one in junit.iter() if one.get("message")),
    }
    for form, text in reports.items():
        left = [word for word in words if word not in text and not (form == "junit" and word == "stay")]
        assert not left, (form, text)
    assert [suite.get("name") for suite in junit] == ["the-run", "gate"]
    assert sum(int(junit[0].get(kind) or 0) for kind in ("failures", "errors")) == 1


def test_a_run_that_could_not_be_read_has_no_good_cells(tmp_path: Path) -> None:
    (tmp_path / "broken.zst").write_bytes(b"none")
    run(EXACT).answer("12").write(tmp_path / "good.zst")
    report = grade_many([tmp_path / "broken.zst", tmp_path / "good.zst"])
    rows = [line for line in as_github(report).decode().splitlines() if line.startswith("| ")]
    broken = next(row for row in rows if "broken" in row)
    assert "NotABundle: " in broken
    assert "ok" not in re.split(r" \| ", broken.replace("not a replaykit bundle", ""))


def test_reasons_in_a_summary_are_no_markdown(tmp_path: Path) -> None:
    report = graded(lambda: run(EXACT).answer("</pre> @ann http://evil.test ## x"), tmp_path)
    summary = as_github(report).decode()
    assert summary.count("</pre>") == summary.count("<pre>") == 1
    assert "&lt;/pre&gt; @ann http://evil.test" in summary.partition("<pre>")[2].partition("</pre>")[0]


def test_rates_of_no_decided_run_are_marked(tmp_path: Path) -> None:
    report = graded(lambda: run(ORDERS).answer("ok"), tmp_path)
    assert "No run is decided: rates" in as_github(report).decode()


@pytest.mark.parametrize(("runs", "few"), [(2, True), (19, True), (20, False)])
def test_rates_of_few_runs_are_marked(runs: int, few: bool, tmp_path: Path) -> None:
    for number in range(runs):
        run(EXACT).answer(f"1{number}").write(tmp_path / f"{number:02}.zst")
    report = grade_many(sorted(tmp_path.glob("*.zst")))
    for text in (as_text(report), as_github(report).decode()):
        assert (f"Only {runs} runs decided" in text) is few


def test_a_run_that_no_rate_counts_says_so(tmp_path: Path) -> None:
    for validity in ("valid", "site_down"):
        bundle = run(EXACT).end("stopped", validity=validity).write(tmp_path / f"{validity}.zst")
        words = f"not valid: the harness reported {validity}; no rate counts this run"
        assert (words in as_text(grade_many([bundle]))) is (validity == "site_down")


def test_a_run_that_is_not_valid_has_no_failure_in_junit(tmp_path: Path) -> None:
    bundle = run(EXACT).answer("no").end("stopped", validity="site_down").write(tmp_path / "a.zst")
    junit = as_junit(grade_many([bundle])).decode()
    assert "<failure" not in junit and "FAIL in a run that its harness reported as site_down" in junit
