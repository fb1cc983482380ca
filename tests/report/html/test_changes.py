"""Two reports in one file: which runs it holds, what it says lies between them, and that it stays inert."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from replaykit.grading.engine import build_report
from replaykit.grading.verdict import Outcome, Report, Verdict
from replaykit.report.html.report_file import HtmlOptions, write_html
from replaykit.report.report_diff import compare
from replaykit.testing import Builder

ReportOf = Callable[..., Report]
Shop = Callable[..., Builder]


def page_of(before: Report, after: Report, *sources: Path) -> str:
    out = io.StringIO()
    write_html(after, sources, out, HtmlOptions(before=before))
    return out.getvalue()


def failing(verdict: Verdict, **changes: Any) -> Verdict:
    checks = tuple(replace(check, outcome=Outcome.FAIL, reason="differs") for check in verdict.checks)
    return replace(verdict, success=Outcome.FAIL, cup=0, checks=checks, **changes)


@pytest.fixture
def runs(shop: Shop, tmp_path: Path) -> list[Path]:
    """Runs of three tasks, all done."""
    return [shop(task=f"t{n}").write(tmp_path / f"{n}.zst") for n in range(3)]


def test_one_run_graded_twice_stands_in_it_once_with_both_verdicts(
    runs: list[Path], report_of: ReportOf, markup: Any
) -> None:
    before = report_of(*runs)
    flipped = failing(before.verdicts[0], suite="sha256:other")
    found = markup(page_of(before, build_report([flipped, *before.verdicts[1:]]), *runs))
    (pair,) = found.report["comparison"]["pairs"]
    assert pair["before"] == pair["after"] == found.report["runs"][0]["id"]
    assert (pair["kind"], pair["why"]) == ("regressed", ["suite"])
    assert pair["changes"] == [
        ["success", "PASS", "FAIL", None],
        ["CuP", "1", "0", None],
        ["check string_match[0]", "PASS", "FAIL", "the value found is not the expected one"],
    ]
    run = found.run(pair["after"])
    assert (run["earlier"]["success"], run["verdict"]["success"]) == ("PASS", "FAIL")
    assert found.report["comparison"]["same"] == 2
    assert "earlier" not in found.run(found.report["runs"][1]["id"])
    assert found.report["earlier"] == []


def test_another_run_of_a_task_is_beside_the_earlier_one(
    runs: list[Path], shop: Shop, report_of: ReportOf, markup: Any, tmp_path: Path
) -> None:
    again = shop(task="t0", answer="the clay mug").write(tmp_path / "again.zst")
    before, after = report_of(*runs), report_of(again, *runs[1:])
    found = markup(page_of(before, after, again, *runs))
    (pair,) = found.report["comparison"]["pairs"]
    (earlier,) = found.report["earlier"]
    assert pair["before"] == earlier["id"]
    assert (earlier["name"], earlier["success"], earlier["steps"]) == ("0", "PASS", 2)
    assert pair["after"] in {row["id"] for row in found.report["runs"]}
    assert "trajectory" in pair["why"]
    assert len(found.run(earlier["id"])["steps"]) == 2


def test_runs_of_one_report_alone_are_there_too(runs: list[Path], report_of: ReportOf, markup: Any) -> None:
    found = markup(page_of(report_of(*runs[:2]), report_of(*runs[1:]), *runs))
    compared = found.report["comparison"]
    names = {row["id"]: row["name"] for row in (*found.report["runs"], *found.report["earlier"])}
    assert [names[id] for id in compared["new"]] == ["2"]
    assert [names[id] for id in compared["removed"]] == ["0"]
    assert compared["flow"] == {"PASS PASS": 1}
    assert compared["pairs"] == []


def test_the_page_holds_what_the_comparison_found(
    recordings: list[Path], report_of: ReportOf, markup: Any
) -> None:
    before = report_of(*recordings[:9])
    after = build_report([failing(one) if n % 2 else one for n, one in enumerate(before.verdicts)])
    known = compare(before, after)
    compared = markup(page_of(before, after)).report["comparison"]
    assert [pair["kind"] for pair in compared["pairs"]] == [pair.kind for pair in known.pairs]
    assert compared["same"] == known.same
    assert sum(compared["flow"].values()) == known.same + len(known.pairs)
    assert [rate["metric"] for rate in compared["rates"]] == [rate.metric for rate in known.rates]


def test_a_bundle_that_can_no_longer_be_read_is_listed_under_its_name(
    runs: list[Path], report_of: ReportOf, markup: Any, tmp_path: Path
) -> None:
    before = report_of(*runs)
    runs[0].write_bytes(b"damaged")
    found = markup(page_of(before, report_of(*runs), *runs))
    (new,) = found.report["comparison"]["new"]
    assert "not a replaykit bundle" in found.run(new)["unreadable"]
    (removed,) = found.report["earlier"]
    assert found.report["comparison"]["removed"] == [removed["id"]]


def test_the_same_reports_give_the_same_bytes(recordings: list[Path], report_of: ReportOf) -> None:
    before, after = report_of(*recordings[:3]), report_of(*recordings[1:4])
    first = page_of(before, after, *recordings[:4])
    assert page_of(before, after, *reversed(recordings[:4])) == first


def test_without_an_earlier_report_nothing_is_compared(
    runs: list[Path], report_of: ReportOf, markup: Any
) -> None:
    out = io.StringIO()
    write_html(report_of(*runs), runs, out)
    assert "comparison" not in markup(out.getvalue()).report


def test_text_of_either_report_changes_no_tag(runs: list[Path], report_of: ReportOf, markup: Any) -> None:
    said = "</script><script>alert(1)</script><!--</style></noscript><img src=x onerror=alert(1)>{{title}}"

    def tags(word: str) -> list[Any]:
        plain = report_of(*runs)
        before = build_report(plain.verdicts, label=word)
        checks = [replace(check, id=word, reason=word) for check in plain.verdicts[0].checks]
        flipped = failing(plain.verdicts[0], dialect=word, task_id=word)
        after = build_report([replace(flipped, checks=tuple(checks)), *plain.verdicts[1:]], label=word)
        before = replace(before, verdicts=tuple(replace(v, task_id=word) for v in before.verdicts))
        found = markup(page_of(before, after, *runs))
        return [(tag, [name for name, _ in attributes]) for tag, attributes in found.tags]

    assert tags(said) == tags("x")
