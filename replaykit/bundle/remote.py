"""Bundles far away: over HTTP with range requests, or on any file system that fsspec knows.

A run is graded from its end: most are one request. What a server sends is checked like any bundle.
"""

from __future__ import annotations

from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from typing import Any, NoReturn
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from replaykit.bundle.bundle_format import FILE_MAX, Place
from replaykit.errors import MissingExtra, SourceError
from replaykit.patterns import lazy_pattern

ATTEMPTS = 3
"""Times that a read is tried."""

TIMEOUT_SECONDS = 30.0
"""A server that is silent for so long is tried again."""

_RANGE = lazy_pattern(r"bytes (\d+)-(\d+)/(\d+)")


def open_remote(url: str) -> HttpSource | FileSystemSource:
    """Open a URL. Raises SourceError, MissingExtra."""
    return HttpSource(url) if url.lower().startswith(("http://", "https://")) else FileSystemSource(url)


class HttpSource:
    """A file behind HTTP. A server without ranges sends it whole, once, and it is kept in memory."""

    def __init__(self, url: str) -> None:
        self.name = url
        self._size = -1
        self._tag: str | None = None
        self._whole: bytes | None = None

    def size(self) -> int:
        """Return the size in bytes when it was first read."""
        if self._size < 0:
            self.read_suffix(1)
        return self._size

    def read_range(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes at `offset`."""
        if self._whole is None and length and self._size:
            data = self._tried(lambda: self._get(f"bytes={offset}-{offset + length - 1}"))
        if self._whole is not None:
            data = self._whole[offset : offset + length]
        if not length:
            return b""
        if len(data) != length:
            self._fail(f"{len(data)} of {length} bytes at {offset} are there")
        return data

    def read_suffix(self, length: int) -> bytes:
        """Return the last min(length, size) bytes; the first read, which also finds the size."""
        # `bytes=-0` is no range.
        if self._whole is None and self._size:
            data = self._tried(lambda: self._get(f"bytes=-{max(1, length)}"))
        if self._whole is not None:
            data = self._whole
        return data[-length:] if length and self._size else b""

    def close(self) -> None:
        """Forget what was read."""
        self._whole = None

    def _get(self, span: str) -> bytes:
        # Without the first: a proxy may compress, and then ranges are those of other bytes.
        headers = {"Accept-Encoding": "identity", "Range": span}
        with urlopen(Request(self.name, headers=headers), timeout=TIMEOUT_SECONDS) as response:
            return self._received(response)

    def _received(self, response: HTTPResponse) -> bytes:
        tag = response.headers.get("ETag") or response.headers.get("Last-Modified")
        if self._size >= 0 and tag != self._tag:
            self._fail("it changed while it was read")
        self._tag = tag
        found = _RANGE.fullmatch(response.headers.get("Content-Range", ""))
        if response.status == 206 and found is not None:
            return self._part(response, *map(int, found.groups()))
        # One byte more tells a larger file from one of just this size.
        data = response.read(FILE_MAX + 1)
        Place(self.name, 0).check("FILE_MAX", FILE_MAX, len(data))
        self._check(len(data), response.length or 0)
        self._whole, self._size = data, len(data)
        return data

    def _part(self, response: HTTPResponse, first: int, last: int, size: int) -> bytes:
        self._size = size
        data = response.read(last - first + 1)
        self._check(len(data), last - first + 1 - len(data))
        return data

    def _check(self, received: int, missing: int) -> None:
        if missing:
            raise HTTPException(f"the answer ends after {received} bytes, {missing} are missing")

    def _tried(self, read: Callable[[], bytes]) -> bytes:
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                return read()
            except HTTPError as error:
                error.close()
                # Of an empty file no range can be sent.
                if error.code == 416:
                    self._size = 0
                    return b""
                reason = f"HTTP {error.code} {error.reason}"
                # 408 and 429 ask to try again; other answers of this kind will not change.
                if error.code < 500 and error.code not in (408, 429):
                    break
            except URLError as error:
                reason = str(error.reason)
            except (OSError, HTTPException, ValueError) as error:
                reason = str(error) or type(error).__name__
        return self._fail(reason)

    def _fail(self, reason: str) -> NoReturn:
        raise SourceError(source=self.name, operation="read", reason=reason)


class FileSystemSource:
    """A file on a file system that fsspec knows: `s3://`, `gs://`, `memory://` and others."""

    def __init__(self, url: str) -> None:
        self.name = url
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise MissingExtra(package="fsspec", extra="remote", purpose=f"reading {url}") from None
        self._system, self._path = self._tried(lambda: url_to_fs(url), "open")
        self._size = int(self._tried(lambda: self._system.size(self._path), "open") or 0)

    def size(self) -> int:
        """Return the size in bytes when it was opened."""
        return self._size

    def read_range(self, offset: int, length: int) -> bytes:
        """Return exactly `length` bytes at `offset`."""
        if not length:
            return b""
        # By name: the second place is not the start everywhere (in s3fs it is a version).
        data = self._tried(
            lambda: self._system.cat_file(self._path, start=offset, end=offset + length), "read"
        )
        if len(data) != length:
            self._fail("read", f"{len(data)} of {length} bytes at {offset} are there")
        return bytes(data)

    def read_suffix(self, length: int) -> bytes:
        """Return the last min(length, size) bytes."""
        length = min(length, self._size)
        return self.read_range(self._size - length, length)

    def close(self) -> None:
        """Do nothing: the file system keeps its connections for the next bundle."""

    def _tried(self, attempt: Callable[[], Any], operation: str) -> Any:
        reason = ""
        for _ in range(ATTEMPTS):
            try:
                return attempt()
            except (FileNotFoundError, PermissionError, IsADirectoryError) as error:
                reason = error.strerror or str(error) or type(error).__name__
                break
            except ImportError as error:
                # A file system of its own package, such as s3fs for s3://.
                reason = str(error)
                break
            except Exception as error:  # noqa: BLE001  # each file system has errors of its own
                reason = str(error) or type(error).__name__
        return self._fail(operation, reason)

    def _fail(self, operation: str, reason: str) -> NoReturn:
        raise SourceError(source=self.name, operation=operation, reason=reason)
