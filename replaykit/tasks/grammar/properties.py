"""Properties that a selector may be read with: those of a snapshot, and what scripts call them."""

from __future__ import annotations

import re

from replaykit.patterns import lazy_pattern

READ = ("text", "value", "checked", "selectedIndex")
"""Properties that are read of the live page; every other name is an attribute's."""

BOOLEAN = frozenset({
    "allowfullscreen", "async", "autofocus", "autoplay", "controls", "default", "defer", "disabled",
    "formnovalidate", "hidden", "inert", "ismap", "itemscope", "loop", "multiple", "muted", "nomodule",
    "novalidate", "open", "playsinline", "readonly", "required", "reversed",
})  # fmt: skip
"""Attributes whose presence counts: they are read as `true` and `false`."""

_ATTRIBUTES = frozenset({
    "accesskey", "alt", "autocomplete", "cite", "class", "colspan", "content", "contenteditable",
    "coords", "datetime", "dir", "download", "draggable", "enctype", "enterkeyhint", "for", "form",
    "formaction", "formmethod", "formtarget", "headers", "height", "high", "href", "hreflang", "id",
    "inputmode", "kind", "label", "lang", "list", "low", "max", "maxlength", "media", "method", "min",
    "minlength", "name", "optimum", "pattern", "placeholder", "poster", "preload", "rel", "role",
    "rowspan", "rows", "sandbox", "scope", "shape", "size", "sizes", "slot", "span", "spellcheck",
    "src", "srcdoc", "srclang", "srcset", "start", "step", "style", "tabindex", "target", "title",
    "translate", "type", "usemap", "width", "wrap",
})  # fmt: skip
"""Attributes that scripts may call by a name with capitals, `tabIndex`."""

_STATES = tuple(
    f"aria-{name}"
    for name in (
        "activedescendant", "atomic", "autocomplete", "busy", "checked", "colcount", "colindex", "colspan",
        "controls", "current", "describedby", "description", "details", "disabled", "errormessage",
        "expanded", "flowto", "haspopup", "hidden", "invalid", "keyshortcuts", "label", "labelledby",
        "level", "live", "modal", "multiline", "multiselectable", "orientation", "owns", "placeholder",
        "posinset", "pressed", "readonly", "relevant", "required", "roledescription", "rowcount",
        "rowindex", "rowspan", "selected", "setsize", "sort", "valuemax", "valuemin", "valuenow",
        "valuetext",
    )
)  # fmt: skip
"""States and properties of ARIA 1.2."""

_NEAR = 0.8
"""So alike is a name that is meant for another one."""

_SAME = {
    "innertext": "text",
    "outertext": "text",
    "classname": "class",
    "classlist": "class",
    "htmlfor": "for",
}
_SAME |= {"acceptcharset": "accept-charset", "httpequiv": "http-equiv"}
_SAME |= {name.lower(): name for name in READ}

_SEEN = "property: text is what is seen"
_SCRIPT = "locator: document.querySelector('...')"
_REFUSED = {
    "textcontent": f"{_SEEN}, or {_SCRIPT}.textContent",
    "innerhtml": f"{_SEEN}, or {_SCRIPT}.innerHTML",
    "outerhtml": f"{_SEEN}, or {_SCRIPT}.outerHTML",
    "html": _SEEN,
    "texts": _SEEN,
    "nodevalue": _SEEN,
    "defaultvalue": "property: value is what the field holds",
    "defaultchecked": "property: checked is what is set",
    "tagname": "use the selector",
    "nodename": "use the selector",
    "localname": "use the selector",
    "selected": "property: value or selectedIndex of its select",
    "selectedoptions": "property: value or selectedIndex of the select",
    "options": "property: value or selectedIndex of the select",
    "valueasnumber": "property: value, with `as: number`",
    "valueasdate": "property: value, with `as: date`",
    "length": "property: text or value",
    "children": "property: text or value",
    "childnodes": "property: text or value",
    "visible": "an element that is not shown has no text: property: text, with `not_empty: true`",
    "isvisible": "an element that is not shown has no text: property: text, with `not_empty: true`",
    "enabled": 'property: disabled, with `equals: "false"`',
}
"""Properties that no selector is read with, to the way to write them."""

_NAME = lazy_pattern(r"[^\s\"'<>/=.()\[\]]+")
_CAPITAL = lazy_pattern(r"[a-z][A-Z]")
_DRAWN = frozenset({
    "viewBox", "preserveAspectRatio", "gradientUnits", "gradientTransform", "markerWidth",
    "markerHeight", "refX", "refY",
})  # fmt: skip
"""Attributes of SVG, which have capitals."""


def property_name(given: str) -> str:
    """Return the property for a name. Raises ValueError for one that cannot be read with a selector."""
    if not given.strip():
        raise ValueError("`property` is empty: text, value, checked, selectedIndex or an attribute's name")
    plain = re.sub(r"[\s_-]", "", given.removesuffix("()")).lower()
    if _SAME.get(plain):
        return _SAME[plain]
    way = _REFUSED.get(plain) or _unreadable(given) or _misspelt(given)
    if way:
        raise ValueError(f"`property` {given!r} is not read: {way}")
    if plain in BOOLEAN:
        return plain
    return _attribute(given, plain)


def _misspelt(name: str) -> str:
    """Return what an unknown name is probably meant for, in words; empty for one that a page may have."""
    known = _STATES if name.startswith("aria-") else READ
    if name in known or name in _ATTRIBUTES or name in BOOLEAN or name == "values":
        return ""  # animations have `values`
    from difflib import get_close_matches  # for names that are not known

    near = get_close_matches(name, known, 1, _NEAR)
    way = f"to read an attribute of this name, write {_SCRIPT}.getAttribute({name!r})"
    return f"did you mean {near[0]}? {way}" if near else ""


def _unreadable(given: str) -> str:
    base, dot, rest = given.partition(".")
    if base == "dataset" and rest:
        return f"an attribute is meant: property: data-{_dashed(rest)}"
    if dot or not _NAME.fullmatch(given):
        return f"it is no name of an attribute: text, value, checked, selectedIndex, or {_SCRIPT}..."
    return ""


def _attribute(name: str, plain: str) -> str:
    """Return the attribute for a property name of scripts, such as `tabIndex` or `ariaLabel`."""
    if not _CAPITAL.search(name) or name in _DRAWN or name.startswith(("data-", "aria-")):
        return name
    if name.startswith("aria"):
        return "aria-" + plain.removeprefix("aria")
    if plain in _ATTRIBUTES:
        return plain
    raise ValueError(
        f"`property` {name!r} is not read: attributes of HTML have no capitals, and only text, value, checked"
        f" and selectedIndex are read of scripts; or {_SCRIPT}..."
    )


def _dashed(name: str) -> str:
    return re.sub(r"([A-Z])", r"-\1", name).lower()
