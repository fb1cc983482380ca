"""`replaykit export` on the command line: places, refusals, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from replaykit.cli.main import run
from replaykit.interop.bundle_export import EXPORTERS
from replaykit.testing.builder import trajectory


@pytest.fixture
def bundles(tmp_path: Path) -> Path:
    trajectory("one").click("#a", "<p>x</p>").screenshot().answer("1").write(tmp_path / "runs-one.zst")
    trajectory("two").answer(None).write(tmp_path / "runs-two.zst")
    return tmp_path


def test_one_bundle_is_written_to_the_given_path(bundles: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = bundles / "trace.zip"
    assert run(["export", "playwright-trace", str(bundles / "runs-one.zst"), "-o", str(target)]) == 0
    assert target.is_file() and capsys.readouterr().out == f"{target}\n"
    assert run(["export", "playwright-trace", str(bundles / "runs-one.zst"), "-o", str(target)]) == 3
    assert (
        run(["export", "playwright-trace", str(bundles / "runs-one.zst"), "-o", str(target), "--force"]) == 0
    )


def test_many_go_into_a_folder_and_a_refused_one_is_reported(
    bundles: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["export", "atif", str(bundles), "-o", str(bundles / "out")]) == 3
    out, err = capsys.readouterr()
    assert (bundles / "out/runs-one/trajectory.json").is_file() and out.count("\n") == 1
    assert "cannot export atif" in err and "1 exported, 1 failed" in err


def test_what_is_not_recorded_is_refused_not_guessed(bundles: Path) -> None:
    arguments = ["export", "webarena-verified", str(bundles / "runs-one.zst"), "-o", str(bundles / "out")]
    assert run(arguments) == 3
    assert run([*arguments, "--task-type", "RETRIEVE", "--status", "SUCCESS"]) == 0
    assert json.loads((bundles / "out/agent_response.json").read_text())["status"] == "SUCCESS"


def test_the_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["export", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in EXPORTERS)


@pytest.mark.parametrize("arguments", [[], ["har"], ["har", "x.zst"]])
def test_usage(arguments: list[str]) -> None:
    assert run(["export", *arguments]) == 2


def test_an_unknown_format_and_a_missing_bundle(tmp_path: Path) -> None:
    assert run(["export", "nonsense", str(tmp_path), "-o", str(tmp_path / "o")]) == 2
    assert run(["export", "har", str(tmp_path / "none.zst"), "-o", str(tmp_path / "o")]) == 3
