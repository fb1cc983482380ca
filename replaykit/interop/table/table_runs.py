"""Runs in tables: which rows belong together, and what their columns say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from replaykit.errors import MissingExtra, UsageError
from replaykit.interop.registry import Candidate
from replaykit.interop.table.table_columns import (
    OWN_FILE,
    RUN_FIELDS,
    cell_of,
    column_names,
    missing_column,
    run_columns,
    step_columns,
    step_number,
    steps_column,
)
from replaykit.interop.table.table_files import (
    TableFault,
    TableRow,
    TableSpan,
    is_one_row,
    table_files,
    table_keys,
    walked,
)
from replaykit.interop.unreadable.other_files import is_unread, known_json
from replaykit.interop.untrusted_json import JsonFault, decode_json
from replaykit.patterns import lazy_pattern

ROWS_MAX = 2_000_000
"""Rows of a table that are walked."""

LOOK_ROWS = 50
"""Rows that are looked at to learn whether a row is a step or a run."""

STEP_ROWS, LISTED_ROWS, WHOLE_ROWS, RUN_ROWS = "step", "lists", "objects", "run"
"""A row is a step; a run whose columns are lists; one with a list of objects; one with fields of a run."""

_PART = lazy_pattern(r"(.+?)-\d{5}(-of-\d{5})?")


class RowShape(Struct, frozen=True):
    """Shape of the rows of a table."""

    kind: str
    run: Mapping[str, Any]
    step: Mapping[str, str]
    steps: str | None = None


def find_tables(path: Path) -> Iterator[Candidate]:
    """Yield the runs of the tables under a path whose columns have usual names."""
    yield from _found(path, {}, is_asked=False)


def find_columns(path: Path, stated: Mapping[str, Any]) -> Iterator[Candidate]:
    """Yield the runs of the tables under a path; `stated`: what `--columns` names.

    A damaged table is yielded: reading it shows what is wrong. Raises UsageError where no table has a column.
    """
    yield from _found(path, stated, is_asked=True)


def _found(path: Path, stated: Mapping[str, Any], *, is_asked: bool) -> Iterator[Candidate]:
    shapes: dict[Path, RowShape] = {}
    lacking: tuple[Path, str, list[str]] | None = None
    for file in table_files(path):
        try:
            names = table_keys(file)
            missing = missing_column(names, stated) if names else None
            shape = None if missing or not names else row_shape(file, stated)
            is_taken = shape is not None and _is_of_runs(file, shape) and (is_asked or _is_sure(file, shape))
        except (TableFault, MissingExtra):
            if is_asked:
                yield Candidate(name=file.stem, root=file.parent, file=file.name)
            continue
        if missing:
            lacking = lacking or (file, missing, names)
        elif shape is not None and is_taken:
            shapes[file] = shape
    if lacking and not shapes:
        file, missing, names = lacking
        raise UsageError(
            what=f"--columns: {file.name} has no column {missing!r:.60}; it has {', '.join(names)}"
        )
    for table in _tables(shapes):
        yield from _runs(table, shapes[table[0]], stated)


def _tables(shapes: Mapping[Path, RowShape]) -> list[list[Path]]:
    """Return the files of each table: those of one folder whose names differ by a number of a part."""
    found: dict[tuple[Path, str, str], list[Path]] = {}
    for file, shape in shapes.items():
        if shape.kind != RUN_ROWS:
            found.setdefault((file.parent, split_name(file), file.suffix.lower()), []).append(file)
    return list(found.values())


def split_name(file: Path) -> str:
    """Return what the parts of a table have in common: `train` of `train-00000-of-00002.parquet`."""
    part = _PART.fullmatch(file.stem)
    return part[1] if part else file.stem


def row_shape(file: Path, stated: Mapping[str, Any]) -> RowShape | None:
    """Return what the rows of a file are; None where they are of no run. Raises TableFault, MissingExtra."""
    try:
        about = file.stat()
    except OSError as error:
        raise TableFault(f"unreadable ({error.strerror})", "a table") from error
    return _row_shape(file, about.st_mtime_ns, about.st_size, msgspec.json.encode(dict(stated)))


# Every run of a table asks, and screenshots are among the cells that are looked at.
@lru_cache(maxsize=32)
def _row_shape(file: Path, at: int, size: int, encoded: bytes) -> RowShape | None:
    stated: dict[str, Any] = msgspec.json.decode(encoded)
    names: dict[str, None] = {}
    seen = [row.cells for row in islice(walked(file), LOOK_ROWS)]
    for cells in seen:
        names.update(dict.fromkeys(column_names(cells)))
    step, steps = step_columns(names, stated), steps_column(names, stated)
    if steps is not None and any(_are_steps(objects_of(cell_of(cells, steps)), stated) for cells in seen):
        return RowShape(WHOLE_ROWS, run_columns(names, stated, is_step_row=False), {}, steps)
    acted = [cell for cells in seen if (cell := cell_of(cells, step.get("action"))) not in (None, "")]
    if not acted:
        run = run_columns(names, stated, is_step_row=True)
        return RowShape(RUN_ROWS, run, {}) if "run" in run else None
    is_numbered = any(isinstance(cell_of(cells, step.get("step")), int | str) for cells in seen)
    kind = LISTED_ROWS if list_of(acted[0]) is not None and not is_numbered else STEP_ROWS
    run = run_columns(names, stated, is_step_row=kind == STEP_ROWS)
    return RowShape(kind, run, step)


def _are_steps(objects: list[dict[str, Any]], stated: Mapping[str, Any]) -> bool:
    """Whether objects state actions: a list of that name may hold messages, or events of anything."""
    names = dict.fromkeys(name for one in objects for name in column_names(one))
    column = step_columns(names, stated).get("action")
    return any(cell_of(one, column) not in (None, "", [], {}) for one in objects)


def _is_of_runs(file: Path, shape: RowShape) -> bool:
    """Whether rows may be runs or steps; one JSON object is no step."""
    return shape.kind in (WHOLE_ROWS, LISTED_ROWS) or not is_one_row(file)


def _is_sure(file: Path, shape: RowShape) -> bool:
    """Whether at least two columns have usual names: a single `action` may belong to any table."""
    run, step = shape.run, shape.step
    first = next(walked(file), None)
    cells = {} if first is None else first.cells
    steps = objects_of(cell_of(cells, shape.steps))
    if is_unread(steps):
        return False
    if is_one_row(file):
        return known_json(cells) is None and _happened(shape, steps)
    if shape.kind in (WHOLE_ROWS, RUN_ROWS) or "action_timestamp" in cells:  # as in OSWorld
        return True
    count = sum(field in run for field in ("run", "task", "intent", "answer"))
    return count + sum(field in step for field in ("step", "thought", "url", "screenshot", "target")) >= 2


_SEEN = frozenset({
    "thought", "returned", "error", "time", "t", "url_before", "url_after", "screenshot", "screenshot_before",
    "screenshot_after", "a11y",
})  # fmt: skip
"""Fields of a step that only a run has."""


def _happened(shape: RowShape, steps: list[dict[str, Any]]) -> bool:
    """Whether one JSON object is a run of a task: scripts and macros list actions that no one took."""
    run = shape.run
    fields = {
        *shape.step,
        *step_columns(dict.fromkeys(name for one in steps for name in column_names(one)), {}),
    }
    # A page to go to is an argument; a page beside each action is where it was done.
    is_located = len(steps) > 1 and all(step_columns(column_names(one), {}).get("url") for one in steps)
    is_run = bool(fields & _SEEN) or is_located or bool(run.get("labels")) or "answer" in run
    return is_run and any(field in run for field in ("run", "task", "intent"))


def objects_of(cell: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, also one that is a text of JSON; empty for anything else."""
    return [one for one in list_of(cell) or () if isinstance(one, dict)]


def list_of(cell: Any) -> list[Any] | None:
    """Return a list, also one that is a text of JSON; None for anything else."""
    if isinstance(cell, str) and cell.lstrip()[:1] == "[" and cell.rstrip()[-1:] == "]":
        try:
            cell = decode_json(cell.strip().encode("utf-8", "replace"))
        except JsonFault:
            return None
    return cell if isinstance(cell, list) else None


def _runs(table: list[Path], shape: RowShape, stated: Mapping[str, Any]) -> Iterator[Candidate]:
    if shape.kind != STEP_ROWS:
        yield from (
            _of_row(file, row, shape) for file in table for row in _rows(file, [shape.run.get("run")])
        )
        return
    column = shape.run.get("run")
    if column in (None, OWN_FILE):
        yield from (_of_file(file, shape, is_stated=column == OWN_FILE) for file in table)
        return
    groups: dict[str, list[TableSpan]] = {}
    for file in table:
        _group(file, str(column), groups)
    for key, spans in groups.items():
        yield _candidate(table[0], key, spans)


def _group(file: Path, column: str, groups: dict[str, list[TableSpan]]) -> None:
    """Add the rows of a file to their runs; a row that names no run is of the one around it."""
    torn: list[TableSpan] = []
    last: list[TableSpan] | None = None
    for row in _rows(file, [column]):
        span, key = TableSpan(file.name, row.start, row.end), cell_of(row.cells, column)
        if key not in (None, ""):
            last = groups.setdefault(str(key), [])
        if last is None:
            torn.append(span)
            continue
        for one in (*torn, span):
            _put(last, one)
        torn = []
    for one in torn:  # no row names a run
        _put(groups.setdefault("", []), one)


def _of_row(file: Path, row: TableRow, shape: RowShape) -> Candidate:
    key = cell_of(row.cells, shape.run.get("run")) or cell_of(row.cells, shape.run.get("task"))
    return _candidate(file, str(key or row.start), [TableSpan(file.name, row.start, row.end)])


def _of_file(file: Path, shape: RowShape, *, is_stated: bool) -> Candidate:
    """Return the one run of a file. Its steps are numbered upwards, or the user states that it is one."""
    column = shape.step.get("step")
    rows = list(_rows(file, [column]))
    numbers = [step_number(cell_of(row.cells, column)) for row in rows]
    if not is_stated and not _are_upwards(numbers):
        raise UsageError(
            what=f"{file.name}: no column shows which rows belong to one run; name it with --columns, "
            f"as `run: COLUMN`, or as `run: '{OWN_FILE}'` where the whole file is one run"
        )
    return _candidate(file, file.stem, [TableSpan(file.name, rows[0].start, rows[-1].end)])


def _are_upwards(numbers: list[float | None]) -> bool:
    """Whether numbers are those of one run; actions of one turn may share a number."""
    known = [one for one in numbers if one is not None]
    is_sorted = all(one <= after for one, after in pairwise(known))
    return len(known) == len(numbers) and is_sorted and (len(known) == 1 or known[0] < known[-1])


def _put(spans: list[TableSpan], one: TableSpan) -> None:
    """Add a row to those of a run; rows side by side are one span."""
    if spans and spans[-1].file == one.file and spans[-1].end == one.start:
        spans[-1] = TableSpan(one.file, spans[-1].start, one.end)
    else:
        spans.append(one)


def _candidate(file: Path, key: str, spans: list[TableSpan]) -> Candidate:
    name = f"{split_name(file)}-{key}" if key.isdecimal() or not key else key
    return Candidate(
        name=name,
        root=file.parent,
        file=f"{file.name}#{key[:80]}",
        parts=tuple(spans),
    )


def _rows(file: Path, columns: list[Any]) -> Iterator[TableRow]:
    """Yield the rows with these columns only; a table that breaks off ends there, and reading it shows it."""
    outer = list(dict.fromkeys(str(column).partition(".")[0] for column in columns if column))
    is_flat = outer and all(name in table_keys(file) for name in outer)
    try:
        for at, row in enumerate(walked(file, outer if is_flat else None)):
            if at >= ROWS_MAX:
                return
            yield row
    except TableFault:
        return


def joined_rows(folder: Path, column: str, key: str, stated: Mapping[str, Any]) -> list[tuple[str, TableRow]]:
    """Return the rows of tables without steps that say more of a run: its task, its answer."""
    of_run = {name: one for name, one in stated.items() if name in RUN_FIELDS}
    files = [file for file in table_files(folder) if file.parent == folder]
    try:
        about = tuple((file, file.stat().st_mtime_ns) for file in files)
    except OSError:
        return []
    return _joined_rows(about, column, msgspec.json.encode(of_run)).get(key, [])


@lru_cache(maxsize=4)
def _joined_rows(
    about: tuple[tuple[Path, int], ...], column: str, encoded: bytes
) -> dict[str, list[tuple[str, TableRow]]]:
    """Return key to rows, of every table of a folder whose rows are no steps."""
    found: dict[str, list[tuple[str, TableRow]]] = {}
    for file, _ in about:
        try:
            shape = row_shape(file, msgspec.json.decode(encoded)) if column in table_keys(file) else None
            if shape is not None and shape.kind == RUN_ROWS:
                for row in islice(walked(file), ROWS_MAX):
                    found.setdefault(str(row.cells.get(column)), []).append((file.name, row))
        except (TableFault, MissingExtra):
            continue
    return found
