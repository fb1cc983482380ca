"""Texts of an agent that report an error, that do not, and those of which only a person can tell.

Own module: the words and phrases are what people change, and need no knowledge of runs.
"""

from __future__ import annotations

from replaykit.grading.error_phrases import REPORT_WORDS
from replaykit.grading.policies.events.text_conditions import find_any
from replaykit.patterns import lazy_pattern

SIGNS = (
    "no", "not", "never", "none", "nothing", "neither", "nor", "without", "unfortunately", "sorry",
    "apologies", "however", "but", "instead", "although", "though", "despite", "only", "partly",
    "partially", "incomplete", "unexpected", "wrong", "warning", "trouble", "issue", "issues", "broken",
    "missing", "stuck", "down", "offline", "rejected", "refused", "expired", "invalid", "aborted",
    "crashed", "exception", "stopped", "gave up", "skipped", "again", "manually",
)  # fmt: skip
"""Words beside which a text may be a report in other words, as it may beside a short form of `not`."""

TROUBLE = r"(?:errors?|fail(?:s|ed|ures?)?|problems?|issues?|trouble|exceptions?|warnings?)"
"""Pattern of the words for an error."""

_FILLING = (
    r"(?:any|an?|single|encounter(?:ed)?|see|seen|saw|find|found|have|had|get|got|hit|further|more|such)"
)
_DENIED = lazy_pattern(
    rf"(?:\b(?:no|zero|0|free of|without|not|never|nothing)|n't)(?: {_FILLING})* {TROUBLE}\b"
    r"|\berror-free\b|\b(?:can't|cannot) (?:wait|complain)\b"
)
"""Phrases by which a text denies an error."""

_WORD = lazy_pattern(r"[^\W\d_]+(?:'[^\W\d_]+)?")

_WORDS_MIN = 4
"""Words of a text whose language can be recognised."""

_ENGLISH = frozenset((
    "added", "and", "applied", "are", "available", "been", "but", "by", "complete", "completed", "copied",
    "could", "created", "deleted", "done", "everything", "expanded", "exported", "finished", "free",
    "from", "has", "have", "here", "is", "it", "items", "its", "loaded", "loading", "my", "new", "none",
    "of", "off", "opened", "orders", "our", "out", "please", "removed", "results", "rows", "saved",
    "selected", "sent", "should", "showing", "sorted", "submitted", "success", "successful",
    "successfully", "task", "thank", "thanks", "that", "the", "their", "there", "this", "through", "to",
    "updated", "view", "were", "what", "when", "will", "with", "would", "you", "your",
))  # fmt: skip
"""Words of which a longer English text has one, and a text in another language hardly."""


def reports_error(text: str, shown: tuple[str, ...] = ()) -> bool | None:
    """Return whether a folded text reports an error, in these words or in those that were shown.

    None: it denies none, and yet may report one in other words, or in another language.
    """
    asserted = _DENIED.sub(" ", text)
    if find_any((*REPORT_WORDS, *shown), asserted) is not None:
        return True
    is_open = find_any(SIGNS, asserted) is not None or "n't" in asserted
    return None if is_open or in_foreign_words(asserted) else False


def in_foreign_words(text: str) -> bool:
    """Whether a folded text seems to be in another language than English."""
    if sum(char.isalpha() and not char.isascii() for char in text) * 2 > len(text):
        return True
    words = _WORD.findall(text)
    return len(words) >= _WORDS_MIN and _ENGLISH.isdisjoint(words)
