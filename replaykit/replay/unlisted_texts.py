"""Texts that a page shows, or may show, and that are missing from its rendered text.

Texts of style sheets, labels of options, alternative texts of images, placeholders, spaced letters, and words
of elements that touch.
"""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.patterns import lazy_pattern
from replaykit.replay.composed_tree import texts_inside
from replaykit.replay.dom import Dom, Node
from replaykit.replay.rendered_text.element_texts import PartedTexts
from replaykit.replay.rendered_text.styled_texts import StyledTexts
from replaykit.snapshot.snapshot_format import OTHER

UNLISTED = "text.unlisted"
"""Code of a text that only such a text holds."""

_APART = lazy_pattern(r"(?<!\w)[^\W\d_](?:\s+[^\W\d_]){2,}(?!\w)")
"""Single letters separated by blanks: `S o l d`."""
_BLANKS = lazy_pattern(r"\s+")
_WORDS = lazy_pattern(r"\w+")


def unlisted_texts(dom: Dom) -> tuple[str, ...]:
    """Return these texts, each by itself. Raises Unsupported, as `Dom.text` does."""
    apart = _spelled_out(dom.whole_text)
    return tuple(filter(None, (*StyledTexts(dom.tree).trees, *_labels(dom), apart, *_parted(dom))))


def unlisted_in(dom: Dom, css: str) -> tuple[str, ...]:
    """Return the text of the first match as style sheets show it, and with words apart, if that changes it.

    Raises SelectorInvalid, Unsupported, LocatorLimit.
    """
    node = dom.select(css) or next(iter(dom.pierce_all(css)), None)
    if node is None:
        return ()
    return tuple(filter(None, (*StyledTexts(dom.tree).inside(node.row), *_parted_in(dom, node))))


def _parted_in(dom: Dom, node: Node) -> Iterator[str]:
    """Yield the text of an element with words apart, likewise; with no element inside none can touch."""
    kinds, row = dom.tree.kind, node.row
    if node.is_html and any(kind <= OTHER for kind in kinds[row + 1 : dom.tree.end[row]]):
        yield from _changed(node.text, PartedTexts(dom.inner_texts).text(row))


def _parted(dom: Dom) -> Iterator[str]:
    """Yield the texts of the document and of the trees in it whose words touch, with these words apart."""
    texts, top = PartedTexts(dom.inner_texts), dom.body or dom.root
    if top is not None:
        yield from _changed(dom.text, texts.text(top.row))
    for text, apart in zip(texts_inside(dom.inner_texts), texts_inside(texts), strict=True):
        yield from _changed(text, apart)


def _changed(text: str, apart: str) -> Iterator[str]:
    """Yield a text with its words apart, if there are more of them then."""
    if _WORDS.findall(apart) != _WORDS.findall(text):
        yield apart


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
