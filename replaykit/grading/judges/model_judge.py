"""Common parts of the judges that ask a model: requests, failures, the record of replies, fingerprint."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from replaykit.errors import JudgeError
from replaykit.grading.judges.costs import usage_report
from replaykit.grading.judges.judge_evidence import EvidenceNeeds, JudgeEvidence
from replaykit.grading.judges.judge_options import fingerprint, provider_of, unasked, validated
from replaykit.grading.judges.prompts.prompt import digest, shipped
from replaykit.grading.judges.prompts.prompt_slots import Prompts
from replaykit.grading.judges.replies.verdict_token import PARSE_VERSION, Parsed
from replaykit.grading.judges.screenshot_choice import Dedupe, image_policy
from replaykit.grading.judges.tape.tape import request_key
from replaykit.grading.model_request import ModelReply, ModelRequest, Part, ReplyFailure
from replaykit.grading.untrusted_text import bounded, delimited, nonce
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.tasks.judge_settings import JudgeSettings

DEFAULTS = JudgeSettings(protocol="custom")
"""Values of options that nothing sets."""

Asked = tuple[ModelRequest, ModelReply]
"""A request with its reply."""


class ModelJudge:
    """A judge of these settings in one mode; each protocol derives from it."""

    protocol = ""
    """Name of the protocol."""

    version = 1
    """Raised when the protocol asks differently."""

    variants: tuple[str, ...] = ()
    """Variants of the protocol that the settings may name."""

    reads_reasoning = False
    """Whether the protocol reads the agent's reasoning."""

    decides_side_effects = False
    """Whether the protocol decides what a run changed on servers."""

    def __init__(self, settings: JudgeSettings, mode: str, prompts: Prompts, images: str) -> None:
        self.settings = validated(settings)
        if settings.variant and settings.variant not in self.variants:
            known = ", ".join(self.variants) or "none"
            raise JudgeError(what=f"option variant: {settings.variant!r} is not of {self.protocol}: {known}")
        if settings.reasoning and not self.reads_reasoning:
            readers = "agent_reward, and webjudge with variant: general, only"
            raise JudgeError(what=f"option reasoning: {settings.reasoning!r} is of {readers}")
        if settings.side_effects and not self.decides_side_effects:
            raise JudgeError(
                what=f"option side_effects: {settings.side_effects!r} is of claims and rubric only"
            )
        self.mode = mode
        self.name = settings.id or self.protocol
        self.prompts = prompts
        self.image_choice = settings.images or images
        self.needs = EvidenceNeeds(
            images=image_policy(self.image_choice),
            dedupe=self._dedupe(),
            shots=settings.shots,
            tree=self.protocol == "agent_reward" and settings.use_axtree,
            forged=mode == "compat",
        )

    @property
    def is_strict(self) -> bool:
        """Whether it judges as a careful person would."""
        return self.mode != "compat"

    def system(self, slot: str) -> str:
        """Return a system prompt; in strict mode it says what the delimiters mean."""
        text = self.prompts.text(slot)
        return f"{text}\n\n{shipped('evidence')}" if self.is_strict else text

    def untrusted(self, texts: Mapping[str, str]) -> dict[str, str]:
        """Return untrusted texts, cut to their limit; in strict mode between delimiters."""
        cut = {name: bounded(text) for name, text in texts.items()}
        if not self.is_strict:
            return cut
        code = nonce(cut.values())
        return {name: delimited(name, text, code) for name, text in cut.items()}

    def request(self, stage: str, system: str, content: Sequence[Part], index: int = 0) -> ModelRequest:
        """Return a request of this judge."""
        return ModelRequest(
            judge=self.name,
            stage=stage,
            index=index,
            system=system,
            content=tuple(content),
            model=self.settings.model,
            max_tokens=self.settings.max_tokens,
            effort=self.settings.effort,
            oversized_image=self.settings.oversized_image,
            is_repeated=self.settings.votes > 1,
        )

    def unasked(self, evidence: JudgeEvidence, outcome: JudgeOutcome, reason: str) -> Judgement:
        """Return a judgement without a reply that decides."""
        found = unasked(self, outcome, reason)
        return replace(found, images=evidence.selection.report(), grounding=evidence.grounding)

    def failed(
        self, evidence: JudgeEvidence, replies: Sequence[ModelReply | ReplyFailure]
    ) -> Judgement | None:
        """Return ERROR where a request was not answered; None where all were."""
        failure = next((reply for reply in replies if isinstance(reply, ReplyFailure)), None)
        if failure is None:
            return None
        found = self.unasked(evidence, JudgeOutcome.ERROR, failure.kind)
        return replace(found, detail=failure.message)

    def judged(
        self,
        evidence: JudgeEvidence,
        parsed: Parsed,
        other: JudgeOutcome,
        stages: Sequence[Mapping[str, Any]],
        replies: Sequence[ModelReply],
    ) -> Judgement:
        """Return the judgement that a reply gives."""
        return Judgement(
            judge=self.name,
            outcome=parsed.outcome,
            votes=(parsed.outcome,),
            reason=parsed.reason,
            fingerprint=self.fingerprint,
            stages=tuple(dict(stage) for stage in stages),
            images=evidence.selection.report(),
            origins=dict(sorted(Counter(reply.origin for reply in replies).items())),
            other_mode=other,
            grounding=evidence.grounding,
        )

    @property
    def fingerprint(self) -> str:
        """Digest of everything that shapes its answer."""
        return fingerprint({**self._shape(), **self._unusual()})

    def parser(self) -> str:
        """Return the name of the parser of its verdict."""
        raise NotImplementedError

    def digests(self) -> dict[str, str]:
        """Return the digest of every text that it sends beside the evidence."""
        note = {"evidence": digest(shipped("evidence"))} if self.is_strict else {}
        return {**self.prompts.digests, **note}

    def shape(self) -> dict[str, Any]:
        """Return what else of the protocol shapes its answer."""
        return {}

    def _dedupe(self) -> Dedupe:
        if self.settings.dedupe:
            return self.settings.dedupe
        return "consecutive" if self.is_strict else "none"

    def _shape(self) -> dict[str, Any]:
        provider, model = provider_of(self.settings.model)
        return {
            "protocol": self.protocol,
            "version": self.version,
            "mode": self.mode,
            "parser": self.parser(),
            "parse_version": PARSE_VERSION,
            "prompts": self.digests(),
            "label": self.prompts.label,
            "provider": provider,
            "model": model,
            "effort": self.settings.effort,
            "max_tokens": self.settings.max_tokens,
            "images": self.image_choice,
            "dedupe": self.needs.dedupe,
            "votes": self.settings.votes,
            **self.shape(),
        }

    def _unusual(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, so that new options keep old fingerprints."""
        names = ("shots", "require", "oversized_image")
        found = {name: getattr(self.settings, name) for name in names}
        return {name: value for name, value in found.items() if value != getattr(DEFAULTS, name)}


def has_reasoning(settings: JudgeSettings, mode: str) -> bool:
    """Return whether a judge gets the agent's reasoning: by default in compat mode only.

    Rewriting only an agent's reasoning turns a judge's verdicts (arXiv 2601.14691).
    """
    return (settings.reasoning or ("include" if mode == "compat" else "exclude")) == "include"


def stage_report(request: ModelRequest, reply: ModelReply, parsed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a judgement keeps of one reply."""
    return {
        "stage": request.stage,
        "index": request.index,
        "request_key": request_key(request),
        "reply_text": reply.text,
        "stop_reason": reply.stop_reason,
        "usage": usage_report(request, reply),
        "parsed": dict(parsed),
    }


def other_mode(mode: str) -> str:
    """Return the mode that was not chosen."""
    return "strict" if mode == "compat" else "compat"
