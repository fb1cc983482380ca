"""Untrusted regular expressions: refused where a text could keep them busy forever."""

from __future__ import annotations

import re
import warnings
from typing import NamedTuple

from replaykit.patterns import lazy_pattern
from replaykit.tasks.grammar.regex_matcher import RegexRefused, matcher

REGEX_MAX = 1000
"""Characters of a regular expression."""

_MANY = 10
"""Repeats that are as good as unbounded inside or around another repeat."""

_OPTIONAL = lazy_pattern(r"[?*]|\{0*[,}]")
"""A quantifier that allows zero repetitions."""

_CLASS = lazy_pattern(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
"""A character class."""


def regex_fault(pattern: str) -> tuple[str, str] | None:
    """Return code and message of what is wrong with a regular expression; None if it is safe.

    Refused: too long, not compilable, references to groups, and what can take exponential time: an
    unbounded repeat of something that itself repeats without bound, or whose alternatives may
    begin alike.
    """
    if len(pattern) > REGEX_MAX:
        return "unsafe_regex", f"longer than {REGEX_MAX} characters"
    try:
        with warnings.catch_warnings():
            # Python warns of syntax such as `[[`, whose meaning is going to change.
            warnings.simplefilter("error")
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError, Warning) as error:
        return "bad_regex", f"not a regular expression: {error}"
    reason = _Scan(pattern).run() or _too_large(pattern)
    return None if reason is None else ("unsafe_regex", reason)


def _too_large(pattern: str) -> str | None:
    try:
        matcher(pattern)
    except RegexRefused as refused:
        return str(refused)
    return None


class _Shape(NamedTuple):
    """Facts on which a repeat of a part of a regular expression depends."""

    repeats: bool = False
    """Something in it repeats without bound, or nearly so."""
    heads: tuple[str | None, ...] = ()
    """First character of each alternative; None = not a literal."""

    @property
    def ambiguous(self) -> bool:
        """Whether two alternatives may begin alike."""
        return len(self.heads) > 1 and (None in self.heads or len(set(self.heads)) < len(self.heads))


class _Refused(Exception):
    """Ends a scan with its reason."""


class _Scan:
    """One traversal of a regular expression that compiles."""

    _repeat = lazy_pattern(r"[*+]|\{(\d*)(,?)(\d*)\}")
    _opening = lazy_pattern(r"\(\?(?:P<\w+>|[aiLmsux-]*:|[aiLmsux]+(?=\))|<?[=!]|>|#[^)]*)|\(")

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    def run(self) -> str | None:
        """Return why the expression is refused, None if it is not."""
        try:
            self._alternatives()
        except _Refused as refused:
            return str(refused)
        return None

    def _alternatives(self) -> _Shape:
        repeats, first = False, True
        heads: list[str | None] = []
        head: str | None = None
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.pattern[self.at] == "|":
                self.at, first = self.at + 1, True
                heads.append(head)
                head = None
                continue
            literal, shape = self._atom()
            if first:
                head, first = None if _OPTIONAL.match(self.pattern, self.at) else literal, False
            repeats |= self._quantified(shape)
        return _Shape(repeats, (*heads, head))

    def _atom(self) -> tuple[str | None, _Shape]:
        """Pass one atom; return it where it is a literal, and its shape."""
        char = self.pattern[self.at]
        if char == "(":
            return None, self._group()
        if char == "[":
            self.at += len(_CLASS.match(self.pattern, self.at)[0])  # type: ignore[index]  # it compiled
            return None, _Shape()
        if char == "\\":
            return self._escape()
        self.at += 1
        return (None if char in ".^$" else char.casefold()), _Shape()

    def _escape(self) -> tuple[str | None, _Shape]:
        char = self.pattern[self.at + 1]
        if char in "123456789":
            raise _Refused("it refers back to a group")
        self.at += 2
        return (None if char.isalnum() else char), _Shape()

    def _group(self) -> _Shape:
        if self.pattern.startswith(("(?P=", "(?("), self.at):
            raise _Refused("it refers back to a group")
        opening = self._opening.match(self.pattern, self.at)
        self.at = opening.end() if opening else self.at + 1
        shape = self._alternatives()
        self.at += 1
        return shape

    def _quantified(self, shape: _Shape) -> bool:
        """Pass the quantifier of an atom; return whether it, or the atom, repeats without bound."""
        found = self._repeat.match(self.pattern, self.at)
        if found is None:
            self.at += self.pattern.startswith("?", self.at)
            self.at += self.pattern.startswith("?", self.at)
            return shape.repeats
        self.at = found.end()
        self.at += self.pattern.startswith(("?", "+"), self.at)
        most = found[3] if found[2] else found[1]
        if most and int(most) <= _MANY:
            return shape.repeats
        if shape.repeats:
            raise _Refused("an unbounded repeat inside an unbounded repeat")
        if shape.ambiguous:
            raise _Refused("an unbounded repeat of alternatives that may begin alike: write a class, [ab]+")
        return True
