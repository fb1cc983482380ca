"""Texts without the marks of Markdown: emphasis, code, links, escapes."""

from __future__ import annotations

import re

from replaykit.patterns import lazy_pattern

_LINK = lazy_pattern(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_STRUCK = lazy_pattern(r" ?~~[^~]+~~")
"""Words that are struck out are taken back."""
_STRONG = lazy_pattern(r"\*\*([^*]+)\*\*|__([^_]+)__")
_EMPHASIS = lazy_pattern(r"(?<![\w*_])(?:\*([^\s*][^*]*)\*|_([^\s_][^_]*)_)(?![\w*_])")
_ESCAPE = lazy_pattern(r"\\([!-/:-@\[-`{-~])")
_LABEL = lazy_pattern(
    r"(?:#{1,6} +|[-*•] +(?![\d$€£¥+.-])|(?:final )?answer(?: is)?: *)(?=\S)", re.IGNORECASE
)
"""Prefix of an answer of one line: the mark of a heading or an item, or that it is the answer."""
_AUTOLINK = lazy_pattern(r"<([a-z][a-z0-9+.-]*://[^\s<>]+)>", re.IGNORECASE)
_MARKS = frozenset("*_`[~\\")


def unmarked(text: str) -> str:
    """Return the text as Markdown shows it: `**Blue** [Kettle](http://a.test)` is `Blue Kettle`."""
    if _MARKS.isdisjoint(text):
        return text
    text = _STRUCK.sub("", _LINK.sub(r"\1", text)).replace("`", "")
    # Escapes last: a mark that was escaped must not become one.
    return _ESCAPE.sub(r"\1", _EMPHASIS.sub(_inner, _STRONG.sub(_inner, text)))


def unlabelled(text: str) -> str:
    """Return an answer of one line without what only marks it as one: `# Tin Mug`, `Answer: Tin Mug`."""
    line = text.strip()
    if "\n" in line:
        return text
    line = _LABEL.sub("", line, count=1) if _LABEL.match(line) else line
    link = _AUTOLINK.fullmatch(line)
    return link[1] if link else line


def _inner(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group is not None)
