"""Texts of alerts that show an error, that show none, and those of which only a person can tell.

Own module: the words and phrases are what people change, and need no knowledge of pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from replaykit.grading.error_phrases import ALERT_WORDS, PHRASES
from replaykit.grading.policies.agent_reports import TROUBLE, in_foreign_words
from replaykit.grading.policies.events.text_conditions import find_any
from replaykit.patterns import lazy_pattern

OTHER_SUBJECTS = (
    "successfully", "succeeded", "success", "retried", "resolved", "restored", "recovered", "fixed", "is",
    "are", "was", "were", "has been", "have been", "will", "if", "whether", "when", "about", "added",
    "created", "closed", "deleted", "removed", "updated", "exported", "saved", "sent", "hidden", "muted",
    "marked", "moved", "showing", "show", "filter", "filters", "label", "rule", "search", "sorted", "list",
    "notify", "on", "off", "0", "earlier", "previously",
)  # fmt: skip
"""Words beside which a text may only mention an error: `The failed build was deleted`."""

DOUBTS = (
    "not", "cannot", "never", "neither", "nothing", "none", "error", "errors", "problem", "problems",
    "trouble", "failure", "failures", "fails", "exception", "warning", "unexpected", "unknown", "wrong",
    "declined", "denied", "rejected", "refused", "blocked", "banned", "suspended", "locked", "disabled",
    "forbidden", "unavailable", "unsuccessful", "aborted", "crashed", "broken", "lost", "offline",
    "disconnected", "timed out", "timeout", "expired", "lapsed", "insufficient", "out of", "sold out",
    "too many", "too large", "too big", "too long", "too short", "too weak", "too old", "exceeds",
    "exceeded", "limit", "conflict", "mismatch", "duplicate", "already", "no longer", "no such", "must",
    "only", "partially", "partly", "0 of", "missing", "impossible", "restricted", "revoked",
    "unsupported", "permission", "permissions", "taken", "minimum", "maximum", "sorry", "unfortunately",
    "however",
    "fehler", "nicht", "erreur", "erreurs", "erro", "errore", "falha", "fallo", "fout",
)  # fmt: skip
"""Words beside which a text may show an error in other words, as it may beside a short form of `not`."""

_HIT = "|".join(map(re.escape, sorted(ALERT_WORDS, key=len, reverse=True)))
_NOT = r"(?:could not|couldn't|cannot|can't|did not|didn't|unable to|failed to|not)"
_ASSERTED = lazy_pattern(
    rf"\b{_NOT}(?: be| been)? \w+|\b(?:is|are|was|were|has|have) (?:an? )?(?:{_HIT})|^ *error:.*"
)
"""Clauses whose verb belongs to the error: `could not be saved`, `is invalid`, `error: the card was ...`."""

_TROUBLE = rf"(?:{TROUBLE}|invalid|incorrect)"
_DENIED = lazy_pattern(
    rf"\b(?:no|0|zero|without)(?: \w+)? {_TROUBLE}\b|\b{_TROUBLE}: (?:0|none)\b|\berror-free\b"
    r"|\b(?:cannot|can't) be (?:undone|reversed|reverted)\b|\bnone (?:skipped|missing)\b"
)
"""Phrases about an error that did not happen, and the warning of every deletion."""

_QUOTED = lazy_pattern(r"\"[^\"]*\"|\u201c[^\u201d]*\u201d|(?<!\w)'[^']*'(?!\w)")
"""Names of other things: `Issue "Login failed" was created`."""


_CLAUSE_END = lazy_pattern(r"[.!?\u2026;](?= |$)|\bbut\b|\bhowever\b")


def error_in(text: str) -> tuple[int, int] | None:
    """Return where the folded text of an alert shows an error: start and end."""
    hits = ((start, _error_of(clause)) for start, clause in _clauses(_undenied(text)))
    return next(((start + hit[0], start + hit[1]) for start, hit in hits if hit is not None), None)


def may_show_error(text: str) -> bool:
    """Whether the folded text of an alert may show an error, in other words or in another language."""
    claimed = _undenied(text)
    is_open = find_any((*PHRASES, *ALERT_WORDS, *DOUBTS), claimed) is not None or "n't" in claimed
    return is_open or in_foreign_words(text)


def _error_of(clause: str) -> tuple[int, int] | None:
    hit = find_any((*PHRASES, *ALERT_WORDS), clause)
    return None if hit is None or _has_other_subject(clause) else hit


def _clauses(claimed: str) -> Iterator[tuple[int, str]]:
    """Yield the clauses of a text, each with its place and the sign at its end."""
    start = 0
    for end in _CLAUSE_END.finditer(claimed):
        yield start, claimed[start : end.end()]
        start = end.end()
    yield start, claimed[start:]


def _undenied(text: str) -> str:
    """Return a text with blanks for what it quotes and denies; all other characters keep their places."""
    return _DENIED.sub(_blank, _QUOTED.sub(_blank, text))


def _has_other_subject(clause: str) -> bool:
    return "?" in clause or find_any(OTHER_SUBJECTS, _ASSERTED.sub(_blank, clause)) is not None


def _blank(found: re.Match[str]) -> str:
    return " " * len(found.group())
