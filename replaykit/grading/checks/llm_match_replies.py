"""Reading of a reply to a comparison: a whole label on its last line, or one that the benchmark finds."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal, TypeAlias

from replaykit.grading.model_request import cut_short
from replaykit.grading.verdict import Outcome
from replaykit.patterns import lazy_pattern
from replaykit.tasks.dialect import Mode

Kind: TypeAlias = Literal["webarena.fuzzy", "webarena.unachievable"]
"""Subject of a comparison: meanings, or reasons why a task cannot be done."""

KINDS: tuple[Kind, ...] = ("webarena.fuzzy", "webarena.unachievable")
"""All of them: names under which their replies are recorded."""

REPLY_MAX = 65_536
"""Characters of a reply that are read: the last ones, where the label stands."""

_LABELS: dict[Kind, dict[str, Outcome]] = {
    "webarena.fuzzy": {
        # The longest first: `incorrect` holds `correct`.
        "partially correct": Outcome.FAIL,
        "incorrect": Outcome.FAIL,
        "correct": Outcome.PASS,
    },
    "webarena.unachievable": {"different": Outcome.FAIL, "same": Outcome.PASS},
}
_DECORATION = lazy_pattern(r"[*`_~#>\"“”„‟«»]|(?<![^\W\d_])['‘’‚‛]|['‘’‚‛](?![^\W\d_])")
# Joined words are one word: `in-correct` is no `correct`.
_WORD = lazy_pattern(r"[^\W_]+(?:['\-‐‑‒–—―−][^\W_]+)*")
_HEDGE = lazy_pattern(
    r"not|no|never|neither|nor|none|cannot|\w+n't|without|fail\w*|partial\w*|partly|half|somewhat|almost|nearly"
    r"|mostly|largely|hardly|barely|if|unless|either|or|whether|probably|maybe|perhaps|possibly|rather|instead"
    r"|incomplete\w*|lack\w*|far"
)

ReplyVerdict: TypeAlias = tuple[Outcome, str | None, tuple[str, ...]]
"""Outcome, why not, notes."""


def verdict_of(kind: Kind, reply: str, mode: Mode, stop_reason: str = "end_turn") -> ReplyVerdict:
    """Return what a reply means.

    `compat` finds labels anywhere, as the benchmark does. `strict` reads one whole label from the last line
    of a complete reply.
    """
    if mode == "compat":
        return _anywhere(kind, reply)
    why = cut_short(stop_reason)
    return _last_line(kind, reply) if why is None else (Outcome.UNDECIDED, why, ())


def _anywhere(kind: Kind, reply: str) -> ReplyVerdict:
    text = reply.lower()
    for label, outcome in _LABELS[kind].items():
        if label in text:
            return outcome, None if outcome is Outcome.PASS else "judged", ()
    return Outcome.ERROR, "peer_exception", ()


def _last_line(kind: Kind, reply: str) -> ReplyVerdict:
    lines = [line for line in _plain(reply[-REPLY_MAX:]).splitlines() if _WORD.search(line)]
    words = _WORD.findall(lines[-1]) if lines else []
    found = _labels_in(kind, words)
    unparsed = Outcome.UNDECIDED, "reply_unparsed", ()
    if len(found) != 1:
        return unparsed
    (label, place) = found[0]
    before = words[:place]
    if any(_HEDGE.fullmatch(word) for word in before) or _is_torn(kind, label, [*lines[:-1], *before]):
        return unparsed
    outcome = _LABELS[kind][label]
    notes = ("partial",) if label == "partially correct" else ()
    return outcome, None if outcome is Outcome.PASS else "judged", notes


def _plain(reply: str) -> str:
    """Return a reply in small letters, without markdown, quotes and characters that no one sees."""
    seen = (char for char in unicodedata.normalize("NFKC", reply) if unicodedata.category(char) != "Cf")
    text = "".join(seen)
    return re.sub("[‘’‛]", "'", _DECORATION.sub("", text)).lower()


def _is_torn(kind: Kind, label: str, before: list[str]) -> bool:
    """Return whether a label is the end of another one that white space tore apart."""
    own = label.replace(" ", "")
    letters = re.sub(r"[\W_]", "", "".join(before)[-64:]) + own
    longer = [other.replace(" ", "") for other in _LABELS[kind] if len(other) > len(label)]
    return any(letters.endswith(other) for other in longer)


def _labels_in(kind: Kind, words: list[str]) -> list[tuple[str, int]]:
    """Return the labels among the words with their places, the longest first at each."""
    found: list[tuple[str, int]] = []
    place = 0
    while place < len(words):
        labels = [tuple(label.split()) for label in _LABELS[kind]]
        hit = next((label for label in labels if tuple(words[place : place + len(label)]) == label), None)
        if hit is not None:
            found.append((" ".join(hit), place))
        place += len(hit) if hit is not None else 1
    return found
