"""One writer for one file: advisory locks (flock) that die with the process that holds them.

Who writes a journal locks it, and what seals locks its source and its temporary file; who reads asks for
nothing. Where the system (Windows) or the file system has no such locks, nothing is locked and nothing
refused. Children that a process forked share its locks until it releases them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from replaykit.errors import BundleBusy

if sys.platform != "win32":
    import fcntl

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def lock(file: int, *, shared: bool) -> bool:
    """Lock an open file without waiting; False = there are no locks here.

    Raises BlockingIOError if another process holds it.
    """
    if sys.platform == "win32":
        return False
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    # A kind of OSError, so it has to pass the next clause.
    except BlockingIOError:
        raise
    except OSError:
        return False
    return True


def release(file: int) -> None:
    """Unlock an open file, for forked children too."""
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def not_recorded(path: str | Path, operation: str) -> Iterator[None]:
    """Hold a file that no recorder may be writing. Raises BundleBusy; a missing file is left to the block."""
    try:
        file = os.open(path, _READ)
    except (OSError, ValueError):
        yield
        return
    try:
        is_locked = lock(file, shared=True)
    except BlockingIOError as error:
        os.close(file)
        raise BundleBusy(source=str(path), operation=operation) from error
    if not is_locked:
        os.close(file)  # Windows replaces no file that is open
    try:
        yield
    finally:
        if is_locked:
            os.close(file)


def remove_abandoned(folder: Path, prefix: str) -> None:
    """Remove files of this prefix whose writer is dead; what may be alive, or cannot be removed, stays."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(prefix):
                remove_unlocked(entry.path)


def remove_unlocked(path: str) -> None:
    """Remove a file whose writer is dead; what may be alive, or cannot be removed, stays."""
    with suppress(OSError):
        file = os.open(path, _READ | getattr(os, "O_NOFOLLOW", 0))
        try:
            if lock(file, shared=False):
                Path(path).unlink()
        finally:
            os.close(file)
