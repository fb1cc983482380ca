"""Scores in replies: of one screenshot (Online-Mind2Web, `WebJudge`), or of a user-defined judge."""

from __future__ import annotations

import re

from msgspec import Struct

from replaykit.grading.judges.replies.verdict_token import (
    REPLY_MAX,
    Parsed,
    abstain,
    normalised,
    silent,
    unfinished,
    verdict,
)
from replaykit.patterns import lazy_pattern
from replaykit.tasks.judge_settings import ScoreParser

LOW, HIGH = 1, 5
"""Scores that a screenshot may get."""

REASON_MAX = 4000
"""Characters of a reason that the last stage receives."""

_BETWEEN = r"[ :=\-()\[\]]{0,8}"
_NUMBER = lazy_pattern(rf"(?<![^\W_])score(?![^\W_]){_BETWEEN}(\d+(?:[.,]\d+)*)", re.IGNORECASE)
_OF = lazy_pattern(r"\s{0,4}(?:/|out of)\s{0,4}(\d+)", re.IGNORECASE)
_RANGE = lazy_pattern(r"\s{0,4}[-–~]\s{0,4}\d|%|[^\W_]")
_REASONING = lazy_pattern(r"(?<![^\W_])reasoning(?![^\W_])[ :=\-]{0,8}", re.IGNORECASE)
_BULLET = lazy_pattern(r"\n[ ]*(?:\d{1,3}[.)]|[-•])?[ ]*\Z")


class Scored(Struct, frozen=True, kw_only=True):
    """Score that a reply states for one screenshot."""

    score: int | None
    """1 to 5; None = no score can be read."""
    reason: str = ""
    """Why, on one line."""


def screenshot_score(text: str, stop_reason: str, mode: str, *, is_general: bool = False) -> Scored:
    """Read the score of a screenshot and its reason; the benchmark's general judge has headers of its own."""
    if mode == "compat":
        return _peer_general(text) if is_general else _peer_score(text)
    if unfinished(stop_reason) is not None:
        return Scored(score=None)
    plain = normalised(text[-REPLY_MAX:])
    return Scored(score=_only_score(plain, _NUMBER, LOW, HIGH), reason=_reason(plain))


def own_score(text: str, stop_reason: str, parser: ScoreParser) -> Parsed:
    """Read the score that a user-defined judge gives to a run."""
    stopped = unfinished(stop_reason)
    if stopped is not None:
        return stopped
    plain = normalised(text[-REPLY_MAX:])
    header = re.escape(normalised(parser.header).strip())
    number = re.compile(rf"(?<![^\W_]){header}(?![^\W_]){_BETWEEN}(\d+(?:[.,]\d+)*)", re.IGNORECASE)
    if number.search(plain) is None:
        return silent(text)
    score = _only_score(plain, number, parser.min, parser.max)
    return abstain("unknown_token") if score is None else _graded(score, parser.pass_at)


def reward_line(text: str, stop_reason: str) -> Parsed:
    """Read 1 to 5 after the last `Reward:`; 4 and 5 are a success (NNetNav)."""
    stopped = unfinished(stop_reason)
    if stopped is not None:
        return stopped
    _, mark, rest = normalised(text[-REPLY_MAX:]).rpartition("Reward:")
    if not mark:
        return silent(text)
    score = re.fullmatch(r"\s*([1-5])\s*\.?\s*", rest)
    return abstain("unknown_token") if score is None else _graded(int(score[1]), 4)


def _graded(score: int, pass_at: int) -> Parsed:
    read = verdict(score >= pass_at)
    return Parsed(outcome=read.outcome, reason=read.reason, extra={"score": score})


def _only_score(text: str, number: re.Pattern[str], low: int, high: int) -> int | None:
    """Return the integer that all scores of a text name; None without one, with several, or out of range."""
    found = {_integer(text, match, high) for match in number.finditer(text)}
    score = found.pop() if len(found) == 1 else None
    return score if score is not None and low <= score <= high else None


def _integer(text: str, found: re.Match[str], high: int) -> int | None:
    tail = text[found.end() : found.end() + 24]
    out_of = _OF.match(tail)
    if not found[1].isdecimal() or len(found[1]) > 9:
        return None
    if (out_of and out_of[1] != str(high)) or (not out_of and _RANGE.match(tail)):
        return None
    return int(found[1])


def _reason(text: str) -> str:
    """Return the first paragraph after the last `Reasoning` before the score, on one line."""
    score = _NUMBER.search(text)
    before = text[: score.start()] if score else text
    start = max((found.end() for found in _REASONING.finditer(before)), default=0)
    paragraph = _BULLET.sub("", before[start:].strip(" ")).strip().split("\n\n")[0]
    return " ".join(paragraph.split())[:REASON_MAX]


def _peer_score(text: str) -> Scored:
    parts = text.split("Score")
    digit = re.search("[1-5]", parts[1]) if len(parts) > 1 else None
    if digit is None:
        return Scored(score=0)
    thought = text.rpartition("**Reasoning**:")[2].strip().lstrip("\n")
    return Scored(score=int(digit[0]), reason=thought.split("\n\n")[0].replace("\n", " "))


def _peer_general(text: str) -> Scored:
    parts = text.split("### Score")
    digit = re.search("[1-5]", parts[1]) if len(parts) > 1 else None
    if digit is None:
        return Scored(score=0)
    thought = text.rpartition("### Reasoning:")[2].strip()
    return Scored(score=int(digit[0]), reason=thought.partition("### Score")[0].replace("\n", " "))
