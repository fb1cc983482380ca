"""Selectors that cannot match, found out from the bytes of a snapshot: parsing it takes ten times as long.

Every match holds the words of its selector: an id, a class, a tag, a name, a part of a value. A word of
letters, digits, `_` and `-` stands in JSON as itself, so a snapshot without the word holds no match; more the
bytes cannot say. Letters may also be escaped in JSON, which no recorder does: such a snapshot is parsed.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from replaykit.patterns import lazy_pattern
from replaykit.replay.dom_tree import ascii_lower
from replaykit.replay.selectors.selector_matching import Compound, Selector
from replaykit.snapshot.codec import LF
from replaykit.snapshot.snapshot_format import Tokens

# Of letters, JSON has no other escape than this one, with two more digits.
_ESCAPED = (b"\\", b"\\u00")
# Elements that were left out may match anything. A text of that content only costs the parsing.
_OMITTED = (b"~", b'"~"')
# Within a text of a page, a quotation mark is escaped.
_VALUE = lazy_pattern(rb'"value"\s*:')


class Prefilter:
    """The tokens of one snapshot, not yet decoded: its head and its columns of numbers match nothing."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def _tokens(self) -> bytes:
        start = self._data.find(LF) + 1
        return self._data[start : self._data.find(LF, start) + 1 or None]

    @cached_property
    def _folded(self) -> bytes | None:
        """The bytes without ASCII case; None where words may be hidden or left out."""
        # One byte is found twenty times as fast as several, and most pages have it nowhere.
        tokens = self._tokens()
        marks = (mark for byte, mark in (_ESCAPED, _OMITTED) if byte in tokens)
        return None if any(mark in tokens for mark in marks) else tokens.lower()

    @property
    def may_hold_values(self) -> bool:
        """Whether an element may have a live value: its key stands in the bytes, plain or escaped."""
        tokens = self._tokens()
        return _VALUE.search(tokens) is not None or b"\\u00" in tokens

    def held(self, words: Iterable[bytes]) -> list[bytes]:
        """Return those of these words, in lower case, that may stand in the snapshot."""
        folded = self._folded
        return list(words) if folded is None else [word for word in words if word in folded]

    def lacks(self, words: Iterable[bytes]) -> bool:
        """Whether one of these words, in lower case, is nowhere in it; the rarest is best named first."""
        folded = self._folded
        return folded is not None and not all(word in folded for word in words)

    def excludes(self, selector: Selector) -> bool:
        """Whether nothing in the snapshot can match."""
        needs = [one.words for one in selector.complexes if one.matchable]
        return self._folded is not None and all(map(self.lacks, needs))


# With less of a page to save, it is read as a whole: another question may follow.
_WORTH = 3 / 4
_NEAR = 512
"""Bytes that are read beyond an element's start, at least."""
_OPENING = frozenset("<%&^#@")


def reach(packed: bytes, selector: Selector) -> int:
    """Return how many bytes of the tokens may hold the end of the first element that matches; 0: read all."""
    if selector.looks_ahead or len(selector.complexes) != 1:
        return 0
    subject = selector.complexes[0].compounds[-1]
    marks = subject.names or (f'"<{_tag(subject)}"',)
    places = [packed.find(mark.encode()) for mark in marks]
    # Where a start token follows, a token ends, or else one is cut and nothing can be decoded.
    upto = packed.find(b',"<', max(places) + _NEAR)
    return upto if min(places) >= 0 and 0 < upto < _WORTH * len(packed) else 0


def beginning(tokens: Tokens, selector: Selector, *, worth: float = _WORTH) -> int:
    """Return how many tokens reach to the end of the first element that may match; 0 if it saves nothing.

    `worth`: share of the tokens that may be needed at most.
    """
    if selector.looks_ahead or len(selector.complexes) != 1:
        return 0
    start = _start(tokens, selector.complexes[0].compounds[-1])
    end = end_of(tokens, start) if start >= 0 else len(tokens)
    return end if end < worth * len(tokens) else 0


def _start(tokens: Tokens, subject: Compound) -> int:
    """Return the place of the first start token of that tag, or with these names among its attributes."""
    if subject.names:
        return next((at - 1 for at, token in enumerate(tokens) if _has(token, subject.names)), -1)
    return tokens.index(start) if (start := f"<{_tag(subject)}") in tokens else -1


def _tag(subject: Compound) -> str:
    return ascii_lower(subject.key[1]) if subject.key is not None else ""


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
