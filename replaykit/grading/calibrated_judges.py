"""Judges under thresholds: one that its calibration does not cover is refused before anything is asked."""

from __future__ import annotations

from replaykit.bundle.reader import Bundle
from replaykit.grading.judges.judge_config import Panel, judge_name, tape_of
from replaykit.grading.judges.judge_panel import fingerprint_of, members_of
from replaykit.grading.judges.rubric.criteria import Criteria
from replaykit.grading.judges.rubric.rubric_judge import RubricJudge
from replaykit.grading.judges.tape.tape import Tape
from replaykit.grading.share_thresholds import ThresholdFile
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task


def refuse_uncalibrated(panel: Panel, bundle: Bundle, task: Task, file: ThresholdFile) -> None:
    """Raise JudgeError for a judge without thresholds, or with other criteria than the calibrated ones.

    It reads the tape and asks no one: no reply is paid for that could not count. Where models are asked,
    criteria that are not there yet are refused too, for a model would write others.
    """
    if panel.how == "off":
        return
    tape = tape_of(bundle, panel.tape) if panel.how != "refresh" else None
    for settings in panel.judges:
        name, mark = judge_name(settings), fingerprint_of(settings, panel.mode)
        file.check_judge(name, mark)
        for one in members_of(settings, panel.mode) or (settings,):
            if one.protocol == "rubric":
                _refuse_criteria(panel, (name, mark, one), task, tape, file)


def _refuse_criteria(
    panel: Panel,
    judge: tuple[str, str, JudgeSettings],
    task: Task,
    tape: Tape | None,
    file: ThresholdFile,
) -> None:
    name, mark, settings = judge
    found = RubricJudge(settings, panel.mode).known_criteria(task, tape)
    if isinstance(found, Criteria):
        file.check_rubric(name, mark, task.id, found.rubric.digest)
    elif found is None and panel.is_live:
        file.check_rubric(name, mark, task.id, None)
