"""Verdicts read from replies: pure, bounded, versioned.

`strict` is what a careful reader would take for the verdict, or no verdict at all; `compat` finds what the
peer's script found (WebVoyager, `auto_eval.py`).
"""

from __future__ import annotations

import re
import unicodedata

from msgspec import Struct

from replaykit.grading.verdict import JudgeOutcome

PARSE_VERSION = 1
"""Raised when a reply may be read differently; part of every fingerprint."""

REPLY_MAX = 2**20
"""Characters of a reply that are read: the last ones, where the verdict stands."""

_STOPPED = {
    "max_tokens": "truncated",
    "refusal": "refused",
    "model_context_window_exceeded": "context_full",
}
_COMPLETE = ("end_turn", "stop_sequence")

_TAG = re.compile(r"</?[A-Za-z][^<>\n]*>")
_MARKS = re.compile(r"[*`~#>\"“”„‟«»]")
_LOOSE_QUOTE = re.compile(r"(?<![^\W\d_])['‘’‚‛′]|['‘’‚‛′](?![^\W\d_])")
_DASH = re.compile(r"(?<=[^\W\d_])[_\-‐‑‒–—―−](?=[^\W\d_])")
_BLANKS = re.compile(r"[^\S\n]+")

# Not adjacent to letters or digits; SUCCESS in capitals only, NOT in any case.
_TOKEN = re.compile(r"(?<![^\W_])(?:((?i:NOT))\s+)?SUCCESS(?![^\W_])")
_SENTENCE_END = re.compile(r"\n|[.!?](?=\s)")
_HEDGE = re.compile(
    r"(?<![^\W_])(?:not|no|never|neither|nor|none|cannot|without|fail\w*|partial\w*|almost|nearly|hardly|barely"
    r"|if|unless|either|or|whether|unsuccess\w*|incomplete|rather|instead|far|lack\w*)(?![^\W_])|n't(?![^\W_])",
    re.IGNORECASE,
)


class Parsed(Struct, frozen=True, kw_only=True):
    """What a reply says."""

    outcome: JudgeOutcome
    """SUCCESS, FAILURE or ABSTAIN."""
    reason: str
    """`verdict`, or why there is none."""
    contradiction: bool = False
    """An earlier verdict of the reply says the opposite."""


def success_token(text: str, stop_reason: str, mode: str) -> Parsed:
    """Read a reply that ends in `SUCCESS` or `NOT SUCCESS`."""
    if mode == "compat":
        return _token_anywhere(text)
    if stop_reason not in _COMPLETE:
        return _abstain(_STOPPED.get(stop_reason, "stopped"))
    return _last_token(normalised(text[-REPLY_MAX:]))


def normalised(text: str) -> str:
    """Return a reply without markdown, quotes, tags and typography; newlines stay."""
    text = unicodedata.normalize("NFKC", text)
    text = "".join(char for char in text if unicodedata.category(char) != "Cf")
    text = _LOOSE_QUOTE.sub("", _MARKS.sub("", _TAG.sub("", text)))
    text = re.sub("[‘’‛′]", "'", text)
    return _BLANKS.sub(" ", _DASH.sub(" ", text))


def _token_anywhere(text: str) -> Parsed:
    if "NOT SUCCESS" in text:
        return Parsed(outcome=JudgeOutcome.FAILURE, reason="verdict")
    if "SUCCESS" in text:
        return Parsed(outcome=JudgeOutcome.SUCCESS, reason="verdict")
    return _abstain("no_token" if text.strip() else "empty_reply")


def _last_token(text: str) -> Parsed:
    tokens = list(_TOKEN.finditer(text))
    if not tokens:
        return _abstain("no_token" if text.strip() else "empty_reply")
    last = tokens[-1]
    if re.search(r"[^\W_]", text[last.end() :]):
        return _abstain("not_final")
    start = max((end.end() for end in _SENTENCE_END.finditer(text, 0, last.start())), default=0)
    polarities = {bool(token[1]) for token in tokens if token.start() >= start}
    if len(polarities) > 1:
        return _abstain("ambiguous")
    is_failure = bool(last[1])
    contradicts = any(bool(token[1]) is not is_failure for token in tokens)
    if is_failure:
        return Parsed(outcome=JudgeOutcome.FAILURE, reason="verdict", contradiction=contradicts)
    if _is_hedged(text, start, last.start()):
        return _abstain("hedged")
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


def _abstain(reason: str) -> Parsed:
    return Parsed(outcome=JudgeOutcome.ABSTAIN, reason=reason)
