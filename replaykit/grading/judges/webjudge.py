"""WebJudge of Online-Mind2Web (arXiv 2504.01382): key points, a score for each screenshot, a verdict."""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping, Sequence
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from replaykit.errors import JudgeError
from replaykit.grading.judges.judge_evidence import JudgeEvidence
from replaykit.grading.judges.judge_interface import Replies, Round
from replaykit.grading.judges.model_judge import (
    Asked,
    ModelJudge,
    has_reasoning,
    other_mode,
    stage_report,
)
from replaykit.grading.judges.prompts.prompt_slots import Prompts, Slot
from replaykit.grading.judges.replies.score_replies import Scored, screenshot_score
from replaykit.grading.judges.replies.status_line import status_line
from replaykit.grading.judges.replies.verdict_token import normalised, unfinished
from replaykit.grading.model_request import ImagePart, ModelReply, ModelRequest, Part, TextPart
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.patterns import lazy_pattern
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.trajectory.action_history import ActionHistory

THRESHOLD = 3
"""Least score of a screenshot that the verdict is given on."""

_ALIASES = {
    "{task}": "task", "{key_points}": "key_points", "{last_actions}": "actions", "{thoughts}": "reasons",
}  # fmt: skip


_SLOTS: Mapping[str, tuple[str, ...] | None] = {
    "key_points.system": None,
    "key_points.user": ("task",),
    "score.system": None,
    "score.user": ("task", "key_points"),
    "verdict.system": None,
    "verdict.user": ("task", "key_points", "actions", "reasons"),
    "verdict.user_bare": ("task", "key_points", "actions"),
}
"""Slot to the names that are filled in; None = it is no template."""

_OF_GENERAL = ("score.system", "verdict.system")
"""Slots of which the variant `general` has texts of its own."""


class ScoredScreenshot(Struct, frozen=True, kw_only=True):
    """A screenshot that was scored."""

    image: ImagePart
    """The screenshot."""
    place: int
    """Among the screenshots scored."""
    scored: Scored
    """Its score; None in it = unreadable."""


class WebJudge(ModelJudge):
    """Rounds of 1, n and 1 requests. In strict mode the agent's answer never enters the last one, and its
    reasoning only in the variant `general` with `reasoning: include`.
    """

    protocol = "webjudge"
    variants = ("general",)

    def __init__(self, settings: JudgeSettings, mode: str = "strict") -> None:
        self.is_general = settings.variant == "general"
        self.reads_reasoning = self.is_general
        self.version = 2 if mode == "compat" else 1
        self._has_reasoning = self.is_general and has_reasoning(settings, mode)
        own = _OF_GENERAL if self.is_general else ()
        slots = {
            name: Slot(
                shipped=f"webjudge.general.{name}" if name in own else f"webjudge.{name}",
                names=names,
                aliases=_ALIASES,
            )
            for name, names in _SLOTS.items()
        }
        prompts = Prompts(self.protocol, slots, settings.prompts)
        super().__init__(settings, mode, prompts, f"scored>={THRESHOLD}")
        if self.needs.images.scored is None:
            raise JudgeError(
                what=f"option images: {settings.images!r} is not scored>=t with an integer t from 1 to 5"
            )
        self.threshold = self.needs.images.scored
        if not self.is_strict and settings.shots == "steps":
            self.needs = replace(self.needs, shots="files")

    def deliberate(self, evidence: JudgeEvidence) -> Generator[Round, Replies, Judgement]:
        """Ask for the key points, for a score of each screenshot, and for the verdict."""
        if not evidence.task.strip():
            return self.unasked(evidence, JudgeOutcome.ABSTAIN, "no_task")
        if self.is_strict and not evidence.images:
            return self.unasked(evidence, JudgeOutcome.ABSTAIN, "no_evidence")
        asked: list[Asked] = []
        failed = yield from self._ask(evidence, asked, (self._about_points(evidence),))
        points = key_points(asked[-1][1], self.mode) if asked else ""
        if failed is not None:
            return failed
        if self.is_strict and not points:
            return self._stopped(evidence, asked, "no_key_points")
        failed = yield from self._ask(evidence, asked, self._about_images(evidence, points))
        if failed is not None:
            return failed
        replies = [reply for _, reply in asked[1:]]
        passed = self._passed(evidence, replies)
        kept = self._kept(passed)
        last = self._about_verdict(evidence, points, kept, self._reasons(passed, kept))
        failed = yield from self._ask(evidence, asked, (last,))
        return failed or self._judgement(evidence, asked, kept, self._counts(replies, passed, kept))

    def most_requests(self, evidence: JudgeEvidence) -> int:
        """Return how many requests it asks at most: the key points, each screenshot, the verdict."""
        return 2 + len(evidence.images)

    def parser(self) -> str:
        """Return the name of the parser of its verdict."""
        return "status_line"

    def shape(self) -> dict[str, Any]:
        """Return what else of the protocol shapes its answer."""
        variant = {"variant": self.settings.variant} if self.is_general else {}
        bare = {"reasoning": "exclude"} if self.is_general and not self._has_reasoning else {}
        options = {**variant, **bare}
        return {"max_images": self.settings.max_images, **options}

    def _ask(
        self, evidence: JudgeEvidence, asked: list[Asked], requests: Round
    ) -> Generator[Round, Replies, Judgement | None]:
        """Ask a round and note its replies; return ERROR where one is missing."""
        if not requests:
            return None
        replies = yield requests
        failed = self.failed(evidence, replies)
        if failed is None:
            asked += zip(requests, cast("tuple[ModelReply, ...]", replies), strict=True)
        return failed

    def _about_points(self, evidence: JudgeEvidence) -> ModelRequest:
        text = self.prompts.fill("key_points.user", self.untrusted({"task": evidence.task}))
        return self.request("key_points", self.system("key_points.system"), (TextPart(text=text),))

    def _about_images(self, evidence: JudgeEvidence, points: str) -> Round:
        texts = self.untrusted({"task": evidence.task, "key_points": points})
        text, system = TextPart(text=self.prompts.fill("score.user", texts)), self.system("score.system")
        return tuple(
            self.request("score", system, (text, image), place) for place, image in enumerate(evidence.images)
        )

    def _about_verdict(
        self, evidence: JudgeEvidence, points: str, kept: Sequence[ScoredScreenshot], reasons: Sequence[str]
    ) -> ModelRequest:
        texts = {"task": evidence.task, "key_points": points, "actions": _numbered(self._actions(evidence))}
        slot = "verdict.user" if kept else "verdict.user_bare"
        if kept:
            texts["reasons"] = _numbered(reasons)
        content: tuple[Part, ...] = (
            TextPart(text=self.prompts.fill(slot, self.untrusted(texts))),
            *(k.image for k in kept),
        )
        return self.request("verdict", self.system("verdict.system"), content)

    def _actions(self, evidence: JudgeEvidence) -> Sequence[str]:
        """Return the action history: rendered in strict mode, in compat mode as the run's own file has it."""
        if not self.is_strict:
            return self._filed_actions(evidence.history)
        actions = [entry for entry in evidence.actions if not entry.is_message]
        if not self._has_reasoning:
            return [entry.action for entry in actions]
        return [
            _reasoned(entry.action, entry.thought) if entry.thought else entry.action for entry in actions
        ]

    def _filed_actions(self, history: ActionHistory) -> Sequence[str]:
        if not self._has_reasoning or history.thoughts is None:
            return history.actions
        # Upstream pairs its two lists up to the end of the shorter one.
        return [_reasoned(*pair) for pair in zip(history.actions, history.thoughts, strict=False)]

    def _reasons(self, passed: Sequence[ScoredScreenshot], kept: Sequence[ScoredScreenshot]) -> list[str]:
        """Return why screenshots count: of those sent in strict mode.

        Upstream leaves empty reasons out and cuts reasons and screenshots apart, so that its numbers are not
        those of the screenshots.
        """
        if self.is_strict:
            return [one.scored.reason or "-" for one in kept]
        return [one.scored.reason for one in passed if one.scored.reason][: self.settings.max_images]

    def _passed(self, evidence: JudgeEvidence, replies: Sequence[ModelReply]) -> list[ScoredScreenshot]:
        """Return the screenshots that reach the threshold, in order."""
        scored = (
            ScoredScreenshot(image=image, place=place, scored=self._scored(reply))
            for place, (image, reply) in enumerate(zip(evidence.images, replies, strict=True))
        )
        return [one for one in scored if self._rank(one) >= self.threshold]

    def _kept(self, passed: Sequence[ScoredScreenshot]) -> list[ScoredScreenshot]:
        """Return the screenshots that are sent: the best ones in strict mode, else the first ones."""
        if not self.is_strict:
            return list(passed[: self.settings.max_images])
        best = sorted(passed, key=lambda one: (-self._rank(one), -one.place))[: self.settings.max_images]
        return sorted(best, key=lambda one: one.place)

    def _counts(
        self,
        replies: Sequence[ModelReply],
        passed: Sequence[ScoredScreenshot],
        kept: Sequence[ScoredScreenshot],
    ) -> Any:
        unscored = sum(self._scored(reply).score is None for reply in replies)
        return {"n_unscored": unscored, "n_dropped": len(passed) - len(kept), "n_kept": len(kept)}

    def _rank(self, one: ScoredScreenshot) -> int:
        """Return the score of a screenshot; one that cannot be read is kept like one that just passes."""
        return self.threshold if one.scored.score is None else one.scored.score

    def _stopped(self, evidence: JudgeEvidence, asked: Sequence[Asked], reason: str) -> Judgement:
        found = self.unasked(evidence, JudgeOutcome.ABSTAIN, reason)
        return replace(found, stages=tuple(stage_report(request, reply, {}) for request, reply in asked))

    def _judgement(
        self,
        evidence: JudgeEvidence,
        asked: Sequence[Asked],
        kept: Sequence[ScoredScreenshot],
        counts: dict[str, int],
    ) -> Judgement:
        reply = asked[-1][1]
        parsed = status_line(reply.text, reply.stop_reason, self.mode)
        other = status_line(reply.text, reply.stop_reason, other_mode(self.mode)).outcome
        stages = [self._stage(*one) for one in asked[:-1]]
        stages.append(stage_report(*asked[-1], parsed.report()))
        found = self.judged(evidence, parsed, other, stages, [reply for _, reply in asked])
        places = {one.place for one in kept}
        sent = [{**row, "kept": place in places} for place, row in enumerate(found.images["sent"])]
        return replace(found, images={**found.images, **counts, "sent": sent})

    def _stage(self, request: ModelRequest, reply: ModelReply) -> dict[str, Any]:
        if request.stage != "score":
            return stage_report(request, reply, {})
        return stage_report(request, reply, {"score": self._scored(reply).score})

    def _scored(self, reply: ModelReply) -> Scored:
        return screenshot_score(reply.text, reply.stop_reason, self.mode, is_general=self.is_general)


def _reasoned(action: str, thought: str) -> str:
    return f"{action}. Reasoning: {thought}"


def _numbered(lines: Sequence[str]) -> str:
    return "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))


_HEADER = lazy_pattern(r"key[ _-]?points\s*:?", re.IGNORECASE)


def key_points(reply: ModelReply, mode: str) -> str:
    """Return the key points, one a line; empty where the reply names none."""
    if mode == "compat":
        return _peer(reply.text)
    if unfinished(reply.stop_reason) is not None:
        return ""
    # Markdown hides where the header ends, so lines are looked at without it and kept with it.
    lines = reply.text.splitlines()
    headers = [place for place, line in enumerate(lines) if _is_header(line)]
    kept = [line.strip() for line in _after(lines, headers[-1] if headers else None)]
    return "\n".join(line for line in kept if line)


def _is_header(line: str) -> bool:
    plain = re.sub(r"^\W+", "", normalised(line))
    return _HEADER.match(plain) is not None


def _after(lines: list[str], header: int | None) -> list[str]:
    if header is None:
        return lines
    rest = _HEADER.split(lines[header], maxsplit=1)[-1].strip(" *_:#")
    return [rest, *lines[header + 1 :]]


def _peer(text: str) -> str:
    text = text.replace("\n\n", "\n")
    parts = text.split("**Key Points**:")
    found = parts[1] if len(parts) > 1 else text.split("Key Points:")[-1]
    return "\n".join(line.lstrip() for line in found.splitlines())
