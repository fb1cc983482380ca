"""How far into a page the first element may end that a selector finds, from its tokens alone.

Reading makes a row of every node, and most questions are about one element. On a page that ends with it, a
selector that does not look ahead finds the same element, and a box with lines of its own shows the same
(`Layout.is_apart`). A wrong guess costs time, never an answer: who finds nothing reads the whole page.
"""

from __future__ import annotations

from replaykit.replay.dom_tree import ascii_lower
from replaykit.replay.selectors.selector_matching import Compound, Selector
from replaykit.snapshot.snapshot_format import Tokens

# With less of a page to save, it is read as a whole: another question may follow.
_WORTH = 3 / 4
_OPENING = frozenset("<%&^#@")


def beginning(tokens: Tokens, selector: Selector) -> int:
    """Return how many tokens reach to the end of the first element that may match; 0 if it saves nothing."""
    if selector.looks_ahead or len(selector.complexes) != 1:
        return 0
    start = _start(tokens, selector.complexes[0].compounds[-1])
    end = end_of(tokens, start) if start >= 0 else len(tokens)
    return end if end < _WORTH * len(tokens) else 0


def _start(tokens: Tokens, subject: Compound) -> int:
    """Return the place of the first start token of that tag, or with these names among its attributes."""
    if subject.names:
        return next((at - 1 for at, token in enumerate(tokens) if _has(token, subject.names)), -1)
    tag = subject.key[1] if subject.key is not None else ""
    return tokens.index(start) if (start := f"<{ascii_lower(tag)}") in tokens else -1


def _has(token: object, names: tuple[str, ...]) -> bool:
    if not isinstance(token, list):
        return False
    text = " ".join(token)
    return all(name in text for name in names)


def end_of(tokens: Tokens, start: int) -> int:
    """Return the place after the token that closes an element, and maybe others around it."""
    depth, is_operand = 0, False
    for at in range(start, len(tokens)):
        token = tokens[at]
        if isinstance(token, str):
            depth += token[:1] in _OPENING
        elif isinstance(token, int) and not is_operand:
            depth -= token
        if depth <= 0:
            return at + 1
        is_operand = token == "~"
    return len(tokens)
