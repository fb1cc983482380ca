"""One judge at work, without any input or output: rounds of numbered requests, replies, a judgement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from replaykit.errors import RAISED_BY_LOADED_CODE
from replaykit.grading.judges.judge_options import unasked
from replaykit.grading.judges.tape.tape import Ordinal, request_key
from replaykit.grading.model_request import ModelReply, ModelRequest, ReplyFailure
from replaykit.grading.verdict import Judgement, JudgeOutcome

if TYPE_CHECKING:
    from replaykit.grading.judges.judge_evidence import JudgeEvidence
    from replaykit.grading.judges.judge_interface import Judge, Replies, Round

Answer = Callable[[ModelRequest, Ordinal], ModelReply | ReplyFailure]
"""Answers one request; the ordinal distinguishes equal requests."""


class Asked(Struct, frozen=True, kw_only=True):
    """A request, and which of several equal ones it is."""

    request: ModelRequest
    """The request."""
    ordinal: Ordinal
    """Sample, and occurrence of this request in it: by the order of the plan, never of arrival."""


class Deliberation:
    """Hands out rounds until there is a judgement; a judge that raises is ERROR `judge_bug`.

    `sample` is the number of the vote.
    """

    def __init__(self, judge: Judge, evidence: JudgeEvidence, sample: int = 0) -> None:
        self._judge = judge
        self._sample = sample
        self._seen: Counter[str] = Counter()
        #: The round that waits for its replies; empty once there is a judgement.
        self.round: tuple[Asked, ...] = ()
        self.judgement: Judgement | None = None
        self._deliberation = judge.deliberate(evidence)
        self._advance(None)

    def receive(self, replies: Replies) -> None:
        """Take the replies to the round, in its order."""
        self._advance(replies)

    def _advance(self, replies: Replies | None) -> None:
        try:
            requests = next(self._deliberation) if replies is None else self._deliberation.send(replies)
            self.round = self._numbered(requests)
        except StopIteration as done:
            self.round, self.judgement = (), done.value
        except RAISED_BY_LOADED_CODE as error:  # a judge's own fault is a result, not the end of grading
            what = f"{type(error).__name__}: {error}"
            self.round, self.judgement = (), unasked(self._judge, JudgeOutcome.ERROR, "judge_bug", what)

    def _numbered(self, requests: Round) -> tuple[Asked, ...]:
        numbered = []
        for request in requests:
            key = request_key(request)
            sample = 0 if request.is_shared else self._sample
            numbered.append(Asked(request=request, ordinal=(sample, self._seen[key])))
            self._seen[key] += 1
        return tuple(numbered)


def drive(judge: Judge, evidence: JudgeEvidence, answer: Answer, sample: int = 0) -> Judgement:
    """Run a judge to its end, answering its requests in order."""
    work = Deliberation(judge, evidence, sample)
    while work.judgement is None:
        work.receive(tuple(answer(asked.request, asked.ordinal) for asked in work.round))
    return work.judgement
