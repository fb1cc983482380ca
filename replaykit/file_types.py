"""Recognition of files that were named in the place of another, and reading of whole files within a limit."""

from __future__ import annotations

import errno
import os
import re
from pathlib import Path

from replaykit.patterns import lazy_pattern

SAVED_MAX = 2**30
"""Bytes of a report, a tape or a calibration: its values are in memory, and take several times as much."""

WRITTEN_MAX = 64 * 2**20
"""Bytes of a file that people write, and that is no task file: wordings, replies, what a trace lacks."""

HEAD = 512
"""Bytes that show what a file is."""

MARK = b"\xef\xbb\xbf"
"""Byte order mark that some editors and shells write before UTF-8."""

REPORT = "a report of `replaykit grade`"
"""Kind of a report, by the name in it."""

_OURS = {
    "report": REPORT,
    "suite": "a task file",
    "policies": "a policy file",
    "calibration": "a calibration of `replaykit agree`",
    "replies": "a tape of `replaykit judge run`",
    "judge": "settings of a judge",
}
_WIDE, _WIDER = (
    f"a text file in {name} (convert it: `iconv -f {name} -t UTF-8 FILE > COPY`)"
    for name in ("UTF-16", "UTF-32")
)
_MAGIC = (
    (b"\x50\x2a\x4d\x18\x10\x00\x00\x00replaykit", "a bundle"),
    (b"\x28\xb5\x2f\xfd", "zstd data without our preamble"),
    (b"\x1f\x8b", "a gzip file"),
    (b"PK", "a zip archive"),
    (b"\xff\xfe\x00\x00", _WIDER),
    (b"\x00\x00\xfe\xff", _WIDER),
    (b"\xff\xfe", _WIDE),
    (b"\xfe\xff", _WIDE),
    (b"PAR1", "a Parquet file"),
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"%PDF", "a PDF"),
    (b"GIF8", "a GIF image"),
    (b"SQLite format 3", "a database of SQLite"),
    (b"WARC/", "a web archive"),
    (b"ARROW1", "an Arrow file"),
)
_NAMED = lazy_pattern(rb"replaykit\.([a-z]+)")
_MARKUP = lazy_pattern(rb"<!doctype html|<html", re.IGNORECASE)


def read_whole(path: str | Path, most: int = SAVED_MAX) -> bytes:
    """Return the bytes of a file or pipe. Raises OSError; it is EFBIG where there are more than `most`."""
    with Path(path).open("rb") as file:
        size = os.fstat(file.fileno()).st_size  # 0 of a pipe
        data = b"" if size > most else file.read(most + 1)
    if max(size, len(data)) > most:
        raise OSError(errno.EFBIG, f"larger than {most} bytes")
    return data


def kind_of_bytes(head: bytes) -> str:
    """Return what a file is, in words, by its first bytes."""
    if not head:
        return "an empty file"
    named = _NAMED.search(head)
    if named is not None and (kind := _OURS.get(named[1].decode())) is not None:
        return kind
    found = next((words for magic, words in _MAGIC if head.startswith(magic)), None)
    return found or _text_kind(head)


def kind_of(path: str | Path) -> str:
    """Return what stands at a path, in words."""
    if Path(path).is_dir():
        return "a folder"
    if is_device(path):
        return PIPE  # whoever looks into it takes what it holds
    try:
        with Path(path).open("rb") as file:
            return kind_of_bytes(file.read(HEAD))
    except OSError:
        return "a file that cannot be read"


URL = "a URL, and is not fetched: download the file, and name the copy"
"""Kind of an address where a path belongs."""


def is_url(path: str | Path) -> bool:
    """Whether a path is a URL: as a path it has one slash behind its scheme."""
    scheme, mark, _ = str(path).partition(":/")
    return bool(mark) and scheme.lower() in ("http", "https", "ftp", "file", "s3", "gs")


def pattern_words(path: str | Path) -> str:
    """Return why a missing path looks as it does: a shell leaves a pattern as it is if no file matches it."""
    return ", since no file matches this pattern" if any(sign in str(path) for sign in "*?[") else ""


def is_device(path: str | Path) -> bool:
    """Whether something other than a file or folder stands at a path: a file must not take its place."""
    place = Path(path)
    return place.exists() and not place.is_file() and not place.is_dir()


PIPE = "a device or a pipe"
"""Kind of what can be read once."""

DEVICE = "it is a device or a pipe, which a file would replace"
"""Why nothing is written there."""


READ_ONLY = "it, or its folder, can only be read"
"""Why nothing is written there, by rights or because the file system is only read."""


def is_writable(path: str | Path) -> bool:
    """Whether a file may be written there, as far as rights show: a disk may still be full."""
    return os.access(Path(path).absolute().parent, os.W_OK)


def is_appendable(path: str | Path) -> bool:
    """Whether something may be added to a file, or a new one written there, as far as rights show."""
    return os.access(path, os.W_OK) if Path(path).exists() else is_writable(path)


def _text_kind(head: bytes) -> str:
    if b"\x00" in head:
        return "a file of another kind"
    start = head.removeprefix(MARK).lstrip()
    if _MARKUP.match(start):
        return "an HTML page"
    if b'"label"' in head and start.startswith(b"{"):
        return "a file of labels"
    if start.startswith((b"{", b"[")):
        return "a JSON file"
    try:
        start.decode()
    except UnicodeDecodeError as error:
        is_cut = error.reason == "unexpected end of data"  # in the middle of a character
        return "a text file" if is_cut else "a file of another kind"
    return "a text file"
