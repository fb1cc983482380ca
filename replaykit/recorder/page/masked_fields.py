"""Values of masked fields: the page encrypts them, and here each becomes what stands for it in the file.

The key is drawn for one recording, kept in memory, and says nothing of a secret: none enters a page, neither
as a text nor as a digest. XTEA makes a checksum of the value, and from there a key stream. So equal values
give equal marks, and a mark that a page made up is refused. `masking.js` is the other half.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from functools import lru_cache
from secrets import token_bytes
from typing import TypeAlias

import msgspec

from replaykit.patterns import lazy_pattern
from replaykit.trajectory.redaction_marks import MASKED

Key: TypeAlias = tuple[int, ...]
"""Eight words of 32 bits: four for the checksum, four for the key stream."""

Block: TypeAlias = tuple[int, int]
"""Two words of 32 bits."""

Shown: TypeAlias = Callable[[str], str]
"""Returns what stands in the file for the value of a masked field."""

_MARK = lazy_pattern(r"⟦field:((?:[0-9a-f]{16}){2,129})⟧")
"""An encrypted value: its checksum, and its blocks."""

_ROUNDS = 32
_DELTA = 0x9E3779B9
_WORD = 0xFFFFFFFF


class MaskedFields:
    """Opens the values of masked fields of one recording; `shown` says what becomes of them."""

    def __init__(self, shown: Shown = lambda value: MASKED) -> None:
        self.key: Key = struct.unpack(">8I", token_bytes(32))
        """Key of the script, which encrypts with it."""
        self._shown = shown
        # Each look at a page says the same again.
        self._stands = lru_cache(maxsize=256)(self._opened)

    def opened(self, text: str) -> str:
        """Return a message of the script, in each encrypted value's place what stands for it."""
        return _MARK.sub(lambda mark: self._stands(mark[1]), text) if "⟦field:" in text else text

    def _opened(self, digits: str) -> str:
        value = decrypted(digits, self.key)
        shown = MASKED if value is None else self._shown(value)
        # It goes into JSON, also into JSON within a string.
        return shown if msgspec.json.encode(shown) == f'"{shown}"'.encode() else MASKED


def decrypted(digits: str, key: Key) -> str | None:
    """Return the value of a mark, given as hex digits; None if another key made it."""
    (tag, *blocks) = struct.iter_unpack(">2I", bytes.fromhex(digits))
    stream = (_enciphered((tag[0], (tag[1] + place) & _WORD), key[4:]) for place in range(len(blocks)))
    plain = [_mixed(block, part) for block, part in zip(blocks, stream, strict=True)]
    return _text(plain) if _checksum(plain, key[:4]) == tag else None


def _text(blocks: list[Block]) -> str:
    # UTF-16, its length first: a value may end in the zeros that fill the last block.
    size, *units = (unit for block in blocks for unit in _units(block))
    return struct.pack(f">{size}H", *units[:size]).decode("utf-16-be", "surrogatepass")


def _units(block: Block) -> Iterator[int]:
    for word in block:
        yield from divmod(word, 1 << 16)


def _checksum(blocks: list[Block], key: Key) -> Block:
    tag = (0, 0)
    for block in blocks:
        tag = _enciphered(_mixed(tag, block), key)
    return tag


def _mixed(one: Block, other: Block) -> Block:
    return one[0] ^ other[0], one[1] ^ other[1]


def _enciphered(block: Block, key: Key) -> Block:
    left, right = block
    total = 0
    for _ in range(_ROUNDS):
        left = (left + (((right << 4 ^ right >> 5) + right) ^ (total + key[total & 3]))) & _WORD
        total = (total + _DELTA) & _WORD
        right = (right + (((left << 4 ^ left >> 5) + left) ^ (total + key[total >> 11 & 3]))) & _WORD
    return left, right
