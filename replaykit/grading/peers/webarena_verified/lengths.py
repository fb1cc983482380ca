"""Lengths as WebArena-Verified (revision 6473f72) reads them: its library for units carries expressions out.

Texts are in the package's normal form. What it cannot read raises `Unparsed`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from replaykit.grading.peers.webarena_verified.peer_quantities import Unparsed
from replaykit.patterns import lazy_pattern

_DEPTH_MAX = 100
"""Operations inside of operations."""

_METRES = {
    **dict.fromkeys(("m", "meter", "metre"), 1.0),
    **dict.fromkeys(("mi", "mile"), 1609.344),
    **dict.fromkeys(("ft", "foot", "feet"), 0.3048),
    **dict.fromkeys(("yd", "yard"), 0.9144),
    **dict.fromkeys(("in", "inch", "inches"), 0.0254),
    **dict.fromkeys(("nmi", "nautical_mile"), 1852.0),
}
_PREFIXES = {
    **dict.fromkeys(("kilo", "k"), 1000.0),
    **dict.fromkeys(("hecto", "h"), 100.0),
    **dict.fromkeys(("deca", "deka", "da"), 10.0),
    **dict.fromkeys(("deci", "d"), 0.1),
    **dict.fromkeys(("centi", "c"), 0.01),
    **dict.fromkeys(("milli", "m"), 0.001),
}
_OF_TIME = ("min", "mins")
"""Thousandths of inches to our rule, minutes to the library."""
_BIT = "b"
"""The only other unit that is known: `<b>1 km</b>` is a bit times a kilometre by a bit."""

_TOKEN = lazy_pattern(
    r"""
    \s*(?:
    (?P<number>(?:\d(?:_?\d)*)?\.\d(?:_?\d)*(?:e[-+]?\d(?:_?\d)*)?|\d(?:_?\d)*\.(?:e[-+]?\d(?:_?\d)*)?
        |\d(?:_?\d)*e[-+]?\d(?:_?\d)*|0(?:_?0)*|[1-9](?:_?\d)*)
    |(?P<text>(?:[bruf]|br|rb|fr|rf)?(?:'''.*?'''|\"{3}.*?\"{3}|'(?!'')[^'\\]*(?:\\.[^'\\]*)*'|"(?!"")[^"\\]*(?:\\.[^"\\]*)*"))
    |(?P<name>[^\W\d]\w*)
    |(?P<open_text>'''|\"{3})
    |(?P<sign>\.\.\.|\*\*=?|//=?|<<=?|>>=?|->|[-+*/%&|^=!<>:]=|[-+*/()\[\]{}])
    |(?P<ignored>[^\s])
    )""",
    re.ASCII | re.VERBOSE,
)
_SPACES = lazy_pattern(r"(?<=[\w.)])\s+(?=[\w(])", re.ASCII)
_MEANT = (("%", " percent "), (",", ""), (" per ", "/"), ("^", "**"))
_KILO = lazy_pattern(r"(\d+(?:\.\d+)?)\s*k(?=\s|$)", re.ASCII)
_BRACKETS = {**dict.fromkeys("([{", 1), **dict.fromkeys(")]}", -1)}


class _Size(NamedTuple):
    """A number, or so many of a unit."""

    size: float
    metres: float = 1.0
    """Of one unit."""
    power: float = 0.0
    """Of the length."""
    bits: float = 0.0
    """Power of the other unit."""

    @property
    def unit(self) -> tuple[float, float]:
        """Parts that must agree where values are added."""
        return self.power, self.bits


def distance(text: str) -> float:
    """Read metres: an expression whose value is a length. As upstream, `#` ends it, `02 km` is nothing."""
    text = _KILO.sub(r"\1 km", text)
    for written, meant in _MEANT:
        text = text.replace(written, meant)
    try:
        found = _Expression(_tokens(_SPACES.sub("*", text))).value()
        metres = found.size * found.metres
    except ArithmeticError as error:
        raise Unparsed("no distance") from error
    if found.unit != (1.0, 0.0):
        raise Unparsed("no distance")
    return metres


def _tokens(text: str) -> list[str]:
    """Return numbers, names and signs; texts, comments and signs without meaning are skipped."""
    kept: list[str] = []
    level = 0
    for token in _TOKEN.finditer(text):
        if token["open_text"]:
            raise Unparsed("a text without end")
        if token["ignored"] == "#":
            break
        level += _BRACKETS.get(token["sign"] or "", 0)
        if token["number"] or token["name"] or token["sign"] in _KNOWN:
            kept.append(token[0].strip())
    if level:
        raise Unparsed("brackets without partner")
    return kept


def _named(name: str) -> _Size:
    if name in ("inf", "infinity", "nan"):
        return _Size(float(name))
    if name == "percent":
        return _Size(1.0, 0.01)
    if name == _BIT:
        return _Size(1.0, bits=1.0)
    for unit in _singular(name):
        for prefix, factor in (("", 1.0), *_PREFIXES.items()):
            metres = _METRES.get(unit.removeprefix(prefix)) if unit.startswith(prefix) else None
            if metres is not None and name not in _OF_TIME:
                return _Size(1.0, factor * metres, 1.0)
    raise Unparsed(f"no length: {name!r}")


def _singular(name: str) -> tuple[str, ...]:
    return (name, name[:-1]) if name.endswith("s") and not name.endswith("ms") else (name,)


def _converted(one: _Size, other: _Size) -> float:
    """Return how many of the first value's units the second one is."""
    if one.unit != other.unit:
        raise Unparsed("units that do not agree")
    return other.size * (other.metres / one.metres)


def _added(one: _Size, other: _Size) -> _Size:
    for nothing, sum_ in ((one, other), (other, one)):
        if nothing == _Size(0.0):
            return sum_  # 0 has any unit
    return one._replace(size=one.size + _converted(one, other))


def _times(one: _Size, other: _Size, sign: int = 1) -> _Size:
    size = one.size * other.size if sign > 0 else one.size / other.size
    return _Size(
        size, one.metres * other.metres**sign, one.power + sign * other.power, one.bits + sign * other.bits
    )


def _raised(one: _Size, other: _Size) -> _Size:
    if other.unit != (0.0, 0.0):
        raise Unparsed("a unit as exponent")
    exponent = other.size * other.metres
    size: Any = one.size**exponent
    if isinstance(size, complex):
        raise Unparsed("the root of a negative number")
    return _Size(size, one.metres**exponent, one.power * exponent, one.bits * exponent)


def _negative(one: _Size) -> _Size:
    return one._replace(size=-one.size)


_KNOWN: dict[str | None, tuple[int, Callable[[_Size, _Size], _Size] | None]] = {
    "(": (-1, None),
    ")": (-1, None),
    "+": (0, _added),
    "-": (0, lambda one, other: _added(one, _negative(other))),
    "*": (1, _times),
    "/": (1, lambda one, other: _times(one, other, -1)),
    "//": (1, lambda one, other: _Size(operator.floordiv(one.size, _converted(one, other)))),
    "**": (3, _raised),
}
"""Signs to their precedence and what they do; what stands side by side is multiplied."""
_PRODUCT, _UNARY = 1, 2


class _Expression:
    """A value in infix notation, read as the library does."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._at = 0

    def value(self) -> _Size:
        """Return the value of the whole."""
        found = self._operation(-1, 0)
        if self._at < len(self._tokens):
            raise Unparsed("a bracket that was not opened")
        return found

    def _operation(self, above: int, depth: int) -> _Size:
        """Read what binds more closely than `above`."""
        if depth > _DEPTH_MAX:
            raise Unparsed("too deep")
        found: _Size | None = None
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token == ")" or (found is not None and self._ends(token, above)):
                break
            found = self._one_more(token, found, depth + 1)
        if found is None:
            raise Unparsed("nothing where a value belongs")
        return found

    def _ends(self, token: str, above: int) -> bool:
        if token in ("(", "**"):
            return False
        return _KNOWN.get(token, (_PRODUCT,))[0] <= above

    def _one_more(self, token: str, found: _Size | None, depth: int) -> _Size:
        """Take the next operand, or the next sign and what it is about."""
        if token == "(":
            inner = self._bracket(depth)
            return inner if found is None else _times(found, inner)
        if token not in _KNOWN:
            return self._operand(token, found, depth)
        self._at += 1
        priority, apply = _KNOWN[token]
        if found is not None and apply is not None:
            return apply(found, self._operation(priority, depth))
        if token not in "+-":
            raise Unparsed(f"{token!r} without a value before it")
        value = self._operation(_UNARY, depth)
        return _negative(value) if token == "-" else value

    def _operand(self, token: str, found: _Size | None, depth: int) -> _Size:
        if found is not None:
            return _times(found, self._operation(_PRODUCT, depth))
        self._at += 1
        return _Size(float(token)) if token[0] in ".0123456789" else _named(token)

    def _bracket(self, depth: int) -> _Size:
        self._at += 1
        inner = self._operation(-1, depth)
        if self._at == len(self._tokens):
            raise Unparsed("a bracket that is not closed")
        self._at += 1
        return inner
