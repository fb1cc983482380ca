"""The four questions of AgentRewardBench (arXiv 2504.08942): success, side effects, optimality, looping."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any, cast

from replaykit.errors import JudgeError
from replaykit.grading.judges.judge_evidence import AgentAction, JudgeEvidence
from replaykit.grading.judges.judge_interface import Replies, Round
from replaykit.grading.judges.model_judge import ModelJudge, has_reasoning, other_mode, stage_report
from replaykit.grading.judges.prompts.prompt_slots import Prompts, Slot
from replaykit.grading.judges.replies.answer_tags import PeerRefusal, tags
from replaykit.grading.model_request import ModelReply, ModelRequest, Part, ReplyFailure, TextPart
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.patterns import lazy_pattern
from replaykit.tasks.judge_settings import JudgeSettings

PRUNING = 1
"""Raised when large trees are made smaller in another way."""

_STEP = ("step_number", "url", "action", "reasoning")


class AgentReward(ModelJudge):
    """One request, four answers; the outcome is the first question's."""

    protocol = "agent_reward"
    reads_reasoning = True

    def __init__(self, settings: JudgeSettings, mode: str = "strict") -> None:
        self._order = settings.order or ("verdict_first" if mode == "compat" else "verdict_last")
        bare = "" if has_reasoning(settings, mode) else ".bare"
        slots = {
            "system": Slot(shipped=f"agent_reward.system.{self._order}"),
            "goal": _slot("goal", "goal"),
            "step": _slot(f"step{bare}", *_STEP),
            "actions": _slot(f"actions{bare}", "steps"),
            "axtree": _slot("axtree", "axtree"),
            "screenshot": Slot(shipped="agent_reward.screenshot"),
            "closing": Slot(shipped="agent_reward.closing"),
        }
        prompts = Prompts(self.protocol, slots, settings.prompts)
        super().__init__(settings, mode, prompts, "last:1" if settings.use_screenshot else "none")
        if self.needs.images.scored is not None:
            raise JudgeError(what=f"option images: {settings.images!r} is for webjudge only")

    def deliberate(self, evidence: JudgeEvidence) -> Generator[Round, Replies, Judgement]:
        """Ask once, unless there is nothing to ask about."""
        if not evidence.task.strip():
            return self.unasked(evidence, JudgeOutcome.ABSTAIN, "no_task")
        if not (evidence.actions or evidence.images or evidence.tree):
            return self.unasked(evidence, JudgeOutcome.ABSTAIN, "no_evidence")
        request = self._request(evidence, self._tree(evidence))
        replies = yield (request,)
        smaller = self._smaller(evidence, replies[0])
        if smaller is not None:
            request, refused = smaller, replies[0]
            replies = yield (request,)
            # Where both were never asked, the first is the one to report.
            replies = (refused,) if _is_missing(replies[0]) else replies
        failed = self.failed(evidence, replies)
        return failed or self._judgement(evidence, request, cast("ModelReply", replies[0]))

    def parser(self) -> str:
        """Return the name of the parser of its verdict."""
        return "tags"

    def shape(self) -> dict[str, Any]:
        """Return what else of the protocol shapes its answer."""
        names = ("use_axtree", "use_screenshot", "axtree_chars_max")
        pruning = {"pruning": PRUNING} if self.settings.use_axtree else {}
        reasoning = {} if has_reasoning(self.settings, self.mode) else {"reasoning": "exclude"}
        options = {name: getattr(self.settings, name) for name in names}
        return {"order": self._order, **options, **pruning, **reasoning}

    def _smaller(self, evidence: JudgeEvidence, reply: ModelReply | ReplyFailure) -> ModelRequest | None:
        """Return what the benchmark asks where a request was refused: the same with a pruned tree; else None.

        A refusal is never recorded: on a tape, the request that was refused is missing.
        """
        refused = isinstance(reply, ReplyFailure) and reply.kind in ("bad_request", "too_large", "tape_miss")
        if self.is_strict or not refused or not self.settings.use_axtree:
            return None
        tree = self._tree(evidence)
        smaller = pruned(tree)
        return self._request(evidence, smaller) if smaller != tree else None

    def _request(self, evidence: JudgeEvidence, tree: str) -> ModelRequest:
        texts = self.untrusted(
            {"goal": evidence.task, "steps": self._steps(evidence.actions), "axtree": tree}
        )
        content: list[Part] = [
            self._part("goal", goal=texts["goal"]),
            self._part("actions", steps=texts["steps"]),
        ]
        if self.settings.use_axtree:
            content.append(self._part("axtree", axtree=texts["axtree"]))
        if evidence.images:
            content += [self._part("screenshot"), *evidence.images]
        content.append(self._part("closing"))
        return self.request("verdict", self.system("system"), content)

    def _part(self, slot: str, **values: str) -> TextPart:
        filled = self.prompts.fill(slot, values) if values else self.prompts.text(slot)
        return TextPart(text=filled)

    def _steps(self, actions: tuple[AgentAction, ...]) -> str:
        # The benchmark's template ends without a newline, and its steps follow each other without one.
        between = "" if "step" in self.settings.prompts else "\n"
        return between.join(self._step(number, entry) for number, entry in enumerate(actions, 1))

    def _step(self, number: int, entry: AgentAction) -> str:
        empty = "" if self.is_strict else "None"
        thought = entry.thought if has_reasoning(self.settings, self.mode) else ""
        values = {"url": entry.url, "action": entry.action, "reasoning": thought}
        texts = {name: value or empty for name, value in values.items()}
        return self.prompts.fill("step", {"step_number": str(number), **texts})

    def _tree(self, evidence: JudgeEvidence) -> str:
        return fitted(evidence.tree, self.settings.axtree_chars_max)

    def _judgement(self, evidence: JudgeEvidence, request: ModelRequest, reply: ModelReply) -> Judgement:
        parsed = tags(reply.text, reply.stop_reason, self.mode)
        stages = (stage_report(request, reply, parsed.report()),)
        return self.judged(evidence, parsed, _other(reply, other_mode(self.mode)), stages, (reply,))


def _is_missing(reply: ModelReply | ReplyFailure) -> bool:
    return isinstance(reply, ReplyFailure) and reply.kind == "tape_miss"


def _slot(name: str, *names: str) -> Slot:
    aliases = {f"{{{known}}}": known for known in names}
    return Slot(shipped=f"agent_reward.{name}", names=names, aliases=aliases)


def _other(reply: ModelReply, mode: str) -> JudgeOutcome:
    try:
        return tags(reply.text, reply.stop_reason, mode).outcome
    except PeerRefusal:
        return JudgeOutcome.ERROR


_STRUCTURE = """
generic none presentation group list listitem paragraph section sectionheader sectionfooter row rowgroup
layouttable layouttablerow layouttablecell labeltext div span statictext text inlinetextbox linebreak
"""
STRUCTURE = frozenset(_STRUCTURE.split())
"""Roles that say nothing without a name."""

# A role, then marks that only identify: `- generic [ref=e2]:`, `[12] generic ''`, `list`.
_LINE = lazy_pattern(r"\s*(?:- )?(?:\[[\w-]+\]\s*)?(?P<role>[A-Za-z]+)\s*(?P<rest>.*)", re.DOTALL)
_MARKS = lazy_pattern(r"\[(?:ref|bid|id)=[\w-]+\]|''|\"\"|[\s:]")


def pruned(tree: str) -> str:
    """Return a tree's text without its empty structure and without repeated text boxes; the order stays."""
    return "\n".join(line for line in tree.split("\n") if not _is_empty(line))


def fitted(tree: str, most: int) -> str:
    """Return a tree of at most so many characters: as it is, else pruned, else cut with a marker."""
    if len(tree) <= most:
        return tree
    smaller = pruned(tree)
    cut = len(smaller) - most
    return smaller if cut <= 0 else f"{smaller[:most]}⟦cut:{cut}⟧"


def _is_empty(line: str) -> bool:
    found = _LINE.fullmatch(line)
    if found is None:
        return not line.strip()
    role = found["role"].lower()
    # A text box repeats the text that it is part of.
    return role == "inlinetextbox" or (role in STRUCTURE and not _MARKS.sub("", found["rest"]))
