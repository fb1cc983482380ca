"""Texts without the marks of Markdown: emphasis, code, links, escapes."""

from __future__ import annotations

import re

_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_STRONG = re.compile(r"\*\*([^*]+)\*\*|__([^_]+)__|~~([^~]+)~~")
_EMPHASIS = re.compile(r"(?<![\w*_])(?:\*([^\s*][^*]*)\*|_([^\s_][^_]*)_)(?![\w*_])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKS = frozenset("*_`[~\\")


def unmarked(text: str) -> str:
    """Return the text as Markdown shows it: `**Blue** [Kettle](http://a.test)` is `Blue Kettle`."""
    if _MARKS.isdisjoint(text):
        return text
    text = _LINK.sub(r"\1", text).replace("`", "")
    return _ESCAPE.sub(r"\1", _EMPHASIS.sub(_inner, _STRONG.sub(_inner, text)))


def _inner(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group is not None)
