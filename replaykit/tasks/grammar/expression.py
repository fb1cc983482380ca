"""Meaning of a parsed locator: values, what is asked of them, and the names it may use."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

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

ARROWS = frozenset({"map", "filter", "find", "some"})
"""Methods of arrays that take an arrow."""


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
    arguments: tuple[Expression | Arrow, ...] = ()
    """Evaluated in order; an arrow for a method that takes one."""
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


class Name(Struct, frozen=True, tag=True):
    """A parameter or variable."""

    name: str
    """Bound by an arrow around it, or by an assignment before it."""


class Arrow(Struct, frozen=True, tag=True):
    """`parameter => body`."""

    parameter: str
    """Name of the value given."""
    body: Expression
    """Expression for each item."""


class Either(Struct, frozen=True, tag=True):
    """`a || b`: the first that is truthy, else the last."""

    parts: tuple[Expression, ...]
    """At least two."""


class Sum(Struct, frozen=True, tag=True):
    """`a + b`: texts joined, or numbers added."""

    parts: tuple[Expression, ...]
    """At least two."""


class Choice(Struct, frozen=True, tag=True):
    """`condition ? yes : no`."""

    condition: Expression
    """The condition."""
    yes: Expression
    """Where it is truthy."""
    no: Expression
    """Where it is not."""


class Items(Struct, frozen=True, tag=True):
    """`[...source]` or `Array.from(source)`."""

    source: Expression
    """A list or a text."""


class Numeral(Struct, frozen=True, tag=True):
    """`parseFloat(source)` or `parseInt(source)`."""

    name: str
    """`parseFloat parseInt`."""
    source: Expression
    """Text that is read as a number."""


class Body(Struct, frozen=True, tag=True):
    """`name = value; ... return result`, as statements of a function called at once."""

    bindings: tuple[tuple[str, Expression], ...]
    """Names with their values, in order."""
    result: Expression
    """The value returned."""


class Attempt(Struct, frozen=True, tag=True):
    """`try { body } catch { otherwise }`."""

    body: Body
    """The part that is tried."""
    otherwise: Body
    """The part that counts where it throws."""


Expression: TypeAlias = (
    Document | Literal | Name | Chain | Either | Sum | Choice | Items | Numeral | Body | Attempt
)
"""A parsed locator."""
