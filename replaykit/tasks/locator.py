"""Locators: the JavaScript forms of the benchmarks, parsed and never executed.

::

    expression := prim link*
    prim       := 'document' | STRING | INT | '(' expression ')'
    link       := ('.' | '?.') NAME [ '(' [expression (',' expression)*] ')' ]
                | ['?.'] '[' INT ']'

Everything else raises `Unsupported`: what is not understood is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct

from replaykit.errors import LocatorLimit, Unsupported

SOURCE_MAX = 4096
"""Characters of a locator."""

DEPTH_MAX = 32
"""Expressions inside expressions."""

_PROPERTY_NAMES = """
body documentElement title URL value checked selected selectedIndex innerText outerText textContent
innerHTML outerHTML id className href src tagName hidden disabled children childNodes
firstElementChild lastElementChild firstChild lastChild nextElementSibling previousElementSibling
parentElement options length
"""
PROPERTIES = frozenset(_PROPERTY_NAMES.split())
"""Properties that a recorded page can answer."""

METHODS = {
    "querySelector": (1, 1), "querySelectorAll": (1, 1), "getElementById": (1, 1),
    "getElementsByClassName": (1, 1), "getElementsByTagName": (1, 1), "getElementsByName": (1, 1),
    "getAttribute": (1, 1), "hasAttribute": (1, 1), "matches": (1, 1), "closest": (1, 1),
    "item": (1, 1), "join": (0, 1), "trim": (0, 0), "toLowerCase": (0, 0), "toUpperCase": (0, 0),
    "toLocaleLowerCase": (0, 0), "toLocaleUpperCase": (0, 0), "substring": (1, 2), "substr": (1, 2),
    "slice": (0, 2), "split": (1, 1), "includes": (1, 1), "startsWith": (1, 1), "endsWith": (1, 1),
    "replace": (2, 2), "indexOf": (1, 1), "toString": (0, 0),
}  # fmt: skip
"""Methods with the least and the most arguments understood."""


class Document(Struct, frozen=True, tag=True):
    """The page's document."""


class Literal(Struct, frozen=True, tag=True):
    """A text or a number."""

    value: str | int
    """Its value."""


class Property(Struct, frozen=True, tag=True):
    """`.name`."""

    name: str
    """One of `PROPERTIES`."""
    optional: bool = False
    """Written `?.`: null and undefined end the chain."""


class Call(Struct, frozen=True, tag=True):
    """`.name(arguments)`."""

    name: str
    """One of `METHODS`."""
    arguments: tuple[Expression, ...] = ()
    """Evaluated in order."""
    optional: bool = False
    """Written `?.`: null and undefined end the chain."""


class Index(Struct, frozen=True, tag=True):
    """`[n]`."""

    number: int
    """From 0."""
    optional: bool = False
    """Written `?.`: null and undefined end the chain."""


class Chain(Struct, frozen=True, tag=True):
    """A value and what is asked of it, one after the other."""

    head: Expression
    """Where it begins."""
    links: tuple[Property | Call | Index, ...]
    """At least one."""


Expression: TypeAlias = Document | Literal | Chain
"""A parsed locator."""


def parse(source: str) -> Expression:
    """Parse a locator.

    Raises `Unsupported` for what is outside the grammar, `LocatorLimit` for what is too long or deep.
    """
    if len(source) > SOURCE_MAX:
        raise LocatorLimit(locator=source[:80] + "...", limit=f"{SOURCE_MAX} characters")
    parser = _Parser(source)
    found = parser.expression()
    if parser.kind != "end":
        raise parser.unsupported(f"{parser.text!r} is outside the language")
    return found


_TOKEN = re.compile(
    r"""\s*(?:
      (?P<name>[A-Za-z_$][\w$]*)
    | (?P<int>\d+)(?![\w$.])
    | (?P<string>'(?:[^'\\\n\r]|\\.)*'|"(?:[^"\\\n\r]|\\.)*"|`(?:[^`\\$]|\\.|\$(?!\{))*`)
    | (?P<sign>\?\.(?!\d)|[.()\[\],])
    | (?P<end>$)
    | (?P<other>.)
    )""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_ESCAPE = re.compile(
    r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|(\r\n|0\d|.))", re.DOTALL
)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_NO_LINE = ("\n", "\r\n", "\r", "\u2028", "\u2029")


class _Parser:
    """Recursive descent over the tokens of one locator; a new form is a new method of `_prims` or `_link`."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.depth = 0
        self.position = 0
        self.kind = self.text = ""
        self._prims: dict[str, Callable[[], Expression]] = {
            "name": self._name,
            "string": self._string,
            "int": self._int,
            "sign": self._group,
        }
        self.advance()

    def unsupported(self, reason: str) -> Unsupported:
        return Unsupported(locator=self.source, reason=reason)

    def advance(self) -> str:
        """Go to the next token; return the text of the one passed."""
        passed = self.text
        found = _TOKEN.match(self.source, self.position)
        if found is None:
            raise self.unsupported("it cannot be read")
        self.position = found.end()
        self.kind = str(found.lastgroup)
        self.text = found[self.kind]
        return passed

    def expect(self, sign: str) -> None:
        if self.kind != "sign" or self.text != sign:
            raise self.unsupported(f"{sign!r} expected, found {self.text!r}")
        self.advance()

    def accepts(self, sign: str) -> bool:
        if self.kind == "sign" and self.text == sign:
            self.advance()
            return True
        return False

    def expression(self) -> Expression:
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise LocatorLimit(locator=self.source, limit=f"{DEPTH_MAX} levels")
        if self.kind not in self._prims:
            raise self.unsupported(f"{self.text!r} is outside the language")
        head = self._prims[self.kind]()
        links = []
        while self.kind == "sign" and self.text in (".", "?.", "["):
            links.append(self._link())
        self.depth -= 1
        return Chain(head, tuple(links)) if links else head

    def _link(self) -> Property | Call | Index:
        sign = self.advance()
        optional = sign == "?."
        if sign == "[" or (optional and self.accepts("[")):
            return self._index(optional)
        if self.kind != "name":
            raise self.unsupported(f"a name expected, found {self.text!r}")
        name = self.advance()
        return self._call(name, optional) if self.accepts("(") else self._property(name, optional)

    def _index(self, optional: bool) -> Index:
        if self.kind != "int":
            raise self.unsupported("only whole numbers are understood between brackets")
        number = self._int().value
        self.expect("]")
        return Index(int(number), optional)

    def _property(self, name: str, optional: bool) -> Property:
        if name not in PROPERTIES:
            raise self.unsupported(f"no recorded property {name!r}")
        return Property(name, optional)

    def _call(self, name: str, optional: bool) -> Call:
        arguments: list[Expression] = []
        while not self.accepts(")"):
            if arguments:
                self.expect(",")
            arguments.append(self.expression())
        least, most = METHODS.get(name, (0, -1))
        if not least <= len(arguments) <= most:
            raise self.unsupported(f"no method {name!r} with {len(arguments)} arguments")
        return Call(name, tuple(arguments), optional)

    def _name(self) -> Document:
        if self.text != "document":
            raise self.unsupported(f"{self.text!r} is outside the language")
        self.advance()
        return Document()

    def _int(self) -> Literal:
        digits = self.advance()
        if len(digits) > 9 or (len(digits) > 1 and digits.startswith("0")):
            raise self.unsupported(f"the number {digits} is outside the language")
        return Literal(int(digits))

    def _string(self) -> Literal:
        return Literal(_ESCAPE.sub(self._unescaped, self.advance()[1:-1]))

    def _unescaped(self, escape: re.Match[str]) -> str:
        digits = escape[1] or escape[2] or escape[3]
        if digits:
            number = int(digits, 16)
            if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
                raise self.unsupported(f"the escape {escape[0]} is no character")
            return chr(number)
        plain = escape[4]
        if plain in _NO_LINE:
            return ""
        if plain[0] in "xu123456789" or len(plain) > 1:
            raise self.unsupported(f"the escape {escape[0]} is outside the language")
        return _PLAIN_ESCAPES.get(plain, plain)

    def _group(self) -> Expression:
        self.expect("(")
        found = self.expression()
        self.expect(")")
        return found
