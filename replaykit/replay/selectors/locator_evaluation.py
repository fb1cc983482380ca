"""Parsed locators evaluated on a recorded page, as the browser would have answered them.

A path (XPath) asks for the form value of the first element that it leads to, as ST-WebAgentBench does.

Answers are reads like those taken live: the JavaScript kind with its value, exceptions included. What a
recorded page cannot answer raises `Unsupported`; nothing is guessed.
"""

from __future__ import annotations

import math
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from replaykit.errors import LocatorLimit, SelectorInvalid, Unsupported
from replaykit.replay.dom import Dom, Node
from replaykit.replay.selectors import locator_operators, locator_values
from replaykit.replay.selectors.locator_values import UNDEFINED, JsError, Nodes
from replaykit.replay.selectors.xpath_evaluation import find
from replaykit.tasks.grammar import xpath_grammar
from replaykit.tasks.grammar.expression import (
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
from replaykit.tasks.grammar.locator_grammar import parse
from replaykit.trajectory.observation import Read
from replaykit.trajectory.scalars import Threw

RESULT_MAX = 1 << 20
"""Characters of a result."""

WORK_MAX = 1_000_000
"""Nodes visited inside of arrows."""

LAMBDA = "lambda:"
"""May stand before a script whose value keeps its type (VisualWebArena)."""

_CONTROLS = ("input", "textarea", "select")
_LIVE_PROPERTIES = {"checked": "checked", "selectedIndex": "selected_index"}
_OWN = ("value", *_LIVE_PROPERTIES)


class EvaluationPlace(Struct, frozen=True, kw_only=True):
    """Where an evaluation takes place."""

    dom: Dom
    """The recorded page."""
    locator: str
    """Source of the locator."""
    names: dict[str, Any] = {}
    """Values of parameters and variables."""
    work: list[int] = []
    """Nodes walked inside of arrows so far, one number; empty outside of them."""


def evaluate(locator: str, dom: Dom) -> Read:
    """Answer a JavaScript locator or a path; raises `Unsupported` and `LocatorLimit`."""
    if xpath_grammar.is_xpath(locator):
        return _read(locator, _form_value(find(locator, dom)))
    place = EvaluationPlace(dom=dom, locator=locator)
    try:
        value = _value(parse(locator.removeprefix(LAMBDA)), place)
    except JsError as error:
        return Read(locator=locator, kind="exception", threw=Threw(name=error.name, message=str(error)))
    except SelectorInvalid as error:
        return Read(locator=locator, kind="exception", threw=Threw(name="SyntaxError", message=str(error)))
    return _read(locator, value)


def read_selector(key: str, selector: str, prop: str, dom: Dom, *, pierces: bool = False) -> Read:
    """Answer a CSS selector with a property: `text value checked selectedIndex` or an attribute's name.

    `pierces`: where the document has no match, its shadow trees are searched, as by Playwright.
    Raises `Unsupported` and `LocatorLimit`.
    """
    try:
        node = dom.glimpse(selector) if prop == "text" else None
        node = node or dom.select(selector)
        if node is None and pierces:
            node = next(iter(dom.pierce_all(selector)), None)
    except SelectorInvalid as error:
        return Read(locator=key, kind="exception", threw=Threw(name="SyntaxError", message=str(error)))
    if node is None:
        return Read(locator=key, kind="undefined")
    if prop == "text":
        return _read(key, node.text)
    if prop in _OWN and node.is_html and "-" in node.tag:
        # Its class decides what such a property is, and only scripts of the page see that.
        raise Unsupported(locator=key, reason=f"{prop} of a custom element is not recorded")
    if prop == "value":
        return _read(key, locator_values.or_undefined(node.value))
    if prop in _LIVE_PROPERTIES:
        return _read(key, locator_values.or_undefined(getattr(node, _LIVE_PROPERTIES[prop])))
    return _read(key, node.attribute(prop))


def may_be_in_shadow(read: Read, dom: Dom | None) -> bool:
    """Whether a component may hold what a browser did not find: it was asked for the document's own."""
    if read.kind != "undefined" or dom is None:
        return False
    return dom.has_shadow_trees or any("-" in name for name in dom.tree.name)


def _form_value(found: list[Node]) -> str:
    """Return the value of the first element that a path leads to, where it is a control; else nothing."""
    first = found[0] if found else None
    value = first.value if first is not None and first.tag in _CONTROLS else None
    return value if isinstance(value, str) else ""


def _value(expression: Expression, place: EvaluationPlace) -> Any:
    match expression:
        case Document():
            return place.dom
        case Literal(value=value):
            return value
        case Name(name=name):
            return place.names[name]
        case Chain():
            return _chain(expression, place)
        case Either(parts=parts):
            return _either(parts, place)
        case Sum(parts=parts):
            return _sum(parts, place)
        case Choice(condition=condition, yes=yes, no=no):
            return _value(yes if locator_operators.truthy(_value(condition, place)) else no, place)
        case Items(source=source):
            return _charged(locator_operators.items(_value(source, place), place.locator), place)
        case Numeral(name=name, source=source):
            return locator_operators.numeral(name, _value(source, place), place.locator)
        case Body(bindings=bindings, result=result):
            return _body(bindings, result, place)
        case Attempt(body=body, otherwise=otherwise):
            try:
                return _value(body, place)
            except (JsError, SelectorInvalid):
                return _value(otherwise, place)


def _chain(chain: Chain, place: EvaluationPlace) -> Any:
    value, links = _begun(chain, place)
    for link in links:
        if link.optional and (value is None or value is UNDEFINED):
            return UNDEFINED  # the rest of the chain is skipped, as in JavaScript
        found = _linked(value, link, place)
        value = _charged(
            found, place, locator_values.cost(value, "" if isinstance(link, Index) else link.name)
        )
    return value


def _begun(chain: Chain, place: EvaluationPlace) -> tuple[Any, tuple[Property | Call | Index, ...]]:
    """Return where a chain begins, and its links: the text of a first match may need no whole page."""
    match chain.links:
        case (Call(name="querySelector", arguments=(Literal(value=str(css)),)), Property(name=name), *_):
            if isinstance(chain.head, Document) and name in ("innerText", "outerText"):
                node = locator_values.glimpse(place.dom, css, place.locator)
                if node is not None:
                    return node, chain.links[1:]
    return _value(chain.head, place), chain.links


def _either(parts: tuple[Expression, ...], place: EvaluationPlace) -> Any:
    value: Any = UNDEFINED
    for part in parts:
        value = _value(part, place)
        if locator_operators.truthy(value):
            break
    return value


def _sum(parts: tuple[Expression, ...], place: EvaluationPlace) -> Any:
    total = _value(parts[0], place)
    for part in parts[1:]:
        total = _bounded(locator_operators.add(total, _value(part, place), place.locator), place)
    return total


def _body(bindings: tuple[tuple[str, Expression], ...], result: Expression, place: EvaluationPlace) -> Any:
    for name, expression in bindings:
        place = replace(place, names={**place.names, name: _value(expression, place)})
    return _value(result, place)


def _linked(value: Any, link: Property | Call | Index, place: EvaluationPlace) -> Any:
    name = str(link.number) if isinstance(link, Index) else link.name
    if value is None or value is UNDEFINED:
        raise JsError(
            "TypeError", f"Cannot read properties of {locator_values.text(value)} (reading '{name}')"
        )
    match link:
        case Index(number=number):
            return locator_values.element(value, number, place.locator)
        case Property(name=name):
            return locator_values.property_of(value, name, place.locator)
        case Call(name=name, arguments=(Arrow() as arrow,)):
            return _arrowed(value, name, arrow, place)
        case Call(name=name, arguments=arguments):
            given = [_value(argument, place) for argument in arguments if not isinstance(argument, Arrow)]
            return _bounded(locator_values.call(value, name, given, place.locator), place)


def _arrowed(value: Any, name: str, arrow: Arrow, place: EvaluationPlace) -> Any:
    """Call `map`, `filter`, `find` or `some`: arrays have them, lists of nodes do not."""
    if not isinstance(value, list) or isinstance(value, Nodes):
        return locator_values.call(value, name, [], place.locator)  # throws, as there is no such method
    inner = replace(place, work=place.work or [0])
    given = ((item, _value(arrow.body, _bound(inner, arrow, item))) for item in value)
    match name:
        case "map":
            return [result for _, result in given]
        case "filter":
            return [item for item, result in given if locator_operators.truthy(result)]
        case "find":
            return next((item for item, result in given if locator_operators.truthy(result)), UNDEFINED)
    return any(locator_operators.truthy(result) for _, result in given)


def _bound(place: EvaluationPlace, arrow: Arrow, item: Any) -> EvaluationPlace:
    place.work[0] += 1
    return replace(place, names={**place.names, arrow.parameter: item})


def _charged(value: Any, place: EvaluationPlace, cost: int = 1) -> Any:
    """Count what an arrow's body costs: it is evaluated as often as a hostile page has elements."""
    if place.work:
        place.work[0] += cost + locator_operators.size(value)
        if place.work[0] > WORK_MAX:
            raise LocatorLimit(locator=place.locator, limit=f"{WORK_MAX} visited nodes")
    return value


def _bounded(value: Any, place: EvaluationPlace) -> Any:
    if isinstance(value, str) and len(value) > RESULT_MAX:
        raise LocatorLimit(locator=place.locator, limit=f"{RESULT_MAX} characters of a text")
    return value


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
    if isinstance(value, float) and not math.isfinite(value):
        special = "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
        return Read(locator=locator, kind="number", special=special)
    if isinstance(value, list):
        return Read(
            locator=locator, kind="array", value=[locator_operators.plain(part, locator) for part in value]
        )
    kinds = {bool: "bool", int: "number", float: "number", str: "string"}
    if type(value) not in kinds:
        raise Unsupported(locator=locator, reason=f"no kind for {type(value).__name__}")
    return Read(locator=locator, kind=kinds[type(value)], value=value)
