"""Parsed locators evaluated on a recorded page, as the browser would have answered them.

Answers are reads like those taken live: the JavaScript kind with its value, exceptions included. What a
recorded page cannot answer raises `Unsupported`; nothing is guessed.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from replaykit.errors import LocatorLimit, SelectorInvalid, Unsupported
from replaykit.replay import script
from replaykit.replay.dom import Dom, Node
from replaykit.replay.script import UNDEFINED, JsError, Nodes
from replaykit.tasks.locator import Call, Chain, Document, Expression, Index, Literal, Property, parse
from replaykit.trajectory.observation import Read
from replaykit.trajectory.scalars import Threw

RESULT_MAX = 1 << 20
"""Characters of a result."""

_LIVE_PROPERTIES = {"checked": "checked", "selectedIndex": "selected_index"}


class Place(Struct, frozen=True, kw_only=True):
    """Where an evaluation takes place."""

    dom: Dom
    """The recorded page."""
    locator: str
    """Source of the locator."""


def evaluate(locator: str, dom: Dom) -> Read:
    """Answer a JavaScript locator; raises `Unsupported` and `LocatorLimit`."""
    place = Place(dom=dom, locator=locator)
    try:
        value = _value(parse(locator), place)
    except JsError as error:
        return Read(locator=locator, kind="exception", threw=Threw(name=error.name, message=str(error)))
    except SelectorInvalid as error:
        return Read(locator=locator, kind="exception", threw=Threw(name="SyntaxError", message=str(error)))
    return _read(locator, value)


def read_selector(key: str, selector: str, prop: str, dom: Dom) -> Read:
    """Answer a CSS selector with a property: `text value checked selectedIndex` or an attribute's name.

    Raises `Unsupported` and `LocatorLimit`.
    """
    try:
        node = dom.select(selector)
    except SelectorInvalid as error:
        return Read(locator=key, kind="exception", threw=Threw(name="SyntaxError", message=str(error)))
    if node is None:
        return Read(locator=key, kind="undefined")
    if prop == "text":
        return _read(key, node.text)
    if prop == "value":
        return _read(key, script.or_undefined(node.value))
    if prop in _LIVE_PROPERTIES:
        return _read(key, script.or_undefined(getattr(node, _LIVE_PROPERTIES[prop])))
    return _read(key, node.attribute(prop))


def _value(expression: Expression, place: Place) -> Any:
    match expression:
        case Document():
            return place.dom
        case Literal(value=value):
            return value
        case Chain(head=head, links=links):
            value = _value(head, place)
            for link in links:
                if link.optional and (value is None or value is UNDEFINED):
                    return UNDEFINED  # the rest of the chain is skipped, as in JavaScript
                value = _linked(value, link, place)
            return value


def _linked(value: Any, link: Property | Call | Index, place: Place) -> Any:
    name = str(link.number) if isinstance(link, Index) else link.name
    if value is None or value is UNDEFINED:
        raise JsError("TypeError", f"Cannot read properties of {script.text(value)} (reading '{name}')")
    match link:
        case Index(number=number):
            return script.element(value, number, place.locator)
        case Property(name=name):
            return script.property_of(value, name, place.locator)
        case Call(name=name, arguments=arguments):
            given = [_value(argument, place) for argument in arguments]
            return script.call(value, name, given, place.locator)


def _read(locator: str, value: Any) -> Read:
    if isinstance(value, str) and len(value) > RESULT_MAX:
        raise LocatorLimit(locator=locator, limit=f"{RESULT_MAX} characters of a result")
    if value is UNDEFINED:
        return Read(locator=locator, kind="undefined")
    if isinstance(value, Node | Dom):
        return Read(locator=locator, kind="node")
    if isinstance(value, Nodes):
        return Read(locator=locator, kind="object", value={str(n): "ref: <Node>" for n in range(len(value))})
    if value is None:
        return Read(locator=locator, kind="null")
    kinds = {bool: "bool", int: "number", float: "number", str: "string", list: "array"}
    if type(value) not in kinds:
        raise Unsupported(locator=locator, reason=f"no kind for {type(value).__name__}")
    return Read(locator=locator, kind=kinds[type(value)], value=value)
