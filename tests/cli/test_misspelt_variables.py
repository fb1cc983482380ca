"""Environment variables that name no option: a gate must not run without the condition that was meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from replaykit.cli.main import run
from replaykit.testing import trajectory

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def bundle(tmp_path: Path) -> str:
    task = {"id": "t1", "intent": "Which mug?", "checks": [{"type": "string_match", "exact": "tin"}]}
    path = tmp_path / "a.zst"
    trajectory(task).goto("http://shop.test/", "<h1>Mugs</h1>").answer("tin").write(path)
    return str(path)


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("REPLAYKIT_GRADE_FAIL_UNDR", "did you mean REPLAYKIT_GRADE_FAIL_UNDER?"),
        ("REPLAYKIT_GRADE_FAILON", "did you mean REPLAYKIT_GRADE_FAIL_ON?"),
        ("REPLAYKIT_GRADE_TASK_FILE", "did you mean REPLAYKIT_GRADE_TASK?"),
        ("REPLAYKIT_GRADE_XYZ", "there are REPLAYKIT_GRADE_ALLOW_VERIFIERS"),
        ("REPLAYKIT_GRAED_FAIL_UNDER", "did you mean REPLAYKIT_GRADE_FAIL_UNDER?"),
        ("REPLAYKIT_FAIL_UNDER", "did you mean REPLAYKIT_GRADE_FAIL_UNDER?"),
    ],
)
def test_a_variable_of_no_option_is_refused(
    variable: str, said: str, bundle: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv(variable, "CuP=1")
    assert run(["grade", bundle]) == 2
    words = capsys.readouterr().err
    assert f"the variable {variable} belongs to no option of `replaykit grade`" in words and said in words
    assert run(["grade", "--help"]) == 0


@pytest.mark.parametrize(
    "variable",
    [
        "REPLAYKIT_SHARED_DATA", "REPLAYKIT_UPDATE", "REPLAYKIT_TASK", "REPLAYKIT_REPLIES", "REPLAYKIT_BROWSER",
        "REPLAYKIT_CDP_URL", "REPLAYKIT_RECORD_SITE", "REPLAYKIT_JUDGE_RUN_REPLIES", "REPLAYKIT_DIFF_NOPE",
        "REPLAYKIT_MY_OWN", "REPLAYKITX_GRADE_FOO",
    ],
)  # fmt: skip
def test_variables_of_others_are_left_alone(
    variable: str, bundle: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "1")
    assert run(["grade", bundle]) == 0


def test_known_variables_count(bundle: str, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("REPLAYKIT_GRADE_QUIET", "1")
    monkeypatch.setenv("REPLAYKIT_GRADE_FAIL_UNDER", "CuP=2")
    assert run(["grade", bundle]) == 2
    assert "2 % is 0.02" in capsys.readouterr().err


def test_commands_below_a_group_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    suite = tmp_path / "s.yaml"
    suite.write_text("id: a\nintent: b\n")
    monkeypatch.setenv("REPLAYKIT_TASKS_SAMPLE_COUNT", "1")
    assert run(["tasks", "list", str(suite)]) == 0
    monkeypatch.setenv("REPLAYKIT_TASKS_SAMPLE_CONT", "1")
    assert run(["tasks", "list", str(suite)]) == 2
    assert "did you mean REPLAYKIT_TASKS_SAMPLE_COUNT?" in capsys.readouterr().err
