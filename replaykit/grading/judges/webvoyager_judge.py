"""The judge of WebVoyager (arXiv 2401.13919): one call with task, answer and the last screenshots."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, cast

from msgspec.structs import replace

from replaykit.errors import JudgeError
from replaykit.grading.judges.judge_evidence import JudgeEvidence
from replaykit.grading.judges.judge_interface import Replies, Round
from replaykit.grading.judges.model_judge import ModelJudge, other_mode, stage_report
from replaykit.grading.judges.prompts.prompt import digest
from replaykit.grading.judges.prompts.prompt_slots import Prompts, Slot
from replaykit.grading.judges.replies.verdict_token import Parsed, failure_token, success_token
from replaykit.grading.judges.screenshot_choice import Shots
from replaykit.grading.model_request import ModelReply, ModelRequest, Part, TextPart
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.tasks.judge_settings import JudgeSettings

CLOSING = "Your verdict:\n"
"""Last part of the message."""

AMONG = 50
"""Screenshots of a run that Online-Mind2Web's copy looks at before it takes the last ones of them."""

_ALIASES = {
    "<task>": "task", "<answer>": "answer", "<num>": "n_images",
    "{task}": "task", "{answer}": "answer", "{num}": "n_images",
}  # fmt: skip
_NAMES = ("task", "answer", "n_images")


class WebVoyager(ModelJudge):
    """One request, one verdict."""

    protocol = "webvoyager"
    variants = ("om2w",)

    def __init__(self, settings: JudgeSettings, mode: str = "strict") -> None:
        # Online-Mind2Web's copy separates the fields by blank lines, and asks for another token.
        kind = "webvoyager" if mode != "compat" else f"webvoyager.{settings.variant or 'compat'}"
        slots = {
            "system": Slot(shipped=f"{kind}.system"),
            "user": Slot(shipped=f"{kind}.user", names=_NAMES, aliases=_ALIASES),
        }
        super().__init__(settings, mode, Prompts(self.protocol, slots, settings.prompts), "last:15")
        if self.needs.images.scored is not None:
            raise JudgeError(what=f"option images: {settings.images!r} is for webjudge only")
        if self._is_copy:
            images = replace(self.needs.images, among=AMONG)
            self.needs = replace(self.needs, images=images, shots=self._shots())

    def deliberate(self, evidence: JudgeEvidence) -> Generator[Round, Replies, Judgement]:
        """Ask once, unless there is nothing to ask about."""
        unneeded = self._without_call(evidence)
        if unneeded is not None:
            return self.unasked(evidence, *unneeded)
        request = self._request(evidence)
        replies = yield (request,)
        failed = self.failed(evidence, replies)
        return failed or self._judgement(evidence, request, cast("ModelReply", replies[0]))

    def system(self, slot: str) -> str:
        """Return the system prompt; the shipped one says itself what the delimiters mean."""
        return self.prompts.text(slot) if slot not in self.settings.prompts else super().system(slot)

    def parser(self) -> str:
        """Return the name of the parser of its verdict."""
        return "failure_token" if self._is_copy else "success_token"

    def digests(self) -> dict[str, str]:
        """Return the digest of every text that it sends beside the evidence."""
        return {**self.prompts.digests, "closing": digest(CLOSING)}

    def shape(self) -> dict[str, Any]:
        """Return what else of the protocol shapes its answer."""
        return {"on_missing_answer": self._on_missing_answer}

    @property
    def _is_copy(self) -> bool:
        return self.settings.variant == "om2w" and not self.is_strict

    def _shots(self) -> Shots:
        return "files" if self.needs.shots == "steps" else self.needs.shots

    @property
    def _on_missing_answer(self) -> str:
        return self.settings.on_missing_answer or ("call" if self.is_strict else "fail")

    def _without_call(self, evidence: JudgeEvidence) -> tuple[JudgeOutcome, str] | None:
        if not evidence.task.strip():
            return JudgeOutcome.ABSTAIN, "no_task"
        if self.is_strict and not evidence.images:
            return JudgeOutcome.ABSTAIN, "no_evidence"
        if evidence.answer is None and self._on_missing_answer == "fail":
            return JudgeOutcome.FAILURE, "no_answer"
        return None

    def _request(self, evidence: JudgeEvidence) -> ModelRequest:
        texts = self.untrusted({"task": evidence.task, "answer": evidence.answer or ""})
        text = self.prompts.fill("user", {**texts, "n_images": str(self._number(evidence))})
        content: tuple[Part, ...] = (TextPart(text=text), *evidence.images, TextPart(text=CLOSING))
        return self.request("verdict", self.system("system"), content)

    def _number(self, evidence: JudgeEvidence) -> int:
        # The benchmark states the configured number of screenshots, even if fewer are attached.
        configured = self.needs.images.last
        return len(evidence.images) if self.is_strict or configured is None else configured

    def _read(self, reply: ModelReply, mode: str) -> Parsed:
        read = failure_token if self.settings.variant == "om2w" else success_token
        return read(reply.text, reply.stop_reason, mode)

    def _judgement(self, evidence: JudgeEvidence, request: ModelRequest, reply: ModelReply) -> Judgement:
        parsed = self._read(reply, self.mode)
        other = self._read(reply, other_mode(self.mode)).outcome
        stages = (stage_report(request, reply, parsed.report()),)
        return self.judged(evidence, parsed, other, stages, (reply,))
