"""Bundles that `replaykit judge` looks at: opened once, and tapes that are no tapes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from replaykit.cli.main import run
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.judge_runs import judge_run
from replaykit.grading.judge_runs.judge_run import Sensitivity, sensitivity_to_screenshots, summed
from replaykit.testing import trajectory


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    for name in ("one", "two"):
        built = trajectory({"id": name, "intent": f"Find order {name}.", "judge": "webvoyager"})
        built.goto("http://shop.test/", "<p>Order 42</p>").screenshot().click("#a").screenshot()
        built.answer("42").write(tmp_path / "runs" / f"{name}.zst")
    return tmp_path / "runs"


@pytest.mark.parametrize(
    "words", [["plan"], ["prompt"], ["sensitivity"], ["sensitivity", "--attacks", "all"]], ids=" ".join
)
def test_each_bundle_is_opened_once(
    words: list[str], runs: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    opened, open_bundle = Counter[str](), judge_run.open_bundle

    def counted(source: str) -> Any:
        opened[Path(source).name] += 1
        return open_bundle(source)

    monkeypatch.setattr(judge_run, "open_bundle", counted)
    assert run(["judge", *words, "runs", *(["--json"] if words == ["plan"] else [])]) == 0
    # A plan also looks for tapes of other bundles.
    assert opened == {"one.zst": 1 + (words == ["plan"]), "two.zst": 1 + (words == ["plan"])}


def test_a_bundle_that_cannot_be_read_is_left_out(runs: Path, capfd: Any) -> None:
    (runs / "text.zst").write_text("hello")
    for words in (["prompt"], ["sensitivity"], ["sensitivity", "--attacks", "again"]):
        assert run(["judge", *words, "runs"]) == 3
        printed = capfd.readouterr()
        assert "not judged: runs/text.zst" in printed.err and printed.out
    assert run(["judge", "sensitivity", "runs/text.zst"]) == 3
    assert run(["judge", "prompt", "runs/text.zst"]) == 3


def test_rows_of_bundles_are_summed(runs: Path) -> None:
    how = GradeOptions()
    together = sensitivity_to_screenshots(["runs"], how)
    apart = [row for name in ("one", "two") for row in sensitivity_to_screenshots([f"runs/{name}.zst"], how)]
    assert summed(apart) == together and {row.n for row in together} == {2}
    rows = [Sensitivity(judge="j", k=k, n=1, n_success=n) for n in (0, 1) for k in ("all", 3)]
    assert [(row.k, row.n, row.n_success) for row in summed(rows)] == [(3, 2, 1), ("all", 2, 1)]


@pytest.mark.parametrize("command", ["plan", "prompt", "run", "sensitivity"])
def test_a_file_that_is_no_tape_is_refused_and_kept(command: str, runs: Path, capfd: Any) -> None:
    mine = runs.parent / "labels.json"
    mine.write_text(json.dumps([{"trajectory": "a", "label": "success"}]))  # one line, without its end
    before = mine.read_bytes()
    assert run(["judge", command, "runs", "--replies", "labels.json"]) == 3
    assert "not a tape of replies" in capfd.readouterr().err
    assert mine.read_bytes() == before


def test_a_tape_that_is_missing_is_named(runs: Path, capfd: Any) -> None:
    assert run(["judge", "plan", "runs", "--replies", "none.jsonl"]) == 0
    assert "none.jsonl: no such tape yet; it answers nothing" in capfd.readouterr().err
    assert run(["judge", "sensitivity", "runs", "--replies", "none.jsonl"]) == 3


def test_a_model_without_a_provider_is_named_with_its_option(runs: Path, capfd: Any) -> None:
    assert run(["judge", "plan", "runs", "--judge-model", "gpt-4o"]) == 2
    assert "error: --judge-model: 'gpt-4o' names no provider" in capfd.readouterr().err
