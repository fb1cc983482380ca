"""Texts that a page shows, or may show, and that are missing from its rendered text.

Texts of style sheets, labels of options, alternative texts of images, placeholders, spaced letters.
"""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.patterns import lazy_pattern
from replaykit.replay.dom import Dom
from replaykit.replay.rendered_text.styled_texts import StyledTexts

UNLISTED = "text.unlisted"
"""Code of a text that only such a text holds."""

_APART = lazy_pattern(r"(?<!\w)[^\W\d_](?:\s+[^\W\d_]){2,}(?!\w)")
"""Single letters separated by blanks: `S o l d`."""
_BLANKS = lazy_pattern(r"\s+")


def unlisted_texts(dom: Dom) -> tuple[str, ...]:
    """Return these texts, each by itself. Raises Unsupported, as `Dom.text` does."""
    apart = _spelled_out(dom.whole_text)
    return tuple(filter(None, (*StyledTexts(dom.tree).trees, *_labels(dom), apart)))


def unlisted_in(dom: Dom, css: str) -> tuple[str, ...]:
    """Return the text of the first match as style sheets show it, if they change it.

    Raises SelectorInvalid, Unsupported, LocatorLimit.
    """
    node = dom.select(css) or next(iter(dom.pierce_all(css)), None)
    return StyledTexts(dom.tree).inside(node.row) if node is not None else ()


def _labels(dom: Dom) -> Iterator[str]:
    for node in dom.pierce_all("option[label], optgroup[label]"):
        yield node.attribute("label") or ""
    for node in dom.pierce_all("img[alt]"):
        if node.visible:
            yield node.attribute("alt") or ""
    for node in dom.pierce_all("input[placeholder], textarea[placeholder]"):
        if node.visible and not node.masked and not node.value:
            yield node.attribute("placeholder") or ""


def _spelled_out(text: str) -> str:
    """Return the words of a text with spaced letters; empty without such letters."""
    return _APART.sub(lambda found: _BLANKS.sub("", found.group()), text) if _APART.search(text) else ""
