"""The end of a source, read once and kept: what opening and grading ask for stands there."""

from __future__ import annotations

from replaykit.bundle.byte_source import ByteSource


class TailSource:
    """A source whose last bytes are in memory.

    In nine runs of ten they hold seek table, index, story and everything but pictures: one read in all.
    """

    def __init__(self, source: ByteSource, length: int) -> None:
        self.name = source.name
        self._source = source
        self._tail = source.read_suffix(length)
        self._start = source.size() - len(self._tail)

    def size(self) -> int:
        """Return the size in bytes when it was opened."""
        return self._source.size()

    def read_range(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes at `offset`; what the tail holds of them is not read again."""
        before = min(length, max(0, self._start - offset))
        inside = max(0, offset - self._start)
        if length - before > len(self._tail) - inside:
            return self._source.read_range(offset, length)
        part = self._tail[inside : inside + length - before]
        return self._source.read_range(offset, before) + part if before else part

    def read_suffix(self, length: int) -> bytes:
        """Return the last min(length, size) bytes."""
        length = min(length, self.size())
        return self.read_range(self.size() - length, length)

    def close(self) -> None:
        """Forget the tail and close the source; a second call does nothing."""
        self._tail = b""
        self._source.close()
