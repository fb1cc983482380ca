"""Rows of tables as data sets publish them: Parquet (extra `parquet`), JSON lines, or a JSON list.

One row is read at a time, so that a table of images is never in memory as a whole.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from replaykit.errors import MalformedSource, MissingExtra
from replaykit.interop.folder_search import PEEK_MAX, files, peek
from replaykit.interop.source_files import SourceFiles, kind_of
from replaykit.interop.untrusted_json import JsonFault, decode_json

ENDINGS = (".parquet", ".jsonl", ".json")
"""How files of tables end."""

FOOT = 2**20
"""Bytes at the end of a Parquet file in which its columns are named."""

HEAD = 2**16
"""Bytes at the beginning of a file of JSON lines in which the first row names its keys."""

BATCH_BYTES = 2**20
"""Bytes that are read at once of a column."""


def tables(path: Path, *columns: str) -> Iterator[Path]:
    """Yield the tables under a path that have all these columns, in order."""
    for file in files(path, *ENDINGS):
        if _has_columns(file, columns):
            yield file


def _has_columns(file: Path, columns: tuple[str, ...]) -> bool:
    if file.suffix.lower() == ".json":
        plain = peek(file)
        return (
            isinstance(plain, list)
            and bool(plain)
            and isinstance(plain[0], dict)
            and plain[0].keys() >= {*columns}
        )
    try:
        with file.open("rb") as stream:
            if file.suffix.lower() == ".parquet":
                stream.seek(max(0, file.stat().st_size - FOOT))
            seen = stream.read(FOOT if file.suffix.lower() == ".parquet" else HEAD)
    except OSError:
        return False
    return all(name.encode() in seen for name in columns)


def keys(file: Path, column: str) -> list[str | None]:
    """Return the texts of one column; a single None where the table cannot be read."""
    failures: tuple[type[BaseException], ...] = (MissingExtra, JsonFault, OSError, *table_failures())
    try:
        rows = _parquet_rows(file, [column]) if file.suffix.lower() == ".parquet" else _plain_rows(file)
        found = [row.get(column) if isinstance(row, dict) else None for row in rows]
    except failures:
        return [None]  # reading its first row reports why
    return [key if isinstance(key, str) else None for key in found] or [None]


def _plain_rows(file: Path) -> Iterator[Any]:
    if file.suffix.lower() == ".json":
        yield from decode_json(file.read_bytes())
        return
    with file.open("rb") as stream:
        while line := stream.readline(PEEK_MAX):
            if line.strip():
                yield decode_json(line)


def open_parquet(file: Path) -> Any:
    """Return an open Parquet file. Raises MissingExtra, and what `table_failures` lists."""
    try:
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra(package="pyarrow", extra="parquet", purpose="reading Parquet") from None
    return ParquetFile(
        file,
        buffer_size=BATCH_BYTES,
        pre_buffer=False,
        thrift_string_size_limit=2**26,
        thrift_container_size_limit=2**20,
    )


def _parquet_rows(file: Path, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    with open_parquet(file) as table:
        for batch in table.iter_batches(batch_size=1, columns=columns, use_threads=False):
            yield from batch.to_pylist()


def table_failures() -> tuple[type[BaseException], ...]:
    """Return what reading a damaged Parquet file raises."""
    try:
        from pyarrow import ArrowException
    except ImportError:
        return ()
    return (
        ArrowException,
        OSError,
        ValueError,
        TypeError,
        KeyError,
        OverflowError,
        MemoryError,
        NotImplementedError,
    )


def rows(source: SourceFiles, name: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table, one at a time. Raises InteropError, MissingExtra."""
    if name.lower().endswith(".parquet"):
        yield from _checked_rows(source, name)
        return
    plain = (
        (value for _, value in source.lines(name)) if name.lower().endswith(".jsonl") else source.json(name)
    )
    for at, row in enumerate(plain):
        if not isinstance(row, dict):
            source.malformed(f"{name} row {at}", kind_of(row), "an object")
        yield row


def _checked_rows(source: SourceFiles, name: str) -> Iterator[dict[str, Any]]:
    found = _parquet_rows(source.path(name))
    while True:
        try:
            row = next(found, None)
        except table_failures() as error:
            if isinstance(error, MissingExtra | MalformedSource):
                raise
            source.malformed(
                name, f"no Parquet file that can be read ({type(error).__name__})", "a whole one", error
            )
        if row is None:
            return
        yield row


def row_at(source: SourceFiles, name: str, number: int) -> dict[str, Any]:
    """Return one row of a table; of Parquet it leaves its own digest. Raises InteropError, MissingExtra."""
    row = next(islice(rows(source, name), number, None), None)
    if row is None:
        source.malformed(name, f"without row {number}", "the rows that it was listed with")
    plain = clean_cells(msgspec.to_builtins(row, builtin_types=(bytes,), str_keys=True))
    if name.lower().endswith(".parquet"):
        source.part(f"{name}#{number}", msgspec.json.encode(plain, order="deterministic"))
    return dict(plain)


def clean_cells(value: Any) -> Any:
    """Return a value without numbers that JSON has no word for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [clean_cells(part) for part in value]
    return {key: clean_cells(part) for key, part in value.items()} if isinstance(value, dict) else value


def screenshot_bytes(cell: Any) -> bytes | str | None:
    """Return the bytes of an image in a cell, or the path that it names; None where it is neither."""
    if isinstance(cell, dict):
        inner = cell.get("bytes")
        return screenshot_bytes(cell.get("path") if inner is None else inner)
    if isinstance(cell, bytes):
        return cell
    if not isinstance(cell, str):
        return None
    if len(cell) < 512 and cell.lower().endswith((".png", ".jpg", ".jpeg", ".webp", ".gif")):
        return cell
    try:
        return base64.b64decode(cell.rpartition(",")[2], validate=True)
    except ValueError:
        return None
