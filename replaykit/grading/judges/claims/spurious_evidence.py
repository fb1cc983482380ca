"""Evidence that only seems to show something: tautologies, echoes of what the agent entered, loose quotes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal

import msgspec

from replaykit.grading.judges.claims.predicates import ClaimItem, ClaimPredicate, TextVisible, ValueShown
from replaykit.grading.judges.claims.run_facts import EnteredText
from replaykit.grading.values.normal_form import fold, includes
from replaykit.grading.values.numbers import plain_number, with_decimal_point
from replaykit.patterns import lazy_pattern

RUN_MIN = 8
"""Characters, from the start of a word, that are an echo where the agent entered them."""

PART_MIN = 3
"""Characters of the shortest entry that makes a part of a text an echo."""

_WORD = lazy_pattern(r"[^\W_]+")
_NUMBER = lazy_pattern(r"\d+(?:[.,:]\d+)*")
_QUOTED = lazy_pattern(r"[\"“”„]([^\"“”„\n]{2,80})[\"“”]")


def is_misquoted(quote: str, text: str) -> bool:
    """Return whether words do not stand in a text."""
    part = fold(quote)
    return len(part) < 2 or not includes(part, fold(text))


def is_vacuous(predicate: ClaimPredicate) -> bool:
    """Return whether a text shows too little: one word, a number only, fewer than 3 letters or digits."""
    if isinstance(predicate, ValueShown):
        return not _letters(predicate.label) or _size(predicate.label + predicate.value) < 3
    text = getattr(predicate, "text", None)
    if text is None:
        return False
    words = _WORD.findall(text)
    has_digit = any(char.isdigit() for char in text)
    if _size(text) < 3 or (len(words) == 1 and not has_digit):
        return True
    return isinstance(predicate, TextVisible) and has_digit and _letters(_NUMBER.sub("", text)) < 3


def is_echo(text: str, entries: Iterable[EnteredText], before: int) -> bool:
    """Return whether a text is made of what the agent had entered before a moment of the story."""
    given = [one.text for one in entries if one.place < before]
    whole = rest = fold(text)
    if any(includes(whole, one) for one in given):
        return True
    for one in sorted(set(given), key=lambda one: (-len(one), one)):
        rest = rest.replace(one, "\0") if len(one) >= PART_MIN and includes(one, rest) else rest
    rest = _without_runs(rest, given)
    return rest != whole and _size(rest) < 3


def _without_runs(text: str, given: Sequence[str]) -> str:
    """Return a text without the parts of 8 and more characters, from a word's start, that were entered."""
    kept, at = [], 0
    while at < len(text):
        end = _run_end(text, at, given) if at == 0 or not text[at - 1].isalnum() else at
        kept.append(text[at] if end == at else "")
        at = max(end, at + 1)
    return "".join(kept)


def _run_end(text: str, at: int, given: Sequence[str]) -> int:
    """Return the end of the longest entered part that begins here.

    The given position if there is no such part.
    """
    beginning = text[at : at + RUN_MIN]
    longest = at
    for one in given if len(beginning) == RUN_MIN else ():
        if beginning in one:
            end = at + RUN_MIN
            while end < len(text) and text[at : end + 1] in one:
                end += 1
            longest = max(longest, end)
    return longest


def stated(text: str) -> frozenset[str]:
    """Return the numbers of a text, by value, and what stands in quotation marks."""
    quotes = (fold(found[1]) for found in _QUOTED.finditer(text))
    return frozenset((*quotes, *(_number(found[0]) for found in _NUMBER.finditer(text))))


def is_stated(item: ClaimItem, predicates: Sequence[ClaimPredicate]) -> bool:
    """Return whether predicates say every number and quotation of the words that they are about."""
    texts = [text for one in predicates for text in _strings(msgspec.to_builtins(one))]
    numbers = {one for text in texts for one in stated(text)}
    wanted = stated(item.quote)
    folded = [fold(text) for text in texts]
    return all(one in numbers or any(includes(one, text) for text in folded) for one in wanted)


def unstated(text: str, quotes: Sequence[str]) -> str | None:
    """Return the first number or quotation of a text that stands in none of the quotes; None where all do."""
    quoted = {one for quote in quotes for one in stated(quote)}
    return min((one for one in stated(text) if one not in quoted), default=None)


def unquoted(text: str, quotes: Sequence[str], known: str) -> str | None:
    """Return the first word of a text that no quote has and that another text does not know either.

    Words of one or two letters do not count. None if every word is known.
    """
    rest = fold(text)
    for quote in sorted(set(map(fold, quotes)), key=lambda one: (-len(one), one)):
        rest = rest.replace(quote, "\0") if quote else rest
    known_words = set(_WORD.findall(fold(known)))
    return next((word for word in _WORD.findall(rest) if len(word) > 2 and word not in known_words), None)


def is_about(predicate: ClaimPredicate, texts: Sequence[str]) -> bool:
    """Return whether a text or label has a word or number in common with task, answer or quote.

    Words of one or two letters do not count.
    """
    wording = getattr(predicate, "text", None) or getattr(predicate, "label", None)
    if wording is None:
        return True
    words = {word for text in texts for word in _WORD.findall(fold(text))}
    return any(word in words for word in _WORD.findall(fold(wording)) if len(word) > 2 or word.isdigit())


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for one in pair for text in _strings(one))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)


def _number(text: str) -> str:
    value: Decimal | None = plain_number(with_decimal_point(text))
    return text if value is None else format(value.normalize(), "f")


def _size(text: str) -> int:
    return sum(char.isalnum() for char in text)


def _letters(text: str) -> int:
    return sum(char.isalpha() for char in text)
