"""`replaykit diff` as a user meets it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from replaykit.cli.main import run
from replaykit.grading.engine import grade_many
from replaykit.report.report_output import write_report
from replaykit.testing import trajectory

TASK = {"id": "t1", "intent": "Which mug?", "checks": [{"type": "string_match", "exact": "tin"}]}


@pytest.fixture
def bundles(tmp_path: Path) -> list[Path]:
    runs = [
        trajectory(TASK).goto("http://shop.test/", "<h1>Mugs</h1>").answer(said) for said in ("tin", "clay")
    ]
    return [one.write(tmp_path / f"{number}.zst") for number, one in enumerate(runs)]


@pytest.fixture
def reports(bundles: list[Path], tmp_path: Path) -> list[str]:
    paths = [tmp_path / f"{bundle.stem}.json" for bundle in bundles]
    for bundle, path in zip(bundles, paths, strict=True):
        write_report(grade_many([bundle]), path)
    return [str(path) for path in paths]


def test_a_regression_is_printed_and_fails_where_asked(
    reports: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", *reports]) == 0
    output = capsys.readouterr().out
    assert "== regressed: t1" in output
    assert "success: PASS -> FAIL" in output
    assert run(["diff", *reports, "--fail-on-regression"]) == 1
    assert run(["diff", *reversed(reports), "--fail-on-regression"]) == 0


def test_json_is_the_same_every_time(reports: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", *reports, "--format", "json"]) == 0
    first = capsys.readouterr().out
    assert run(["diff", *reports, "--format", "json"]) == 0
    assert capsys.readouterr().out == first
    assert json.loads(first)["schema"] == "replaykit.diff/1"


def test_two_bundles_are_compared_step_by_step(
    bundles: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", *map(str, bundles)]) == 0
    assert "answer: 'tin' -> 'clay'" in capsys.readouterr().out


def test_a_page_shows_both_gradings_and_their_runs(
    reports: list[str], bundles: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "d.html"
    runs = [part for bundle in bundles for part in ("--runs", str(bundle))]
    assert run(["diff", *reports, "-o", str(out), *runs, "--fail-on-regression"]) == 1
    output = capsys.readouterr()
    assert (output.out, output.err) == ("", f"written: {out}\n")
    screen = screen_of(out)
    assert (screen["comparison"]["before"], screen["comparison"]["after"]) == ("0", "1")
    assert [row["steps"] for row in (*screen["runs"], *screen["earlier"])] == [1, 1]
    assert run(["diff", *reports, "-o", str(out)]) == 0


def test_a_page_shows_two_bundles_under_their_names(
    bundles: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "d.html"
    assert run(["diff", *map(str, bundles), "-o", str(out)]) == 0
    assert capsys.readouterr().err == f"written: {out}\n"
    assert screen_of(out)["sides"]["names"] == ["0", "1"]
    (tmp_path / "again").mkdir()
    namesake = bundles[0].rename(tmp_path / "again" / bundles[1].name)
    assert run(["diff", str(namesake), str(bundles[1]), "-o", str(out)]) == 0
    assert screen_of(out)["sides"]["names"] == [str(tmp_path / "again" / "1"), str(tmp_path / "1")]


def screen_of(file: Path) -> dict[str, Any]:
    found = re.search(r'id="report">(.*?)</script>', file.read_text(), flags=re.S)
    assert found is not None
    return json.loads(found[1])


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["0.json", "0.zst"], 2, "two reports or two bundles"),
        (["0.json", "none.json"], 3, "no such file"),
        (["0.zst", "1.zst", "--fail-on-regression"], 2, "grade both bundles first"),
        (["0.json", "bad.json"], 3, "not a report"),
        (["0.json", "1.json", "-o", "x.txt"], 2, "does not end in .html"),
        (["0.json", "1.json", "-o", "no/x.html"], 2, "cannot write"),
        (["0.json", "1.json", "--runs", "0.zst"], 2, "-o FILE.html"),
        (["0.json", "1.json", "-o", "x.html", "--runs", "none"], 3, "no such file or folder"),
        (["0.zst", "1.zst", "-o", "x.txt"], 2, "does not end in .html"),
        (["0.zst", "1.zst", "-o", "x.html", "--runs", "0.zst"], 2, "a page of two bundles shows these two"),
        (["0.zst", "text.zst"], 3, "not a replaykit bundle"),
    ],
)
def test_what_cannot_be_compared_is_reported(
    arguments: list[str],
    code: int,
    words: str,
    reports: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "bad.json").write_text('{"verdicts": 3}')
    (tmp_path / "text.zst").write_text("hello")
    monkeypatch.chdir(tmp_path)
    assert run(["diff", *arguments]) == code
    assert words in capsys.readouterr().err
