"""Read bundles as grading does, count what is read, and show the peak memory of a process that does it.

Run: .venv/bin/python -m bench.runs.reading BUNDLE…    (prints MB)
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from replaykit.bundle.bundle_format import Limits
from replaykit.bundle.byte_source import ByteSource, LocalSource
from replaykit.bundle.opening import read_container
from replaykit.bundle.reader import Bundle
from replaykit.snapshot.snapshot_format import MEDIA_TYPE

ROUNDS = 20


class CountingSource:
    """A source that counts its reads and the bytes they gave."""

    def __init__(self, source: ByteSource) -> None:
        self.name = source.name
        self.reads = 0
        self.bytes = 0
        self._source = source

    def size(self) -> int:
        return self._source.size()

    def read_range(self, offset: int, length: int) -> bytes:
        return self._counted(self._source.read_range(offset, length))

    def read_suffix(self, length: int) -> bytes:
        return self._counted(self._source.read_suffix(length))

    def close(self) -> None:
        self._source.close()

    def _counted(self, part: bytes) -> bytes:
        self.reads += 1
        self.bytes += len(part)
        return part


def grade_like(bundle: Bundle) -> None:
    """Read what grading reads where no screenshot is asked for: story and every snapshot, newest first."""
    _ = bundle.trajectory
    for id in bundle.blob_ids:
        if bundle.blob_type(id) == MEDIA_TYPE:
            bundle.blob(id)


def counted(path: Path) -> CountingSource:
    """Read a bundle as grading does and return what was counted."""
    source = CountingSource(LocalSource(path))
    with Bundle(read_container(source, Limits())) as bundle:
        grade_like(bundle)
    return source


def peak() -> float:
    """Return the most memory this process has held, in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
        return int(lines["VmHWM"].split()[0]) / 1000
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    """Read all bundles several times."""
    for path in sys.argv[1:] * ROUNDS:
        counted(Path(path))
    print(f"{peak():.1f}")


if __name__ == "__main__":
    main()
