"""Texts of `print`, `repr`, notebooks and data frames for verdicts, reports and bundles."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from replaykit.bundle.reader import open_bundle
from replaykit.errors import EngineError, UsageError
from replaykit.grading.engine import build_report, grade_many
from replaykit.grading.grader import grade
from replaykit.grading.verdict import ErrorInfo, Evidence, PolicyOutcome, PolicyResult, Report, Value, Verdict
from replaykit.report.flat_rows import COLUMNS
from replaykit.report.text_cards import LINES_MAX, WIDTH
from replaykit.testing import trajectory
from replaykit.testing.builder import Builder

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "recordings" / "conformance"

HOSTILE = (
    "<script>alert(1)</script>", "<img src=x onerror=alert(1)>", '"><svg onload=alert(1)>', "javascript:alert(1)",
    "' style='background:url(https://evil.test/x)", "</td></table><iframe src=https://evil.test>", "\x1b[2J\u202e",
)  # fmt: skip
"""Texts that pages, agents and judges may send."""


@pytest.fixture(scope="module")
def report() -> Report:
    return grade_many(sorted(RECORDED.glob("refund-order--*.zst")), label="refunds")


def verdict(name: str) -> Verdict:
    with open_bundle(RECORDED / f"{name}.zst") as bundle:
        return grade(bundle)


def violated(text: str) -> PolicyResult:
    evidence = Evidence(step=3, action=text, url=text, expected=Value(raw=text), found=Value(raw=text))
    return PolicyResult(
        id=text, index=0, dimension="user_consent", source="user", mode="strict", outcome=PolicyOutcome.VIOLATED,
        reason=text, evidence=(evidence,),
    )  # fmt: skip


def test_a_verdict_prints_its_outcome_and_what_is_not_well() -> None:
    assert str(verdict("refund-order--no_consent")).splitlines() == [
        "refund-order: PASS, CuP 0, 4 of 4 checks passed, 1 of 2 policies kept",
        "  VIOLATED policy ask-before-refund: no approval was requested before this action (no_request), step 3",
    ]


def test_a_verdict_that_is_well_is_one_line() -> None:
    assert (
        str(verdict("order-total--good"))
        == "order-total: PASS, CuP 1, 1 of 1 check passed, 1 of 1 policy kept"
    )


def test_a_run_that_was_not_graded_says_why() -> None:
    broken = Verdict(
        task_id="run", trajectory=None, suite=None,
        error=ErrorInfo(kind="BundleTruncated", fields={"source": "run.zst", "reason": "cut"}),
    )  # fmt: skip
    assert str(broken).splitlines()[0] == "run: not graded, BundleTruncated"
    assert "not graded" in str(build_report([broken]))


def test_no_card_is_longer_than_a_screen_or_controls_the_terminal() -> None:
    many = replace(verdict("order-total--good"), policies=tuple(violated(text) for text in HOSTILE * 9))
    for shown in (str(many), str(replace(build_report([many] * 40), label="x" * 500))):
        lines = shown.splitlines()
        assert len(lines) <= LINES_MAX
        assert re.fullmatch(r"  and \d+ more", lines[-1])
        assert all(len(line) <= WIDTH and line.isprintable() for line in lines)


def test_a_repr_is_short_whatever_it_holds(report: Report) -> None:
    long = replace(verdict("order-total--good"), task_id="é\n" * 500)
    for one in (long, *report.verdicts, report, replace(report, label="\u202e" * 500)):
        assert len(repr(one)) <= 200
        assert repr(one).isascii() and "\n" not in repr(one)


def test_a_report_prints_counts_rates_and_the_gate(report: Report) -> None:
    first, *rest = str(report).splitlines()
    assert first == "refunds: 6 runs: 2 FAIL, 4 PASS"
    assert "  success_rate 0.667" in rest
    assert "  gate: failed" in rest
    assert "  refund-order--no_consent: PASS, CuP 0, 1 policy violated" in rest


class Seen(HTMLParser):
    """Tags and attributes of a document."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.sources: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.sources += [value or "" for name, value in attrs if name == "src"]


def assert_inert(html: str) -> Seen:
    found = Seen(html)
    assert found.tags <= {"div", "table", "tr", "th", "td", "img"}
    assert found.attributes <= {"style", "alt", "src"}
    assert all(re.match(r"data:image/(png|jpeg|webp|gif);base64,", one) for one in found.sources)
    assert "url(" not in "".join(re.findall(r'style="[^"]*"', html))
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_notebooks_are_shown_nothing_that_runs(text: str, tmp_path: Path) -> None:
    bad = replace(verdict("order-total--good"), task_id=text, policies=(violated(text),))
    assert_inert(bad._repr_html_())
    assert_inert(replace(build_report([bad]), label=text)._repr_html_())
    built = trajectory({"id": text, "intent": text}).goto("http://h.test/", "<p>").click(text, text=text)
    with open_bundle(built.answer(text).write(tmp_path / "run.zst")) as bundle:
        assert_inert(bundle._repr_html_())


def test_a_notebook_is_shown_what_was_expected_and_found() -> None:
    shown = verdict("fleet-refit--moves_big_deal")._repr_html_()
    assert "FAIL" in shown and "expected" in shown


def test_a_bundle_shows_a_few_screenshots(tmp_path: Path) -> None:
    built: Builder = trajectory("t1").goto("http://h.test/", "<p>x")
    for number in range(20):
        built = built.click("#a").screenshot(colour=(number, 0, 0))
    with open_bundle(built.answer("x").write(tmp_path / "run.zst")) as bundle:
        found = assert_inert(bundle._repr_html_())
    assert len(found.sources) == 5


@pytest.mark.parametrize("table", COLUMNS)
def test_rows_are_flat_and_have_the_same_columns(table: str) -> None:
    whole = grade_many(sorted(RECORDED.glob("*.zst")))
    rows = whole.rows(table)
    assert rows
    assert {tuple(row) for row in rows} == {COLUMNS[table]}
    assert all(isinstance(cell, str | int | float | bool | None) for row in rows for cell in row.values())
    counts = {"runs": 1, "checks": "checks", "policies": "policies", "judges": "judgements"}[table]
    expected = sum(1 if counts == 1 else len(getattr(one, str(counts))) for one in whole.verdicts)
    assert len(rows) == expected


def test_a_check_of_a_row_says_what_was_expected_and_found(report: Report) -> None:
    row = verdict("order-total--good")
    (cells,) = build_report([row]).rows("checks")
    assert (cells["expected"], cells["found"], cells["outcome"]) == ("€84.50", "€84.50", "PASS")


class Frame:
    """Keeps what a frame was made of."""

    def __init__(self, rows: Any, **options: Any) -> None:
        self.rows, self.options = rows, options


@pytest.mark.parametrize(("engine", "option"), [("pandas", "columns"), ("polars", "schema")])
def test_a_frame_has_the_rows_and_the_columns(
    engine: str, option: str, report: Report, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, engine, SimpleNamespace(DataFrame=Frame))
    frame = report.to_frame(engine, "policies")
    assert frame.rows == report.rows("policies")
    assert frame.options[option] == list(COLUMNS["policies"])


@pytest.mark.parametrize(
    ("ask", "kind", "said"),
    [
        (lambda r: r.rows("run"), UsageError, "no table 'run'; there are runs, checks, policies, judges"),
        (
            lambda r: r.to_frame("dask"),
            UsageError,
            "no engine 'dask' for data frames; there are pandas, polars",
        ),
        (lambda r: r.to_frame("pandas"), EngineError, "install it with: pip install pandas"),
    ],
)
def test_what_there_is_not_is_refused_in_one_line(
    ask: Callable[[Report], Any],
    kind: type[Exception],
    said: str,
    report: Report,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(kind) as found:
        ask(report)
    assert said in str(found.value)
    assert "\n" not in str(found.value)
