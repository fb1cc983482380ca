"""Decision of a user whose reply is in plain words: approved, denied, or unclear."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal, NamedTuple

from replaykit.grading.policies.events.text_conditions import find
from replaykit.patterns import lazy_pattern

DENIALS = (
    "no", "nope", "nah", "don't", "dont", "do not", "stop", "cancel", "decline", "declined", "deny",
    "denied", "reject", "rejected", "refuse", "refused", "never", "never mind", "wait", "hold on",
    "hold off", "abort", "not now", "not yet", "rather not", "absolutely not", "certainly not",
    "definitely not", "of course not", "👎", "❌",
)  # fmt: skip
"""Words that deny."""

APPROVALS = (
    "yes", "y", "yep", "yeah", "yup", "ok", "okay", "sure", "alright", "all right", "approve", "approved",
    "confirm", "confirmed", "correct", "accept", "accepted", "agree", "agreed", "allowed", "granted",
    "go ahead", "go for it", "proceed", "continue", "do it", "please do", "fine", "of course",
    "absolutely", "certainly", "definitely", "by all means", "sounds good", "looks good", "👍", "✅",
)  # fmt: skip
"""Words that approve at the beginning of a part of a sentence."""

HARMLESS = (
    "no problem", "no problems", "not a problem", "no objection", "no objections", "no worries",
    "no issue", "no issues", "not an issue", "no concerns", "no doubt", "don't worry", "do not worry",
    "don't mind", "do not mind", "can't wait", "why not?", "why not",
)  # fmt: skip
"""Phrases that hold a word which denies, and deny nothing."""

DOUBTS = (
    "if", "unless", "until", "but", "except", "only", "provided", "first", "later", "maybe", "perhaps",
    "depends", "let me", "think", "not", "cannot", "can't", "won't", "isn't", "aren't", "wasn't",
    "haven't", "hasn't", "didn't", "doesn't", "wouldn't", "couldn't", "shouldn't", "without", "neither",
    "nor",
)  # fmt: skip
"""Words beside which an approval is not one, or not of everything."""

_LIGHT = frozenset((
    "a", "all", "also", "am", "and", "answer", "are", "at", "be", "been", "but", "can", "could", "do",
    "every", "everything", "for", "has", "have", "hello", "hereby", "hi", "i", "i'm", "i've", "is", "it",
    "it's", "its", "just", "let's", "looks", "may", "me", "must", "my", "now", "of", "oh", "our",
    "permission", "please", "said", "say", "seems", "should", "so", "sounds", "thank", "thanks", "that",
    "that's", "the", "them", "then", "this", "those", "to", "too", "us", "was", "we", "well", "which",
    "will", "with", "would", "yet", "you", "your",
))  # fmt: skip
"""Words that add nothing to an approval or a denial beside them."""

Decision = Literal["approved", "denied", "unclear"]

_SENTENCE = lazy_pattern(r"([^.!?\n…]+)([.!?\n…]*)")
_PART_END = lazy_pattern(r"[,;:()\[\]/—–]|\s-\s")
_WORD = lazy_pattern(r"[\w']+")
_DIGITS = lazy_pattern(r"[0-9]+")


class ReplyWords(NamedTuple):
    """The words that decide; texts are folded."""

    approve: tuple[str, ...] = ()
    """Of a rule, found anywhere in a part of a sentence; empty: those of `APPROVALS`."""
    deny: tuple[str, ...] = ()
    """Of a rule; empty: those of `DENIALS`."""
    about: tuple[str, ...] = ()
    """Terms of the question: to cancel an order is not a denial where the agent asks to cancel it."""


def decision_of(reply: str, words: ReplyWords) -> Decision:
    """Return what a folded reply decides. Questions decide nothing.

    Beside an approval, a denial counts where nothing but light words stand in its part of the sentence.
    """
    sentences = [parts for parts, is_question in _sentences(reply, words) if not is_question]
    denials = [part for parts in sentences for part in parts if _denies(part, words)]
    approving = [parts for parts in sentences if any(_approves(part, words) for part in parts)]
    if not approving:
        return "denied" if denials else "unclear"
    if denials:
        return "denied" if any(_is_light(part, words) for part in denials) else "unclear"
    is_doubtful = any(_holds(DOUBTS, part) for parts in approving for part in parts)
    return "unclear" if is_doubtful else "approved"


def names_another(question: str, reply: str) -> bool:
    """Return whether a reply has numbers, and none of those in the question: it may mean another thing."""
    asked, named = _numbers(question), _numbers(reply)
    return bool(asked) and bool(named) and asked.isdisjoint(named)


def _numbers(text: str) -> frozenset[str]:
    return frozenset(found.lstrip("0") for found in _DIGITS.findall(text))


def _sentences(reply: str, words: ReplyWords) -> Iterable[tuple[list[str], bool]]:
    """Yield each sentence in parts, and whether it is a question."""
    own = {*words.approve, *words.deny}
    for phrase in (phrase for phrase in HARMLESS if phrase not in own):
        reply = re.sub(rf"(?<!\w){re.escape(phrase)}(?![\w'])", " ", reply)
    for sentence, end in _SENTENCE.findall(reply):
        yield [part.strip() for part in _PART_END.split(sentence)], "?" in end


def _approves(part: str, words: ReplyWords) -> bool:
    if words.approve:
        places = ((part, find(word, part)) for word in words.approve)
        return any(at >= 0 and not _holds(DOUBTS, text[:at]) for text, at in places)
    light = _LIGHT | _signs(APPROVALS) | _signs(words.about)
    places = ((part, find(word, part)) for word in APPROVALS)
    return any(at >= 0 and light.issuperset(_WORD.findall(text[:at])) for text, at in places)


def _denies(part: str, words: ReplyWords) -> bool:
    denials = words.deny or tuple(word for word in DENIALS if not _holds((word,), " ".join(words.about)))
    return _holds(denials, part)


def _is_light(part: str, words: ReplyWords) -> bool:
    own = _signs(words.deny or DENIALS) | _signs(words.approve or APPROVALS)
    return (_LIGHT | own).issuperset(_WORD.findall(part))


def _holds(words: Iterable[str], text: str) -> bool:
    return any(find(word, text) >= 0 for word in words)


@lru_cache(maxsize=64)
def _signs(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(sign for word in words for sign in _WORD.findall(word))
