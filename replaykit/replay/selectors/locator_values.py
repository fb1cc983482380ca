"""The values of locators: what JavaScript properties and methods give on a recorded page.

`None` is null, `UNDEFINED` undefined, `Dom` the document; texts count UTF-16 units as JavaScript does.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, Final

from replaykit.errors import Unsupported
from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Dom, Node


class _Undefined:
    """The value of what is not there."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED: Final = _Undefined()
"""JavaScript's undefined."""


class JsError(Exception):
    """An exception that the script would have thrown."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


class Nodes(list[Node]):
    """A list of nodes as the DOM gives it; an HTMLCollection also answers to ids and names."""

    def __init__(self, nodes: Iterable[Node], *, is_named: bool = False) -> None:
        super().__init__(nodes)
        self.is_named = is_named


# ECMAScript WhiteSpace and LineTerminator; str.strip() knows other signs.
BLANK = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_TRIM = lazy_pattern(f"^[{BLANK}]+|[{BLANK}]+$")
_NAME = lazy_pattern(r"\*|[A-Za-z][A-Za-z0-9-]*")
_WHOLE = {"innerText", "outerText", "textContent", "innerHTML", "outerHTML"}
_DISABLEABLE = ("button", "input", "select", "textarea", "optgroup", "option", "fieldset")
_WITH_SRC = ("img", "script", "iframe", "input", "source", "video", "audio", "embed", "track", "frame")
_INTERNAL = {"firstElementChild", "lastElementChild", "firstChild", "lastChild", "children", "childNodes"}


def property_of(value: Any, name: str, locator: str) -> Any:
    """Return `value.name`; raises `Unsupported` where the page's own scripts or names could decide."""
    match value:
        case Dom():
            return _of_document(value, name, locator)
        case Node():
            return _of_node(value, name, locator)
        case Nodes(is_named=True) if name != "length":
            raise Unsupported(locator=locator, reason=f"{name!r} may be a name in the collection")
        case str() if name == "length":
            return len(_units(value)) // 2
        case list() if name == "length":
            return len(value)
    return UNDEFINED


def element(value: Any, number: int, locator: str) -> Any:
    """Return `value[number]`."""
    match value:
        case str():
            return _part(value, number, number + 1) or UNDEFINED
        case list():
            return value[number] if number < len(value) else UNDEFINED
        case bool() | int() | float():
            return UNDEFINED
        case Node() if value.tag not in ("form", "select"):
            return UNDEFINED
    raise Unsupported(locator=locator, reason="an index of a document, form or select")


def call(value: Any, name: str, arguments: list[Any], locator: str) -> Any:
    """Return `value.name(arguments)`; throws as JavaScript does where there is no such method."""
    methods = _METHODS[_kind(value)]
    if isinstance(value, Dom | Node):
        _refuse_clobbered(value, name, locator)
    if name not in methods:
        if isinstance(value, Node) and (name == "toString" or _has_methods_of_its_own(value)):
            raise Unsupported(locator=locator, reason=f"{name!r} of <{value.tag}>")
        if name == "toString" and isinstance(value, Dom | Nodes):
            raise Unsupported(locator=locator, reason="the text of an object")
        raise JsError("TypeError", f"{name} is not a function")
    return methods[name](value, arguments, locator)


def glimpse(dom: Dom, css: str, locator: str) -> Node | None:
    """Return `document.querySelector(css)` for its text only; None where the whole page is needed."""
    _refuse_clobbered(dom, "querySelector", locator)
    return dom.glimpse(css)


def _has_methods_of_its_own(node: Node) -> bool:
    return "-" in node.tag or node.tag in ("select", "form") or (node.is_element and not node.is_html)


def text(value: Any) -> str:
    """Return a value as JavaScript makes text of it; raises `Unsupported` for objects."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case int() | float():
            return _number_text(value)
        case list() if not isinstance(value, Nodes):
            return _join(value, [], "")
    if value is UNDEFINED:
        return "undefined"
    raise Unsupported(locator=repr(value), reason="the text of an object")


def cost(value: Any, name: str) -> int:
    """Return how many nodes a property or method walks through."""
    if isinstance(value, Dom):
        return len(value.tree.kind)
    if isinstance(value, Node) and (name in _QUERIES or name in _WHOLE):
        return value.dom.tree.end[value.row] - value.row
    return 1


def or_undefined(value: Any) -> Any:
    """Return the value of a property that some elements do not have."""
    return UNDEFINED if value is None else value


def _kind(value: Any) -> str:
    if isinstance(value, Dom):
        return "document"
    if isinstance(value, Node):
        return "element" if value.is_element else "node"
    if isinstance(value, Nodes):
        return "nodes"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "scalar"


def _of_document(dom: Dom, name: str, locator: str) -> Any:
    _refuse_clobbered(dom, name, locator)
    match name:
        case "body":
            return dom.body
        case "documentElement" | "firstElementChild" | "lastElementChild":
            return dom.root
        case "title":
            return dom.title
        case "URL":
            return dom.url
        case "textContent" | "parentElement":
            return None
    if name in _INTERNAL or name == "hidden":
        raise Unsupported(locator=locator, reason=f"{name!r} of the document")
    return UNDEFINED


def _of_node(node: Node, name: str, locator: str) -> Any:
    if not node.is_element:
        if name in ("textContent", "parentElement"):
            return node.text_content if name == "textContent" else node.parent
        if name.endswith("Sibling") or name == "length":
            raise Unsupported(locator=locator, reason=f"{name!r} of a text")
        return UNDEFINED if name not in _INTERNAL else _of_leaf(name)
    _refuse_clobbered(node, name, locator)
    if node.tag == "template" and name in _INTERNAL:
        raise Unsupported(locator=locator, reason="the content of a template")
    if name in _ELEMENT:
        return _ELEMENT[name](node)
    found = _of_tag(node, name, locator)
    if found is UNDEFINED and "-" in node.tag:
        raise Unsupported(locator=locator, reason=f"<{node.tag}> may define {name!r}")
    return found


def _of_leaf(name: str) -> Any:
    if name == "childNodes":
        return Nodes([])
    return None if name in ("firstChild", "lastChild") else UNDEFINED


def _of_tag(node: Node, name: str, locator: str) -> Any:
    """Return a property that only some elements have."""
    if name in ("href", "className") and not node.is_html:
        raise Unsupported(locator=locator, reason=f"{name!r} of <{node.tag}>")
    match name:
        case "value" | "checked" | "selected":
            return or_undefined(getattr(node, name))
        case "selectedIndex":
            return or_undefined(node.selected_index)
        case "innerText" | "outerText":
            return or_undefined(node.inner_text)
        case "className":
            return node.attribute("class") or ""
        case "href" if node.tag in ("a", "area", "link"):
            return node.resolved("href")
        case "src" if node.tag in _WITH_SRC:
            return node.resolved("src") if (node.attribute("src") or "").strip() else ""
        case "title" if node.is_html:
            return node.attribute("title") or ""
        case "hidden" if node.is_html:
            return _hidden(node)
        case "disabled" if node.tag in _DISABLEABLE:
            return node.attribute("disabled") is not None
        case "options" if node.tag == "select":
            return Nodes(node.options, is_named=True)
    if (name, node.tag) in _NOT_RECORDED:
        raise Unsupported(locator=locator, reason=f"{name!r} of <{node.tag}>")
    return UNDEFINED


_NOT_RECORDED = {
    ("href", "base"), ("disabled", "link"), ("disabled", "style"), ("options", "datalist"),
    ("length", "form"), ("length", "select"),
}  # fmt: skip
"""Properties that exist and are not recorded."""


def _hidden(node: Node) -> bool | str:
    found = node.attribute("hidden")
    return "until-found" if found is not None and found.lower() == "until-found" else found is not None


def _refuse_clobbered(owner: Dom | Node, name: str, locator: str) -> None:
    """Refuse names that a control of the form, or a form or image of the document, takes over."""
    if isinstance(owner, Node) and owner.tag != "form":
        return
    tags = ":is(button, fieldset, input, object, output, select, textarea, img)"
    if isinstance(owner, Dom):
        tags = ":is(embed, form, iframe, img, object)"
    if owner.select(f'{tags}[name="{name}"], {tags}[id="{name}"]') is not None:
        raise Unsupported(locator=locator, reason=f"the page names an element {name!r}")


_ELEMENT: dict[str, Callable[[Node], Any]] = {
    "textContent": lambda node: node.text_content,
    "innerHTML": lambda node: node.inner_html,
    "outerHTML": lambda node: node.outer_html,
    "id": lambda node: node.attribute("id") or "",
    "tagName": lambda node: node.tag_name,
    "children": lambda node: Nodes(node.children, is_named=True),
    "childNodes": lambda node: Nodes(node.child_nodes),
    "firstElementChild": lambda node: next(iter(node.children), None),
    "lastElementChild": lambda node: next(reversed(node.children), None),
    "firstChild": lambda node: next(iter(node.child_nodes), None),
    "lastChild": lambda node: next(reversed(node.child_nodes), None),
    "nextElementSibling": lambda node: node.next_element,
    "previousElementSibling": lambda node: node.previous_element,
    "parentElement": lambda node: node.parent,
}


def _by_id(dom: Dom, arguments: list[Any], locator: str) -> Node | None:
    wanted = text(arguments[0])
    return dom.select(f"[id={_quoted(wanted)}]") if wanted else None


def _by_class(owner: Dom | Node, arguments: list[Any], locator: str) -> Nodes:
    tree = owner.tree if isinstance(owner, Dom) else owner.dom.tree
    if tree.quirks(0):
        raise Unsupported(locator=locator, reason="classes of a page in quirks mode")
    names = text(arguments[0]).split()
    css = "".join(f"[class~={_quoted(name)}]" for name in names)
    return Nodes(owner.select_all(css) if names else [], is_named=True)


def _by_tag(owner: Dom | Node, arguments: list[Any], locator: str) -> Nodes:
    name = text(arguments[0])
    if not _NAME.fullmatch(name):
        raise Unsupported(locator=locator, reason=f"the tag name {name!r}")
    return Nodes(owner.select_all(name), is_named=True)


def _by_name(dom: Dom, arguments: list[Any], locator: str) -> Nodes:
    found = dom.select_all(f"[name={_quoted(text(arguments[0]))}]")
    return Nodes(node for node in found if node.is_html)


def _quoted(value: str) -> str:
    escaped = re.sub(r'["\\\x00-\x1f\x7f]', lambda sign: f"\\{ord(sign[0]):x} ", value)
    return f'"{escaped}"'


_QUERIES: dict[str, Callable[..., Any]] = {
    "querySelector": lambda owner, given, _: owner.select(text(given[0])),
    "querySelectorAll": lambda owner, given, _: Nodes(owner.select_all(text(given[0]))),
    "getElementsByClassName": _by_class,
    "getElementsByTagName": _by_tag,
}


def _units(value: str) -> bytes:
    return value.encode("utf-16-le", "surrogatepass")


def _part(value: str, start: int, end: int) -> str:
    """Return the UTF-16 units from start to end."""
    if value.isascii():
        return value[start:end]
    return _units(value)[2 * start : 2 * end].decode("utf-16-le", "surrogatepass")


def _size(value: str) -> int:
    return len(_units(value)) // 2


def _number(value: Any, locator: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Unsupported(locator=locator, reason=f"{value!r} as a position")
    return value


def _substring(value: str, given: list[Any], locator: str) -> str:
    size = _size(value)
    bounds = [min(max(_number(n, locator), 0), size) for n in given]
    start, end = sorted((bounds[0], bounds[1] if len(bounds) > 1 else size))
    return _part(value, start, end)


def _substr(value: str, given: list[Any], locator: str) -> str:
    start = min(_number(given[0], locator), _size(value))
    length = _number(given[1], locator) if len(given) > 1 else _size(value)
    return _part(value, start, start + max(length, 0))


def _slice(value: str, given: list[Any], locator: str) -> str:
    start, end = _bounds(_size(value), given, locator)
    return _part(value, start, end)


def _bounds(size: int, given: list[Any], locator: str) -> tuple[int, int]:
    start = min(_number(given[0], locator), size) if given else 0
    end = min(_number(given[1], locator), size) if len(given) > 1 else size
    return start, max(start, end)


def _split(value: str, given: list[Any], locator: str) -> list[str]:
    separator = text(given[0]) if given[0] is not UNDEFINED else None
    if separator is None:
        return [value]
    if separator:
        return value.split(separator)
    return [_part(value, n, n + 1) for n in range(_size(value))]


def _replace(value: str, given: list[Any], locator: str) -> str:
    old, new = (text(part) for part in given)
    # `$&` and the like mean something in a replacement.
    if "$" in new:
        raise Unsupported(locator=locator, reason="'$' in a replacement")
    return value.replace(old, new, 1)


def _index_of(value: str, given: list[Any], locator: str) -> int:
    found = value.find(text(given[0]))
    return found if found < 0 else _size(value[:found])


def _join(value: list[Any], given: list[Any], locator: str) -> str:
    separator = text(given[0]) if given and given[0] is not UNDEFINED else ","
    return separator.join("" if part is None or part is UNDEFINED else text(part) for part in value)


def _place(value: list[Any], wanted: Any, locator: str) -> int:
    if isinstance(wanted, float) and math.isnan(wanted):
        raise Unsupported(locator=locator, reason="looking for what is no number")
    same = (n for n, part in enumerate(value) if part == wanted and _is_bool(part) is _is_bool(wanted))
    return next(same, -1)


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool)


def _array_slice(value: list[Any], given: list[Any], locator: str) -> list[Any]:
    start, end = _bounds(len(value), given, locator)
    return value[start:end]


def _item(nodes: Nodes, given: list[Any], locator: str) -> Node | None:
    number = _number(given[0], locator)
    return nodes[number] if number < len(nodes) else None


def _number_text(value: int | float) -> str:
    if isinstance(value, int):
        return str(value)
    if math.isfinite(value) and (value == 0 or 1e-6 <= abs(value) < 1e21):
        plain = format(Decimal(repr(value)), "f")
        return (plain.rstrip("0").rstrip(".") if "." in plain else plain).replace("-0", "0", value == 0)
    raise Unsupported(locator=repr(value), reason="the text of such a number")


_STRING: dict[str, Callable[..., Any]] = {
    "trim": lambda value, *_: _TRIM.sub("", value),
    "toLowerCase": lambda value, *_: value.lower(),
    "toUpperCase": lambda value, *_: value.upper(),
    "toLocaleLowerCase": lambda value, *_: value.lower(),
    "toLocaleUpperCase": lambda value, *_: value.upper(),
    "substring": _substring,
    "substr": _substr,
    "slice": _slice,
    "split": _split,
    "includes": lambda value, given, _: text(given[0]) in value,
    "startsWith": lambda value, given, _: value.startswith(text(given[0])),
    "endsWith": lambda value, given, _: value.endswith(text(given[0])),
    "replace": _replace,
    "indexOf": _index_of,
    "toString": lambda value, *_: value,
}
_ARRAY: dict[str, Callable[..., Any]] = {
    "join": _join,
    "slice": _array_slice,
    "includes": lambda value, given, locator: _place(value, given[0], locator) >= 0,
    "indexOf": lambda value, given, locator: _place(value, given[0], locator),
    "toString": lambda value, *_: text(value),
}
_METHODS: dict[str, dict[str, Callable[..., Any]]] = {
    "document": _QUERIES | {"getElementById": _by_id, "getElementsByName": _by_name},
    "element": _QUERIES
    | {
        "getAttribute": lambda node, given, _: node.attribute(text(given[0])),
        "hasAttribute": lambda node, given, _: node.attribute(text(given[0])) is not None,
        "matches": lambda node, given, _: node.matches(text(given[0])),
        "closest": lambda node, given, _: node.closest(text(given[0])),
    },
    "node": {},
    "nodes": {"item": _item},
    "string": _STRING,
    "array": _ARRAY,
    "scalar": {"toString": lambda value, *_: text(value)},
}
