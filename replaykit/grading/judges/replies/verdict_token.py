"""The verdict token of a reply, and what all parsers of replies share: pure, bounded, versioned.

`strict` is what a careful reader would take for the verdict, or no verdict at all; `compat` finds what the
benchmark's script found (WebVoyager, `auto_eval.py`).
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

from msgspec import Struct

from replaykit.grading.model_request import cut_short
from replaykit.grading.verdict import JudgeOutcome
from replaykit.patterns import lazy_pattern

PARSE_VERSION = 1
"""Raised when a reply may be read differently; part of every fingerprint."""

REPLY_MAX = 2**20
"""Characters of a reply that are read: the last ones, where the verdict stands."""

_TAG = lazy_pattern(r"</?[A-Za-z][^<>\n]*>")
_MARKS = lazy_pattern(r"[*`~#>\"“”„‟«»]")
_LOOSE_QUOTE = lazy_pattern(r"(?<![^\W\d_])['‘’‚‛′]|['‘’‚‛′](?![^\W\d_])")
_DASH = lazy_pattern(r"(?<=[^\W\d_])[_\-‐‑‒–—―−](?=[^\W\d_])")
_BLANKS = lazy_pattern(r"[^\S\n]+")

# Not adjacent to letters or digits; SUCCESS in capitals only, NOT in any case.
_TOKEN = lazy_pattern(r"(?<![^\W_])(?:((?i:NOT))\s+)?SUCCESS(?![^\W_])")
_SENTENCE_END = lazy_pattern(r"\n|[.!?](?=\s)")
_HEDGE = lazy_pattern(
    r"(?<![^\W_])(?:not|no|never|neither|nor|none|cannot|without|fail\w*|partial\w*|almost|nearly|hardly|barely"
    r"|if|unless|either|or|whether|unsuccess\w*|incomplete|rather|instead|far|lack\w*)(?![^\W_])|n't(?![^\W_])",
    re.IGNORECASE,
)


class Parsed(Struct, frozen=True, kw_only=True):
    """Verdict that a reply states."""

    outcome: JudgeOutcome
    """SUCCESS, FAILURE or ABSTAIN."""
    reason: str
    """`verdict`, or why it is missing."""
    contradiction: bool = False
    """An earlier verdict of the reply is the opposite."""
    extra: dict[str, Any] = {}
    """Other statements of the reply: side effects, optimality, looping, a score."""

    def report(self) -> dict[str, Any]:
        """Return what a judgement keeps of it."""
        return {"outcome": self.outcome, "contradiction": self.contradiction, **self.extra}


def success_token(text: str, stop_reason: str, mode: str) -> Parsed:
    """Read a reply that ends in `SUCCESS` or `NOT SUCCESS`."""
    if mode == "compat":
        return _token_anywhere(text)
    return unfinished(stop_reason) or _last_token(normalised(text[-REPLY_MAX:]))


def failure_token(text: str, stop_reason: str, mode: str) -> Parsed:
    """Read a reply as Online-Mind2Web's copy of the judge does in compat mode: `FAILURE`, or it succeeded."""
    if mode != "compat":
        return success_token(text, stop_reason, mode)
    return verdict("FAILURE" not in text)


def unfinished(stop_reason: str) -> Parsed | None:
    """Return the reason why an incomplete reply has no verdict; None for a complete reply."""
    why = cut_short(stop_reason)
    return None if why is None else abstain(why)


def silent(text: str) -> Parsed:
    """Return that a reply holds no verdict."""
    return abstain("no_token" if text.strip() else "empty_reply")


def abstain(reason: str) -> Parsed:
    """Return that a reply is no verdict, and why."""
    return Parsed(outcome=JudgeOutcome.ABSTAIN, reason=reason)


def verdict(success: bool) -> Parsed:
    """Return a plain verdict."""
    return Parsed(outcome=JudgeOutcome.SUCCESS if success else JudgeOutcome.FAILURE, reason="verdict")


def normalised(text: str) -> str:
    """Return a reply without markdown, quotes, tags and typography; newlines stay."""
    text = unicodedata.normalize("NFKC", text)
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    text = _LOOSE_QUOTE.sub("", _MARKS.sub("", _TAG.sub("", text)))
    text = re.sub("[‘’‛′]", "'", text)
    return _BLANKS.sub(" ", _DASH.sub(" ", text))


def _token_anywhere(text: str) -> Parsed:
    if "SUCCESS" in text:
        return verdict("NOT SUCCESS" not in text)
    return silent(text)


def _last_token(text: str) -> Parsed:
    tokens = list(_TOKEN.finditer(text))
    if not tokens:
        return silent(text)
    last = tokens[-1]
    if re.search(r"[^\W_]", text[last.end() :]):
        return abstain("not_final")
    start = max((end.end() for end in _SENTENCE_END.finditer(text, 0, last.start())), default=0)
    polarities = {bool(token[1]) for token in tokens if token.start() >= start}
    if len(polarities) > 1:
        return abstain("ambiguous")
    is_failure = bool(last[1])
    contradicts = any(bool(token[1]) is not is_failure for token in tokens)
    if is_failure:
        return Parsed(outcome=JudgeOutcome.FAILURE, reason="verdict", contradiction=contradicts)
    if _is_hedged(text, start, last.start()):
        return abstain("hedged")
    return Parsed(outcome=JudgeOutcome.SUCCESS, reason="verdict", contradiction=contradicts)


def _is_hedged(text: str, start: int, token: int) -> bool:
    return (
        _HEDGE.search(text, start, token) is not None or _HEDGE.search(_word_before(text, token)) is not None
    )


def _word_before(text: str, end: int) -> str:
    """Return the word just before a place, whatever stands between."""
    while end and not (text[end - 1].isalnum() or text[end - 1] == "'"):
        end -= 1
    start = end
    while start and (text[start - 1].isalnum() or text[start - 1] == "'"):
        start -= 1
    return text[start:end]
