"""Selectors that cannot match, found out from the bytes of a snapshot: parsing it takes ten times as long.

Every match holds the words of its selector: an id, a class, a tag, a name, a part of a value. A word of
letters, digits, `_` and `-` stands in JSON as itself, so a snapshot without the word holds no match; more the
bytes cannot say. Letters may also be escaped in JSON, which no recorder does: such a snapshot is parsed.
"""

from __future__ import annotations

from functools import cached_property

from replaykit.replay.selectors.selector_matching import Selector

# Of letters, JSON has no other escape than this one, with two more digits.
_ESCAPED = (b"\\", b"\\u00")
# Elements that were left out may match anything. A text of that content only costs the parsing.
_OMITTED = (b"~", b'"~"')


class Prefilter:
    """The bytes of one snapshot."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    @cached_property
    def _folded(self) -> bytes | None:
        """The bytes without ASCII case; None where words may be hidden or left out."""
        # One byte is found twenty times as fast as several, and most pages have it nowhere.
        marks = (mark for byte, mark in (_ESCAPED, _OMITTED) if byte in self._data)
        return None if any(mark in self._data for mark in marks) else self._data.lower()

    def excludes(self, selector: Selector) -> bool:
        """Whether nothing in the snapshot can match."""
        needs = [one.words for one in selector.complexes if one.matchable]
        if not all(needs) or self._folded is None:
            return False
        return not any(all(word in self._folded for word in words) for words in needs)
