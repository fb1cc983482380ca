"""The pump that needs no model: recorded replies answer, and what they cannot answer is an error."""

from __future__ import annotations

from replaykit.errors import BundleError
from replaykit.grading.judges.attacks import Attack, first_sample, under
from replaykit.grading.judges.judge_evidence import JudgeEvidence, gather
from replaykit.grading.judges.judge_interface import Judge
from replaykit.grading.judges.judge_loop import drive
from replaykit.grading.judges.judge_options import unasked
from replaykit.grading.judges.judge_panel import folded, members_of
from replaykit.grading.judges.protocols import build_judge
from replaykit.grading.judges.tape.tape import Ordinal, Tape
from replaykit.grading.judges.tape.tape_miss import recorded
from replaykit.grading.judges.votes import samples
from replaykit.grading.model_request import ModelReply, ModelRequest, ReplyFailure
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
    members = members_of(settings, mode)
    if members:
        return folded(
            settings, [judge_from_tape(one, task, replay, tape, mode, attack=attack) for one in members]
        )
    judge = build_judge(settings, mode)
    first = first_sample(settings.votes, attack)
    evidence = gathered(judge, task, replay, attack)
    if isinstance(evidence, Judgement):
        return evidence

    def answer(request: ModelRequest, ordinal: Ordinal) -> ModelReply | ReplyFailure:
        return recorded(request, ordinal, tape)

    return samples(settings.votes, lambda n: drive(judge, evidence, answer, first + n), settings.require)


def gathered(
    judge: Judge, task: Task, replay: Replay, attack: Attack | None = None
) -> JudgeEvidence | Judgement:
    """Return what the judge asks to see, changed by an attack, or ERROR where the bundle cannot show it."""
    try:
        return under(attack, gather(task, replay, judge.needs), judge.needs)
    except BundleError as error:
        detail = type(error)(**{**error.fields, "source": "bundle"}) if "source" in error.fields else error
        return unasked(judge, JudgeOutcome.ERROR, "evidence_unreadable", str(detail))
