"""The pump that needs no model: recorded replies answer, and what they cannot answer is an error."""

from __future__ import annotations

from functools import partial

from replaykit.errors import BundleError
from replaykit.grading.judges.attacks import Attack, under
from replaykit.grading.judges.judge_evidence import JudgeEvidence, gather
from replaykit.grading.judges.judge_interface import Judge
from replaykit.grading.judges.judge_loop import Answer, drive
from replaykit.grading.judges.judge_options import unasked
from replaykit.grading.judges.judge_panel import folded, members_of
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.judges.tape.tape import Tape
from replaykit.grading.judges.tape.tape_miss import recorded
from replaykit.grading.judges.votes import voted
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task


def judge_from_tape(
    settings: JudgeSettings,
    task: Task,
    replay: Replay,
    tape: Tape | None,
    mode: str = "strict",
    *,
    attack: Attack | None = None,
) -> Judgement:
    """Judge a run with recorded replies only; a miss is ERROR `tape_miss` that names what came nearest.

    Raises JudgeError for settings that no judge can have.
    """
    return judge_by(partial(recorded, tape=tape), settings, task, replay, mode, attack)


def judge_by(
    answer: Answer,
    settings: JudgeSettings,
    task: Task,
    replay: Replay,
    mode: str = "strict",
    attack: Attack | None = None,
) -> Judgement:
    """Judge a run with the replies that `answer` gives, one request after the other."""
    members = members_of(settings, mode)
    if members:
        return folded(settings, [judge_by(answer, one, task, replay, mode, attack) for one in members])
    judge, evidence, numbers = prepared(settings, task, replay, mode, attack)
    if isinstance(evidence, Judgement):
        return evidence
    return voted([drive(judge, evidence, answer, number) for number in numbers], settings.require)


def prepared(
    settings: JudgeSettings, task: Task, replay: Replay, mode: str, attack: Attack | None = None
) -> tuple[Judge, JudgeEvidence | Judgement, range]:
    """Return a judge, what it may see, or ERROR where the bundle cannot show it, and its votes' numbers."""
    judge = build_judge(settings, mode)
    # Another sample comes after those of the judge itself.
    first = settings.votes if attack is not None and attack.is_sample else 0
    return judge, gathered(judge, task, replay, attack), range(first, first + settings.votes)


def gathered(judge: Judge, task: Task, replay: Replay, attack: Attack | None) -> JudgeEvidence | Judgement:
    """Return what the judge asks to see, changed by an attack, or ERROR where the bundle cannot show it."""
    try:
        return under(attack, gather(task, replay, judge.needs), judge.needs)
    except BundleError as error:
        detail = type(error)(**{**error.fields, "source": "bundle"}) if "source" in error.fields else error
        return unasked(judge, JudgeOutcome.ERROR, "evidence_unreadable", str(detail))
