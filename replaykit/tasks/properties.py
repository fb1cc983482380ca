"""Properties that a selector may be read with: those of a snapshot, and what scripts call them."""

from __future__ import annotations

import re

READ = ("text", "value", "checked", "selectedIndex")
"""Properties that are read of the live page; every other name is an attribute's."""

_SAME = {"innertext": "text", "outertext": "text", "classname": "class", "htmlfor": "for"}
_SAME |= {name.lower(): name for name in READ}

_OTHERS = {
    "textcontent": "property: text is what is seen",
    "innerhtml": "property: text is what is seen",
    "outerhtml": "property: text is what is seen",
    "html": "property: text is what is seen",
    "defaultvalue": "property: value is what the field holds",
    "tagname": "say it in the selector",
    "nodename": "say it in the selector",
    "selected": "property: value or selectedIndex of its select",
    "length": "property: text or value",
    "children": "property: text or value",
}
_SCRIPTED = ("textcontent", "innerhtml", "outerhtml", "tagname", "selected")


def property_name(said: str) -> str:
    """Return the property that is meant. Raises ValueError for one that no selector is read with."""
    plain = re.sub(r"[\s_-]", "", said).lower()
    if plain in _SAME:
        return _SAME[plain]
    if plain in _OTHERS:
        way = ", or locator: document.querySelector('...')." if plain in _SCRIPTED else ""
        name = {"textcontent": "textContent", "innerhtml": "innerHTML", "outerhtml": "outerHTML"}.get(
            plain, ""
        )
        more = f"{way}{name}" if name else ""
        raise ValueError(f"`property` {said!r} is not read: {_OTHERS[plain]}{more}")
    if not said.strip():
        raise ValueError("`property` is empty: text, value, checked, selectedIndex or an attribute's name")
    return said
