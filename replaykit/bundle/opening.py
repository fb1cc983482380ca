"""Open the container of a bundle, whatever its layout."""

from __future__ import annotations

from pathlib import Path

from replaykit.bundle.bundle_format import PREAMBLE_SIZE, SUFFIX, Limits, Place, read_preamble
from replaykit.bundle.byte_source import ByteSource, open_source
from replaykit.bundle.container import Container
from replaykit.bundle.scan import open_journal
from replaykit.bundle.sealed_file import open_sealed
from replaykit.bundle.tail import TailSource

_TAIL = SUFFIX - PREAMBLE_SIZE
"""Preamble and tail are 64 KiB together; a smaller file is one read."""


def open_container(source: str | Path, limits: Limits | None = None) -> Container:
    """Open the container of a bundle; the caller closes it."""
    opened = open_source(source)
    try:
        return read_container(opened, limits or Limits())
    except BaseException:
        opened.close()
        raise


def read_container(source: ByteSource, limits: Limits) -> Container:
    """Open the container that a source holds; closing the container closes the source."""
    tail = TailSource(source, _TAIL)
    size = source.size()
    preamble = read_preamble(tail.read_range(0, min(size, PREAMBLE_SIZE)), source.name)
    Place(source.name, 0).check("FILE_MAX", limits.file, size)
    if preamble.layout == "journal":
        return open_journal(source, preamble.format, limits)
    return open_sealed(tail, preamble.format, limits)
