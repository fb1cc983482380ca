"""Two runs in one file: rows side by side, what differs in them, both runs behind them, and that it stays inert."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.bundle.reader import open_bundle
from replaykit.errors import UsageError
from replaykit.report.html.run_diff_file import write_run_diff
from replaykit.report.html.run_diff_rows import sides
from replaykit.report.report_output import write_parting_file
from replaykit.report.run_diff import Fact, Mark, RunDiff, RunDiffRow
from replaykit.testing import Builder, trajectory

Shop = Callable[..., Builder]
MARKS: list[Mark] = ["same", "differs", "removed", "new"]


def page_of(
    before: Path, after: Path, names: tuple[str, str] = ("May", "June"), most: int | None = None
) -> str:
    out = io.StringIO()
    with open_bundle(before) as one, open_bundle(after) as other:
        write_run_diff(one, other, names, out, most)
    return out.getvalue()


def parting(*rows: RunDiffRow, facts: tuple[Fact, ...] = ()) -> RunDiff:
    return RunDiff(before="sha256:a", after="sha256:b", common=0, parts=True, rows=rows, facts=facts)


def fact(what: str, before: str | None, after: str | None) -> Fact:
    return Fact(what=what, before=before, after=after)


@pytest.fixture
def two(shop: Shop, tmp_path: Path) -> tuple[Path, Path]:
    """Runs of one task: the second looks elsewhere first, and answers otherwise."""
    other = shop(answer="the clay mug", path="/sale").click("#pay", name="Pay")
    return shop().write(tmp_path / "a.zst"), other.write(tmp_path / "b.zst")


def test_both_runs_are_in_the_file_with_their_screenshots_and_pages(
    two: tuple[Path, Path], markup: Any
) -> None:
    found = markup(page_of(*two))
    listed = found.report["sides"]
    assert listed["names"] == ["May", "June"]
    assert [row["id"] for row in found.report["runs"]] == [listed["before"], listed["after"]]
    for side in ("before", "after"):
        run = found.run(listed[side])
        assert "verdict" not in run
        assert all(name in found.blocks for name, *_ in run["screenshots"].values())
        assert all(f"d{name}" in found.blocks for name in run["pages"])
        assert len(run["screenshots"]) == 2
    assert [row[:3] for row in listed["rows"]] == [["apart", 0, 0], ["differs", 1, 1], ["new", None, 2]]
    assert ["answer", "the tin mug", "the clay mug"] in listed["facts"]


def test_what_one_run_has_stands_beside_what_the_other_has_in_its_place() -> None:
    rows = [
        RunDiffRow(mark="same", before=0, after=0, line="a"),
        RunDiffRow(mark="removed", before=1, line="b"),
        RunDiffRow(mark="removed", before=2, line="c"),
        RunDiffRow(mark="new", after=1, line="x"),
        RunDiffRow(mark="differs", before=3, after=2, line="d", facts=(fact("url", "/a", None),)),
        RunDiffRow(mark="new", after=3, line="y"),
    ]
    assert sides(parting(*rows), ["1", "2"], ["A", "B"])["rows"] == [
        ["same", 0, 0, []],
        ["apart", 1, 1, []],
        ["removed", 2, None, []],
        ["differs", 3, 2, [["url", "/a", None]]],
        ["new", None, 3, []],
    ]


@given(st.lists(st.sampled_from(MARKS), max_size=30))
def test_every_step_stands_in_the_rows_once_and_in_order(marks: list[Mark]) -> None:
    steps = {"before": 0, "after": 0}
    rows = []
    for mark in marks:
        has = {"before": mark != "new", "after": mark != "removed"}
        rows.append(RunDiffRow(mark=mark, line="", **{side: steps[side] for side in has if has[side]}))
        for side in has:
            steps[side] += has[side]
    listed = sides(parting(*rows), ["1", "2"], ["A", "B"])["rows"]
    assert [row[1] for row in listed if row[1] is not None] == list(range(steps["before"]))
    assert [row[2] for row in listed if row[2] is not None] == list(range(steps["after"]))
    assert sum(row[0] == "same" for row in listed) == marks.count("same")


def test_tasks_are_compared_field_by_field() -> None:
    differs = fact("task content", '{"id":"t1","intent":"Buy","tags":["x"]}', '{"id":"t2","intent":"Buy"}')
    facts = sides(parting(facts=(fact("task", "t1", "t2"), differs)), ["1", "2"], ["A", "B"])["facts"]
    assert facts == [["task", "t1", "t2"], ["task tags", "x", None]]


def test_an_agent_that_one_run_lacks_is_listed_whole() -> None:
    facts = sides(parting(facts=(fact("agent", None, '{"name":"x"}'),)), ["1", "2"], ["A", "B"])["facts"]
    assert facts == [["agent", None, '{"name":"x"}']]


def test_a_recording_beside_itself_stands_in_the_file_once(two: tuple[Path, Path], markup: Any) -> None:
    found = markup(page_of(two[0], two[0]))
    assert found.report["sides"]["is_same"]
    assert len(found.report["runs"]) == 1
    assert {row[0] for row in found.report["sides"]["rows"]} == {"same"}


def test_the_same_runs_give_the_same_bytes(two: tuple[Path, Path]) -> None:
    assert page_of(*two) == page_of(*two)


def test_what_is_too_large_is_left_out_and_counted(two: tuple[Path, Path], markup: Any) -> None:
    found = markup(page_of(*two, most=1))
    assert found.report["left_out"]["pieces"] > 0


def test_without_a_program_the_page_says_the_same_in_words(two: tuple[Path, Path]) -> None:
    assert "answer: &#x27;the tin mug&#x27; -&gt; &#x27;the clay mug&#x27;" in page_of(*two)


def test_text_of_either_run_changes_no_tag(tmp_path: Path, markup: Any) -> None:
    said = "</script><script>alert(1)</script><!--</style></noscript><img src=x onerror=alert(1)>{{title}}"

    def tags(word: str) -> list[Any]:
        runs = [
            trajectory({"id": word, "intent": word}).goto("http://shop.test/", thought=word).say(word + end)
            for end in ("a", "b")
        ]
        folder = tmp_path / str(len(word))
        folder.mkdir()
        paths = [run.answer(word).write(folder / f"{n}.zst") for n, run in enumerate(runs)]
        found = markup(page_of(*paths, names=(word, word)))
        return [(tag, [name for name, _ in attributes]) for tag, attributes in found.tags]

    assert tags(said) == tags("x")


def test_a_place_that_cannot_be_written_is_reported(two: tuple[Path, Path], tmp_path: Path) -> None:
    refused = pytest.raises(UsageError, match="cannot write")
    with open_bundle(two[0]) as one, open_bundle(two[1]) as other, refused:
        write_parting_file(one, other, ("A", "B"), tmp_path / "none" / "x.html")
