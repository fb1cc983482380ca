"""The bodies of a model server's responses, read up to a cap, compressed or not. Loaded with an SDK."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

BODY_MAX = 4 * 2**20
"""Bytes of a response, as sent and decompressed."""

BATCH_MAX = 256 * 2**20
"""Bytes of the results of a batch, as sent and decompressed."""

HEADERS = {"accept-encoding": "gzip, deflate"}
"""What a client may be sent: both are decompressed in bounded pieces."""

_PIECE = 64 * 1024


class BodyError(Exception):
    """A body is too large, or is not what its encoding says."""


def bounded(response: Any) -> None:
    """Let the body of a response end in an error above the cap: a hook for responses of httpx."""
    most = BATCH_MAX if response.request.url.path.endswith("/results") else BODY_MAX
    # The body below is decompressed already: httpx itself would decompress a piece without a bound.
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    # SDKs bring httpx or its successor httpx2; each reads bodies of its own class only.
    library = sys.modules[type(response).__module__.partition(".")[0]]
    kind = type("Body", (_Body, library.SyncByteStream), {})
    response.stream = kind(response.stream, encoding, most)


class _Body:
    def __init__(self, stream: Any, encoding: str, most: int) -> None:
        self._stream = stream
        self._encoding = encoding
        self._most = most

    def __iter__(self) -> Iterator[bytes]:
        plain = _capped(self._stream, self._most)
        if self._encoding == "identity":
            return plain
        if self._encoding not in ("gzip", "x-gzip", "deflate"):
            raise BodyError(f"the body is encoded as {self._encoding!r}: accepted are gzip, deflate")
        return _capped(_inflated(plain), self._most)

    def close(self) -> None:
        self._stream.close()


def _capped(pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise BodyError(f"the body is larger than {most} bytes")
        yield piece


def _inflated(pieces: Iterable[bytes]) -> Iterator[bytes]:
    work = zlib.decompressobj(wbits=47)
    for piece in pieces:
        rest = piece
        while rest and not work.eof:
            try:
                yield work.decompress(rest, _PIECE)
            except zlib.error as error:
                raise BodyError(f"the body is not what its encoding says: {error}") from error
            rest = work.unconsumed_tail
