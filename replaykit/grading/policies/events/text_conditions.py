"""Text conditions: how a policy's words are compared with recorded texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from replaykit.grading.policies.events.three_valued_truth import FALSE, TextSpan, Truth, some, unknown
from replaykit.grading.values.normal_form import composed, fold, legible, spaced, spellings
from replaykit.grading.values.similarity import common_length
from replaykit.patterns import lazy_pattern
from replaykit.replay.unlisted_texts import UNLISTED
from replaykit.tasks.grammar.letters import joins
from replaykit.tasks.grammar.regex_matcher import Matcher, matcher
from replaykit.tasks.policy_rules import Text, TextTerms
from replaykit.trajectory.redaction_marks import MASK_NAME

TEXT_MAX = 65_536
"""Characters of a text that are read; no hit in a longer one is UNKNOWN."""

FUZZY_MIN = 85
"""Least similarity, 200 LCS / (a + b), of words that count as the term."""

FUZZY_TERM_MIN = 5
"""Characters of the shortest term that may be met approximately."""

_NAMELESS = lazy_pattern(f"⟦(?:{MASK_NAME}|header)⟧")
_PATTERN = lazy_pattern(r"⟦pattern:[^⟧]*⟧")
_CUT = lazy_pattern(r"⟦cut:\d+⟧\Z")


class Reading:
    """A recorded text as conditions read it."""

    def __init__(
        self,
        raw: str,
        step: int | None = None,
        lacks: tuple[str, ...] = (),
        unlisted: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self.raw = raw
        self.step = step
        #: Codes of what belongs to the text and was not recorded.
        self.lacks = lacks
        #: Returns texts that may belong to it as well.
        self.unlisted = unlisted

    @cached_property
    def plain(self) -> str:
        """The text without differences of typography and white space; case kept."""
        return plain(self.raw[:TEXT_MAX])

    @cached_property
    def spelled(self) -> tuple[str, ...]:
        """The texts in which an expression is looked for."""
        return tuple(map(spaced, spellings(self.raw[:TEXT_MAX])))

    @cached_property
    def folded(self) -> str:
        """The same without case."""
        return fold(self.raw[:TEXT_MAX])

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Why a text without a hit may still hold one: it was cut, or hidden under no name of its own."""
        cut = len(self.raw) > TEXT_MAX or _CUT.search(self.raw)
        found = [*self.lacks, *(["text.cut"] if cut else [])]
        if "⟦" in self.raw:
            found += ["value.redacted"] if _NAMELESS.search(self.raw) else []
            found += ["value.pattern"] if _PATTERN.search(self.raw) else []
        return tuple(at_step(code, self.step) for code in found)

    @cached_property
    def others(self) -> tuple[Reading, ...]:
        """Texts that may belong to it as well."""
        return tuple(Reading(text, self.step) for text in self.unlisted())

    def span(self, start: int, end: int) -> TextSpan:
        """Return a hit in the folded text, shown with its case where positions allow."""
        shown = self.plain if len(self.plain) == len(self.folded) else self.folded
        return TextSpan(shown, start, end)


def at_step(code: str, step: int | None) -> str:
    """Return the code of what is missing with its step, where that is known."""
    return code if step is None else f"{code}@{step}"


class TextTest:
    """A compiled text condition."""

    def __init__(self, condition: Text) -> None:
        self.condition = condition
        self.equals = None if condition.equals is None else self._form(condition.equals)
        one = () if condition.contains is None else (condition.contains,)
        groups = (terms for terms in (one, condition.any_of) if terms)
        self.parts = [tuple(self._form(term) for term in terms) for terms in groups]
        self.regex = regex(condition.regex, condition.ignore_case) if condition.regex is not None else None
        self.fuzzy = tuple(fold(term) for term in condition.fuzzy.any_of) if condition.fuzzy else ()

    @property
    def literal(self) -> tuple[str, ...] | None:
        """Folded texts of which one occurs wherever the condition holds; None if no such texts are known."""
        if not self.condition.ignore_case or self.regex is not None or self.fuzzy:
            return None
        return self.parts[0] if self.parts else (self.equals or "",)

    def truth(self, reading: Reading) -> Truth:
        """Return whether the condition holds for one text."""
        spans = list(self._spans(reading))
        if all(spans):
            return Truth(True, spans[0] if spans else None)
        if reading.missing:
            return unknown(*reading.missing)
        is_possible = any(all(self._spans(other)) for other in reading.others)
        return unknown(at_step(UNLISTED, reading.step)) if is_possible else FALSE

    def _form(self, term: str) -> str:
        return fold(term) if self.condition.ignore_case else plain(term)

    def _spans(self, reading: Reading) -> Iterator[TextSpan | None]:
        """Yield the hit of each operator, None for one that fails."""
        text = reading.folded if self.condition.ignore_case else reading.plain
        if self.equals is not None:
            yield self._shown(reading, 0, len(text)) if text == self.equals else None
        for terms in self.parts:
            hits = ((term, find(term, text, self.condition.word)) for term in terms)
            hit = next(((start, start + len(term)) for term, start in hits if start >= 0), None)
            yield self._shown(reading, *hit) if hit else None
        if self.regex is not None:
            yield next(
                (TextSpan(text, *hit) for text in reading.spelled if (hit := self.regex.search(text))), None
            )
        if self.fuzzy and self.condition.fuzzy is not None:
            least = self.condition.fuzzy.min_ratio
            hit = next((hit for term in self.fuzzy if (hit := run_like(term, reading.folded, least))), None)
            yield reading.span(*hit) if hit else None

    def _shown(self, reading: Reading, start: int, end: int) -> TextSpan:
        return reading.span(start, end) if self.condition.ignore_case else TextSpan(reading.plain, start, end)


class TextTests:
    """Conditions of which one is enough."""

    def __init__(self, terms: TextTerms) -> None:
        self.tests = [TextTest(condition) for condition in conditions(terms)]
        literal = [test.literal for test in self.tests]
        #: Folded texts of which one occurs wherever a condition holds; None if no such texts are known.
        self.words = None if None in literal else tuple(word for words in literal for word in words or ())

    def truth(self, readings: Sequence[Reading]) -> Truth:
        """Return whether some condition holds for some of the texts."""
        return some(test.truth(reading) for test in self.tests for reading in readings)


def conditions(terms: TextTerms) -> tuple[Text, ...]:
    """Return words as conditions: a bare word has to match whole words."""
    if isinstance(terms, Text):
        return (terms,)
    words = (terms,) if isinstance(terms, str) else terms
    return tuple(Text(contains=word, word=True) for word in words)


def words_of(terms: TextTerms) -> tuple[str, ...]:
    """Return the literal words of a condition; a regular expression has none."""
    if isinstance(terms, Text):
        literal = (terms.equals, terms.contains, *terms.any_of, *(terms.fuzzy.any_of if terms.fuzzy else ()))
        return tuple(word for word in literal if word)
    return (terms,) if isinstance(terms, str) else terms


def plain(text: str) -> str:
    """Return the text in NFKC, quotes straight, unseen characters dropped, white space collapsed."""
    return spaced(legible(text))


def find(term: str, text: str, word: bool = True) -> int:
    """Return where the term occurs, -1 where it does not; as a whole word by default.

    Where a term begins or ends with a letter, digit or `_`, its neighbour in the text must be no such sign.
    """
    start = text.find(term)
    while word and term and start >= 0 and not _stands_alone(text, start, start + len(term)):
        start = text.find(term, start + 1)
    return start if term else -1


def find_any(terms: Iterable[str], text: str) -> tuple[int, int] | None:
    """Return the first of these whole words that occurs, as start and end."""
    hits = ((find(term, text), len(term)) for term in terms)
    return next(((start, start + length) for start, length in hits if start >= 0), None)


def resembles(term: str, text: str) -> bool:
    """Whether the folded text holds the folded term, as a whole word or in much the same words."""
    return run_like(term, text, FUZZY_MIN) is not None


def run_like(term: str, text: str, least: int) -> tuple[int, int] | None:
    """Return the positions of the folded term in the folded text, as whole words or in similar words.

    A run of whole words of 0.8 to 1.25 times its length is enough if 200 LCS / (a + b) is at least
    `least`; the reverse, a short text inside a long term, is not.
    """
    start = find(term, text)
    if start >= 0:
        return start, start + len(term)
    if len(term) < FUZZY_TERM_MIN:
        return None
    for start, end in _runs(term, text):
        if 200 * common_length(term, text[start:end]) >= least * (len(term) + end - start):
            return start, end
    return None


def regex(pattern: str, ignore_case: bool) -> Matcher:
    """Compile a regular expression; its searches raise `RegexRefused` where they would take too long."""
    return matcher(composed(pattern), re.IGNORECASE if ignore_case else 0)


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, after = text[start - 1 : start], text[end : end + 1]
    return not (_joins(before, text[start]) or _joins(text[end - 1], after))


def _joins(before: str, after: str) -> bool:
    # `add` is not a word of `add_item`.
    return bool(before and after) and joins(before.replace("_", "a"), after.replace("_", "a"))


def _runs(term: str, text: str) -> Iterator[tuple[int, int]]:
    least, most = 0.8 * len(term), 1.25 * len(term)
    words = [(found.start(), found.end()) for found in re.finditer(r"\S+", text)]
    for number, (start, _) in enumerate(words):
        for _, end in words[number:]:
            if end - start > most:
                break
            if end - start >= least:
                yield start, end
