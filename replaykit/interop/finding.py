"""Looking for runs under a path: sorted, bounded, links to folders not followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from replaykit.interop.decoding import JsonFault, decode_json

ENTRIES_MAX = 1_000_000
"""Files and folders that are looked at under one path."""

PEEK_MAX = 64 * 2**20
"""Bytes of a file that is read to see what it is."""

LEVELS_MAX = 8
"""Folders in folders that are looked at."""


def folders(path: Path, *markers: str) -> Iterator[Path]:
    """Yield the folders that hold a file of one of these names, in order; nothing below such a folder."""
    if not path.is_dir():
        return
    left, seen = [(path, 0)], 0
    while left:
        folder, level = left.pop()
        if any((folder / marker).is_file() for marker in markers):
            yield folder
            continue
        inner = _inner(folder) if level < LEVELS_MAX else []
        seen += len(inner)
        if seen > ENTRIES_MAX:
            return
        left += [(one, level + 1) for one in reversed(inner)]


def files(path: Path, *endings: str) -> Iterator[Path]:
    """Yield the path itself, or the files under a folder whose names end so, in order."""
    if path.is_file():
        if path.name.endswith(endings):
            yield path
        return
    for number, file in enumerate(sorted(path.rglob("*")) if path.is_dir() else ()):
        if number >= ENTRIES_MAX:
            return
        if file.name.endswith(endings) and file.is_file():
            yield file


def json_files(path: Path, is_one: Callable[[Any], bool]) -> Iterator[Path]:
    """Yield the JSON files under a path that are of a layout; larger ones than 64 MiB are none."""
    for file in files(path, ".json"):
        if is_one(peek(file)):
            yield file


def peek(file: Path) -> Any:
    """Return the JSON value of a file, None where it is none or too large to be one of a layout."""
    try:
        return decode_json(file.read_bytes()) if file.stat().st_size <= PEEK_MAX else None
    except (OSError, JsonFault):
        return None


def relative(found: Path, path: Path) -> str:
    """Return the name of what was found under a path, without that of the path where it lies deeper."""
    inner = found.relative_to(path).as_posix() if found != path else ""
    return inner or found.resolve().name


def _inner(folder: Path) -> list[Path]:
    try:
        return sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink())
    except OSError:
        return []
