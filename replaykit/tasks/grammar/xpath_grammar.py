"""XPath 1.0 (https://www.w3.org/TR/1999/REC-xpath-19991116), parsed: paths, predicates, common functions.

Namespaces, variables, arithmetic and the functions that are not in `FUNCTIONS` raise `Unsupported`.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from msgspec import Struct

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.patterns import lazy_pattern

SOURCE_MAX = 4096
"""Characters of a path."""

DEPTH_MAX = 32
"""Expressions inside expressions."""

AXES = frozenset(
    (
        "ancestor",
        "ancestor-or-self",
        "attribute",
        "child",
        "descendant",
        "descendant-or-self",
        "following",
        "following-sibling",
        "parent",
        "preceding",
        "preceding-sibling",
        "self",
    )
)
"""Axes understood: all but `namespace`."""

FUNCTIONS = {
    "contains": (2, 2), "starts-with": (2, 2), "normalize-space": (0, 1), "string": (0, 1), "last": (0, 0),
    "position": (0, 0), "not": (1, 1), "count": (1, 1), "string-length": (0, 1), "concat": (2, 16),
    "translate": (3, 3), "substring-before": (2, 2), "substring-after": (2, 2), "true": (0, 0),
    "false": (0, 0), "boolean": (1, 1), "number": (0, 1), "name": (0, 0), "local-name": (0, 0),
}  # fmt: skip
"""Functions with the least and the most arguments understood."""

NODE_TESTS = ("node", "text", "comment")
"""Tests for kinds of nodes."""


class XPathValue(Struct, frozen=True, tag=True):
    """A text or a number."""

    value: str | float
    """Its value."""


class Function(Struct, frozen=True, tag=True):
    """`name(arguments)`."""

    name: str
    """One of `FUNCTIONS`."""
    arguments: tuple[XPath, ...]
    """In order."""


class Operation(Struct, frozen=True, tag=True):
    """`left operator right`."""

    operator: str
    """`or and = != < <= > >= |`."""
    left: XPath
    """First operand."""
    right: XPath
    """Second operand."""


class XPathStep(Struct, frozen=True):
    """`axis::test[predicates]`."""

    axis: str
    """One of `AXES`."""
    test: str
    """A name, `*`, or one of `NODE_TESTS` with `()`."""
    predicates: tuple[XPath, ...] = ()
    """Conditions on nodes, one after the other."""


class Path(Struct, frozen=True, tag=True):
    """A location path."""

    is_absolute: bool
    """Begins at the document."""
    steps: tuple[XPathStep, ...]
    """In order."""
    start: XPath | None = None
    """Expression that yields the nodes to begin with, instead."""
    predicates: tuple[XPath, ...] = ()
    """Conditions on the nodes of `start`."""


XPath: TypeAlias = XPathValue | Function | Operation | Path
"""A parsed expression."""


def is_xpath(locator: str) -> bool:
    """Return whether a locator is a path rather than a script."""
    return locator.startswith(("//", ".//"))


def parse(source: str) -> XPath:
    """Parse an expression; raises `Unsupported` and `LocatorLimit`."""
    if len(source) > SOURCE_MAX:
        raise LocatorLimit(locator=source[:80] + "...", limit=f"{SOURCE_MAX} characters")
    parser = _Parser(source, _tokens(source))
    found = parser.expression()
    if parser.token:
        raise parser.unsupported(f"{parser.token!r} is outside the language")
    return found


_TOKEN = lazy_pattern(
    r"""\s*(?:("[^"]*"|'[^']*')|(\d+(?:\.\d*)?|\.\d+)|([A-Za-z_][\w.-]*)|(::|//|\.\.|!=|<=|>=|[/.@()\[\],|=<>*]))""",
    re.ASCII,
)
_DESCEND = XPathStep("descendant-or-self", "node()")
# Tokens after which a name or a star is an operand; after any other it is an operator (3.7).
_BEFORE_OPERAND = ("", "@", "::", "(", "[", ",", "and", "or", "/", "//", "|", "=", "!=", "<", "<=", ">", ">=")


def _tokens(source: str) -> list[str]:
    found: list[str] = []
    at, end = 0, len(source.rstrip())
    while at < end:
        match = _TOKEN.match(source, at)
        if match is None:
            raise Unsupported(locator=source, reason=f"{source[at : at + 12]!r} is outside the language")
        found.append(match[0].strip())
        at = match.end()
    return found


class _Parser:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, source: str, tokens: list[str]) -> None:
        self.source = source
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    @property
    def token(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    @property
    def following(self) -> str:
        return self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else ""

    def unsupported(self, reason: str) -> Unsupported:
        return Unsupported(locator=self.source, reason=reason)

    def advance(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1]

    def expect(self, token: str) -> None:
        if self.token != token:
            raise self.unsupported(f"{token!r} expected, found {self.token!r}")
        self.advance()

    def expression(self) -> XPath:
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise LocatorLimit(locator=self.source, limit=f"{DEPTH_MAX} levels")
        found = self._operation(0)
        self.depth -= 1
        return found

    def _operation(self, level: int) -> XPath:
        if level == len(_LEVELS):
            return self._operand()
        left = self._operation(level + 1)
        while self.token in _LEVELS[level] and self._is_operator():
            operator = self.advance()
            left = Operation(operator, left, self._operation(level + 1))
        return left

    def _is_operator(self) -> bool:
        return self.tokens[self.at - 1] not in _BEFORE_OPERAND

    def _operand(self) -> XPath:
        token = self.token
        if token[:1] in ("'", '"'):
            return XPathValue(self.advance()[1:-1])
        if token[:1].isdigit() or (token[:1] == "." and token[1:2].isdigit()):
            return XPathValue(float(self.advance()))
        if token == "(":
            return self._filtered(self._group())
        if self.following == "(" and token not in NODE_TESTS and token[:1].isalpha():
            return self._filtered(self._function())
        return self._path()

    def _group(self) -> XPath:
        self.expect("(")
        found = self.expression()
        self.expect(")")
        return found

    def _function(self) -> Function:
        name = self.advance()
        self.expect("(")
        arguments: list[XPath] = []
        while self.token != ")":
            if arguments:
                self.expect(",")
            arguments.append(self.expression())
        self.advance()
        least, most = FUNCTIONS.get(name, (0, -1))
        if not least <= len(arguments) <= most:
            raise self.unsupported(f"no function {name!r} with {len(arguments)} arguments")
        return Function(name, tuple(arguments))

    def _filtered(self, start: XPath) -> XPath:
        """Parse the predicates and steps after a group or function."""
        predicates = self._predicates()
        steps = self._more_steps()
        return Path(False, steps, start, predicates) if predicates or steps else start

    def _path(self) -> Path:
        is_absolute = self.token in ("/", "//")
        if self.token == "/":
            self.advance()
            steps = [self._step(), *self._more_steps()] if self._is_step() else []
        elif self.token == "//":
            steps = list(self._more_steps())
        else:
            steps = [self._step(), *self._more_steps()]
        return Path(is_absolute, tuple(steps))

    def _is_step(self) -> bool:
        return self.token in (".", "..", "@", "*") or self.token[:1].isalpha() or self.token[:1] == "_"

    def _more_steps(self) -> tuple[XPathStep, ...]:
        steps: list[XPathStep] = []
        while self.token in ("/", "//"):
            if self.advance() == "//":
                steps.append(_DESCEND)
            steps.append(self._step())
        return tuple(steps)

    def _step(self) -> XPathStep:
        if self.token in (".", ".."):
            return XPathStep("self" if self.advance() == "." else "parent", "node()")
        axis = "child"
        if self.token == "@":
            self.advance()
            axis = "attribute"
        elif self.following == "::":
            axis = self.advance()
            self.advance()
        if axis not in AXES:
            raise self.unsupported(f"no axis {axis!r}")
        return XPathStep(axis, self._test(), self._predicates())

    def _test(self) -> str:
        if not (self.token == "*" or self.token[:1].isalpha() or self.token[:1] == "_"):
            raise self.unsupported(f"a name expected, found {self.token!r}")
        name = self.advance()
        if self.token != "(":
            return name
        if name not in NODE_TESTS:
            raise self.unsupported(f"no node test {name!r}")
        self.advance()
        self.expect(")")
        return name + "()"

    def _predicates(self) -> tuple[XPath, ...]:
        found: list[XPath] = []
        while self.token == "[":
            self.advance()
            found.append(self.expression())
            self.expect("]")
        return tuple(found)


# Weakest first.
_LEVELS = (("or",), ("and",), ("=", "!="), ("<", "<=", ">", ">="), ("|",))
