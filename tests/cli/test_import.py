"""`replaykit import` on the command line: exit codes, messages, the table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from replaykit.cli.exchange.import_ import pace_line
from replaykit.cli.main import run
from tests.interop.samples import webvoyager, write


def test_runs_become_bundles_and_data_goes_to_stdout(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    webvoyager(tmp_path / "results")
    assert run(["import", "webvoyager", str(tmp_path / "results"), "-o", str(tmp_path / "out")]) == 0
    out, err = capsys.readouterr()
    assert out.startswith(f"{tmp_path}/out/Shop--3.zst sha256:") and "1 imported, 0 failed" in err


def test_a_bad_run_is_reported_and_fails_with_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    webvoyager(tmp_path / "results" / "a")
    webvoyager(tmp_path / "results" / "b", messages={"a": 1})
    assert run(["import", "webvoyager", str(tmp_path / "results"), "-o", str(tmp_path / "out")]) == 3
    assert "interact_messages.json is object; expected array" in capsys.readouterr().err
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["a-Shop--3.zst"]


def test_nothing_known_exits_4_and_names_what_was_looked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "x/readme.txt", "hello")
    assert run(["import", "auto", str(tmp_path / "x"), "-o", str(tmp_path / "out")]) == 4
    assert "webvoyager: task<id>/interact_messages.json" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["import"],
        ["import", "webvoyager"],
        ["import", "nonsense", "x", "-o", "y"],
        ["import", "wabe", "x", "-o", "y", "--limit", "colour=3"],
        ["import", "webvoyager", "x", "-o", "y", "--max-iter", "0"],
    ],
)
def test_usage(arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2


def test_an_empty_folder_of_results_exits_4_and_a_missing_one_3(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for name, code in (("empty", 4), ("missing", 3)):
        assert run(["import", "webvoyager", str(tmp_path / name), "-o", str(tmp_path / "out")]) == code


def test_the_table_of_capabilities(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "--list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    (row,) = [row for row in rows if row["format"] == "webvoyager"]
    assert (row["actions"], row["targets"], row["network"], row["a11y"]) == ("R", "P", "-", "o")
    assert row["looks_for"] == "task<id>/interact_messages.json"
    assert run(["import", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.startswith("webvoyager ")]) == 2
    assert any(line.startswith("rrweb ") and "*.ndjson" in line and line.count("  ") < 12 for line in lines)


def test_a_task_file_takes_the_place_of_what_the_run_says(tmp_path: Path) -> None:
    from replaykit.bundle.reader import open_bundle

    webvoyager(tmp_path / "results")
    tasks = write(tmp_path, "tasks.json", {"id": "mine", "intent": "Buy it."})
    arguments = ["import", "webvoyager", str(tmp_path / "results"), "-o", str(tmp_path / "out")]
    assert run([*arguments, "--task", str(tasks)]) == 3
    assert run([*arguments, "--task", f"{tasks}#mine"]) == 0
    with open_bundle(tmp_path / "out" / "Shop--3.zst") as bundle:
        assert (bundle.header.task or {})["id"] == "mine"


def test_how_far_an_import_is_has_a_rate_and_the_time_left() -> None:
    assert pace_line(120, 500, 60.0) == "120 of 500 runs, 2.0 a second, 190 s left"
    assert pace_line(0, 500, 60.0) == "0 of 500 runs, 0.0 a second"
