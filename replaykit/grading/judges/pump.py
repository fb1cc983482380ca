"""Pumps: they carry a judge's requests to whatever answers them, here the tape."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from msgspec import Struct

from replaykit.errors import BundleError
from replaykit.grading.judges.evidence import JudgeEvidence, gather
from replaykit.grading.judges.judge import Judge, unasked
from replaykit.grading.judges.miss import explain
from replaykit.grading.judges.tape import Ordinal, Tape, request_key
from replaykit.grading.judges.webvoyager import WebVoyager
from replaykit.grading.request import ModelReply, ModelRequest, ReplyFailure
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.replay.player import Replay
from replaykit.tasks.task import JudgeSettings, Task

Answer = Callable[[ModelRequest, Ordinal], ModelReply | ReplyFailure]
"""Answers one request; the ordinal tells equal requests apart."""


class Missing(Struct, frozen=True, kw_only=True):
    """A request that nobody has answered yet."""

    request: ModelRequest
    """The request."""
    ordinal: Ordinal
    """Which of several equal ones."""


def judge_from_tape(
    settings: JudgeSettings, task: Task, replay: Replay, tape: Tape | None, mode: str = "strict"
) -> Judgement:
    """Judge a run with recorded replies alone; a miss is ERROR `tape_miss` that says what came nearest.

    Raises JudgeError for settings that no judge can have.
    """
    judge = build_judge(settings, mode)
    evidence = _gathered(judge, task, replay)
    if isinstance(evidence, Judgement):
        return evidence
    return drive(judge, evidence, lambda request, ordinal: _recorded(request, ordinal, tape))


def plan(
    settings: JudgeSettings, task: Task, replay: Replay, tape: Tape | None = None, mode: str = "strict"
) -> tuple[Missing, ...]:
    """Return the requests of the first round that the tape cannot answer; empty = all recorded."""
    judge = build_judge(settings, mode)
    evidence = _gathered(judge, task, replay)
    missing: list[Missing] = []

    def look(request: ModelRequest, ordinal: Ordinal) -> ModelReply | ReplyFailure:
        found = _recorded(request, ordinal, tape)
        if isinstance(found, ReplyFailure):
            missing.append(Missing(request=request, ordinal=ordinal))
        return found

    if isinstance(evidence, JudgeEvidence):
        drive(judge, evidence, look)
    return tuple(missing)


def drive(judge: Judge, evidence: JudgeEvidence, answer: Answer, sample: int = 0) -> Judgement:
    """Run a judge to its end, answering its requests in order; a judge that raises is ERROR."""
    asked: Counter[str] = Counter()
    try:
        deliberation = judge.deliberate(evidence)
        requests = next(deliberation)
        while True:
            replies = []
            for request in requests:
                key = request_key(request)
                replies.append(answer(request, (sample, asked[key])))
                asked[key] += 1
            requests = deliberation.send(tuple(replies))
    except StopIteration as done:
        judgement: Judgement = done.value
        return judgement
    except Exception as error:  # noqa: BLE001  # a judge's own fault is a result, not the end of grading
        return unasked(judge, JudgeOutcome.ERROR, "judge_bug", f"{type(error).__name__}: {error}")


def build_judge(settings: JudgeSettings, mode: str) -> Judge:
    """Return the judge of these settings; raise JudgeError naming a bad option."""
    return WebVoyager(settings, mode)


def _gathered(judge: Judge, task: Task, replay: Replay) -> JudgeEvidence | Judgement:
    try:
        return gather(task, replay, judge.images, judge.dedupe)
    except BundleError as error:
        detail = type(error)(**{**error.fields, "source": "bundle"}) if "source" in error.fields else error
        return unasked(judge, JudgeOutcome.ERROR, "evidence_unreadable", str(detail))


def _recorded(request: ModelRequest, ordinal: Ordinal, tape: Tape | None) -> ModelReply | ReplyFailure:
    found = tape.reply(request, ordinal) if tape is not None else None
    return found or ReplyFailure(kind="tape_miss", message=explain(request, ordinal, tape))
