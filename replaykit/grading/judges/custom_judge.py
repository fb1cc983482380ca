"""A judge that a user defines: two prompts, a choice of screenshots, and a way to read the verdict."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from replaykit.decoders import decode_within
from replaykit.errors import JudgeError
from replaykit.grading.judges.judge_evidence import JudgeEvidence
from replaykit.grading.judges.judge_interface import Replies, Round
from replaykit.grading.judges.model_judge import ModelJudge, other_mode, stage_report
from replaykit.grading.judges.prompts.prompt import fill
from replaykit.grading.judges.prompts.prompt_slots import Prompts, Slot
from replaykit.grading.judges.replies.answer_tags import PeerRefusal, tags
from replaykit.grading.judges.replies.score_replies import own_score, reward_line
from replaykit.grading.judges.replies.status_line import status_line
from replaykit.grading.judges.replies.strict_object import all_objects
from replaykit.grading.judges.replies.verdict_token import (
    REPLY_MAX,
    Parsed,
    abstain,
    silent,
    success_token,
    unfinished,
    verdict,
)
from replaykit.grading.judges.rubric.request_texts import steps_text
from replaykit.grading.judges.step_notes import CHANGES_VERSION
from replaykit.grading.model_request import ModelReply, ModelRequest, Part, TextPart
from replaykit.grading.verdict import Judgement, JudgeOutcome
from replaykit.patterns import lazy_pattern
from replaykit.tasks.judge_settings import JsonParser, JudgeSettings, Parser, ScoreParser, Texts

NAMES = (
    "task", "answer", "actions", "thoughts", "results", "urls", "final_text", "axtree", "n_images",
    "recorded_at", "changes", "facts",
)  # fmt: skip
"""Placeholders of the user prompt; `{{images}}` on a line of its own marks where the screenshots stand."""

_IMAGES = lazy_pattern(r"^[ \t]*\{\{images\}\}[ \t]*(?:\n|\Z)", re.MULTILINE)


_SINGLE = lazy_pattern(rf"(?<!\{{)\{{({'|'.join((*NAMES, 'images'))})\}}(?!\}})")
"""A placeholder with one brace on each side: it would be sent as it stands."""


def _check_braces(user: str) -> None:
    found = _SINGLE.search(user)
    if found is not None:
        raise JudgeError(
            what=f"prompt user: a placeholder has two braces, write {{{found[0]}}} for {found[0]}"
        )


def _check_parser(parser: Parser) -> None:
    """Raise JudgeError for a parser that gives each reply the same verdict."""
    if isinstance(parser, ScoreParser):
        if not parser.header.strip():
            raise JudgeError(what="option parser: header is the word before the score, such as grade")
        if not parser.min < parser.pass_at <= parser.max:
            scores = f"from {parser.min} to {parser.max}"
            reason = f"pass_at {parser.pass_at} does not divide the scores {scores}"
            raise JudgeError(what=f"option parser: {reason}; it is the lowest score that is a success")
    if isinstance(parser, JsonParser):
        if parser.pointer and not parser.pointer.startswith("/"):
            raise JudgeError(what=f"option parser: pointer {parser.pointer!r} has to begin with /")
        both = _words(parser.success) & _words(parser.failure)
        if both:
            raise JudgeError(what=f"option parser: {min(both)!r} means both success and failure")


class Custom(ModelJudge):
    """One request, one verdict."""

    protocol = "custom"

    def __init__(self, settings: JudgeSettings, mode: str = "strict") -> None:
        slots = {"system": Slot(), "user": Slot(names=(*NAMES, "images"))}
        prompts = Prompts(self.protocol, slots, settings.prompts)
        super().__init__(settings, mode, prompts, "last:15")
        if self.needs.images.scored is not None:
            raise JudgeError(what=f"option images: {settings.images!r} is for webjudge only")
        user = prompts.text("user")
        _check_parser(settings.parser)
        _check_braces(user)
        self._texts = _IMAGES.split(user)
        if len(self._texts) > 2 or "{{images}}" in "".join(self._texts):
            raise JudgeError(what="prompt user: {{images}} must occur once, on a line without other text")
        self.needs = replace(
            self.needs,
            tree="{{axtree}}" in user,
            text="{{final_text}}" in user,
            notes="{{changes}}" in user or "{{facts}}" in user,
        )

    def deliberate(self, evidence: JudgeEvidence) -> Generator[Round, Replies, Judgement]:
        """Ask once, unless there is nothing to ask about."""
        if not evidence.task.strip():
            return self.unasked(evidence, JudgeOutcome.ABSTAIN, "no_task")
        if not (evidence.images or evidence.actions or evidence.answer or evidence.text or evidence.tree):
            return self.unasked(evidence, JudgeOutcome.ABSTAIN, "no_evidence")
        request = self._request(evidence)
        replies = yield (request,)
        failed = self.failed(evidence, replies)
        return failed or self._judgement(evidence, request, cast("ModelReply", replies[0]))

    def parser(self) -> str:
        """Return the name of the parser of its verdict."""
        return self.settings.parser if isinstance(self.settings.parser, str) else "own"

    def shape(self) -> dict[str, Any]:
        """Return what else shapes its answer."""
        parser = self.settings.parser
        own = {} if isinstance(parser, str) else {"parser": msgspec.to_builtins(parser)}
        if isinstance(parser, JsonParser):
            own["json_version"] = JSON_VERSION
        return {**own, "changes_version": CHANGES_VERSION} if self.needs.notes else own

    def _request(self, evidence: JudgeEvidence) -> ModelRequest:
        values = self._values(evidence)
        texts = [TextPart(text=fill(text, values)) for text in self._texts]
        content: list[Part] = [texts[0], *evidence.images, *texts[1:]]
        parts = [part for part in content if not isinstance(part, TextPart) or part.text]
        return self.request("verdict", self.system("system"), parts)

    def _values(self, evidence: JudgeEvidence) -> dict[str, str]:
        actions = [entry.action for entry in evidence.actions if not entry.is_message]
        texts = {
            "task": evidence.task,
            "answer": evidence.answer or "",
            "actions": "\n".join(f"{number}. {action}" for number, action in enumerate(actions, 1)),
            "thoughts": "\n".join(entry.thought for entry in evidence.actions if entry.thought),
            "results": "\n".join(entry.returned for entry in evidence.actions if entry.returned),
            "urls": "\n".join(entry.url for entry in evidence.actions if entry.url),
            "final_text": evidence.text,
            "axtree": evidence.tree,
            "changes": steps_text(evidence, facts=False).text,
            "facts": steps_text(evidence, facts=True, changes=False).text,
        }
        used = {name: text for name, text in texts.items() if f"{{{{{name}}}}}" in "".join(self._texts)}
        plain = {"n_images": str(len(evidence.images)), "recorded_at": evidence.recorded_at}
        return {**self.untrusted(used), **plain}

    def _judgement(self, evidence: JudgeEvidence, request: ModelRequest, reply: ModelReply) -> Judgement:
        parsed = self._read(reply, self.mode)
        stages = (stage_report(request, reply, parsed.report()),)
        return self.judged(evidence, parsed, self._other(reply), stages, (reply,))

    def _other(self, reply: ModelReply) -> JudgeOutcome:
        try:
            return self._read(reply, other_mode(self.mode)).outcome
        except PeerRefusal:
            return JudgeOutcome.ERROR

    def _read(self, reply: ModelReply, mode: str) -> Parsed:
        match self.settings.parser:
            case ScoreParser() as parser:
                return own_score(reply.text, reply.stop_reason, parser)
            case JsonParser() as parser:
                return json_verdict(reply.text, reply.stop_reason, parser, mode)
            case "reward_line":
                return reward_line(reply.text, reply.stop_reason)
            case "status_line":
                return status_line(reply.text, reply.stop_reason, mode)
            case "tags":
                return tags(reply.text, reply.stop_reason, mode)
            case _:
                return success_token(reply.text, reply.stop_reason, mode)


JSON_VERSION = 2
"""Raised when JSON is read differently; part of the fingerprint of judges that read it."""

STARTS_MAX = 200
"""Opening braces that are tried: each failed try may read the rest of the reply."""


def json_verdict(text: str, stop_reason: str, parser: JsonParser, mode: str = "strict") -> Parsed:
    """Read the value that a JSON pointer names in the last JSON object of a reply.

    In strict mode the reply ends with that object, and an earlier failure leaves a success
    `ambiguous`. In compat mode the last object decides, whatever stands around it.
    """
    if mode == "compat":
        return _last_document(text, stop_reason, parser)
    found = all_objects(text, stop_reason)
    if isinstance(found, str):
        return abstain("empty_reply" if found == "no_object" and not text.strip() else found)
    verdicts = [_named(_word(_resolve(one, parser.pointer)), parser) for one in found]
    outcomes = {one.outcome for one in verdicts}
    if verdicts[-1].outcome is JudgeOutcome.SUCCESS and JudgeOutcome.FAILURE in outcomes:
        return abstain("ambiguous")
    return verdicts[-1]


def _last_document(text: str, stop_reason: str, parser: JsonParser) -> Parsed:
    stopped = unfinished(stop_reason)
    if stopped is not None:
        return stopped
    documents = list(_documents(text[-REPLY_MAX:]))
    if not documents:
        return silent(text)
    return _named(_word(_resolve(documents[-1], parser.pointer)), parser)


def _named(word: str | None, parser: JsonParser) -> Parsed:
    is_success, is_failure = word in _words(parser.success), word in _words(parser.failure)
    return abstain("unknown_token") if is_success is is_failure else verdict(is_success)


def _documents(text: str) -> Iterator[Any]:
    reader, at = json.JSONDecoder(), 0
    for _ in range(STARTS_MAX):
        start = text.find("{", at)
        if start < 0:
            return
        try:
            document, at = decode_within(text, start, reader)
            yield document
        except (ValueError, RecursionError):
            at = start + 1


def _resolve(document: Any, pointer: str) -> Any:
    """Return the value that a pointer names (RFC 6901); None if absent."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list) and name.isdecimal() and int(name) < len(document):
            document = document[int(name)]
        else:
            document = document.get(name) if isinstance(document, dict) else None
    return document


def _word(value: Any) -> str | None:
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return value.strip().casefold() if isinstance(value, str) else None


def _words(texts: Texts) -> frozenset[str]:
    listed = (texts,) if isinstance(texts, str) else texts
    return frozenset(text.strip().casefold() for text in listed)
