"""The bodies of a model server's responses, read up to a cap, compressed or not. Loaded with an SDK."""

from __future__ import annotations

import itertools
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

BODY_MAX = 4 * 2**20
"""Bytes of a response, as sent and decompressed."""

BATCH_MAX = 256 * 2**20
"""Bytes of the results of a batch, as sent and decompressed."""

HEADERS = {"accept-encoding": "gzip, deflate"}
"""Encodings that a client accepts: both are decompressed in bounded pieces."""

_PIECE = 64 * 1024


class BodyError(Exception):
    """A body is too large or too slow, or is not what its encoding says."""


class SlowBody(BodyError):
    """A body takes more than its time: the deadline of the call, met before the caller sees it."""


class Bounded:
    """Lets the body of a response end in an error above the cap, and after its time: a hook for httpx.

    `seconds`: of one body; a server that sends a byte now and then resets every other timeout.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock

    def __call__(self, response: Any) -> None:
        """Put a bounded stream in the place of a response's body."""
        most = BATCH_MAX if response.request.url.path.endswith("/results") else BODY_MAX
        # The body below is decompressed already: httpx itself would decompress a piece without a bound.
        encoding = response.headers.pop("content-encoding", "identity").strip().lower()
        # SDKs bring httpx or its successor httpx2; each reads bodies of its own class only.
        library = sys.modules[type(response).__module__.partition(".")[0]]
        kind = type("Body", (_Body, library.SyncByteStream), {})
        sent = _capped(_timed(response.stream, self._seconds, self._clock), most)
        response.stream = kind(response.stream, _decoded(sent, encoding, most))


class _Body:
    def __init__(self, stream: Any, pieces: Iterator[bytes]) -> None:
        self._stream = stream
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        return self._pieces

    def close(self) -> None:
        self._stream.close()


def _timed(pieces: Iterable[bytes], seconds: float, clock: Callable[[], float]) -> Iterator[bytes]:
    end = clock() + seconds
    for piece in pieces:
        if clock() > end:
            raise SlowBody(f"the body took more than {seconds:g} s")
        yield piece


def _capped(pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > most:
            raise BodyError(f"the body is larger than {most} bytes")
        yield piece


def _decoded(sent: Iterator[bytes], encoding: str, most: int) -> Iterator[bytes]:
    if encoding in ("", "identity"):
        return sent
    if encoding in ("gzip", "x-gzip"):
        return _capped(_inflated(sent, _GZIP), most)
    if encoding == "deflate":
        first = next(sent, b"")
        return _capped(_inflated(itertools.chain((first,), sent), _deflate_of(first)), most)
    return _refused(encoding)


def _refused(encoding: str) -> Iterator[bytes]:
    # A generator: the error belongs to who reads the body, not to the hook.
    yield from ()
    raise BodyError(f"the body is encoded as {encoding!r}: accepted are gzip, deflate")


_GZIP, _ZLIB, _RAW = 31, 15, -15
"""Window bits of zlib for each wrapping."""


def _deflate_of(first: bytes) -> int:
    """Return how a body of `deflate` is wrapped: with zlib's header as RFC 9110 says, or bare."""
    has_header = first[:1] == b"\x78" and (len(first) < 2 or int.from_bytes(first[:2], "big") % 31 == 0)
    return _ZLIB if has_header else _RAW


def _inflated(pieces: Iterable[bytes], bits: int) -> Iterator[bytes]:
    work, has_begun = zlib.decompressobj(wbits=bits), False
    for piece in pieces:
        rest, has_begun = piece, has_begun or bool(piece)
        while rest:
            if work.eof:
                work = _following(bits)
            try:
                yield work.decompress(rest, _PIECE)
            except zlib.error as error:
                raise BodyError(f"the body does not match its encoding: {error}") from error
            rest = work.unused_data if work.eof else work.unconsumed_tail
    if has_begun and not work.eof:
        raise BodyError("the body does not match its encoding: it ends too early")


def _following(bits: int) -> Any:
    """Return what reads the next part: only gzip has several, one after the other."""
    if bits != _GZIP:
        raise BodyError("the body does not match its encoding: something follows its end")
    return zlib.decompressobj(wbits=bits)
