"""A WebSocket client for a loopback server, as far as the DevTools protocol needs one (RFC 6455)."""

from __future__ import annotations

import base64
import os
import socket
import struct
from urllib.parse import urlsplit

TEXT, PING, PONG = 1, 9, 10


class WebSocket:
    """A connection that sends and receives texts."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname and parts.port
        self._socket = socket.create_connection((parts.hostname, parts.port), timeout=30)
        self._file = self._socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert b" 101 " in self._file.readline()
        while self._file.readline() != b"\r\n":
            pass

    def send(self, text: str, kind: int = TEXT) -> None:
        """Send one frame; a client masks what it sends."""
        data, mask = text.encode(), os.urandom(4)
        length = len(data)
        size = bytes([0x80 | length]) if length < 126 else b"\xfe" + struct.pack("!H", length)
        if length > 0xFFFF:
            size = b"\xff" + struct.pack("!Q", length)
        masked = bytes(byte ^ mask[number % 4] for number, byte in enumerate(data))
        self._socket.sendall(bytes([0x80 | kind]) + size + mask + masked)

    def receive(self) -> str:
        """Return the next text, of however many frames."""
        whole, is_last = b"", False
        while not is_last:
            first, second = self._file.read(2)
            length = second & 0x7F
            if length > 125:
                form = "!H" if length == 126 else "!Q"
                (length,) = struct.unpack(form, self._file.read(struct.calcsize(form)))
            data = self._file.read(length)
            if first & 0x0F == PING:
                self.send(data.decode(), PONG)
                continue
            whole, is_last = whole + data, bool(first & 0x80)
        return whole.decode()

    def close(self) -> None:
        """End the connection."""
        self._file.close()
        self._socket.close()
