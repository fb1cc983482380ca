"""The judge of WebVoyager (arXiv 2401.13919): one call with task, answer and the last screenshots."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from msgspec.structs import replace

from replaykit.grading.judges.evidence import Dedupe, JudgeEvidence, image_policy
from replaykit.grading.judges.judge import (
    Replies,
    Round,
    fingerprint,
    provider_of,
    unasked,
    validated,
)
from replaykit.grading.judges.parse import PARSE_VERSION, success_token
from replaykit.grading.judges.prompt import bounded, delimited, digest, fill, nonce, shipped
from replaykit.grading.judges.tape import request_key
from replaykit.grading.request import ModelReply, ModelRequest, ReplyFailure, TextPart
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.tasks.task import JudgeSettings

VERSION = 1
"""Raised when the protocol asks differently."""

CLOSING = "Your verdict:\n"
"""Last part of the message."""


class WebVoyager:
    """One request, one verdict."""

    name = "webvoyager"

    def __init__(self, settings: JudgeSettings, mode: str = "strict") -> None:
        self.settings = validated(settings)
        self.mode = mode
        self.images = image_policy(settings.images)
        self.dedupe: Dedupe = "none" if mode == "compat" else "consecutive"
        variant = "webvoyager.compat" if mode == "compat" else "webvoyager"
        self.system, self.template = shipped(f"{variant}.system"), shipped(f"{variant}.user")
        self.fingerprint = fingerprint(self._shape())

    def deliberate(self, evidence: JudgeEvidence) -> Generator[Round, Replies, Judgement]:
        """Ask once, unless there is nothing to ask about."""
        unneeded = self._without_call(evidence)
        if unneeded is not None:
            return replace(unneeded, images=evidence.selection.report(), grounding=evidence.grounding)
        request = self._request(evidence)
        (reply,) = yield (request,)
        return self._judgement(evidence, request, reply)

    def _without_call(self, evidence: JudgeEvidence) -> Judgement | None:
        if not evidence.task.strip():
            return unasked(self, JudgeOutcome.ABSTAIN, "no_task")
        if self.mode == "compat":
            return None if evidence.answer is not None else unasked(self, JudgeOutcome.FAILURE, "no_answer")
        return None if evidence.images else unasked(self, JudgeOutcome.ABSTAIN, "no_evidence")

    def _request(self, evidence: JudgeEvidence) -> ModelRequest:
        text = fill(self.template, self._values(evidence))
        return ModelRequest(
            judge=self.name,
            stage="verdict",
            index=0,
            system=self.system,
            content=(TextPart(text=text), *evidence.images, TextPart(text=CLOSING)),
            model=self.settings.model,
            max_tokens=self.settings.max_tokens,
            effort=self.settings.effort,
        )

    def _values(self, evidence: JudgeEvidence) -> dict[str, str]:
        task, answer = bounded(evidence.task), bounded(evidence.answer or "")
        if self.mode == "compat":
            # The peer names the number configured, even where fewer are attached.
            asked = self.images.last if self.images.last is not None else len(evidence.images)
            return {"task": task, "answer": answer, "n_images": str(asked)}
        code = nonce((task, answer))
        return {
            "task": delimited("task", task, code),
            "answer": delimited("answer", answer, code),
            "n_images": str(len(evidence.images)),
        }

    def _judgement(
        self, evidence: JudgeEvidence, request: ModelRequest, reply: ModelReply | ReplyFailure
    ) -> Judgement:
        if isinstance(reply, ReplyFailure):
            failed = unasked(self, JudgeOutcome.ERROR, reply.kind, reply.message)
            return replace(failed, images=evidence.selection.report(), grounding=evidence.grounding)
        parsed = success_token(reply.text, reply.stop_reason, self.mode)
        other = success_token(reply.text, reply.stop_reason, "strict" if self.mode == "compat" else "compat")
        stage = {
            "stage": request.stage,
            "index": request.index,
            "request_key": request_key(request),
            "reply_text": reply.text,
            "stop_reason": reply.stop_reason,
            "parsed": {"outcome": parsed.outcome, "contradiction": parsed.contradiction},
        }
        return Judgement(
            judge=self.name,
            outcome=parsed.outcome,
            votes=(parsed.outcome,),
            reason=parsed.reason,
            fingerprint=self.fingerprint,
            stages=(stage,),
            images=evidence.selection.report(),
            origins={reply.origin: 1},
            other_mode=other.outcome,
            grounding=evidence.grounding,
        )

    def _shape(self) -> dict[str, Any]:
        provider, model = provider_of(self.settings.model)
        return {
            "protocol": self.name,
            "version": VERSION,
            "mode": self.mode,
            "parser": "success_token",
            "parse_version": PARSE_VERSION,
            "prompts": {
                "system": digest(self.system),
                "user": digest(self.template),
                "closing": digest(CLOSING),
            },
            "label": "own",
            "provider": provider,
            "model": model,
            "effort": self.settings.effort,
            "max_tokens": self.settings.max_tokens,
            "images": self.settings.images,
            "dedupe": self.dedupe,
            "on_missing_answer": "fail" if self.mode == "compat" else "call",
            "votes": 1,
        }
