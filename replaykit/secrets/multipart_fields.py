"""Fields of a form that is sent as `multipart/form-data`.

Own module: a part begins and ends by rules of its own, and its head is read in bounded steps.
"""

from __future__ import annotations

import re

from replaykit.patterns import lazy_pattern
from replaykit.secrets.addresses import HideField

_HEAD = lazy_pattern(
    r"content-disposition:[^\r\n]{0,1000}?\bname=\"?([^\";\r\n]{0,1000}+)\"?[^\r\n]{0,1000}+\r?\n"
    r"(?:[^\r\n]{1,1000}+\r?\n){0,20}+\r?\n",
    re.IGNORECASE,
)
"""Head of a part with the name of its field."""

_END = lazy_pattern(r"\r?\n--")


def hide_in_parts(text: str, hide: HideField) -> str:
    """Return a body with `hide(name, value)` for the content of each part; the last may be cut off."""
    pieces, at = [], 0
    for head in _HEAD.finditer(text):
        if head.start() < at:
            continue
        found = _END.search(text, head.end())
        end = found.start() if found is not None else len(text)
        pieces += [text[at : head.end()], hide(head[1], text[head.end() : end])]
        at = end
    return "".join([*pieces, text[at:]])
