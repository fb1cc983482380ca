"""Traffic of a WebSocket, kept one way at a time."""

from __future__ import annotations

import msgspec

from replaykit.secrets.redactor import Redactor
from replaykit.trajectory.scalars import Omitted

SOCKET_MAX = 2**16
"""Bytes of texts that are kept of one socket, each way; a message counts one more than its length."""

FRAMES = "application/x-ndjson"
"""Media type of the messages: a JSON line each, `opcode` and `data`. Imports of HAR keep them likewise."""

TEXT = 1
"""Opcode of texts."""


class Side:
    """The messages that went one way, the first ones up to a bound."""

    def __init__(self) -> None:
        self.count = 0
        self.size = 0
        """Bytes of all messages."""
        self.why = ""
        """Why messages are missing; empty = they are all here."""
        self._texts: list[str] = []
        self._kept = 0

    def take(self, text: str | None, size: int, room: int) -> int:
        """Record a message, `None` = no text; return how many bytes of the `room` it takes."""
        self.count += 1
        self.size += size
        if text is None:
            self.why = self.why or "type"
            return 0
        # Once a message is left out all later ones are, so that those kept have no hole.
        if self.why == "cap" or size >= min(room, SOCKET_MAX - self._kept):
            self.why = "cap"
            return 0
        self._texts.append(text)
        self._kept += size + 1
        return size + 1

    def lines(self, redactor: Redactor) -> bytes:
        """Return the texts as JSON lines, each without secrets; empty if absent."""
        # Before they are encoded: escapes of JSON would hide a secret from the redactor.
        clean = (redactor.blob("application/json", text.encode("utf-8", "replace")) for text in self._texts)
        texts = (one.decode("utf-8", "replace") for one in clean)
        return b"".join(msgspec.json.encode({"opcode": TEXT, "data": text}) + b"\n" for text in texts)

    def omitted(self, why: str = "") -> Omitted | None:
        """Return why there are no messages; None where no message went this way."""
        return Omitted(why=why or self.why, n=self.size) if self.count else None
