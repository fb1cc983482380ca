"""WebSocket frames as a server reads and writes them (RFC 6455), without extensions. Pure."""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha1
from typing import Final

from msgspec import Struct

MESSAGE_MAX = 128 << 20
"""Bytes of one message."""

TEXT: Final = 1
BINARY: Final = 2
CLOSE: Final = 8
PING: Final = 9
PONG: Final = 10

# The constant of RFC 6455, section 1.3.
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class BadFrame(Exception):
    """Raised for bytes that are no frame of a client, or too long."""


class WebSocketFrame(Struct, frozen=True):
    """One whole message, or one control frame."""

    kind: int
    data: bytes


def accept(key: str) -> str:
    """Return what answers a client's `Sec-WebSocket-Key`."""
    return b64encode(sha1(key.encode("latin-1", "replace") + _MAGIC, usedforsecurity=False).digest()).decode()


def frame(data: bytes, kind: int = TEXT) -> bytes:
    """Return one frame to a client."""
    size = len(data)
    if size < 126:
        return struct.pack(">BB", 0x80 | kind, size) + data
    if size < 1 << 16:
        return struct.pack(">BBH", 0x80 | kind, 126, size) + data
    return struct.pack(">BBQ", 0x80 | kind, 127, size) + data


class WebSocketReader:
    """Turns bytes of a client into messages."""

    def __init__(self, limit: int = MESSAGE_MAX) -> None:
        self._limit = limit
        self._bytes = bytearray()
        self._parts = bytearray()
        self._kind = 0

    def feed(self, data: bytes) -> Iterator[WebSocketFrame]:
        """Yield what is complete now. Raises BadFrame."""
        self._bytes += data
        while (found := self._next()) is not None:
            head, payload = found
            yield from self._take(head, payload)

    def _next(self) -> tuple[int, bytes] | None:
        held = self._bytes
        if len(held) < 2:
            return None
        if not held[1] & 0x80 or held[0] & 0x70:
            raise BadFrame("a frame without a mask, or with an extension")
        size, at = held[1] & 0x7F, 2
        if size >= 126:
            at = 4 if size == 126 else 10
            if len(held) < at:
                return None
            size = int.from_bytes(held[2:at], "big")
        # Before the bytes come: a claimed length must not make us keep gigabytes.
        if size > self._limit:
            raise BadFrame(f"{size} bytes, {self._limit} are allowed")
        if len(held) < at + 4 + size:
            return None
        payload = unmasked(bytes(held[at + 4 : at + 4 + size]), bytes(held[at : at + 4]))
        head = held[0]
        del held[: at + 4 + size]
        return head, payload

    def _take(self, head: int, payload: bytes) -> Iterator[WebSocketFrame]:
        kind, is_last = head & 15, bool(head & 0x80)
        if kind >= CLOSE:
            yield WebSocketFrame(kind, payload)
            return
        # Kind 0 continues a message, so it is due only after a first part.
        if bool(kind) == bool(self._kind):
            raise BadFrame("parts of two messages are mixed")
        self._kind = kind or self._kind
        self._parts += payload
        if len(self._parts) > self._limit:
            raise BadFrame(f"more than {self._limit} bytes")
        if is_last:
            whole, kind = bytes(self._parts), self._kind
            self._parts, self._kind = bytearray(), 0
            yield WebSocketFrame(kind, whole)


def unmasked(data: bytes, mask: bytes) -> bytes:
    """Return a payload without its mask, or with it."""
    if not any(mask) or not data:
        return data
    # One XOR of two large numbers is far quicker than a loop over bytes.
    repeated = (mask * (len(data) // 4 + 1))[: len(data)]
    number = int.from_bytes(data, "little") ^ int.from_bytes(repeated, "little")
    return number.to_bytes(len(data), "little")
