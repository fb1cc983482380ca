"""Judges in Python: run where a command names them, refused where a task does."""

from __future__ import annotations

import pytest

from replaykit.errors import JudgeError
from replaykit.grading.judges.judge_config import judges_of
from replaykit.grading.judges.settings_file import named_judge
from replaykit.grading.judges.tape.tape_player import judge_from_tape
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task

CODE = """
from replaykit.grading.judges.judge_evidence import EvidenceNeeds
from replaykit.grading.judges.judge_options import unasked
from replaykit.grading.judges.screenshot_choice import image_policy
from replaykit.grading.verdict import JudgeOutcome

class Lenient:
    name, fingerprint, needs = "lenient", "sha256:1", EvidenceNeeds(images=image_policy("none"))

    def __init__(self, settings, mode):
        self.mode = mode

    def deliberate(self, evidence):
        return unasked(self, JudgeOutcome.SUCCESS, f"{self.mode} {evidence.answer}")
        yield ()

LIMIT = 3
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(CODE)
    return path


def test_a_judge_in_a_file(file, recorded, task):
    settings = named_judge(f"{file}@Lenient")
    judged = judge_from_tape(settings, task, Replay(recorded(1)), None)
    assert (judged.judge, judged.outcome, judged.reason) == ("lenient", "SUCCESS", "strict It is 42.")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Nobody", "mine.py: it has no 'Nobody'"),
        ("LIMIT", "a judge is made by a callable, not a int"),
    ],
)
def test_what_is_no_judge_is_named(file, recorded, task, name, words):
    with pytest.raises(JudgeError) as caught:
        judge_from_tape(named_judge(f"{file}@{name}"), task, Replay(recorded(1)), None)
    assert words in str(caught.value)
    assert str(file.parent) not in str(caught.value)


def test_a_file_that_fails_or_is_missing(tmp_path, recorded, task):
    (tmp_path / "bad.py").write_text("1 / 0")
    for name, words in (
        ("bad.py", "ZeroDivisionError while it was loaded"),
        ("none.py", "no such Python file"),
    ):
        with pytest.raises(JudgeError, match=words):
            judge_from_tape(named_judge(f"{tmp_path / name}@X"), task, Replay(recorded(1)), None)


def test_a_task_never_names_code(file):
    hostile = Task(id="t", intent="x", judge=JudgeSettings(protocol="custom", entry=f"{file}@Lenient"))
    with pytest.raises(JudgeError, match="is code: name it with --judge"):
        judges_of(hostile, ())
    with pytest.raises(JudgeError, match="no judge"):
        judges_of(Task(id="t", intent="x", judge=f"{file}@Lenient"), ())


def test_an_entry_point(monkeypatch, recorded, task):
    from importlib.metadata import EntryPoint

    point = EntryPoint(
        "judge_settings", "replaykit.grading.judges.webvoyager_judge:WebVoyager", "replaykit.judges"
    )
    monkeypatch.setattr(
        "importlib.metadata.entry_points",
        lambda group, name: [point] if (group, name) == (point.group, point.name) else [],
    )
    settings = named_judge("judge_settings")
    assert judge_from_tape(settings, task, Replay(recorded(1)), None).judge == "judge_settings"
    with pytest.raises(JudgeError, match="no judge 'other'"):
        named_judge("other")
