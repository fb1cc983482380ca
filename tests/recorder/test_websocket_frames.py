"""Frames of WebSockets, as a server reads and writes them."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from replaykit.recorder.proxy.websocket_frames import (
    BINARY,
    CLOSE,
    PING,
    TEXT,
    BadFrame,
    WebSocketFrame,
    WebSocketReader,
    accept,
    frame,
    unmasked,
)


def sent(data: bytes, kind: int = TEXT, *, is_last: bool = True, mask: bytes = b"m\0sk") -> bytes:
    """Return a frame as a client sends it."""
    size = len(data)
    first = (0x80 if is_last else 0) | kind
    if size < 126:
        head = struct.pack(">BB", first, 0x80 | size)
    elif size < 1 << 16:
        head = struct.pack(">BBH", first, 0x80 | 126, size)
    else:
        head = struct.pack(">BBQ", first, 0x80 | 127, size)
    return head + mask + unmasked(data, mask)


def test_handshake_of_the_standard() -> None:
    assert accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


@given(
    st.lists(st.tuples(st.sampled_from([TEXT, BINARY, PING]), st.binary(max_size=70_000)), max_size=4),
    st.integers(1, 9000),
)
def test_messages_come_whole_in_any_pieces(messages: list[tuple[int, bytes]], size: int) -> None:
    data = b"".join(sent(payload, kind) for kind, payload in messages)
    frames = WebSocketReader()
    found = [one for at in range(0, len(data), size) for one in frames.feed(data[at : at + size])]
    assert found == [WebSocketFrame(kind, payload) for kind, payload in messages]


def test_parts_are_joined_around_a_control_frame() -> None:
    data = sent(b"one ", TEXT, is_last=False) + sent(b"?", PING) + sent(b"two", 0)
    assert list(WebSocketReader().feed(data)) == [
        WebSocketFrame(PING, b"?"),
        WebSocketFrame(TEXT, b"one two"),
    ]


@pytest.mark.parametrize(
    "data",
    [
        frame(b"without a mask"),
        sent(b"x" * 2000),
        sent(b"x" * 900, is_last=False) + sent(b"x" * 900, 0),
        sent(b"a", is_last=False) + sent(b"b"),
        sent(b"a", 0),
        bytes([0xC1]) + sent(b"compressed")[1:],
    ],
)
def test_what_is_no_frame_or_too_long_is_refused(data: bytes) -> None:
    with pytest.raises(BadFrame):
        list(WebSocketReader(limit=1000).feed(data))


@given(st.binary(max_size=300), st.binary(min_size=4, max_size=4))
def test_mask_twice_is_none(data: bytes, mask: bytes) -> None:
    assert unmasked(unmasked(data, mask), mask) == data


@pytest.mark.parametrize(("size", "head"), [(5, 2), (300, 4), (70_000, 10)])
def test_length_of_a_frame(size: int, head: int) -> None:
    data = frame(b"x" * size)
    assert len(data) == head + size
    assert frame(b"", CLOSE) == b"\x88\x00"
