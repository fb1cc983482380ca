"""Locators: the JavaScript forms of the benchmarks, parsed and never executed.

::

    locator    := wrapper | expression
    wrapper    := '(() => {' ('try' block 'catch' ['(' NAME ')'] block | body) '})()' [';']
    block      := '{' body '}'
    body       := ([const | let | var] NAME '=' expression ';')* 'return' expression [';']
    expression := either ['?' expression ':' expression]
    either     := sum ('||' sum)*
    sum        := unit ('+' unit)*
    unit       := prim link*
    prim       := 'document' | STRING | INT | NAME | '(' expression ')' | '[' '...' unit ']'
                | 'Array.from(' unit ')' | ('parseFloat' | 'parseInt') '(' expression ')'
    link       := ('.' | '?.') NAME [ '(' [argument (',' argument)*] ')' ]
                | ['?.'] '[' INT ']'
    argument   := expression, or for map, filter, find and some: NAME '=>' expression

A NAME is one that an arrow around it or an assignment before it binds. Everything else raises
`Unsupported`: what is not understood is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from replaykit.errors import LocatorLimit, Unsupported
from replaykit.patterns import lazy_pattern
from replaykit.tasks.grammar.expression import (
    ARROWS,
    METHODS,
    PROPERTIES,
    Arrow,
    Attempt,
    Body,
    Call,
    Chain,
    Choice,
    Document,
    Either,
    Expression,
    Index,
    Items,
    Literal,
    Name,
    Numeral,
    Property,
    Sum,
)

SOURCE_MAX = 4096
"""Characters of a locator."""

DEPTH_MAX = 32
"""Expressions inside expressions."""

# Names that mean something else where they are bound or read: keywords, and properties of the window that
# coerce what is assigned to them or ignore it.
_RESERVED_NAMES = """
await break case catch class const continue debugger default delete do else enum eval export extends false
finally for function if implements import in instanceof interface let new null package private protected
public return static super switch this throw true try typeof var void while with yield arguments undefined
NaN Infinity async of document window self name location top parent opener status closed frameElement
navigator history customElements external localStorage sessionStorage crypto indexedDB caches navigation
origin isSecureContext crossOriginIsolated trustedTypes speechSynthesis styleMedia credentialless length
frames screen event launchQueue cookieStore documentPictureInPicture fence sharedStorage globalThis Array
Object String Number parseFloat parseInt
"""
_RESERVED = frozenset(_RESERVED_NAMES.split())
_DECLARES = ("const", "let", "var")


def parse(source: str) -> Expression:
    """Parse a locator.

    Raises `Unsupported` for what is outside the grammar, `LocatorLimit` for what is too long or deep.
    """
    if len(source) > SOURCE_MAX:
        raise LocatorLimit(locator=source[:80] + "...", limit=f"{SOURCE_MAX} characters")
    parser = _Parser(source)
    found = parser.whole()
    if parser.kind != "end":
        raise parser.unsupported(f"{parser.text!r} is outside the language")
    return found


_TOKEN = lazy_pattern(
    r"""\s*(?:
      (?P<name>[A-Za-z_$][\w$]*)
    | (?P<int>\d+)(?![\w$.])
    | (?P<string>'(?:[^'\\\n\r]|\\.)*'|"(?:[^"\\\n\r]|\\.)*"|`(?:[^`\\$]|\\.|\$(?!\{))*`)
    | (?P<sign>=>|\.\.\.|\?\.(?!\d)|\|\|(?!=)|\+(?![+=])|=(?!=)|\?(?!\?)|[.()\[\],{}:;])
    | (?P<end>$)
    | (?P<other>.)
    )""",
    re.VERBOSE | re.ASCII | re.DOTALL,
)
_ARROW = lazy_pattern(r"\s*(?:\(\s*([A-Za-z_$][\w$]*)\s*\)|([A-Za-z_$][\w$]*))[ \t]*=>", re.ASCII)
_WRAPPED = lazy_pattern(r"\s*\(\s*\(\s*\)\s*=>\s*\{", re.ASCII)
_ESCAPE = lazy_pattern(
    r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|u\{([0-9A-Fa-f]{1,6})\}|(\r\n|0\d|.))", re.DOTALL
)
_PLAIN_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
_NO_LINE = ("\n", "\r\n", "\r", "\u2028", "\u2029")


class _Parser:
    """Recursive descent over the tokens of one locator; a new form is a new method of `_prims` or `_link`."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.depth = 0
        self.position = self.start = self.passed = 0
        self.names: list[str] = []
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
        self.passed, self.position = self.position, found.end()
        self.kind = str(found.lastgroup)
        self.start = found.start(self.kind)
        self.text = found[self.kind]
        return passed

    def _go(self, position: int) -> None:
        """Continue at a position of the source."""
        self.position = position
        self.advance()

    def expect(self, sign: str) -> None:
        if self.kind != "sign" or self.text != sign:
            raise self.unsupported(f"{sign!r} expected, found {self.text!r}")
        self.advance()

    def accepts(self, sign: str) -> bool:
        if self.kind == "sign" and self.text == sign:
            self.advance()
            return True
        return False

    def whole(self) -> Expression:
        """Parse a wrapper or an expression."""
        found = _WRAPPED.match(self.source)
        if found is None:
            return self.expression()
        self._go(found.end())
        result = self._attempt() if self.text == "try" else self._body()
        for sign in ("}", ")", "(", ")"):
            self.expect(sign)
        self.accepts(";")
        return result

    def expression(self) -> Expression:
        self.depth += 1
        if self.depth > DEPTH_MAX:
            raise LocatorLimit(locator=self.source, limit=f"{DEPTH_MAX} levels")
        found = self._either()
        if self.accepts("?"):
            yes = self.expression()
            self.expect(":")
            found = Choice(found, yes, self.expression())
        self.depth -= 1
        return found

    def _either(self) -> Expression:
        parts = [self._sum()]
        while self.accepts("||"):
            parts.append(self._sum())
        return Either(tuple(parts)) if len(parts) > 1 else parts[0]

    def _sum(self) -> Expression:
        parts = [self._unit()]
        while self.accepts("+"):
            parts.append(self._unit())
        return Sum(tuple(parts)) if len(parts) > 1 else parts[0]

    def _unit(self) -> Expression:
        if self.kind not in self._prims:
            raise self.unsupported(f"{self.text!r} is outside the language")
        head = self._prims[self.kind]()
        links = []
        while self.kind == "sign" and self.text in (".", "?.", "["):
            links.append(self._link())
        return Chain(head, tuple(links)) if links else head

    def _attempt(self) -> Attempt:
        self.advance()
        self.expect("{")
        tried = self._body()
        self.expect("}")
        if self.text != "catch":
            raise self.unsupported(f"'catch' expected, found {self.text!r}")
        self.advance()
        if self.accepts("("):
            self._bindable()
            self.expect(")")
        self.expect("{")
        otherwise = self._body()
        self.expect("}")
        return Attempt(tried, otherwise)

    def _body(self) -> Body:
        bindings: list[tuple[str, Expression]] = []
        outer = list(self.names)
        while self.text != "return":
            if self.text in _DECLARES:
                self.advance()
            name = self._bindable()
            if name in self.names:
                raise self.unsupported(f"{name!r} is bound twice")
            self.expect("=")
            bindings.append((name, self.expression()))
            self.expect(";")
            self.names.append(name)
        self.advance()
        result = self._result()
        self.names = outer
        return Body(tuple(bindings), result)

    def _result(self) -> Expression:
        # A line feed after `return` ends the statement: it would return undefined.
        if set(self.source[self.passed : self.start]) & set("\n\r\u2028\u2029"):
            raise self.unsupported("a line ends after 'return'")
        result = self.expression()
        self.accepts(";")
        return result

    def _bindable(self) -> str:
        if self.kind != "name" or self.text in _RESERVED or self.text.startswith("on"):
            raise self.unsupported(f"{self.text!r} is no name for a value")
        return self.advance()

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
        arguments: list[Expression | Arrow] = []
        while not self.accepts(")"):
            if arguments:
                self.expect(",")
            arguments.append(self._arrow() if name in ARROWS else self.expression())
        least, most = (1, 1) if name in ARROWS else METHODS.get(name, (0, -1))
        if not least <= len(arguments) <= most:
            raise self.unsupported(f"no method {name!r} with {len(arguments)} arguments")
        return Call(name, tuple(arguments), optional)

    def _arrow(self) -> Arrow:
        found = _ARROW.match(self.source, self.start)
        if found is None:
            raise self.unsupported("an arrow with one parameter expected")
        parameter = found[1] or found[2]
        if parameter in _RESERVED:
            raise self.unsupported(f"{parameter!r} is no name for a value")
        self._go(found.end())
        self.names.append(parameter)
        body = self.expression()
        self.names.pop()
        return Arrow(parameter, body)

    def _name(self) -> Expression:
        name = self.advance()
        if name in self.names:
            return Name(name)
        if name == "document":
            return Document()
        if name == "Array" and self.accepts(".") and self.text == "from":
            self.advance()
            self.expect("(")
            found: Expression = Items(self.expression())
        elif name in ("parseFloat", "parseInt"):
            self.expect("(")
            found = Numeral(name, self.expression())
        else:
            raise self.unsupported(f"{name!r} is outside the language")
        self.expect(")")
        return found

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
        if self.accepts("["):
            self.expect("...")
            found: Expression = Items(self.expression())
            self.expect("]")
            return found
        self.expect("(")
        found = self.expression()
        self.expect(")")
        return found
