"""Untrusted regular expressions on untrusted texts: Python's own meaning, in bounded steps.

Python's engine may need time that grows with a high power of the text's length. Here every pair of a place in
the expression and a place in the text is tried once, in Python's order. The same match is found, in steps
that grow with the product of the two lengths. More than `STEPS_MAX` steps are refused, in the same way on
every machine. Where a bound on the length proves that Python's engine is quick, it is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from replaykit.tasks.grammar.parsed_regex import codes as op
from replaykit.tasks.grammar.parsed_regex import parsed

STEPS_MAX = 2_000_000
"""Steps that one search may take; they are less than a second."""

SIZE_MAX = 5_000
"""Places in an expression, counted repeats written out."""

_QUICK = 200_000
"""Steps that Python's engine takes at most where it is asked."""

SPANS_STEPS_MAX = 250_000
"""Steps that the search for all matches in a part of a text may take."""

_QUICK_SPAN = 4096
"""Characters of a text on which Python's engine is asked for all matches of one free repeat."""

_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.ASCII | re.UNICODE


class RegexRefused(Exception):
    """An expression or a text that is not safe to try."""


class _Op(NamedTuple):
    """One place in an expression."""

    kind: str
    """`one zero split look atom end`."""
    test: Any = None
    """Condition that must match here; of `look` and `atom` the program inside."""
    next: int = 0
    """Where it goes on."""
    other: int = 0
    """Of `split` where it goes on else; of `look` how many characters it begins before here."""
    wanted: bool = True
    """Of `look`: whether it has to match."""
    behind: int = -1
    """Of the `split` of an endless repeat: what follows it."""


class Matcher:
    """A compiled expression."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        """Raises `re.error` if invalid, `RegexRefused` if too large or with references to groups."""
        self._plain = re.compile(pattern, flags)
        items = parsed(pattern, flags)
        self._powers, self._is_plain = _powers(items)
        self._program = _Program(items, items.state.flags)

    def search(self, text: str) -> tuple[int, int] | None:
        """Return the first match as start and end. Raises `RegexRefused` where it would take too long."""
        if self._is_quick(text):
            found = self._plain.search(text)
            return found.span() if found else None
        return self._run(text, self._program.starts(text))

    def match(self, text: str) -> bool:
        """Return whether it matches from the beginning; raises as `search`."""
        if self._is_quick(text):
            return self._plain.match(text) is not None
        return self._run(text, (0,)) is not None

    def fullmatch(self, text: str) -> bool:
        """Return whether it matches the whole text; raises as `search`."""
        if self._is_quick(text):
            return self._plain.fullmatch(text) is not None
        return self._run(text, (0,), len(text)) is not None

    def spans(self, text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Yield start and end of the matches between two places; what follows the last one is not looked at.

        Raises `RegexRefused`, after the matches found until then, where all of them take too many steps.
        """
        if self._is_plain and (self._powers == 1 or (self._powers == 2 and last - first <= _QUICK_SPAN)):
            yield from (found.span() for found in self._plain.finditer(text, first, last))
            return
        text, steps, at = text[:last], _Steps(SPANS_STEPS_MAX), first
        while (found := self._from(text, at, steps)) is not None:
            yield found
            at = max(found[1], found[0] + 1)

    def _from(self, text: str, first: int, steps: _Steps) -> tuple[int, int] | None:
        tried = set[int]()
        for start in self._program.starts(text, first):
            found = self._program.run(text, start, None, steps, tried)
            if found is not None:
                return start, found
        return None

    def _is_quick(self, text: str) -> bool:
        return self._is_plain and (len(text) + 1) ** self._powers <= _QUICK

    def _run(self, text: str, starts: Iterable[int], end: int | None = None) -> tuple[int, int] | None:
        steps, tried = _Steps(), set[int]()
        for start in starts:
            found = self._program.run(text, start, end, steps, tried)
            if found is not None:
                return start, found
        return None


class _Steps:
    """Counts down."""

    def __init__(self, most: int = STEPS_MAX) -> None:
        self.most = self.left = most

    def take(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise RegexRefused(f"it would take more than {self.most} steps on this text")


class _Program:
    """The places of an expression; 0 is its end."""

    def __init__(self, items: Any, flags: int) -> None:
        self.ops = [_Op("end")]
        self.start = self._all(items, 0, flags & _FLAGS)
        self._heads = self._first()

    def starts(self, text: str, first: int = 0) -> Iterable[int]:
        """Return where a match may begin, from a place on: where one of its first characters stands."""
        if self._heads is None:
            return range(first, len(text) + 1)
        return (found.start() for found in self._heads.finditer(text, first))

    def _first(self) -> re.Pattern[str] | None:
        """Return what matches every first character; None where a match may begin without one."""
        heads: dict[re.Pattern[str], None] = {}
        seen, todo = set[int](), [self.start]
        while todo:
            place = todo.pop()
            if place in seen:
                continue
            seen.add(place)
            one = self.ops[place]
            if one.kind == "split":
                todo += [one.next, one.other]
            elif one.kind == "one":
                heads[one.test] = None
            else:
                return None
        flags = {head.flags for head in heads}
        return re.compile("|".join(head.pattern for head in heads), *flags) if len(flags) == 1 else None

    def run(self, text: str, start: int, end: int | None, steps: _Steps, tried: set[int]) -> int | None:
        """Return where the first match that begins here ends; `end`: where it has to."""
        ops, width = self.ops, len(text) + 1
        stack = [(self.start, start)]
        while stack:
            place, at = stack.pop()
            one = ops[place]
            if (key := place * width + at) in tried:
                # A round of a repeat that took nothing is its last one.
                if one.behind >= 0 and one.behind * width + at not in tried:
                    stack.append((one.behind, at))
                continue
            tried.add(key)
            steps.take()
            if one.kind == "one":
                if one.test.match(text, at):
                    stack.append((one.next, at + 1))
            elif one.kind == "split":
                stack.append((one.other, at))
                stack.append((one.next, at))
            elif one.kind == "zero":
                if one.test.match(text, at):
                    stack.append((one.next, at))
            elif one.kind == "end":
                if end is None or at == end:
                    return at
            elif (found := self._inside(one, text, at, steps)) is not None:
                stack.append((one.next, found))
        return None

    def _inside(self, one: _Op, text: str, at: int, steps: _Steps) -> int | None:
        """Return where it goes on after a look around, or a group that is tried in one way only."""
        if one.kind == "atom":
            found: int | None = one.test.run(text, at, None, steps, set())
            return found
        start, end = at - one.other, at if one.other else None
        hit = start >= 0 and one.test.run(text, start, end, steps, set()) is not None
        return at if hit is one.wanted else None

    def _add(self, one: _Op) -> int:
        self.ops.append(one)
        if len(self.ops) > SIZE_MAX:
            raise RegexRefused(f"it has more than {SIZE_MAX} places, counted repeats written out")
        return len(self.ops) - 1

    def _all(self, items: Any, following: int, flags: int) -> int:
        for kind, value in reversed(list(items)):
            following = self._one(kind, value, following, flags)
        return following

    def _one(self, kind: Any, value: Any, following: int, flags: int) -> int:
        if kind in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN):
            return self._add(_Op("one", _compiled(_written(kind, value), flags), following))
        if kind is op.AT:
            return self._add(_Op("zero", _compiled(_PLACES[value], flags), following))
        if kind is op.SUBPATTERN:
            _, added, removed, items = value
            return self._all(items, following, (flags | added) & ~removed)
        if kind is op.BRANCH:
            ways = [self._all(items, following, flags) for items in value[1]]
            while len(ways) > 1:
                last = ways.pop()
                ways[-1] = self._add(_Op("split", None, ways[-1], last))
            return ways[0]
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            return self._repeat(kind, value, following, flags)
        return self._nested(kind, value, following, flags)

    def _repeat(self, kind: Any, value: Any, following: int, flags: int) -> int:
        least, most, items = value

        def choice(body: int) -> _Op:
            pair = (body, following) if kind is op.MAX_REPEAT else (following, body)
            return _Op("split", None, *pair)

        place = following
        if most is op.MAXREPEAT:
            place = self._add(_Op("split"))
            self.ops[place] = choice(self._all(items, place, flags))._replace(behind=following)
        else:
            for _ in range(most - least):
                place = self._add(choice(self._all(items, place, flags)))
        for _ in range(least):
            place = self._all(items, place, flags)
        return place

    def _nested(self, kind: Any, value: Any, following: int, flags: int) -> int:
        if kind in (op.ASSERT, op.ASSERT_NOT):
            direction, items = value
            width = items.getwidth()[0] if direction < 0 else 0
            inside = _Program(items, flags)
            return self._add(_Op("look", inside, following, width, wanted=kind is op.ASSERT))
        if kind is op.FAILURE:
            return self._add(_Op("zero", _compiled("(?!)", flags), following))
        if kind is op.ATOMIC_GROUP:
            return self._add(_Op("atom", _Program(value, flags), following))
        if kind is op.POSSESSIVE_REPEAT:
            return self._add(_Op("atom", _Program([(op.MAX_REPEAT, value)], flags), following))
        raise RegexRefused("it refers back to a group")


_PLACES = {
    op.AT_BEGINNING: "^",
    op.AT_BEGINNING_STRING: r"\A",
    op.AT_END: "$",
    op.AT_END_STRING: r"\Z",
    op.AT_BOUNDARY: r"\b",
    op.AT_NON_BOUNDARY: r"\B",
}
_KINDS = {
    op.CATEGORY_DIGIT: r"\d",
    op.CATEGORY_NOT_DIGIT: r"\D",
    op.CATEGORY_SPACE: r"\s",
    op.CATEGORY_NOT_SPACE: r"\S",
    op.CATEGORY_WORD: r"\w",
    op.CATEGORY_NOT_WORD: r"\W",
}


def _written(kind: Any, value: Any) -> str:
    """Write what matches one character."""
    if kind is op.ANY:
        return "."
    if kind is op.IN:
        return f"[{''.join(_written(*item) for item in value)}]"
    if kind is op.NEGATE:
        return "^"
    if kind is op.RANGE:
        return f"{_escaped(value[0])}-{_escaped(value[1])}"
    if kind is op.CATEGORY:
        return _KINDS[value]
    return f"[^{_escaped(value)}]" if kind is op.NOT_LITERAL else _escaped(value)


def _escaped(code: int) -> str:
    return f"\\U{code:08x}"


@lru_cache(maxsize=4096)
def _compiled(source: str, flags: int) -> re.Pattern[str]:
    return re.compile(source, flags)


def _powers(items: Any, is_repeated: bool = False) -> tuple[int, bool]:
    """Return the power of a text's length that bounds the steps of Python's engine, and if one does."""
    powers, is_plain = 1, True
    for kind, value in items:
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            least, most, inner = value
            is_variable = least != most
            deeper, plain = _powers(inner, is_repeated or most > 1)
            powers += deeper - 1 + is_variable
            is_plain &= plain and not (is_variable and is_repeated)
        elif kind is op.SUBPATTERN:
            deeper, plain = _powers(value[3], is_repeated)
            powers, is_plain = powers + deeper - 1, is_plain and plain
        elif kind is op.BRANCH:
            found = [_powers(branch, is_repeated) for branch in value[1]]
            powers += sum(deeper for deeper, _ in found)
            is_plain &= not is_repeated and all(plain for _, plain in found)
        elif kind not in (op.LITERAL, op.NOT_LITERAL, op.ANY, op.IN, op.AT):
            is_plain = False
    return powers, is_plain


@lru_cache(maxsize=1024)
def matcher(pattern: str, flags: int = 0) -> Matcher:
    """Return a compiled expression; raises as `Matcher`."""
    return Matcher(pattern, flags)
