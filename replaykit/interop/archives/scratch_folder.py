"""Folders in which an import works, beside its bundles.

They are gone when the import leaves them. What a killed process leaves behind, the next import removes.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from replaykit.bundle.locking import lock

PREFIX = ".importing-"
"""How the name of such a folder begins."""

LOCK = ".lock"
"""A file in it that is locked while the folder is in use."""


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Make a folder that lives as long as the block; `parent` is made where it is missing. Raises OSError."""
    parent.mkdir(parents=True, exist_ok=True)
    place, held = _held_folder(parent)
    try:
        with held:
            yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def remove_abandoned_folders(parent: Path) -> None:
    """Remove what killed imports left in a folder; what another one works in stays."""
    for place in parent.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if place.is_dir() and not place.is_symlink():
                _remove_unheld(place)


def _held_folder(parent: Path) -> tuple[Path, BinaryIO]:
    """Make a folder and lock it; one that another import removes before it is locked is made again."""
    while True:
        place = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
        with suppress(FileNotFoundError), ExitStack() as opened:
            held = opened.enter_context((place / LOCK).open("wb"))
            with suppress(BlockingIOError):
                if not lock(held.fileno(), shared=False) or (place / LOCK).exists():
                    opened.pop_all()
                    return place, held


def _remove_unheld(place: Path) -> None:
    """Remove a folder that no one holds; where there are no locks, this is unknown."""
    # Made where it is missing: whoever was killed, or is about to lock it, has not come that far.
    file = os.open(place / LOCK, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0))
    try:
        with suppress(BlockingIOError):
            if lock(file, shared=False):
                shutil.rmtree(place, ignore_errors=True)
    finally:
        os.close(file)
