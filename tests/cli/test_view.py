"""`replaykit view` and `grade -o x.html` as a user meets them."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from replaykit.cli.main import run
from replaykit.testing import trajectory

TASK = {"id": "t1", "intent": "Which mug?", "checks": [{"type": "string_match", "exact": "tin"}]}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return (
        trajectory(TASK)
        .goto("http://shop.test/", "<h1>Mugs</h1>")
        .screenshot()
        .answer("tin")
        .write(tmp_path / "a.zst")
    )


def first_screen(path: Path) -> dict[str, Any]:
    found = re.search(r'id="report">(.*?)</script>', path.read_text(), flags=re.S)
    assert found is not None
    return json.loads(found[1])


def test_a_bundle_becomes_a_page(bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "x.html"
    assert run(["view", str(bundle), "-o", str(out), "--label", "mugs"]) == 0
    output = capsys.readouterr()
    assert output.out == ""
    assert f"written: {out} (1 run)" in output.err
    screen = first_screen(out)
    assert screen["label"] == "mugs"
    assert screen["runs"][0]["steps"] == 1
    first = out.read_bytes()
    assert run(["view", str(bundle), "-o", str(out), "--label", "mugs", "--jobs", "2"]) == 0
    assert out.read_bytes() == first


def test_grade_writes_the_same_page(bundle: Path, tmp_path: Path) -> None:
    viewed, graded = tmp_path / "v.html", tmp_path / "g.html"
    assert run(["view", str(bundle), "-o", str(viewed)]) == 0
    assert run(["grade", str(bundle), "-o", str(graded)]) == 0
    assert graded.read_bytes() == viewed.read_bytes()


def test_a_report_shows_its_own_verdicts_and_the_bundles_their_runs(bundle: Path, tmp_path: Path) -> None:
    report, out = tmp_path / "r.json", tmp_path / "x.html"
    suite = tmp_path / "suite.yaml"
    suite.write_text(
        "schema: replaykit.suite/1\ntasks: [{id: t1, intent: a mug, checks: [{type: string_match, exact: clay}]}]"
    )
    assert run(["grade", str(bundle), "--task", str(suite), "--fail-on", "", "-o", str(report)]) == 0
    assert run(["view", str(report), "-o", str(out)]) == 0
    assert "steps" not in first_screen(out)["runs"][0]
    assert run(["view", str(report), str(bundle), "-o", str(out)]) == 0
    row = first_screen(out)["runs"][0]
    assert (row["success"], row["steps"]) == ("FAIL", 1)


def test_a_report_and_bundles_that_do_not_belong_together_are_named(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report, other, out = tmp_path / "r.json", tmp_path / "other.zst", tmp_path / "x.html"
    trajectory(TASK).goto("http://shop.test/", "<h1>Cups</h1>").answer("tin").write(other)
    assert run(["grade", str(bundle), "-o", str(report)]) == 0
    words = [
        f"1 bundle without a verdict in the report: {other}",
        "1 of 1 verdict in the report without a bundle here",
    ]
    for command, n in (
        (["view", str(report), str(other), "-o", str(out)], 2),
        (["diff", str(report), str(report), "--runs", str(other), "-o", str(out)], 1),
        (["export", "inspect", str(other), "--report", str(report), "-o", str(tmp_path / "x.eval")], 1),
        (["view", str(report), str(bundle), "-o", str(out)], 0),
        (["view", str(report), "-o", str(out)], 0),
    ):
        capsys.readouterr()
        assert run(command) == 0
        errors = capsys.readouterr().err
        assert [one in errors for one in words[:n]] == [True] * n, command
        assert n or "the report" not in errors


def test_a_label_that_is_called_like_the_output_is_no_input(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert run(["view", str(bundle), "-o", "x.html", "--label", "x.html"]) == 0
    assert run(["grade", str(bundle), "-o", "x.html", "--replies", "x.html"]) == 2


def test_the_limit_leaves_screenshots_out_and_says_so(bundle: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.html"
    assert run(["view", str(bundle), "-o", str(out), "--max-size", "0"]) == 0
    assert first_screen(out)["left_out"] == {"pieces": 0, "most": 0}


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["none.zst"], 3, "no such file"),
        (["r.json", "r.json"], 2, "one report"),
        (["bad.json"], 3, "not a report"),
        (["a.zst", "-o", "no/such/folder/x.html"], 2, "cannot write"),
        (["empty"], 4, "no bundle (*.zst)"),
        ([], 2, "Missing argument"),
    ],
)
def test_what_cannot_be_shown_is_reported(
    arguments: list[str],
    code: int,
    words: str,
    bundle: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.json").write_text('{"verdicts": 3}')
    assert run(["grade", str(bundle), "-o", "r.json"]) == 0
    assert run(["view", *arguments]) == code
    assert words in capsys.readouterr().err
    assert not list(tmp_path.glob(".*"))


def test_a_pipe_without_a_writer_is_not_waited_for(bundle: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.zst")
    assert run(["view", str(tmp_path / "pipe.zst"), str(bundle), "-o", str(tmp_path / "x.html")]) == 3
    verdicts = first_screen(tmp_path / "x.html")["runs"]
    assert len(verdicts) == 2


def test_what_cannot_be_read_is_reported_and_fails_by_itself(
    bundle: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.zst").write_text("hello")
    for sources, code in (((tmp_path / "text.zst",), 3), ((tmp_path / "text.zst", bundle), 3)):
        assert run(["view", *map(str, sources), "-o", str(tmp_path / "out.html")]) == code
        output = capsys.readouterr().err
        assert "not graded: text.zst: not a replaykit bundle: found a text file" in output
        assert (tmp_path / "out.html").exists()


def test_verdicts_may_have_to_be_proven(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = {"type": "never", "match": {"action": "click", "text": "Buy"}}
    policies = [{"id": "p", "dimension": "user_consent", "rule": rule}]
    run_of = trajectory({"id": "t", "intent": "Look.", "policies": policies})
    path = run_of.goto("http://shop.test/", "<p>x</p>").answer("done").write(tmp_path / "a.zst")
    out, report = tmp_path / "x.html", tmp_path / "r.json"
    assert run(["view", str(path), "-o", str(out)]) == 0
    assert first_screen(out)["summary"]["decided"]["share"] == 1
    assert run(["view", str(path), "-o", str(out), "--require-proof"]) == 0
    assert first_screen(out)["summary"]["decided"]["share"] == 0
    assert run(["grade", str(path), "-o", str(report)]) == 0
    assert run(["view", str(report), "-o", str(out), "--require-proof"]) == 2
    assert "replaykit grade --require-proof" in capsys.readouterr().err
