"""Files of tables: Parquet and Arrow (extra `parquet`), JSON lines, a JSON list, CSV.

A table is walked once to learn which rows a run has. Later only these rows are read: a table of screenshots
is never in memory as a whole.
"""

from __future__ import annotations

import csv
import io
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from replaykit.decoders import decode_as_python
from replaykit.errors import MissingExtra
from replaykit.interop.folder_search import PEEK_MAX, files
from replaykit.interop.table.table_columns import LISTED_NAMES, STEPS_NAMES
from replaykit.interop.table_rows import clean_cells, open_parquet, table_failures
from replaykit.interop.unreadable.lfs_pointers import FETCH, is_pointer_file
from replaykit.interop.unreadable.wide_text import encoding_of_file, wide_words
from replaykit.interop.untrusted_json import JsonFault, decode_json
from replaykit.patterns import lazy_pattern

ENDINGS = (".parquet", ".arrow", ".jsonl", ".ndjson", ".json", ".csv", ".tsv")
"""How files of tables end."""

SHEETS = (".csv", ".tsv")
"""Endings of tables whose cells are texts."""

LINES = (*SHEETS, ".jsonl", ".ndjson")
"""Endings of tables whose rows are found by their bytes."""

HEAD = 2**16
"""Bytes of a JSON list that are looked at to see whether its first row is one of a run."""


class TableSpan(NamedTuple):
    """Rows that lie side by side: bytes of a file of lines, numbers of rows in any other one."""

    file: str
    start: int
    end: int


class TableRow(NamedTuple):
    """A row, and where it is."""

    start: int
    end: int
    cells: dict[str, Any]


class TableFault(Exception):
    """A file that is no table: what was found, what was expected."""

    def __init__(self, found: str, expected: str) -> None:
        super().__init__(found)
        self.found, self.expected = found, expected


def table_files(path: Path) -> Iterator[Path]:
    """Yield the files under a path that may be tables, in order."""
    yield from files(path, *ENDINGS)


def table_keys(file: Path) -> list[str]:
    """Return the columns of a table, of JSON those of its first row. Raises TableFault, MissingExtra."""
    if file.suffix.lower() in (".parquet", ".arrow"):
        with _failing():
            return _binary_names(file)
    if file.suffix.lower() == ".json" and not (_is_listed(file) or is_one_row(file)):
        return []
    first = next(walked(file), None)
    return [] if first is None else list(first.cells)


def _is_listed(file: Path) -> bool:
    """Whether a file begins as a JSON list of objects does: most JSON files are no tables."""
    head = _head(file)
    return head[:1] == b"[" and head[1:].lstrip()[:1] == b"{"


def is_one_row(file: Path) -> bool:
    """Whether a JSON file begins as an object that may hold the steps of one run."""
    head = _head(file) if file.suffix.lower() == ".json" else b""
    return head[:1] == b"{" and _LIST_OF_STEPS.search(head) is not None


def _head(file: Path) -> bytes:
    with _failing(), file.open("rb") as stream:
        return stream.read(HEAD).removeprefix(b"\xef\xbb\xbf").lstrip()


_LIST_OF_STEPS = lazy_pattern(
    rb'"(?i:%s)"\s*:\s*\[' % "|".join([*STEPS_NAMES.split(), *LISTED_NAMES]).encode()
)


def walked(file: Path, columns: Sequence[str] | None = None) -> Iterator[TableRow]:
    """Yield every row and where it is; `columns`: those of Parquet and Arrow that are read.

    Raises TableFault, MissingExtra.
    """
    if is_pointer_file(file):
        raise TableFault(f"a pointer of Git LFS; {FETCH}", "a table")
    if (encoding := encoding_of_file(file)) is not None:
        raise TableFault(wide_words(encoding), "a table in UTF-8")
    kind = file.suffix.lower()
    with _failing():
        if kind in (".parquet", ".arrow"):
            rows = _parquet(file, columns) if kind == ".parquet" else _arrow(file, columns)
            yield from (TableRow(at, at + 1, cells) for at, cells in enumerate(rows))
        elif kind == ".json":
            for at, cells in enumerate(_listed(_whole(file))):
                yield TableRow(at, at + 1, _object(cells, at))
        else:
            with file.open("rb") as stream:
                yield from (_sheet if kind in SHEETS else _lines)(stream, 0, None, _header(file))


def read_rows(file: Path, start: int, end: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of a span. Raises TableFault, MissingExtra."""
    kind = file.suffix.lower()
    with _failing():
        if kind == ".parquet":
            yield from _parquet_span(file, start, end)
        elif kind == ".arrow":
            yield from _arrow(file, None, start, end)
        elif kind == ".json":
            listed = _listed(_whole(file))[start:end]
            yield from (_object(cells, at) for at, cells in enumerate(listed, start))
        else:
            with file.open("rb") as stream:
                make = _sheet if kind in SHEETS else _lines
                yield from (row.cells for row in make(stream, start, end, _header(file)))


@contextmanager
def _failing() -> Iterator[None]:
    """Turn what a damaged file makes its readers raise into a TableFault."""
    failures: tuple[type[BaseException], ...] = (
        *table_failures(), OSError, ValueError, OverflowError, MemoryError, csv.Error, EOFError,
    )  # fmt: skip
    try:
        yield
    except (TableFault, MissingExtra):
        raise
    except JsonFault as error:
        raise TableFault(str(error), error.expected) from error
    except failures as error:
        raise TableFault(f"unreadable ({type(error).__name__})", "a whole table") from error


def _whole(file: Path) -> bytes:
    with file.open("rb") as stream:
        data = stream.read(PEEK_MAX + 1)
    if len(data) > PEEK_MAX:
        raise TableFault(
            f"a JSON list of more than {PEEK_MAX} bytes", "JSON lines, which are read one by one"
        )
    return data


# The rows of one file are asked for run by run.
@lru_cache(maxsize=1)
def _listed(data: bytes) -> list[Any]:
    plain = decode_json(data)
    if not isinstance(plain, list | dict):
        raise TableFault("JSON of another layout", "a list of objects")
    return plain if isinstance(plain, list) else [plain]


def _object(cells: Any, at: int) -> dict[str, Any]:
    if not isinstance(cells, dict):
        raise TableFault(f"row {at}, which is no object", "an object in each row")
    return cells


def _lines(stream: io.BufferedReader, start: int, end: int | None, _: SheetHeader) -> Iterator[TableRow]:
    at = stream.seek(start)
    while end is None or at < end:
        line = stream.readline(PEEK_MAX + 1)
        if len(line) > PEEK_MAX:
            raise TableFault(f"a line of more than {PEEK_MAX} bytes", "shorter lines")
        if not line:
            return
        if line.strip():
            yield TableRow(at, at + len(line), _line(line))
        at += len(line)


def _line(line: bytes) -> dict[str, Any]:
    """Return the object of a line; of any other line, its text as the reason."""
    try:
        plain = decode_json(line)
    except JsonFault:
        return {NO_ROW: line.decode("utf-8", "replace").strip()}
    return plain if isinstance(plain, dict) else {NO_ROW: plain}


NO_ROW = "a line that is no row"
"""Column of what stands between the rows of a file of JSON lines."""


UNLIKE = "a row unlike its columns"
"""Column of the text of a row of a sheet that has fewer or more cells, or broken quotes."""


class SheetHeader(NamedTuple):
    """Of a sheet: its columns, what parts them, and where its rows begin."""

    names: tuple[str, ...] = ()
    comma: str = ","
    size: int = 0


def _header(file: Path) -> SheetHeader:
    if file.suffix.lower() not in SHEETS:
        return SheetHeader()
    with file.open("rb") as stream:
        first = stream.readline(PEEK_MAX)
        line = first.decode("utf-8-sig")
        comma = max(",;\t", key=line.count)
        # A name of a column may hold a line break.
        stream.seek(0)
        counted = _Counted(stream, PEEK_MAX)
        names = next(csv.reader(counted, delimiter=comma), [])
    return SheetHeader(
        _distinct([name.removeprefix("\ufeff").strip() for name in names]), comma, counted.read
    )


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Return names without duplicates, so that no cell is lost."""
    found: list[str] = []
    for at, name in enumerate(names):
        plain = name or f"column_{at + 1}"
        found.append(f"{plain}_{at + 1}" if plain in found else plain)
    return tuple(found)


class _Counted:
    """Lines of a stream as text, and how many bytes of it were read."""

    def __init__(self, stream: io.BufferedReader, limit: int) -> None:
        self._stream, self._limit = stream, limit
        self.read = 0
        #: The lines since it was last emptied.
        self.lines: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._stream.readline(self._limit)
        if not line:
            raise StopIteration
        self.read += len(line)
        self.lines.append(line.decode("utf-8"))
        return self.lines[-1]


def _sheet(stream: io.BufferedReader, start: int, end: int | None, header: SheetHeader) -> Iterator[TableRow]:
    at = stream.seek(max(start, header.size))
    counted = _Counted(stream, PEEK_MAX)
    reader = csv.reader(counted, delimiter=header.comma)
    while end is None or at < end:
        # The module's own limit is that of the process: it is raised for one row, and put back.
        old = csv.field_size_limit(PEEK_MAX)
        try:
            cells = next(reader, None)
        finally:
            csv.field_size_limit(old)
        if cells is None:
            return
        behind = max(start, header.size) + counted.read
        if cells:
            yield TableRow(at, behind, _cells(header, cells, counted.lines))
        counted.lines = []
        at = behind


def _cells(header: SheetHeader, cells: list[str], lines: list[str]) -> dict[str, Any]:
    """Return the cells of a row; more than there are columns are kept under numbers."""
    names = header.names
    more = [f"column_{at + 1}" for at in range(len(names), len(cells))]
    found = {name: _cell(cell) for name, cell in zip((*names, *more), cells, strict=False)}
    lacking = [name for name in names[len(cells) :] if not name.startswith("column_")]
    if lacking or any(found[name] is not None for name in more) or _has_broken_quotes(lines, header.comma):
        found[UNLIKE] = "".join(lines)
    return found


def _has_broken_quotes(lines: list[str], comma: str) -> bool:
    """Whether quotes end within a cell, or never: rows may then stand in one cell."""
    if not any('"' in line for line in lines):
        return False
    try:
        list(csv.reader(lines, delimiter=comma, strict=True))
    except csv.Error:
        return True
    return False


def _cell(text: str) -> Any:
    """Return the value of a text of a sheet: nothing, JSON, or the text."""
    plain = text.strip()
    if plain[:1] in ("{", "[") and plain[-1:] in ("}", "]"):
        try:
            return decode_json(plain.encode())
        except JsonFault:
            return text
    return text if plain else None


def _binary_names(file: Path) -> list[str]:
    if file.suffix.lower() == ".parquet":
        with open_parquet(file) as table:
            return list(table.schema_arrow.names)
    with _arrow_reader(file) as (reader, _):
        return list(reader.schema.names)


def _parquet(file: Path, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    with open_parquet(file) as table:
        names = _labels(table.schema_arrow)
        for batch in table.iter_batches(batch_size=1, columns=columns, use_threads=False):
            yield from (_plain(row, names) for row in batch.to_pylist())


def _parquet_span(file: Path, start: int, end: int) -> Iterator[dict[str, Any]]:
    """Yield rows out of the groups that they are in: other groups are not unpacked."""
    cursor = _LAST.__dict__.get("cursor")
    about = file.stat()
    key = (str(file), about.st_mtime_ns, about.st_size)
    # Runs are read in the order of their rows: the next one goes on where the last one ended.
    if cursor is None or cursor.key != key or cursor.at > start:
        cursor = _Cursor(file, key, start)
        _LAST.cursor = cursor
    yield from cursor.rows(start, end)


_LAST = threading.local()
"""The table that was read last, by each thread."""


class _Cursor:
    """Rows of a Parquet file from a group on, one after the other."""

    def __init__(self, file: Path, key: tuple[str, int, int], start: int) -> None:
        self.key = key
        with open_parquet(file) as table:
            sizes = [table.metadata.row_group(group).num_rows for group in range(table.num_row_groups)]
        ends = list(accumulate(sizes))
        first = sum(end <= start for end in ends)
        #: Number of the next row.
        self.at = ends[first - 1] if first else 0
        self._rows = self._from(file, list(range(first, len(sizes))))

    def _from(self, file: Path, groups: list[int]) -> Iterator[dict[str, Any]]:
        with open_parquet(file) as table:
            names = _labels(table.schema_arrow)
            for batch in table.iter_batches(batch_size=1, row_groups=groups, use_threads=False):
                self.at += 1
                yield from (_plain(row, names) for row in batch.to_pylist())

    def rows(self, start: int, end: int) -> Iterator[dict[str, Any]]:
        """Yield the rows of a span that lies behind what was read."""
        while self.at < end:
            at = self.at
            cells = next(self._rows, None)
            if cells is None:
                return
            if at >= start:
                yield cells


def _arrow(
    file: Path, columns: Sequence[str] | None, start: int = 0, end: int | None = None
) -> Iterator[dict[str, Any]]:
    first = 0
    with _arrow_reader(file) as (_, batches):
        for batch in batches():
            # Offsets of a damaged file would be followed out of it.
            batch.validate(full=True)
            names = _labels(batch.schema)
            part = batch if columns is None else batch.select(list(columns))
            last = part.num_rows if end is None else min(part.num_rows, end - first)
            for at in range(max(0, start - first), last):
                yield _plain(part.slice(at, 1).to_pylist()[0], names)
            first += part.num_rows
            if end is not None and first >= end:
                return


@contextmanager
def _arrow_reader(file: Path) -> Iterator[tuple[Any, Callable[[], Iterator[Any]]]]:
    """Open a stream of record batches, as `save_to_disk` writes it, or a file of them."""
    try:
        import pyarrow as pa
    except ImportError:
        raise MissingExtra(package="pyarrow", extra="parquet", purpose="reading Arrow") from None
    with pa.memory_map(str(file)) as mapped:
        if mapped.read(6) == b"ARROW1":
            found = pa.ipc.open_file(mapped)
            yield found, lambda: (found.get_batch(at) for at in range(found.num_record_batches))
        else:
            mapped.seek(0)
            stream = pa.ipc.open_stream(mapped)
            yield stream, lambda: iter(stream)


def _labels(schema: Any) -> dict[str, list[str]]:
    """Return the names of the classes of a column, where `datasets` keeps their numbers."""
    metadata = (schema.metadata or {}).get(b"huggingface")
    try:
        features = decode_as_python(metadata)["info"]["features"] if metadata else {}
        kinds = {name: one for name, one in features.items() if one.get("_type") == "ClassLabel"}
        return {name: [str(label) for label in one["names"]] for name, one in kinds.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _plain(row: dict[str, Any], labels: dict[str, list[str]]) -> dict[str, Any]:
    for name, names in labels.items():
        number = row.get(name)
        if isinstance(number, int) and 0 <= number < len(names):
            row[name] = names[number]
    return dict(clean_cells(msgspec.to_builtins(row, builtin_types=(bytes,), str_keys=True, enc_hook=str)))
