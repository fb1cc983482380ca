"""Rubric: criteria that are frozen before a run is looked at, evidence for each, and a verdict by code.

Rounds: the criteria where none are given; then looks at all screenshots, and the story of actions and answer;
then the reading, with the screenshots that show each criterion best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from typing import Any, cast

from msgspec import UNSET, Struct, to_builtins
from msgspec.structs import replace

from replaykit.errors import JudgeError
from replaykit.grading.judges.claims.unexplained_requests import NO_NETWORK
from replaykit.grading.judges.judge_evidence import JudgeEvidence
from replaykit.grading.judges.judge_interface import Replies, Round
from replaykit.grading.judges.judge_options import unasked
from replaykit.grading.judges.model_judge import Asked, ModelJudge, stage_report
from replaykit.grading.judges.prompts.prompt import shipped
from replaykit.grading.judges.prompts.prompt_slots import Prompts, Slot
from replaykit.grading.judges.rubric import request_texts as asks
from replaykit.grading.judges.rubric.criteria import Criteria, against, read_rubric
from replaykit.grading.judges.rubric.criterion_replies import (
    ReadItem,
    ReadReply,
    Shown,
    lenient,
    plain,
    read_items,
)
from replaykit.grading.judges.rubric.rubric_verdict import Met, fold
from replaykit.grading.judges.rubric.screenshot_relevance import Chosen, choose, read_looks
from replaykit.grading.judges.step_notes import CHANGES_VERSION
from replaykit.grading.judges.tape.tape import Tape, request_key
from replaykit.grading.model_request import ModelReply, ModelRequest, Part, TextPart
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.rubric import CRITERIA_MAX, Criterion, intent_digest
from replaykit.tasks.task import Task

FOLD_VERSION = 1
"""Raised when readings are folded differently; part of the judge's fingerprint."""

IMAGES_MAX = 20
"""Most screenshots of one reading: above, providers accept smaller ones only."""

_TAKEN_BACK = JudgeOutcome.SUCCESS, JudgeOutcome.ABSTAIN

_INVALID = ("impossible", "not_allowed")

_SLOTS: Mapping[str, tuple[str, ...] | None] = {
    "criteria.system": None,
    "criteria.user": ("task", "start"),
    "look.system": None,
    "look.user": ("criteria", "frames"),
    "story.system": ("choices",),
    "story.user": ("task", "criteria", "actions", "answer"),
    "reading.system": ("choices",),
    "reading.user": ("task", "criteria", "steps", "answer", "gaps"),
    "reading.checks": ("checks",),
}


class _Question(Struct, frozen=True, kw_only=True):
    """One request of the last round, and what it is about."""

    request: ModelRequest
    criteria: tuple[Criterion, ...]
    shown: Shown


class _Seen(Struct, frozen=True, kw_only=True):
    """Findings of the first round: how well each screenshot shows each criterion, and the story."""

    scores: dict[int, Mapping[str, int]]
    story: dict[str, Met]
    n_unscored: int


class RubricJudge(ModelJudge):
    """Rounds of 0 or 1, of looks and a story, and of 1 or one a criterion. The story never decides."""

    protocol = "rubric"
    decides_side_effects = True

    def __init__(self, settings: JudgeSettings, mode: str = "strict") -> None:
        slots = {name: Slot(shipped=f"rubric.{name}", names=names) for name, names in _SLOTS.items()}
        # No benchmark's own judge asks like this, so there is nothing that compat mode could follow.
        super().__init__(settings, "strict", Prompts(self.protocol, slots, settings.prompts), "all")
        if self.needs.images.scored is not None:
            raise JudgeError(what=f"option images: {settings.images!r} is for webjudge only")
        self.has_facts = settings.facts != "none"
        self.needs = replace(self.needs, notes=True, findings=self.has_facts, checks=True)

    def deliberate(self, evidence: JudgeEvidence) -> Generator[Round, Replies, Judgement]:
        """Freeze the criteria, look and listen, read, and fold."""
        stopped = self._unfit(evidence)
        if stopped is not None:
            return stopped
        asked: list[Asked] = []
        criteria = yield from self._criteria(evidence, asked)
        if isinstance(criteria, Judgement):
            return criteria
        first = self._looks(evidence, criteria) + self._stories(evidence, criteria)
        if first:
            failed = yield from self._ask(evidence, asked, tuple(request for request, _ in first))
            if failed is not None:
                return failed
        replies = [reply for _, reply in asked[len(asked) - len(first) :]]
        seen = _seen(first, replies, criteria.rubric.criteria)
        chosen = self._chosen(evidence, criteria, seen)
        questions = self._readings(evidence, criteria, chosen)
        failed = yield from self._ask(evidence, asked, tuple(one.request for one in questions))
        return failed or self._judgement(evidence, criteria, questions, asked, chosen, seen)

    def most_requests(self, evidence: JudgeEvidence) -> int:
        """Return how many requests it asks at most: criteria, looks, story, readings."""
        if self._unfit(evidence) is not None:
            return 0
        rubric = self.settings.rubric
        each = len(rubric.criteria) if rubric is not None else CRITERIA_MAX
        readings = each if self.settings.reading == "each" else 1
        looks = len(self._batches(evidence))
        return (rubric is None) + looks + self.settings.story + readings

    def known_criteria(self, task: Task, tape: Tape | None) -> Criteria | str | None:
        """Return the criteria of a task, given or from the tape, or the reason why its reply has none.

        None if the model has not been asked yet.
        """
        if self.settings.rubric is not None:
            return against(self.settings.rubric, task.intent)
        request = self.about_task(task.intent, starts(task.start_urls, task.sites))
        reply = tape.reply(request, (0, 0)) if tape is not None else None
        return None if reply is None else read_rubric(reply, task.id, task.intent, request_key(request))

    def about_task(self, task: str, start: str) -> ModelRequest:
        """Return the request for the criteria of a task: it holds nothing of any run."""
        texts = self.untrusted({"task": task, "start": start})
        text = self.prompts.fill("criteria.user", texts)
        request = self.request("rubric", self.system("criteria.system"), (TextPart(text=text),))
        return replace(request, is_shared=True)

    def parser(self) -> str:
        """Return the name of the parser of its replies."""
        return "criteria"

    def shape(self) -> dict[str, Any]:
        """Return what else shapes its answer."""
        own = ("look_batch", "per_criterion", "reading", "story", "facts")
        how = self.settings.rubrics or ("asked" if self.settings.rubric is None else "given")
        options = {name: getattr(self.settings, name) for name in own}
        versions = {"fold_version": FOLD_VERSION, "changes_version": CHANGES_VERSION}
        fails = {"side_effects": "fail"} if self.settings.side_effects == "fail" else {}
        return {"rubrics": how, "max_images": self.settings.max_images, **options, **versions, **fails}

    # Rounds

    def _unfit(self, evidence: JudgeEvidence) -> Judgement | None:
        """Return the judgement of a run that nothing can be asked about; None of any other."""
        if not evidence.task.strip():
            return self.unasked(evidence, JudgeOutcome.ABSTAIN, "no_task")
        if not evidence.images and not any(one.is_page_known for one in evidence.notes):
            return self.unasked(evidence, JudgeOutcome.ABSTAIN, "no_evidence")
        rubric = self.settings.rubric
        if rubric is not None and rubric.intent_sha256 != intent_digest(evidence.task):
            detail = f"the rubric of task {rubric.task!r} was written for another wording of the intent"
            found = self.unasked(evidence, JudgeOutcome.ERROR, "other_intent")
            return replace(found, detail=detail)
        return None

    def _ask(
        self, evidence: JudgeEvidence, asked: list[Asked], requests: Round
    ) -> Generator[Round, Replies, Judgement | None]:
        """Ask a round and note its replies; return ERROR where one is missing."""
        replies = yield requests
        failed = self.failed(evidence, replies)
        if failed is None:
            asked += zip(requests, cast("tuple[ModelReply, ...]", replies), strict=True)
        return failed

    def _criteria(
        self, evidence: JudgeEvidence, asked: list[Asked]
    ) -> Generator[Round, Replies, Criteria | Judgement]:
        rubric = self.settings.rubric
        if rubric is not None:
            return self._with_outcome(evidence, asked, against(rubric, evidence.task))
        request = self.about_task(evidence.task, starts(evidence.start_urls, evidence.sites))
        failed = yield from self._ask(evidence, asked, (request,))
        if failed is not None:
            return failed
        found = read_rubric(asked[-1][1], evidence.task_id, evidence.task, request_key(request))
        return self._with_outcome(evidence, asked, found)

    def _with_outcome(
        self, evidence: JudgeEvidence, asked: Sequence[Asked], found: Criteria | str
    ) -> Criteria | Judgement:
        """Return criteria of which one is about the outcome, else ABSTAIN."""
        if isinstance(found, Criteria) and any(one.kind == "outcome" for one in found.rubric.criteria):
            return found
        reason = found if isinstance(found, str) else "no_criteria"
        stopped = self.unasked(evidence, JudgeOutcome.ABSTAIN, reason)
        stages = tuple(stage_report(request, reply, {"reason": reason}) for request, reply in asked)
        return replace(stopped, votes=(stopped.outcome,), stages=stages, origins=_origins(asked))

    def _batches(self, evidence: JudgeEvidence) -> list[tuple[int, ...]]:
        n = len(evidence.images)
        return asks.counted_looks(n, self.settings.look_batch) if n > self.settings.per_criterion else []

    def _looks(
        self, evidence: JudgeEvidence, criteria: Criteria
    ) -> list[tuple[ModelRequest, tuple[int, ...]]]:
        found = []
        for index, frames in enumerate(self._batches(evidence)):
            texts = {
                "criteria": asks.criteria_text(criteria.rubric.criteria, reverse=evidence.is_reversed),
                "frames": asks.frames_text(evidence, frames),
            }
            content = [self._part("look.user", texts), *asks.images(evidence, frames)]
            found.append((self.request("look", self.system("look.system"), content, index), frames))
        return found

    def _stories(
        self, evidence: JudgeEvidence, criteria: Criteria
    ) -> list[tuple[ModelRequest, tuple[int, ...]]]:
        if not self.settings.story:
            return []
        texts = {
            "task": evidence.task,
            "criteria": asks.criteria_text(criteria.rubric.criteria, reverse=evidence.is_reversed),
            "actions": asks.actions_text(evidence),
            "answer": evidence.answer or "",
        }
        system = self._system("story.system", evidence)
        return [(self.request("story", system, [self._part("story.user", texts)]), ())]

    def _chosen(self, evidence: JudgeEvidence, criteria: Criteria, seen: _Seen) -> Chosen:
        each, most = self.settings.per_criterion, min(self.settings.max_images, IMAGES_MAX)
        return choose(criteria.rubric.criteria, len(evidence.images), seen.scores, each=each, most=most)

    def _readings(self, evidence: JudgeEvidence, criteria: Criteria, chosen: Chosen) -> list[_Question]:
        listed = criteria.rubric.criteria
        parts: list[tuple[tuple[Criterion, ...], tuple[int, ...]]]
        if self.settings.reading == "each":
            parts = [((one,), chosen.by_criterion[one.id]) for one in listed]
        else:
            parts = [(listed, chosen.together)]
        return [self._question(evidence, group, frames, at) for at, (group, frames) in enumerate(parts)]

    def _question(
        self, evidence: JudgeEvidence, criteria: tuple[Criterion, ...], frames: Sequence[int], index: int
    ) -> _Question:
        steps = asks.steps_text(evidence, facts=self.has_facts)
        has_answer = bool(evidence.answer) and any("answer" in one.proof for one in criteria)
        texts = {
            "task": evidence.task,
            "criteria": asks.criteria_text(criteria, reverse=evidence.is_reversed),
            "steps": steps.text,
            "answer": evidence.answer or "" if has_answer else "",
        }
        part = self._part("reading.user", texts, {"gaps": asks.gaps(evidence)})
        content: list[Part] = [part, *self._checks(evidence), *asks.images(evidence, frames)]
        return _Question(
            request=self.request("reading", self._system("reading.system", evidence), content, index),
            criteria=criteria,
            shown=asks.shown(evidence, frames, steps, has_answer=has_answer),
        )

    def _checks(self, evidence: JudgeEvidence) -> list[TextPart]:
        text = asks.checks_text(evidence) if self.settings.facts == "checks" else ""
        return [self._part("reading.checks", {"checks": text})] if text else []

    def _part(self, slot: str, texts: Mapping[str, str], own: Mapping[str, str] | None = None) -> TextPart:
        return TextPart(text=self.prompts.fill(slot, {**self.untrusted(texts), **(own or {})}))

    def _system(self, slot: str, evidence: JudgeEvidence) -> str:
        words = {"choices": asks.choices(reverse=evidence.is_reversed)}
        return f"{self.prompts.fill(slot, words)}\n\n{shipped('evidence')}"

    # Verdict

    def _judgement(
        self,
        evidence: JudgeEvidence,
        criteria: Criteria,
        questions: Sequence[_Question],
        asked: Sequence[Asked],
        chosen: Chosen,
        seen: _Seen,
    ) -> Judgement:
        replies = [reply for _, reply in asked[len(asked) - len(questions) :]]
        read = [
            read_items(reply, one.criteria, one.shown) for one, reply in zip(questions, replies, strict=True)
        ]
        items, validity, failure = _together(read)
        listed = criteria.rubric.criteria
        invalid = criteria.rubric.validity in _INVALID and validity in _INVALID
        folded = fold(listed, {id: one.reading for id, one in items.items()}, invalid=invalid)
        careless = {id: met for reply in replies for id, met in lenient(reply, listed).items()}
        other = fold(listed, careless, invalid=invalid)
        unreadable = next((one for one in read if isinstance(one, str)), None)
        left = evidence.checks.side_effects if evidence.checks is not None else ()
        outcome, reason = self._with_effects(folded.outcome, folded.reason, left)
        if not items and unreadable is not None:
            outcome, reason = JudgeOutcome.ABSTAIN, unreadable
        found = unasked(self, outcome, reason)
        rows = [plain(items.get(one.id, _unread(one)), one, _word(seen.story, one)) for one in listed]
        return replace(
            found,
            votes=(outcome,),
            stages=tuple(self._stages(asked, criteria, read)),
            images=_images(evidence, chosen, seen),
            origins=_origins(asked),
            other_mode=self._with_effects(other.outcome, other.reason, left)[0],
            grounding=evidence.grounding,
            criteria=tuple(rows),
            process={**to_builtins(folded.process), "n_blocked": folded.n_blocked},
            failure=failure,
            validity=validity,
            unsupported=tuple(row["id"] for row in rows if row["story"] == "YES" and row["verdict"] != "YES"),
            basis=criteria.rubric.digest,
            side_effects=left,
            detail=NO_NETWORK if (folded.outcome, outcome) == _TAKEN_BACK else None,
            depends_on="checks" if self._rests_on_checks else UNSET,
        )

    @property
    def _rests_on_checks(self) -> bool:
        return self.settings.facts == "checks" or self.settings.side_effects == "fail"

    def _with_effects(
        self, outcome: JudgeOutcome, reason: str, left: Sequence[Mapping[str, Any]]
    ) -> tuple[JudgeOutcome, str]:
        """Return the verdict where unexplained requests fail a run: none succeeds without a network."""
        is_open = outcome is JudgeOutcome.SUCCESS or reason == "cannot_tell"
        if self.settings.side_effects != "fail" or not left or not is_open:
            return outcome, reason
        if any("event" in one for one in left):
            return JudgeOutcome.FAILURE, "side_effect"
        return JudgeOutcome.ABSTAIN, "cannot_tell"

    def _stages(
        self, asked: Sequence[Asked], criteria: Criteria, read: Sequence[ReadReply | str]
    ) -> list[dict[str, Any]]:
        parsed: list[dict[str, Any]] = []
        last = len(asked) - len(read)
        for place, (request, _) in enumerate(asked):
            if request.stage == "rubric":
                parsed.append(criteria.report())
            elif place < last:
                parsed.append({})
            else:
                one = read[place - last]
                parsed.append({"reason": one} if isinstance(one, str) else one.report())
        return [stage_report(*pair, report) for pair, report in zip(asked, parsed, strict=True)]


def starts(urls: Sequence[str], sites: Sequence[str]) -> str:
    """Return where a task starts, as the request for its criteria names it."""
    return "\n".join([*urls, *sites]) or "(not said)"


def _seen(
    round: Sequence[tuple[ModelRequest, tuple[int, ...]]],
    replies: Sequence[ModelReply],
    criteria: Sequence[Criterion],
) -> _Seen:
    scores: dict[int, Mapping[str, int]] = {}
    story: dict[str, Met] = {}
    unscored = 0
    for (request, frames), reply in zip(round, replies, strict=True):
        if request.stage == "look":
            found, lost = read_looks(reply, frames, criteria)
            scores.update(found)
            unscored += lost
        else:
            story = {id: one.verdict for id, one in lenient(reply, criteria).items()}
    return _Seen(scores=scores, story=story, n_unscored=unscored)


def _images(evidence: JudgeEvidence, chosen: Chosen, seen: _Seen) -> dict[str, Any]:
    kept = {evidence.images[frame].sha256 for frame in chosen.together}
    sent = [
        {"step": shot.step, "digest": shot.id, "role": shot.role, "kept": shot.id in kept}
        for shot in evidence.selection.sent
    ]
    return {
        **evidence.selection.report(),
        "n_unscored": seen.n_unscored,
        "n_dropped": chosen.n_dropped,
        "sent": sent,
    }


def _together(read: Sequence[ReadReply | str]) -> tuple[dict[str, ReadItem], str, dict[str, Any] | None]:
    """Return the items of all replies, whether the task can be done, and the first failing step.

    A task cannot be done where every reply says so.
    """
    whole = [one for one in read if isinstance(one, ReadReply)]
    items = {id: item for one in whole for id, item in one.items.items()}
    words = {one.validity for one in whole}
    validity = next(iter(words)) if len(words) == 1 and len(whole) == len(read) else "valid"
    failures = [one.failure for one in whole if one.failure is not None]
    return items, validity, min(failures, key=lambda one: one["step"], default=None)


def _unread(one: Criterion) -> ReadItem:
    return ReadItem(id=one.id, verdict=Met.CANNOT_TELL, applies=Met.CANNOT_TELL, reason="unread")


def _word(story: Mapping[str, Met], one: Criterion) -> str | None:
    return str(story[one.id]) if one.id in story else None


def _origins(asked: Sequence[Asked]) -> dict[str, int]:
    return dict(sorted(Counter(reply.origin for _, reply in asked).items()))
