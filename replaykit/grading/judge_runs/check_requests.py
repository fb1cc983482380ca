"""Requests that the checks of a run make to a model: planned and asked beside those of judges."""

from __future__ import annotations

import asyncio

from replaykit.bundle.reader import Bundle
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import asked_by_checks, panel_of
from replaykit.grading.judges.check_replies import CheckReplies
from replaykit.grading.judges.clients.client import Client
from replaykit.grading.judges.judge_execution import recorder_of
from replaykit.grading.judges.judge_loop import Asked
from replaykit.grading.judges.request_plan import RequestPlan, plan_of
from replaykit.grading.judges.tape.tape import request_key
from replaykit.grading.judges.tape.tape_recorder import RequestSlots
from replaykit.grading.model_request import ModelReply, ReplyFailure
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.tasks.task import Task
from replaykit.trajectory.plurals import counted

CHECKS = "checks"
"""Name under which checks stand among judges."""


def plan_checks(bundle: Bundle, task: Task, options: GradeOptions) -> tuple[str, RequestPlan] | None:
    """Return model and plan of what the checks of a run ask; None where they ask nothing.

    What they ask may depend on replies that are missing.
    """
    replies = asked_by_checks(bundle, task, options)
    if not replies.asked:
        return None
    missing = replies.missing
    return replies.asked[0].request.model, plan_of(missing) if missing else RequestPlan()


async def ask_for_checks(
    bundle: Bundle, task: Task, options: GradeOptions, client: Client, slots: RequestSlots
) -> Judgement | None:
    """Ask what the checks of a run miss, and record it; None where they ask nothing.

    The result is NOT_EVALUATED `recorded`, for grading decides, or ERROR with what went wrong first.
    """
    panel = panel_of(bundle, task, options)
    found: dict[str, ModelReply | ReplyFailure] = {}
    replies = asked_by_checks(bundle, task, options)
    while panel.is_live and (todo := _todo(replies, panel.how, found)):
        recorder = recorder_of(panel, bundle, client)
        answers = await asyncio.gather(*(slots.answer(asked, recorder) for asked in todo))
        found.update(zip((request_key(asked.request) for asked in todo), answers, strict=True))
        # A reply may make a check ask for more.
        replies = asked_by_checks(bundle, task, options)
    return _judgement(replies, found) if replies.asked else None


def _todo(replies: CheckReplies, how: str, found: dict[str, ModelReply | ReplyFailure]) -> list[Asked]:
    wanted = replies.asked if how == "refresh" else replies.missing
    return [asked for asked in wanted if request_key(asked.request) not in found]


def _judgement(replies: CheckReplies, found: dict[str, ModelReply | ReplyFailure]) -> Judgement:
    failures = [reply for reply in found.values() if isinstance(reply, ReplyFailure)]
    if failures:
        outcome, reason, detail = JudgeOutcome.ERROR, failures[0].kind, failures[0].message
    elif replies.missing:
        outcome, reason, detail = (
            JudgeOutcome.ERROR,
            "tape_miss",
            f"missing: {counted(len(replies.missing), 'reply')}",
        )
    else:
        outcome, reason = JudgeOutcome.NOT_EVALUATED, "recorded"
        detail = f"{counted(len(replies.asked), 'reply')} for checks"
    return Judgement(judge=CHECKS, outcome=outcome, reason=reason, fingerprint="", detail=detail)
