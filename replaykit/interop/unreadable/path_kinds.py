"""Words for a path at which no run was found: what stands there, and what of it can be imported."""

from __future__ import annotations

import gzip
import zipfile
import zlib
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from replaykit.errors import MissingExtra
from replaykit.file_types import HEAD, URL, is_url, kind_of, kind_of_bytes
from replaykit.interop.folder_search import fault_of, fault_of_line, files, first_line, peek
from replaykit.interop.table.table_files import ENDINGS, LINES, SHEETS, TableFault, is_one_row, table_keys
from replaykit.interop.unreadable.lfs_pointers import FETCH, is_pointer_file
from replaykit.interop.unreadable.other_files import (
    FLOWS,
    PAGES_ONLY,
    known_file,
    known_folder,
    known_json,
)
from replaykit.interop.unreadable.wide_text import conversion, encoding_of_file, wide_words
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.plurals import counted

LOOK_MAX = 1000
"""Files of a folder that are looked at to say what it is."""

MISSING = "missing"
"""Layout of a path that does not exist."""

NAMES_MAX = 8
"""Columns or keys that are listed."""

_ROWS = "export its rows as CSV or JSON lines, which are a `table`"
_SHOT = "a screenshot: name the folder of its run"
_ADVICE = {
    "a bundle": "a bundle already: grade it as it is, with `replaykit grade`",
    "a task file": "a task file, which says what to do and not what happened: give it as `--task FILE`",
    "a policy file": "a policy file, which says what is forbidden and not what happened: grade a run with it",
    "a PNG image": _SHOT,
    "a JPEG image": _SHOT,
    "a GIF image": _SHOT,
    "a database of SQLite": f"a database of SQLite: {_ROWS}",
    "a web archive": f"a web archive, {PAGES_ONLY}",
    "an HTML page": f"an HTML page, {PAGES_ONLY}",
    "a text file": "a text file, and no layout is plain text: import what the tool writes as JSON",
    "a PDF": f"a PDF, {PAGES_ONLY}",
}
"""Kind of a file, by its first bytes, to what is possible."""

_FLOWS = lazy_pattern(
    rb"\d{1,9}:\d{1,2}:(?:version|type|request|response|websocket|error|id|backup|client_conn)[;,]"
)
"""Begin of a file of mitmproxy: its length, then the first of its keys."""


_VAGUE = (
    "JSON of",
    "a file of JSON lines of",
    "a folder of other",
    "an empty",
    "a file",
    "an archive",
    "a zip",
)


def is_vague(kind: str) -> bool:
    """Whether the kind of a path does not show which tool wrote it."""
    return kind.startswith(_VAGUE)


def kind_of_path(path: Path) -> str:
    """Return what there is at a path, so that a person sees what was meant."""
    if not path.exists():
        return URL if is_url(path) else MISSING
    if path.is_dir():
        return _kind_of_folder(path)
    if not path.is_file():
        return "no regular file"
    if not path.stat().st_size:
        return "an empty file"
    if is_pointer_file(path):
        return f"a pointer of Git LFS; {FETCH}"
    if (encoding := encoding_of_file(path)) is not None:
        return f"a file that is {wide_words(encoding)}; {conversion(encoding)}"
    return known_file(path) or _kind_by_content(path)


def _kind_of_folder(path: Path) -> str:
    pointers = sum(is_pointer_file(file) for file in islice(files(path, ""), LOOK_MAX))
    if pointers:
        return f"a folder with {counted(pointers, 'pointer')} of Git LFS; {FETCH}"
    if known := known_folder(path):
        return known
    bundles = sum(kind_of(file) == "a bundle" for file in islice(files(path, ".zst"), LOOK_MAX))
    if bundles:
        return f"a folder of {counted(bundles, 'bundle')}: grade them as they are, with `replaykit grade`"
    return "a folder of other files" if any(path.iterdir()) else "an empty folder"


def _kind_by_content(path: Path) -> str:
    ending = path.suffix.lower()
    if ending == ".zip":
        return "a zip archive" if zipfile.is_zipfile(path) else "no whole zip archive"
    try:
        if ending in (".json", ".har"):
            return _kind_of_json(path)
        if ending in SHEETS or ending not in ENDINGS:
            return _kind_by_bytes(path)
        return _kind_of_lines(path) if ending in LINES else _kind_of_table(path)
    except OSError as error:
        return f"unreadable ({error.strerror or 'not whole'})"


def _kind_of_lines(path: Path) -> str:
    plain, fault = first_line(path), fault_of_line(path)
    broken = fault and f"a file of JSON lines, whose first line is {fault}"
    return known_json(plain) or broken or f"a file of JSON lines of another layout{_keys(plain)}"


def _kind_of_json(path: Path) -> str:
    if (fault := fault_of(path)) is not None:
        return f"a file that is {fault}"
    plain = peek(path)
    how = "; if it is a run, and not a plan or a script, import it as a `table`" if is_one_row(path) else ""
    return known_json(plain) or f"JSON of another layout{_keys(plain)}{how}"


def _keys(plain: Any) -> str:
    first = next(iter(plain), None) if isinstance(plain, list) else plain
    return f", with the keys {_listed(first)}" if isinstance(first, dict) and first else ""


def _kind_of_table(path: Path) -> str:
    try:
        names = table_keys(path)
    except MissingExtra as error:
        return f"a table that cannot be read: {error.hint.format_map(error.fields)}"
    except TableFault as fault:
        return f"a table that is {fault.found}"
    known = known_json(dict.fromkeys(names))
    return known or (
        f"a table with the columns {_listed(names)}, whose names do not show which one holds the actions:"
        " name it with `--columns FILE`, as `action: COLUMN`"
    )


def _listed(names: Iterable[str]) -> str:
    shown = [f"{name!r:.42}" for name in islice(names, NAMES_MAX + 1)]
    return ", ".join([*shown[:NAMES_MAX], *(["..."] if len(shown) > NAMES_MAX else [])])


def _kind_by_bytes(path: Path) -> str:
    head = _head(path)
    if _FLOWS.match(head):
        return FLOWS
    kind = kind_of_bytes(head)
    if kind == "a text file" and path.suffix.lower() in SHEETS:
        return _kind_of_table(path)
    return _ADVICE.get(kind, kind)


def _head(path: Path) -> bytes:
    """Return the first bytes of a file, of a packed one those inside."""
    with path.open("rb") as stream:
        head = stream.read(HEAD)
    if not head.startswith(b"\x1f\x8b"):
        return head
    try:
        with gzip.open(path) as inner:
            return inner.read(HEAD)
    except (OSError, EOFError, zlib.error):
        return head
