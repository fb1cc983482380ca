"""Content of a compressed body, in bounded memory: gzip, zlib, Zstandard, bzip2, xz, members of a ZIP."""

from __future__ import annotations

import bz2
import io
import lzma
import zipfile
import zlib
from typing import NamedTuple

from replaykit.bundle.zstd_frames import unpacked

MEMBERS_MAX = 1000
"""Members of an archive that are read."""

ZIP_FAILURES = (
    zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, ValueError, OSError, MemoryError,
)  # fmt: skip
"""Exceptions that `zipfile` raises for damaged members; RuntimeError also for encryption and unknown methods.

"""

LEVELS_MAX = 4
"""How often a content is compressed that is still read."""

XZ_MEMORY_MAX = 2**27
"""Bytes of memory that an xz stream may ask for: the highest level of `xz` asks for half of it."""

_CLOSED = (
    b"%PDF-", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a\x07", b"\x04\x22\x4d\x18", b"\x1f\x9d", b"\x5d\x00\x00",
    b"LZIP", b"MSCF", b"Salted__", b"age-encryption.org/", b"-----BEGIN PGP MESSAGE",
)  # fmt: skip
"""First bytes of contents that are compressed or encrypted in a way that is not read."""

_ZLIB_OR_GZIP = 32 + zlib.MAX_WBITS


class Inflated(NamedTuple):
    """The contents of a compressed body."""

    data: bytes
    """As far as they were read; of an archive, names and contents of its members one after the other."""
    is_whole: bool
    """Whether that is all of them."""


def inflate(data: bytes, most: int) -> Inflated | None:
    """Return up to `most` bytes of what a compressed body holds; None where it is not, as far as known.

    The first bytes show how it is compressed: headers may claim something else.
    """
    if data.startswith(_CLOSED):
        return Inflated(b"", is_whole=False)
    if data.startswith(b"PK\x03\x04"):
        return _members(data, most)
    if data.startswith(b"\x28\xb5\x2f\xfd"):
        return _from_zstandard(data, most)
    if data.startswith((b"BZh", b"\xfd7zXZ\x00")):
        return _from_bzip2_or_xz(data, most)
    is_zlib = data[:1] == b"\x78" and len(data) > 1 and int.from_bytes(data[:2], "big") % 31 == 0
    return _from_zlib(data, most) if is_zlib or data.startswith(b"\x1f\x8b") else None


def innermost(data: bytes, most: int) -> Inflated | None:
    """Return the same of a body that is compressed several times."""
    found = inflate(data, most)
    for _ in range(LEVELS_MAX - 1):
        inner = inflate(found.data, most) if found is not None else None
        if found is None or inner is None:
            return found
        if not inner.is_whole:
            # Data that only begin as if compressed may be read as they are.
            return Inflated(found.data + b"\n" + inner.data, is_whole=False)
        found = inner if found.is_whole else inner._replace(is_whole=False)
    is_open = found is not None and inflate(found.data, 1) is not None
    return found._replace(is_whole=False) if found is not None and is_open else found


def _from_zlib(data: bytes, most: int) -> Inflated | None:
    machine = zlib.decompressobj(_ZLIB_OR_GZIP)
    try:
        plain = machine.decompress(data, most)
    except zlib.error:
        return Inflated(b"", is_whole=False) if data.startswith(b"\x1f\x8b") else None
    # Bytes behind the end are another stream, or no part of this one.
    return Inflated(plain, is_whole=machine.eof and not machine.unused_data)


def _from_zstandard(data: bytes, most: int) -> Inflated:
    try:
        plain = unpacked(data, most + 1)
    except ValueError:
        return Inflated(b"", is_whole=False)
    return Inflated(plain[:most], is_whole=len(plain) <= most)


def _from_bzip2_or_xz(data: bytes, most: int) -> Inflated:
    is_bzip2 = data.startswith(b"BZh")
    machine = bz2.BZ2Decompressor() if is_bzip2 else lzma.LZMADecompressor(lzma.FORMAT_XZ, XZ_MEMORY_MAX)
    try:
        plain = machine.decompress(data, most)
    except (OSError, lzma.LZMAError):
        return Inflated(b"", is_whole=False)
    return Inflated(plain, is_whole=machine.eof and not machine.unused_data)


def _members(data: bytes, most: int) -> Inflated:
    parts, left = list[bytes](), most
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            listed = archive.infolist()
            for member in listed[:MEMBERS_MAX]:
                with archive.open(member) as opened:
                    part = opened.read(left + 1)
                parts += [member.filename.encode("utf-8", "replace"), part[:left]]
                left -= len(part)
                if left < 0:
                    break
    except ZIP_FAILURES:
        return Inflated(b"\n".join(parts), is_whole=False)
    # Archives within an archive are not opened.
    is_read = (
        left >= 0 and len(listed) <= MEMBERS_MAX and all(inflate(part, 1) is None for part in parts[1::2])
    )
    return Inflated(b"\n".join(parts), is_whole=is_read)
