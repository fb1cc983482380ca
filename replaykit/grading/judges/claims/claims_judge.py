"""Claims: a model turns task and answer into predicates, and code decides them on the recording."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import Any, cast

from msgspec.structs import replace

from replaykit.errors import JudgeError
from replaykit.grading.judges.claims.claim_decisions import Decided, decided, plain
from replaykit.grading.judges.claims.predicate_decisions import DECIDE_VERSION, ClaimFinding
from replaykit.grading.judges.claims.predicates import ClaimItems, read_items
from replaykit.grading.judges.claims.run_facts import RunFacts
from replaykit.grading.judges.claims.spurious_evidence import unquoted, unstated
from replaykit.grading.judges.claims.unexplained_requests import NO_NETWORK, unexplained
from replaykit.grading.judges.judge_evidence import JudgeEvidence
from replaykit.grading.judges.judge_interface import Replies, Round
from replaykit.grading.judges.model_judge import ModelJudge, stage_report
from replaykit.grading.judges.prompts.prompt_slots import Prompts, Slot
from replaykit.grading.judges.replies.strict_object import last_object
from replaykit.grading.model_request import ModelReply, ModelRequest, TextPart
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.tasks.judge_settings import JudgeSettings

NEEDS = "needs"
"""Stage that reads the task only; its request is the same for every run of it."""

CLAIMS = "claims"
"""Stage that reads the answer."""


class Claims(ModelJudge):
    """One round of two requests without a screenshot; code decides what the replies state."""

    protocol = "claims"
    decides_side_effects = True

    def __init__(self, settings: JudgeSettings, mode: str = "strict") -> None:
        slots = {
            "needs.system": Slot(shipped="claims.needs.system"),
            "needs.user": Slot(shipped="claims.needs.user", names=("task",)),
            "claims.system": Slot(shipped="claims.answer.system"),
            "claims.user": Slot(shipped="claims.answer.user", names=("task", "answer")),
        }
        # No benchmark has such a judge, so there is nothing that compat mode could follow.
        super().__init__(settings, "strict", Prompts(self.protocol, slots, settings.prompts), "none")
        if settings.images not in ("", "none"):
            raise JudgeError(what=f"option images: {settings.images!r}: claims reads no screenshots")
        self.needs = replace(self.needs, facts=True)

    def deliberate(self, evidence: JudgeEvidence) -> Generator[Round, Replies, Judgement]:
        """Ask what the task needs and what the answer claims, then decide."""
        requests = tuple(self._requests(evidence))
        if not requests:
            return self.unasked(evidence, JudgeOutcome.ABSTAIN, "no_task")
        replies = yield requests
        failed = self.failed(evidence, replies)
        return failed or self._judgement(evidence, requests, cast("tuple[ModelReply, ...]", replies))

    def parser(self) -> str:
        """Return the name of the parser of its replies."""
        return "items"

    def shape(self) -> dict[str, Any]:
        """Return what else shapes its answer."""
        fails = {"side_effects": "fail"} if self.settings.side_effects == "fail" else {}
        return {"decide_version": DECIDE_VERSION, **fails}

    def _requests(self, evidence: JudgeEvidence) -> list[ModelRequest]:
        task, answer = evidence.task, evidence.answer or ""
        found = []
        if task.strip():
            texts = self.untrusted({"task": task})
            needs = self.request(NEEDS, self.system("needs.system"), self._part("needs.user", texts))
            found.append(replace(needs, is_shared=True))
        if answer.strip():
            texts = self.untrusted({"task": task, "answer": answer})
            found.append(self.request(CLAIMS, self.system("claims.system"), self._part("claims.user", texts)))
        return found

    def _part(self, slot: str, texts: Mapping[str, str]) -> list[TextPart]:
        return [TextPart(text=self.prompts.fill(slot, texts))]

    def _judgement(
        self, evidence: JudgeEvidence, requests: Sequence[ModelRequest], replies: Sequence[ModelReply]
    ) -> Judgement:
        facts = evidence.facts
        if facts is None:
            return self.unasked(evidence, JudgeOutcome.ERROR, "evidence_unreadable")
        read = {request.stage: _read(reply) for request, reply in zip(requests, replies, strict=True)}
        stages = tuple(
            stage_report(request, reply, _report(read[request.stage]))
            for request, reply in zip(requests, replies, strict=True)
        )
        wrong = next((one for one in read.values() if isinstance(one, str)), None)
        found = self.unasked(evidence, JudgeOutcome.ABSTAIN, wrong or "not_shown")
        if wrong is None:
            found = self._decided(found, evidence, facts, read)
        origins = Counter(reply.origin for reply in replies)
        return replace(found, votes=(found.outcome,), stages=stages, origins=dict(sorted(origins.items())))

    def _decided(
        self, found: Judgement, evidence: JudgeEvidence, facts: RunFacts, read: Mapping[str, Any]
    ) -> Judgement:
        task, answer = evidence.task, evidence.answer or ""
        needs = decided(_items(read, NEEDS), "task", task, (task,), facts)
        claims = decided(_items(read, CLAIMS), "answer", answer, (task, answer), facts)
        left = unexplained(facts, _explained(needs))
        asks = read[NEEDS][1] if NEEDS in read else True
        is_strict = self.settings.side_effects == "fail"
        is_failing = is_strict and any("event" in one for one in left)
        outcome, reason, detail = folded(needs, claims, task, answer, asks=asks, side_effect=is_failing)
        if is_strict and left and outcome is JudgeOutcome.SUCCESS:
            outcome, reason, detail = JudgeOutcome.ABSTAIN, "not_shown", NO_NETWORK
        return replace(
            found,
            outcome=outcome,
            reason=reason,
            detail=detail,
            claims=tuple(plain(one) for one in (*needs, *claims)),
            side_effects=left,
        )


_Read = tuple[ClaimItems, bool]


def _read(reply: ModelReply) -> _Read | str:
    """Return the items of a reply and whether the task asks for an answer, or why it cannot be read."""
    found = last_object(reply.text, reply.stop_reason)
    if isinstance(found, str):
        return "empty_reply" if not reply.text.strip() else found
    items = read_items(found)
    return items if isinstance(items, str) else (items, found.get("asks") is not False)


def _report(read: _Read | str) -> dict[str, Any]:
    if isinstance(read, str):
        return {"reason": read}
    items, asks = read
    counts = {"n_items": len(items.items), "n_unread": items.n_unread, "n_ignored": items.n_ignored}
    return {**counts, "asks": asks}


def _items(read: Mapping[str, Any], stage: str) -> ClaimItems:
    return cast("_Read", read[stage])[0] if stage in read else ClaimItems(items=())


def _explained(needs: Sequence[Decided]) -> frozenset[int]:
    return frozenset(event for one in needs for event in one.events)


_Verdict = tuple[JudgeOutcome, str, str | None]


def folded(
    needs: Sequence[Decided],
    claims: Sequence[Decided],
    task: str,
    answer: str,
    *,
    asks: bool,
    side_effect: bool,
) -> _Verdict:
    """Return outcome, reason, and what it turns on.

    A need or key claim that is contradicted fails. Success takes all needs and key claims, one need that
    shows an effect, an answer where one was asked for, and no number, quotation or new word left out.
    """
    weighed = [*needs, *(one for one in claims if one.item.is_key)]
    wrong = next((one for one in weighed if one.finding is ClaimFinding.CONTRADICTED), None)
    if wrong is not None:
        return JudgeOutcome.FAILURE, "contradicted", _named(wrong)
    if side_effect:
        return JudgeOutcome.FAILURE, "side_effect", None
    unshown = next((one for one in weighed if not one.is_supported), None)
    why = _named(unshown) if unshown is not None else _lacking(needs, claims, task, answer, asks)
    return (JudgeOutcome.ABSTAIN, "not_shown", why) if why else (JudgeOutcome.SUCCESS, "all_shown", None)


def _lacking(
    needs: Sequence[Decided], claims: Sequence[Decided], task: str, answer: str, asks: bool
) -> str | None:
    """Return what is missing although every item is shown; None if nothing is missing."""
    if not any(one.is_proof for one in needs):
        return "no need of the task is shown by an effect"
    if not asks and not any(one.has_effect_proof for one in needs):
        return "the task asks for no answer, and nothing but a text shows that it was done"
    if asks and not any(one.is_supported and one.item.is_key for one in claims):
        return "the task asks for an answer, and none is shown to be true"
    missing = unstated(task, _quotes(needs))
    if missing is not None:
        return f"nothing shown mentions this part of the task: {missing}"
    shown = [one for one in claims if one.is_supported]
    missing = unstated(answer, _quotes(shown)) or unquoted(answer, _quotes(claims), task)
    return None if missing is None else f"nothing shown mentions this part of the answer: {missing}"


def _quotes(items: Sequence[Decided]) -> list[str]:
    return [one.item.quote for one in items]


def _named(one: Decided) -> str:
    quote = " ".join(one.item.quote.split())[:120]
    return f'{one.of}, {one.item.id}: "{quote}": {one.finding} ({one.reason})'
