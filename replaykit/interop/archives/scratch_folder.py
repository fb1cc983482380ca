"""Folders in which an import works, beside its bundles.

They are gone when the import leaves them. What a killed process leaves behind, the next import removes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from replaykit.bundle.locking import lock

PREFIX = ".importing-"
"""How the name of such a folder begins."""

LOCK = ".lock"
"""A file in it that is locked while the folder is in use."""


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Make a folder that lives as long as the block; `parent` is made where it is missing. Raises OSError."""
    parent.mkdir(parents=True, exist_ok=True)
    place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    try:
        new = place / f"{LOCK}-new"
        with new.open("wb") as held:
            if lock(held.fileno(), shared=False):
                # Named when it is locked: another import removes what nobody holds.
                new.replace(place / LOCK)
            yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def remove_abandoned_folders(parent: Path) -> None:
    """Remove what killed imports left in a folder; what another one works in stays."""
    with suppress(OSError):
        for place in parent.glob(f"{PREFIX}*"):
            if place.is_dir() and not place.is_symlink() and _is_abandoned(place):
                shutil.rmtree(place, ignore_errors=True)


def _is_abandoned(place: Path) -> bool:
    """Whether nobody holds the lock; where there are no locks, nobody can tell."""
    try:
        file = os.open(place / LOCK, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    try:
        return lock(file, shared=False)
    except BlockingIOError:
        return False
    finally:
        os.close(file)
