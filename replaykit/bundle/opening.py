"""Open the container of a bundle, whatever its layout."""

from __future__ import annotations

from pathlib import Path

from replaykit.bundle.container import Container
from replaykit.bundle.format import PREAMBLE_SIZE, Limits, Place, read_preamble
from replaykit.bundle.scan import open_journal
from replaykit.bundle.sealed import open_sealed
from replaykit.bundle.source import Source, open_source


def open_container(source: str | Path, limits: Limits | None = None) -> Container:
    """Open the container of a bundle; the caller closes it."""
    opened = open_source(source)
    try:
        return _open(opened, limits or Limits())
    except BaseException:
        opened.close()
        raise


def _open(source: Source, limits: Limits) -> Container:
    size = source.size()
    preamble = read_preamble(source.read_range(0, min(size, PREAMBLE_SIZE)), source.name)
    Place(source.name, 0).check("FILE_MAX", limits.file, size)
    opener = open_journal if preamble.layout == "journal" else open_sealed
    return opener(source, preamble.format, limits)
