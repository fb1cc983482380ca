"""CSS selectors over a recorded tree: what `querySelectorAll` would have found.

The text is tokenised by tinycss2, whose end-of-input repair is that of browsers (`[name="a[b]` is closed),
and parsed by cssselect2; matching is ours, over columns. What no browser accepts raises SelectorInvalid; what
a snapshot does not show (`:hover`) raises Unsupported; neither ever yields an empty answer in its place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any

import tinycss2
import tinycss2.nth
from cssselect2 import parser

from replaykit.errors import LocatorLimit, SelectorInvalid, Unsupported
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom_tree import SPACES, Tree, ascii_lower, split, words
from replaykit.replay.selectors import pseudo_classes
from replaykit.replay.selectors.selector_matching import Complex, Compound, Query, Selector, Test, keyed
from replaykit.snapshot.attributes import namespace_of, qualified
from replaykit.snapshot.snapshot_format import DOCUMENT, HTML, MATHML, SVG
from replaykit.tasks.grammar.selectors import NTH, UNRECORDED, UNRECORDED_FUNCTIONS, prepared

# Words of a selector that a matching snapshot must contain; shorter ones are found anywhere.
_WORDS = lazy_pattern("[A-Za-z0-9_-]{3,}")

# A selector is a line of text that a person or program wrote; these bounds keep hostile ones cheap.
SOURCE_MAX = 4096
DEPTH_MAX = 32

# HTML 4.16.2: values of these attributes compare without ASCII case on HTML elements.
_CASELESS = words(
    "accept accept-charset align alink axis bgcolor charset checked clear codetype color compact declare "
    "defer dir direction disabled enctype face frame hreflang http-equiv lang language link media method "
    "multiple nohref noresize noshade nowrap readonly rel rev rules scope scrolling selected shape target "
    "text type valign valuetype vlink"
)
_NAMESPACES = {HTML: "http://www.w3.org/1999/xhtml", SVG: "http://www.w3.org/2000/svg",
               MATHML: "http://www.w3.org/1998/Math/MathML"}  # fmt: skip


def compiled(source: str) -> Selector:
    """Compile a selector list; raises as `compile_selector`, which keeps what was compiled."""
    if len(source) > SOURCE_MAX:
        raise LocatorLimit(locator=source[:80], limit=f"{SOURCE_MAX} characters")
    if _depth(source) > DEPTH_MAX:
        raise LocatorLimit(locator=source[:80], limit=f"{DEPTH_MAX} nested brackets")
    compiler = _Compiler(source)
    complexes = compiler.compile_list(prepared(tinycss2.parse_component_value_list(source)), relative=False)
    # Refused only when all of it is valid: what no browser accepts is an error first of all.
    if compiler.unrecorded:
        raise Unsupported(locator=source, reason=f"a snapshot does not record :{compiler.unrecorded}")
    return Selector(source, complexes, compiler.looks_ahead)


def _depth(source: str) -> int:
    depth = deepest = 0
    for character in source:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    return deepest


class _Compiler:
    """Compiles the parser's trees; remembers what the whole selector needs."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.looks_ahead = False
        self.inside_has = False
        #: A pseudo-class that no snapshot answers, once one was met.
        self.unrecorded = ""

    def invalid(self, reason: object) -> SelectorInvalid:
        return SelectorInvalid(selector=self.source, reason=str(reason))

    def compile_list(self, tokens: list[Any], relative: bool) -> list[Complex]:
        try:
            parsed = list(parser.parse(tokens, relative=relative))
        except (parser.SelectorError, AttributeError) as error:
            # AttributeError: cssselect2 0.10 reads past the end of `a|`.
            raise self.invalid(error.args[-1]) from error
        return [self._complex(one) for one in parsed]

    def forgiving(self, tokens: list[Any]) -> list[Complex]:
        found = []
        for part in _split_commas(tokens):
            try:
                found += self.compile_list(part, relative=False)
            except SelectorInvalid:
                continue  # CSS Selectors 4, 3.9: an invalid part of :is() and :where() is dropped
        return [one for one in found if one.matchable]

    def _complex(self, tree: Any) -> Complex:
        initial = []
        if isinstance(tree, parser.RelativeSelector):
            initial, tree = [tree.combinator], tree.selector
        compounds: list[Compound] = []
        combinators: list[str] = []
        node = tree.parsed_tree
        while isinstance(node, parser.CombinedSelector):
            compounds.append(self._compound(node.right))
            combinators.append(node.combinator)
            node = node.left
        compounds.append(self._compound(node))
        if initial:
            compounds.append(Compound([_is_anchor], None))
        return Complex(compounds[::-1], initial + combinators[::-1], tree.pseudo_element is None)

    def _compound(self, compound: Any) -> Compound:
        keys: list[tuple[str, str]] = []
        tests = [self._simple(simple, keys) for simple in compound.simple_selectors]
        # The rarest first: an id leaves fewer candidates than a class, a class fewer than a tag.
        ranked = sorted(keys, key=lambda key: ("id", "class", "tag", "attribute", "value").index(key[0]))
        found = [word for _, name in keys for word in _WORDS.findall(ascii_lower(name))]
        index = next((key for key in ranked if key[0] != "value"), None)
        names = (name for kind, name in keys if kind != "tag")
        return Compound(tests, index, [word.encode() for word in found], names)

    def _simple(self, simple: Any, keys: list[tuple[str, str]]) -> Test:
        match simple:
            case parser.LocalNameSelector():
                keys.append(("tag", simple.local_name))
                return _tag(simple.local_name)
            case parser.NamespaceSelector():
                return _namespace(simple.namespace)
            case parser.IDSelector():
                keys.append(("id", simple.ident))
                return _id(simple.ident)
            case parser.ClassSelector():
                keys.append(("class", simple.class_name))
                return _class(simple.class_name)
            case parser.AttributeSelector():
                if simple.case_sensitive:
                    raise self.invalid("the flag `s`, which browsers do not know")
                keys += [("attribute", simple.name), ("value", simple.value or "")]
                return _attribute(simple)
            case parser.PseudoClassSelector():
                return self._pseudo(simple.name)
        return self._function(simple.name, simple.arguments)

    def _pseudo(self, name: str) -> Test:
        name = ascii_lower(name)
        if name == "scope":
            return _is_scope
        if name in UNRECORDED:
            self.unrecorded = name
            return _never
        if name not in pseudo_classes.PREDICATES:
            raise self.invalid(f"unknown pseudo-class :{name}")
        self.looks_ahead |= name.startswith(("last", "only", "empty", "indeterminate"))
        predicate = pseudo_classes.PREDICATES[name]
        return lambda query, row: predicate(query.tree, row)

    def _function(self, name: str, arguments: list[Any]) -> Test:
        name = ascii_lower(name)
        if name in ("x-is", "x-where"):
            return _any_of(self.forgiving(arguments))
        if name == "x-not":
            return _none_of(self._strict(arguments, relative=False))
        if name == "x-has":
            return self._has(arguments)
        if name in NTH:
            return self._nth(name, arguments)
        if name in UNRECORDED_FUNCTIONS:
            self.unrecorded = f"{name}()"
            return _never
        raise self.invalid(f"unknown pseudo-class :{name}()")

    def _strict(self, arguments: list[Any], relative: bool) -> list[Complex]:
        complexes = self.compile_list(arguments, relative)
        if not all(one.matchable for one in complexes):
            raise self.invalid("a pseudo-element inside a pseudo-class")
        return complexes

    def _has(self, arguments: list[Any]) -> Test:
        if self.inside_has:
            raise self.invalid(":has() inside :has()")
        self.looks_ahead = self.inside_has = True
        try:
            return _has(self._strict(arguments, relative=True))
        finally:
            self.inside_has = False

    def _nth(self, name: str, arguments: list[Any]) -> Test:
        places = (
            n for n, token in enumerate(arguments) if token.type == "ident" and token.lower_value == "of"
        )
        place = next(places, None)
        formula, rest = arguments[:place], arguments[len(arguments) if place is None else place + 1 :]
        parsed = tinycss2.nth.parse_nth(formula)
        if parsed is None or (place is not None and name.endswith("of-type")):
            raise self.invalid(f"not a position: :{name}()")
        of = self._strict(rest, relative=False) if place is not None else None
        self.looks_ahead |= "last" in name
        return _nth(*parsed, backwards="last" in name, of_type=name.endswith("of-type"), of=of)


def _split_commas(tokens: list[Any]) -> list[list[Any]]:
    parts: list[list[Any]] = [[]]
    for token in tokens:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _never(query: Query, row: int) -> bool:
    return False


def _is_anchor(query: Query, row: int) -> bool:
    return row == query.anchor


def _is_scope(query: Query, row: int) -> bool:
    if query.tree.kind[query.scope] == DOCUMENT:
        return row == query.tree.root(query.scope)
    return row == query.scope


def _tag(name: str) -> Test:
    lower = ascii_lower(name)

    def test(query: Query, row: int) -> bool:
        tree = query.tree
        if not tree.html:
            return tree.name[row] == name
        return tree.name[row] == lower or ascii_lower(tree.name[row]) == lower

    return test


def _namespace(uri: str) -> Test:
    def test(query: Query, row: int) -> bool:
        found = _NAMESPACES.get(query.tree.kind[row])
        return (query.tree.snapshot.namespace[row] if found is None else found) == uri

    return test


def _id(ident: str) -> Test:
    lower = ascii_lower(ident)

    def test(query: Query, row: int) -> bool:
        found = query.tree.attribute(row, "id")
        return found == ident or (query.quirks and found is not None and ascii_lower(found) == lower)

    return test


def _class(name: str) -> Test:
    lower = ascii_lower(name)

    def test(query: Query, row: int) -> bool:
        found = query.tree.attribute(row, "class")
        if not found:
            return False
        # The cheap test first: most lists of classes hold other names.
        return lower in split(ascii_lower(found)) if query.quirks else name in found and name in split(found)

    return test


def _attribute(simple: Any) -> Test:
    compare = _OPERATORS[simple.operator](simple.value or "")
    folded = _OPERATORS[simple.operator](ascii_lower(simple.value or ""))
    caseless = simple.lower_name in _CASELESS

    def test(query: Query, row: int) -> bool:
        tree = query.tree
        fold = caseless and tree.html and tree.kind[row] == HTML if simple.case_sensitive is None else True
        found = _named(tree, row, simple.name, any_namespace=simple.namespace is None)
        return any(folded(ascii_lower(value)) if fold else compare(value) for value in found)

    return test


def _named(tree: Tree, row: int, name: str, any_namespace: bool) -> Iterator[str]:
    """Yield the values of the attributes that a name means; case counts in XML documents only."""
    if tree.html:
        name = ascii_lower(name)
    for found, value in tree.attributes(row):
        whole = ascii_lower(qualified(found)) if tree.html else qualified(found)
        # `[href]` does not reach what has a namespace (`xlink:href`).
        foreign = bool(namespace_of(found, tree.kind[row]))
        if (whole == name and not foreign) or (
            any_namespace and foreign and whole.rpartition(":")[2] == name
        ):
            yield value


def _includes(value: str) -> Callable[[str], bool]:
    if not value or any(blank in value for blank in SPACES):
        return lambda found: False
    return lambda found: value in split(found)


_OPERATORS: dict[str | None, Callable[[str], Callable[[str], bool]]] = {
    None: lambda value: lambda found: True,
    "=": lambda value: lambda found: found == value,
    "~=": _includes,
    "|=": lambda value: lambda found: found == value or found.startswith(value + "-"),
    # With an empty value these three match nothing (CSS Selectors 4, 6.2).
    "^=": lambda value: lambda found: bool(value) and found.startswith(value),
    "$=": lambda value: lambda found: bool(value) and found.endswith(value),
    "*=": lambda value: lambda found: bool(value) and value in found,
}


def _any_of(complexes: list[Complex]) -> Test:
    return lambda query, row: any(one.matches(query, row) for one in complexes)


def _none_of(complexes: list[Complex]) -> Test:
    return lambda query, row: not any(one.matches(query, row) for one in complexes)


def _has(complexes: list[Complex]) -> Test:
    def test(query: Query, row: int) -> bool:
        outer, query.anchor = query.anchor, row
        try:
            return any(_related(query, row, one) for one in complexes)
        finally:
            query.anchor = outer

    return test


def _related(query: Query, anchor: int, one: Complex) -> bool:
    tree = query.tree
    # `>` and blank look below the anchor; `+` and `~` below and after it, within its parent.
    sideways = one.combinators[0] in "+~"
    last = tree.end[tree.parent[anchor]] if sideways else tree.end[anchor]
    rows = keyed(query, one.compounds[-1].key)
    low = bisect_left(rows, tree.end[anchor] if sideways else anchor + 1)
    for place in range(low, bisect_left(rows, last)):
        if tree.scope[rows[place]] == tree.scope[anchor] and one.matches(query, rows[place]):
            return True
    return False


def _nth(a: int, b: int, *, backwards: bool, of_type: bool, of: list[Complex] | None) -> Test:
    def test(query: Query, row: int) -> bool:
        if of is None:
            place = query.tree.ordinal(row, backwards=backwards, of_type=of_type)
        elif _any_of(of)(query, row):
            place = pseudo_classes.position(
                query.tree, row, backwards, lambda _, other: _any_of(of)(query, other)
            )
        else:
            return False
        return place == b if a == 0 else (place - b) % a == 0 and (place - b) // a >= 0

    return test
