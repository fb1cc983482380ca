"""Options that are given wrongly: empty values, `-` for an output, and outputs that are bundles."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from replaykit.cli.main import run
from replaykit.testing import trajectory

Captured = pytest.CaptureFixture[str]
TASK = {"id": "t1", "intent": "Which mug?", "checks": [{"type": "string_match", "exact": "tin"}]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Captured) -> Path:
    monkeypatch.chdir(tmp_path)
    runs = tmp_path / "runs"
    runs.mkdir()
    trajectory(task=TASK).goto("http://shop.test/", "<h1>Mugs</h1>").answer("tin").write(runs / "a.zst")
    assert run(["grade", "runs", "-o", "report.json"]) == 0
    capfd.readouterr()
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["grade", "runs", "--task", ""],
        ["grade", "runs", "--replies", ""],
        ["grade", "runs", "--resume="],
        ["grade", "runs", "--policies", ""],
        ["judge", "plan", "runs", "--judge", "webvoyager", "--task", ""],
        ["judge", "plan", "runs", "--judge", "webvoyager", "--replies", ""],
        ["import", "har", "runs", "-o", ""],
        ["import", "har", "runs", "-o", "new", "--task", ""],
        ["export", "har", "runs/a.zst", "-o", "new.har", "--report", ""],
        ["mcp", "--root", ""],
        ["view", "runs", "-o", ""],
        ["rerun", "runs/a.zst", "--site", ""],
        ["redact", "runs/a.zst", "-o", "new.zst", "--secret-env", ""],
    ],
    ids=" ".join,
)
def test_an_empty_value_is_refused(words: list[str], folder: Path, capfd: Captured) -> None:
    assert run(words) == 2
    assert "it is empty: name one, or leave the option out" in capfd.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["report.json", "runs"]


def test_an_empty_value_that_means_something_is_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(["grade", "runs", "--fail-on", "", "--label", ""]) == 0
    monkeypatch.setenv("REPLAYKIT_GRADE_TASK", "")  # a variable that is empty is not set
    assert run(["grade", "runs"]) == 0


@pytest.mark.parametrize(
    "words",
    [
        ["grade", "runs", "--format", "html", "-o", "-"],
        ["grade", "runs", "--timings", "-"],
        ["grade", "runs", "--resume", "-"],
        ["grade", "runs/a.zst", "--reward-dir", "-"],
        ["redact", "runs/a.zst", "-o", "-"],
        ["extract", "runs/a.zst", "-o", "-"],
        ["export", "har", "runs/a.zst", "-o", "-"],
        ["agree", "report.json", "report.json", "-o", "-"],
        ["seal", "runs/a.zst", "--salvage", "-"],
        ["label", "runs", "-o", "-", "--annotator", "ada"],
    ],
    ids=" ".join,
)
def test_no_file_is_called_like_standard_output(words: list[str], folder: Path, capfd: Captured) -> None:
    assert run(words) == 2
    assert "it stands for standard output: name a file" in capfd.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["report.json", "runs"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["grade", "runs", "--timings", "runs/a.zst"], "it is a bundle, which this would replace"),
        (["grade", "runs/a.zst", "--timings", "runs/a.zst"], "would replace runs/a.zst, which grade reads"),
        (["grade", "runs", "--format", "json", "-o", "runs/a.zst"], "it is a bundle"),
    ],
    ids=["in a folder", "named", "report"],
)
def test_what_is_graded_is_not_replaced(words: list[str], said: str, folder: Path, capfd: Captured) -> None:
    before = (folder / "runs" / "a.zst").read_bytes()
    assert run(words) == 2
    assert said in capfd.readouterr().err
    assert (folder / "runs" / "a.zst").read_bytes() == before


def test_a_report_that_exists_is_replaced(folder: Path) -> None:
    assert run(["grade", "runs", "-o", "report.json", "--timings", "times.jsonl"]) == 0
    assert run(["grade", "runs", "-o", "report.json", "--timings", "times.jsonl"]) == 0


@pytest.mark.parametrize(
    "words",
    [
        ["import", "webvoyager", "runs", "-o", "new", "--actions", "/dev/zero"],
        ["import", "inspect", "runs", "-o", "new", "--tools", "/dev/zero"],
        ["import", "table", "report.json", "-o", "new", "--columns", "/dev/zero"],
        ["record", "--user", "/dev/zero", "-o", "new.zst", "--", "true"],
        ["harbor", "generate", "/dev/zero", "-o", "new", "--unpinned"],
        ["separates", "report.json", "--mutations", "/dev/zero"],
    ],
    ids=" ".join,
)
def test_files_that_do_not_end_are_read_to_a_limit(words: list[str], folder: Path, capfd: Captured) -> None:
    assert run(words) in (2, 3)
    error = capfd.readouterr().err
    assert "larger than" in error and "/dev/zero" in error


def test_a_name_that_is_no_utf8_is_shown_in_json(folder: Path, capfd: Captured) -> None:
    odd = os.fsencode(folder / "runs") + b"/\xff.zst"
    (folder / "runs" / "a.zst").rename(os.fsdecode(odd))
    assert run(["verify", "--json", "runs"]) == 0
    assert '"bundle":"runs/\\\\udcff.zst"' in capfd.readouterr().out
    assert run(["grade", "runs", "--judge", "rubric", "--rubrics", os.fsdecode(odd)]) == 3
    assert "\\udcff.zst: no such folder" in capfd.readouterr().err


def test_a_root_that_leads_in_a_circle_is_no_folder(folder: Path, capfd: Captured) -> None:
    pytest.importorskip("mcp", reason="the extra `mcp` is not installed")
    (folder / "loop").symlink_to("loop")
    assert run(["mcp", "--root", "loop"]) == 2
    assert "--root loop" in capfd.readouterr().err


def test_a_policy_file_behind_links_in_a_circle_is_refused(folder: Path) -> None:
    from replaykit.errors import TaskError
    from replaykit.tasks.suite import load_suite

    (folder / "loop.yaml").symlink_to("loop.yaml")
    suite = "schema: replaykit.suite/1\npolicies: {file: loop.yaml}\ntasks: [{id: t1, intent: Which}]\n"
    (folder / "suite.yaml").write_text(suite)
    with pytest.raises(TaskError):
        load_suite(folder / "suite.yaml", within=folder)


def test_a_name_is_suggested_only_for_a_file_that_is_missing(folder: Path, capfd: Captured) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "reports.json").write_text("{}")
    assert run(["grade", "runs", "--require-calibration", "other/reports.json"]) == 3
    assert "did you mean" not in capfd.readouterr().err
    assert run(["grade", "runs", "--require-calibration", "reports.json"]) == 3
    assert "did you mean report.json?" in capfd.readouterr().err
