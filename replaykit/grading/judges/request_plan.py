"""Plan of the requests to models and their cost; nothing is sent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from replaykit.grading.judges.attacks import Attack
from replaykit.grading.judges.costs import tokens_of
from replaykit.grading.judges.judge_evidence import JudgeEvidence
from replaykit.grading.judges.judge_interface import Judge
from replaykit.grading.judges.judge_loop import Asked, Deliberation
from replaykit.grading.judges.judge_panel import members_of
from replaykit.grading.judges.tape.tape import Tape, request_key
from replaykit.grading.judges.tape.tape_player import prepared
from replaykit.grading.model_request import ImagePart, ModelReply, ReplyFailure
from replaykit.replay.player import Replay
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task


class RequestPlan(Struct, frozen=True, kw_only=True):
    """Requests of a judge that no tape answers."""

    missing: tuple[Asked, ...] = ()
    """Requests of the first rounds that have no reply, in order; empty = all are recorded."""
    blocked: str | None = None
    """Stage that waits for their replies; null = no stage waits."""
    at_most: int = 0
    """Greatest number of requests left, later rounds included."""
    tokens: int = 0
    """Estimated number of tokens of the missing requests."""
    images: int = 0
    """Number of images in the missing requests."""


def plan(
    settings: JudgeSettings,
    task: Task,
    replay: Replay,
    tape: Tape | None = None,
    mode: str = "strict",
    *,
    attack: Attack | None = None,
) -> RequestPlan:
    """Return what the tape cannot answer, of all votes. Later rounds depend on replies that are missing.

    Raises JudgeError for settings that no judge can have.
    """
    members = members_of(settings, mode)
    if members:
        return _once(joined(plan(one, task, replay, tape, mode, attack=attack) for one in members))
    judge, evidence, numbers = prepared(settings, task, replay, mode, attack)
    if not isinstance(evidence, JudgeEvidence):
        return RequestPlan()
    return joined(_planned(judge, evidence, tape, n) for n in numbers)


def known_requests(
    settings: JudgeSettings, task: Task, replay: Replay, tape: Tape | None = None, mode: str = "strict"
) -> list[Asked]:
    """Return the requests of all votes up to the first round that the tape cannot answer, that one included.

    Raises JudgeError for settings that no judge can have.
    """
    members = members_of(settings, mode)
    if members:
        return [asked for one in members for asked in known_requests(one, task, replay, tape, mode)]
    judge, evidence, numbers = prepared(settings, task, replay, mode)
    if not isinstance(evidence, JudgeEvidence):
        return []
    votes = ((n, asked) for n in numbers for asked in _known(judge, evidence, tape, n))
    return [asked for n, asked in votes if _is_own(asked, n)]


def joined(plans: Iterable[RequestPlan]) -> RequestPlan:
    """Return several plans as one."""
    listed = tuple(plans)
    return RequestPlan(
        missing=tuple(asked for one in listed for asked in one.missing),
        blocked=next((one.blocked for one in listed if one.blocked), None),
        at_most=sum(one.at_most for one in listed),
        tokens=sum(one.tokens for one in listed),
        images=sum(one.images for one in listed),
    )


def _once(found: RequestPlan) -> RequestPlan:
    """Return a plan without the requests that several members of a panel share."""
    own = {(request_key(asked.request), asked.ordinal): asked for asked in found.missing}
    return plan_of(tuple(own.values()), found.at_most) if len(own) < len(found.missing) else found


def plan_of(missing: tuple[Asked, ...], at_most: int = 0) -> RequestPlan:
    """Return the plan of missing requests, one or more; `at_most` counts those of later rounds too."""
    requests = [asked.request for asked in missing]
    return RequestPlan(
        missing=missing,
        blocked=requests[0].stage,
        at_most=max(at_most, len(missing)),
        tokens=sum(tokens_of(request) for request in requests),
        images=sum(isinstance(part, ImagePart) for request in requests for part in request.content),
    )


def _known(judge: Judge, evidence: JudgeEvidence, tape: Tape | None, sample: int) -> Iterator[Asked]:
    """Yield the requests up to the first round that the tape cannot answer.

    One that was refused has no reply there; where the next round has all of its own, it is not waited for.
    """
    work = Deliberation(judge, evidence, sample)
    while work.round:
        asked = work.round
        found = [_reply(tape, one) for one in asked]
        work.receive(tuple(reply or _MISS for reply in found))
        is_stuck = None in found and not _is_answered(tape, work.round)
        yield from (one for one, reply in zip(asked, found, strict=True) if is_stuck or reply is not None)
        if is_stuck:
            return


_MISS = ReplyFailure(kind="tape_miss", message="there is no reply on the tape")


def _is_answered(tape: Tape | None, asked: Sequence[Asked]) -> bool:
    return bool(asked) and all(_reply(tape, one) is not None for one in asked)


def _planned(judge: Judge, evidence: JudgeEvidence, tape: Tape | None, sample: int) -> RequestPlan:
    known = list(_known(judge, evidence, tape, sample))
    missing = tuple(asked for asked in known if _reply(tape, asked) is None and _is_own(asked, sample))
    return _blocked(judge, evidence, missing, len(known) - len(missing)) if missing else RequestPlan()


def _is_own(asked: Asked, sample: int) -> bool:
    """Return whether a vote asks for itself: what all votes share, the first one asks for."""
    return not (sample and asked.request.is_shared)


def _reply(tape: Tape | None, asked: Asked) -> ModelReply | None:
    return tape.reply(asked.request, asked.ordinal) if tape is not None else None


def _blocked(judge: Judge, evidence: JudgeEvidence, missing: tuple[Asked, ...], answered: int) -> RequestPlan:
    most = getattr(judge, "most_requests", None)
    rest = most(evidence) - answered if most is not None else len(missing)
    return plan_of(missing, rest)
