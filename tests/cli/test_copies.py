"""One command over any number of bundles: copies, broken ones, and more than anybody reads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from replaykit.cli.main import cli, run
from replaykit.grading.judges.clients.client import CallableClient
from replaykit.report.report_formats import SUMMARY_FROM
from replaykit.testing import trajectory

TASK = {"id": "t", "intent": "Which?", "checks": [{"type": "string_match", "exact": "tin"}]}


def write(path: Path, answer: str = "tin", task: Any = TASK) -> Path:
    return Path(trajectory(task).screenshot().answer(answer).write(path))


def test_a_single_broken_bundle_is_a_row_and_no_stale_report_stays(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.zst").write_bytes(b"no bundle")
    report = tmp_path / "report.json"
    report.write_text("an old report")
    assert run(["grade", str(tmp_path / "broken.zst"), "-o", str(report)]) == 3
    out, err = capfd.readouterr()
    assert "ERROR NotABundle" in out and "broken.zst" in err
    (verdict,) = json.loads(report.read_text())["verdicts"]
    assert "NotABundle" in str(verdict["error"])


def test_runs_are_named_by_their_files_and_checks_by_their_types(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "monday.zst")
    write(tmp_path / "friday.zst", "brass")
    assert run(["grade", str(tmp_path), "-o", str(tmp_path / "r.xml"), "-o", str(tmp_path / "r.csv")]) == 1
    out = capfd.readouterr().out
    assert "friday: check string_match[0] is FAIL" in out and "== friday" in out and "monday" in out
    for name in ("r.xml", "r.csv"):
        assert "friday" in (tmp_path / name).read_text()


@pytest.mark.parametrize("mode", ["none", "off"])
def test_copies_are_one_run(tmp_path: Path, mode: str, capfd: pytest.CaptureFixture[str]) -> None:
    shutil.copy(write(tmp_path / "a.zst"), tmp_path / "b.zst")
    assert run(["grade", str(tmp_path), "--judge-mode", mode, "-o", str(tmp_path / "r.json")]) == 0
    assert "one run, graded once: a.zst, b.zst" in capfd.readouterr().out
    report = json.loads((tmp_path / "r.json").read_text())
    assert len(report["verdicts"]) == 1 and report["duplicates"][0]["files"] == ["a.zst", "b.zst"]


@pytest.mark.parametrize("taped", [(), ("b",), ("a", "b")])
def test_a_model_is_asked_once_about_copies(
    tmp_path: Path, taped: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []

    class Counting(CallableClient):
        def __init__(self, **options: Any) -> None:
            super().__init__(self.say)

        def say(self, request: Any, images: Any) -> str:
            asked.append(request)
            return "SUCCESS"

        def close(self) -> None:
            pass

    monkeypatch.setattr("replaykit.grading.judges.clients.transports.Transports", Counting)
    task = {"id": "t", "intent": "Which?", "judge": "webvoyager"}
    write(tmp_path / "a.zst", task=task)
    for name in taped:
        assert run(["judge", "run", str(tmp_path / "a.zst")]) == 0
        if name != "a":
            shutil.copy(tmp_path / "a.replies.jsonl", tmp_path / f"{name}.replies.jsonl")
    if taped == ("b",):
        (tmp_path / "a.replies.jsonl").unlink()
    shutil.copy(tmp_path / "a.zst", tmp_path / "b.zst")
    asked.clear()
    assert run(["grade", str(tmp_path), "--judge-mode", "new"]) == 0
    assert "one run, graded once: a.zst, b.zst" in capfd.readouterr().out
    assert len(asked) == (0 if taped else 1)


def test_many_runs_are_a_summary(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for number in range(SUMMARY_FROM):
        write(tmp_path / f"run{number}.zst", f"tin {number}")
    assert run(["grade", str(tmp_path)]) == 1
    out = capfd.readouterr().out
    assert f"{SUMMARY_FROM} runs\n" in out and "success_rate" in out and "== run7" not in out
    assert len(out.splitlines()) < 60
    assert run(["grade", str(tmp_path), "--format", "text"]) == 1
    assert "== run7" in capfd.readouterr().out
    assert run(["grade", str(tmp_path / "run1.zst"), "--summary-only"]) == 1
    assert "== run1" not in capfd.readouterr().out


def test_a_folder_of_nothing_but_damaged_bundles_has_no_rates(tmp_path: Path) -> None:
    for name in ("one.zst", "two.zst"):
        (tmp_path / name).write_bytes(b"no bundle")
    found = CliRunner().invoke(cli, ["grade", str(tmp_path), "-o", str(tmp_path / "report.json")])
    assert found.exit_code == 3
    rates = json.loads((tmp_path / "report.json").read_text())["summary"]["metrics"]
    assert {name: (one["value"], one["reason"]) for name, one in rates.items()} == dict.fromkeys(
        rates, (None, "none_graded")
    )
    assert "0.000" not in found.stdout
