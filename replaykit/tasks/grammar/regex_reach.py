"""Regular expressions that say nothing: they are found in every text, or in none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from replaykit.patterns import lazy_pattern
from replaykit.tasks.grammar.parsed_regex import codes as op
from replaykit.tasks.grammar.parsed_regex import least_width, parsed
from replaykit.tasks.grammar.regexes import regex_fault

_BEGINS = (op.AT_BEGINNING, op.AT_BEGINNING_STRING)
_ENDS = (op.AT_END, op.AT_END_STRING)
_REPEATS = (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT)
_OPPOSITES = (
    {op.CATEGORY_DIGIT, op.CATEGORY_NOT_DIGIT},
    {op.CATEGORY_SPACE, op.CATEGORY_NOT_SPACE},
    {op.CATEGORY_WORD, op.CATEGORY_NOT_WORD},
)

_SLASHED = lazy_pattern(r"/.+/(?:[gim]|gi|ig|gm|im|gim)", re.DOTALL)
"""How JavaScript writes an expression with its usual flags; `/static/img` and `/en/us` are paths."""

_OF_LINES = lazy_pattern(r"\(\?[aiLsux]*m")
"""A flag with which `^` and `$` stand for the ends of lines."""

_Item = tuple[Any, Any]


def is_slashed(text: str) -> bool:
    """Whether a text is an expression as JavaScript writes it, between slashes and with flags."""
    return _SLASHED.fullmatch(text) is not None


def condition_fault(pattern: str) -> tuple[str, str] | None:
    """Return code and message of what is wrong with a condition: it is unsafe, or says nothing."""
    return regex_fault(pattern) or reach_fault(pattern)


def reach_fault(pattern: str) -> tuple[str, str] | None:
    """Return code and message of an expression that compiles and says nothing; None if it says something.

    Only what is certain by its form: most expressions that never match look like any other.
    """
    if fault := _none_fault(pattern):
        return fault
    if _is_in_all(list(_flat(parsed(pattern)))):
        return "empty_text", f"{pattern!r} is found in every text"
    return None


def match_fault(pattern: str) -> tuple[str, str] | None:
    """Return code and message of an expression that is unsafe, or found in no text; `^.*$` may be meant."""
    return regex_fault(pattern) or _none_fault(pattern)


def _none_fault(pattern: str) -> tuple[str, str] | None:
    if is_slashed(pattern):
        return "bad_regex", f"{pattern!r} is written as in JavaScript: leave out the slashes and flags"
    if _is_in_none(list(_flat(parsed(pattern))), is_of_lines=_OF_LINES.search(pattern) is not None):
        return "bad_regex", f"{pattern!r} is found in no text"
    return None


def required_sign(pattern: str, signs: str) -> str:
    """Return the first of these signs that every match holds; empty if none has to be there."""
    literals = [chr(value) for kind, value in _flat(parsed(pattern)) if kind is op.LITERAL]
    return next((sign for sign in literals if sign in signs), "")


def first_signs(pattern: str) -> tuple[str, bool] | None:
    """Return the signs with which a match must begin, in lower case, and whether they are the whole of it.

    None if it may begin anywhere in a text.
    """
    items = list(_flat(parsed(pattern)))
    if not items or items[0][0] is not op.AT or items[0][1] not in _BEGINS:
        return None
    signs = list[str]()
    for kind, value in items[1:]:
        if kind is not op.LITERAL:
            return "".join(signs).lower(), kind is op.AT and value in _ENDS
        signs.append(chr(value))
    return "".join(signs).lower(), False


def _flat(items: Iterable[_Item]) -> Iterator[_Item]:
    """Yield the items of an expression, those of groups in their places."""
    for kind, value in items:
        if kind is op.SUBPATTERN:
            yield from _flat(value[-1])
        elif kind is op.ATOMIC_GROUP:
            yield from _flat(value)
        else:
            yield kind, value


def _is_in_all(items: Sequence[_Item]) -> bool:
    """Whether the empty text at one place of any text is a match."""
    places = [value for kind, value in items if kind is op.AT]
    others = [(kind, value) for kind, value in items if kind is not op.AT]
    is_between = any(one in _BEGINS for one in places) and any(one in _ENDS for one in places)
    if is_between:  # `^.*$` too, which means any line
        return len(others) == 1 and _is_any(*others[0])
    return all(one in _BEGINS + _ENDS for one in places) and all(_may_be_nothing(*one) for one in others)


def _is_any(kind: Any, value: Any) -> bool:
    if kind not in _REPEATS or value[0] > 0 or value[1] is not op.MAXREPEAT:
        return False
    repeated = list(_flat(value[2]))
    return len(repeated) == 1 and (repeated[0][0] is op.ANY or _is_every_sign(*repeated[0]))


def _is_every_sign(kind: Any, value: Any) -> bool:
    categories = {which for what, which in value if what is op.CATEGORY} if kind is op.IN else set()
    return any(pair <= categories for pair in _OPPOSITES) and value[0][0] is not op.NEGATE


def _may_be_nothing(kind: Any, value: Any) -> bool:
    if kind in _REPEATS:
        return value[0] == 0 or all(_may_be_nothing(*one) for one in _flat(value[2]))
    return kind is op.BRANCH and any(all(_may_be_nothing(*one) for one in _flat(way)) for way in value[1])


def _is_in_none(items: Sequence[_Item], is_of_lines: bool) -> bool:
    if any(_never(*item, is_of_lines) for item in items):
        return True
    widths = [least_width(item) for item in items]
    for number, (kind, value) in enumerate(items):
        if kind is not op.AT or (is_of_lines and value in (op.AT_BEGINNING, op.AT_END)):
            continue
        if value in _BEGINS and sum(widths[:number]) > 0:
            return True
        if value in _ENDS and sum(widths[number + 1 :]) > (
            value is op.AT_END and _is_line_feed(items, number)
        ):
            return True
    return False


def _is_line_feed(items: Sequence[_Item], number: int) -> bool:
    following = next((item for item in items[number + 1 :] if least_width(item)), None)
    return following is not None and (following[0] is not op.LITERAL or following[1] == 10)


def _never(kind: Any, value: Any, is_of_lines: bool) -> bool:
    # Which of both `(?!)` becomes depends on the version of Python.
    if kind is op.FAILURE or (kind is op.ASSERT_NOT and not list(value[1])):
        return True
    if kind is op.IN:
        return value[0][0] is op.NEGATE and _is_every_sign(op.IN, value[1:] or [(None, None)])
    if kind is op.BRANCH:
        return all(_is_in_none(list(_flat(way)), is_of_lines) for way in value[1])
    return kind in _REPEATS and value[0] > 0 and _is_in_none(list(_flat(value[2])), is_of_lines)
