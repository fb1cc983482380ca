"""Looking for runs under a path: sorted, bounded, links to folders not followed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from replaykit.interop.untrusted_json import JsonFault, decode_json, glance_at_json

ENTRIES_MAX = 1_000_000
"""Files and folders that are looked at under one path."""

PEEK_MAX = 64 * 2**20
"""Bytes of a file that is read to see what it is."""

HEAD = 65_536
"""Bytes of a broken file that are read to see what it was."""

LEVELS_MAX = 16
"""Folders in folders that are looked at."""


class Listing(NamedTuple):
    """Contents of one folder, sorted."""

    path: Path
    """The folder."""
    files: tuple[str, ...]
    """Names of what is no folder."""
    folders: tuple[str, ...]
    """Names of folders; links to folders are not among them."""

    def holds(self, *patterns: str) -> bool:
        """Whether a file has one of these names; `*` and `[0-9]` stand for parts of a name."""
        return any(fnmatchcase(name, pattern) for pattern in patterns for name in self.files)


def folders(path: Path, is_one: Callable[[Listing], bool]) -> Iterator[Path]:
    """Yield the folders that are of a layout, in order; nothing below such a folder."""
    left = [path] if path.is_dir() else []
    start, seen = len(path.parts), 0
    while left:
        listing = _listing(left.pop())
        seen += len(listing.files) + len(listing.folders)
        # Somebody may name `/` by mistake.
        if seen > ENTRIES_MAX:
            return
        if is_one(listing):
            yield listing.path
        # Bounded, as mounts may contain themselves.
        elif len(listing.path.parts) - start < LEVELS_MAX:
            left += [listing.path / name for name in reversed(listing.folders)]


def files(path: Path, *endings: str) -> Iterator[Path]:
    """Yield the path itself, or the files under a folder whose names end so in any letter case, in order."""
    if path.is_dir():
        yield from _files_under(path, endings)
    elif path.name.lower().endswith(endings) and path.is_file():
        yield path


def _files_under(path: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    left, start, seen = [path], len(path.parts), 0
    while left:
        entry = left.pop()
        # The path itself may be a link: the user named it.
        if entry.is_dir() and (entry == path or not entry.is_symlink()):
            listing = _listing(entry) if len(entry.parts) - start <= LEVELS_MAX else Listing(entry, (), ())
            inner = sorted((*listing.files, *listing.folders), reverse=True)
            seen += len(inner)
            if seen > ENTRIES_MAX:
                return
            left += [entry / name for name in inner]
        elif entry.name.lower().endswith(endings) and entry.is_file():
            yield entry


LINE_MAX = 1 << 20
"""Bytes of a first line that is looked at to say what a file is."""


def json_files(path: Path, is_one: Callable[[Any], bool], *marks: bytes) -> Iterator[Path]:
    """Yield the JSON files under a path that are of a layout; files over 64 MiB are skipped.

    A broken file is yielded if all `marks` occur at its beginning: reading it raises the fitting error.
    """
    for file in files(path, ".json"):
        plain = peek(file)
        # A damaged file of the layout is reported, not skipped as another one.
        if is_one(plain) or (plain is None and is_marked(file, *marks)):
            yield file


def peek(file: Path) -> Any:
    """Return the JSON value of a file; None if it is not JSON, or too large for a layout."""
    try:
        return glance_at_json(file.read_bytes()) if file.stat().st_size <= PEEK_MAX else None
    except (OSError, JsonFault):
        return None


def first_line(file: Path) -> Any:
    """Return the JSON value of a file's first line; None if it is not JSON, or too long."""
    try:
        return glance_at_json(_first_text(file))
    except (OSError, JsonFault):
        return None


def fault_of_line(file: Path) -> str | None:
    """Return why a file's first line is no JSON; None where it is."""
    try:
        decode_json(_first_text(file))
    except OSError as error:
        return f"unreadable ({error.strerror})"
    except JsonFault as fault:
        return str(fault)
    return None


BLANK_MAX = 1000
"""Lines without text before the first line of a file."""


def _first_text(file: Path) -> bytes:
    """Return the first line that is not blank; empty if all are."""
    with file.open("rb") as stream:
        lines = islice(iter(lambda: stream.readline(LINE_MAX), b""), BLANK_MAX)
        return next((line for line in lines if line.strip()), b"")


def fault_of(file: Path) -> str | None:
    """Return why a file is no JSON, None where it is or where it is too large to look. Raises OSError."""
    try:
        if file.stat().st_size <= PEEK_MAX:
            glance_at_json(file.read_bytes())
    except JsonFault as fault:
        return str(fault)
    return None


def is_marked(file: Path, *marks: bytes) -> bool:
    """Whether all marks stand at the beginning of a file, be it in UTF-8 or in UTF-16."""
    try:
        with file.open("rb") as stream:
            # UTF-16 has a zero byte beside each ASCII letter.
            head = stream.read(HEAD).replace(b"\0", b"")
    except OSError:
        return False
    return all(mark in head for mark in marks)


def is_litter(*names: str) -> bool:
    """Whether a name is one of those that systems leave in folders and archives, and no tool wrote."""
    return any(name == "__MACOSX" or name.startswith("._") or name in _LITTER for name in names)


_LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")


def relative(found: Path, path: Path) -> str:
    """Return the name of what was found under a path, without that of the path where it lies deeper."""
    inner = found.relative_to(path).as_posix() if found != path else ""
    return inner or found.resolve().name


def _listing(folder: Path) -> Listing:
    try:
        with os.scandir(folder) as entries:
            # macOS and Windows add such files, also to archives.
            seen = [entry for entry in entries if not is_litter(entry.name)]
            found = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in seen)
    except OSError:
        return Listing(folder, (), ())
    names = {kind: tuple(name for name, is_folder in found if is_folder is kind) for kind in (False, True)}
    return Listing(folder, names[False], names[True])
