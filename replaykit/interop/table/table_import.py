"""Runs in the rows of tables, as data sets publish them: a row a step, or a row a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from replaykit.interop.har.har_entries import Base, stamp
from replaykit.interop.imported_run import Options, Run
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.repaired_values import plain_number
from replaykit.interop.table.table_actions import ActionCell, actions_of
from replaykit.interop.table.table_columns import OWN_ACTION, run_columns
from replaykit.interop.table.table_files import LINES, NO_ROW, TableFault, read_rows
from replaykit.interop.table.table_runs import (
    RUN_ROWS,
    STEP_ROWS,
    RowShape,
    find_columns,
    find_tables,
    joined_rows,
    list_of,
    row_shape,
)
from replaykit.interop.table.table_steps import TableStep, TableSteps, fields_of_run, holds_bytes, steps_of
from replaykit.interop.table.unread_actions import UnreadActions
from replaykit.interop.table_rows import screenshot_bytes
from replaykit.trajectory.action import Action
from replaykit.trajectory.exchange import Imported
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Blob, Threw
from replaykit.trajectory.step import AgentInfo

ENDINGS = ("answered", "stopped", "max_steps", "timeout", "crashed", "unknown")
"""Kinds of endings that a table may name."""

VALIDITIES = ("valid", "blocked", "site_down", "session_lost", "other")
"""Words of a table for the validity of a run."""

SECONDS, MILLISECONDS = (1e9, 1e11), (1e12, 1e14)
"""Numbers that are times since 1970, in s and in ms: 2001 to 5138."""

Rows = list[tuple[str, dict[str, Any]]]


def read(run: Run, candidate: Candidate) -> None:
    """Read the rows of one run."""
    name, _, key = candidate.file.partition("#")
    with _Faults(run, name):
        shape = row_shape(run.source.path(name), run.options.columns)
    if shape is None or shape.kind == RUN_ROWS:
        run.source.malformed(
            name, "a table of which no column holds actions", "a column `action`, or --columns"
        )
    rows = _rows(run, candidate, key)
    _task(run, candidate, stated := _run_fields(run, candidate, shape, rows, key))
    found = steps_of(run, shape, rows)
    if shape.step.get("action") == OWN_ACTION:
        _follow(found)
    _fill(run, found, _clock(run, found.steps), shape.step.get("action"))
    _end(run, stated, candidate)


class _Faults:
    """Errors of reading a table, with the name of the file."""

    def __init__(self, run: Run, name: str) -> None:
        self._run, self._name = run, name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, TableFault):
            self._run.source.malformed(self._name, error.found, error.expected, error)


def _rows(run: Run, candidate: Candidate, key: str) -> Rows:
    """Return place and cells of each row, whose digests vouch for the run."""
    rows: Rows = []
    pieces: dict[str, list[bytes]] = {}
    for file, start, end in candidate.parts:
        unit = "byte" if Path(file).suffix.lower() in LINES else "row"
        with _Faults(run, file):
            for at, cells in enumerate(read_rows(run.source.path(file), start, end)):
                run.source.check("steps", len(rows), "the run", "rows")
                rows.append((f"{file} {unit} {start}{f' +{at}' if at else ''}", cells))
                pieces.setdefault(file, []).append(_encoded(cells))
    for file, found in pieces.items():
        run.source.part(f"{file}#{key or 'all'}"[:200], *found)
    if not any(NO_ROW not in cells for _, cells in rows):
        run.source.malformed(candidate.file, "without rows of a run", "a row a step, or a row a run")
    return rows


def _encoded(value: Any) -> bytes:
    return msgspec.json.encode(value, order="deterministic", enc_hook=repr)


def _run_fields(run: Run, candidate: Candidate, shape: RowShape, rows: Rows, key: str) -> dict[str, Any]:
    """Return the fields of the run, from its own rows and from those of other tables of the folder."""
    stated = fields_of_run(run, shape, rows)
    column = shape.run.get("run")
    if shape.kind != STEP_ROWS or not isinstance(column, str) or column.startswith("@") or not key:
        return stated
    for file, row in joined_rows(candidate.root, column, key, run.options.columns):
        place = f"{file} row {row.start}"
        run.source.part(f"{file}#{key}"[:200], _encoded(row.cells))
        columns = run_columns(row.cells, run.options.columns, is_step_row=True)
        more = fields_of_run(run, RowShape(RUN_ROWS, columns, {}), [(place, row.cells)])
        used = {one for name in columns.values() for one in (name if isinstance(name, list) else [name])}
        run.keep(
            place, {name: cell for name, cell in row.cells.items() if name not in used and cell is not None}
        )
        stated = {**more, **stated, "labels": {**more["labels"], **stated["labels"]}}
    return stated


def _task(run: Run, candidate: Candidate, stated: Mapping[str, Any]) -> None:
    intent, url = stated.get("intent"), stated.get("start_url")
    is_url = isinstance(url, str) and "://" in url
    run.task(
        _text(stated.get("task")) or _text(stated.get("run")) or candidate.name,
        intent=_text(intent) or None,
        start_urls=[url] if is_url else None,
    )
    if url is not None and not is_url:
        run.extra["start_url"] = url
    run.header["agent"] = AgentInfo(
        name=_text(stated.get("agent")) or None, model=_text(stated.get("model")) or None
    )
    if intent is None:
        run.warn("no column holds the task: name it with --columns, or give --task FILE")


def _text(value: Any) -> str:
    if value is None or isinstance(value, bytes):
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=repr).decode()


def _follow(found: TableSteps) -> None:
    """Read URL and screenshot of our own tables as what followed the step."""
    for step in found.steps:
        for field in ("url", "screenshot"):
            if field in step.cells:
                step.cells[f"{field}_after"] = step.cells.pop(field)
        # Both are in the action itself.
        step.cells.update(target=None, value=None)


def _clock(run: Run, steps: list[TableStep]) -> Base:
    """Return where times count from, the first of them."""
    zoned = [step.cells.get("time") for step in steps]
    times = [at for at in map(_moment, zoned) if at is not None]
    if any(plain_number(step.cells.get("t")) is not None for step in steps):
        run.header["clock"] = "source"
    elif times:
        run.header["clock"] = "source"
        # Without a zone, only differences are known.
        if all(_has_zone(one) for one in zoned if _moment(one) is not None):
            run.header["created"] = stamp(min(times))
    return Base(start=min(times, default=None))


def _moment(value: Any) -> datetime | None:
    """Return a time in UTC: ISO 8601, or s or ms since 1970; None for anything else."""
    number = plain_number(value)
    try:
        if number is not None:
            scale = (
                1
                if SECONDS[0] <= number < SECONDS[1]
                else 1000
                if MILLISECONDS[0] <= number < MILLISECONDS[1]
                else 0
            )
            return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=number / scale) if scale else None
        found = datetime.fromisoformat(value) if isinstance(value, str) and len(value) <= 64 else None
        if found is None:
            return None
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _has_zone(value: Any) -> bool:
    return (
        not isinstance(value, str)
        or plain_number(value) is not None
        or datetime.fromisoformat(value).tzinfo is not None
    )


def _t(cells: Mapping[str, Any], base: Base) -> int | None:
    own = plain_number(cells.get("t"))
    return max(0, round(own)) if own is not None else base.ms(_moment(cells.get("time")))


def _fill(run: Run, found: TableSteps, base: Base, column: str | None) -> None:
    """Add the steps between what was seen, and set how much of each channel there is."""
    others = UnreadActions(run, found, column)
    if found.start and (shown := _look(run, found.start, "start", base, "the start")) is not None:
        run.add(shown)
    for at, step in enumerate(found.steps):
        if step.cells.get("action") in (None, "", [], {}):
            _add_bare(run, step, base, _BareRow(at == 0, at == len(found.steps) - 1, others.bare(step)))
        else:
            others.step(step, _add_step(run, at, step, base))
    others.end()
    loose = [step.cells.get("screenshot") for step in found.steps] + found.start.get("unaligned", [])
    for shot in _images(run, loose, "screenshot"):
        run.add(Observation(role="unaligned", screenshot=shot))
    if any(cell is not None for cell in loose):
        run.warn(
            "no column shows whether screenshots are of the page before or after the action: they belong to "
            "no step; name their column as screenshot_before or screenshot_after with --columns"
        )
    _channels(run, [step.cells for step in found.steps if step.cells.get("action") not in (None, "", [], {})])


def _channels(run: Run, cells: list[Mapping[str, Any]]) -> None:
    shots = [_has(one, "screenshot_before", "screenshot_after") for one in cells]
    run.origin["alignment"] = "exact" if any(shots) else "unaligned"
    run.fills(
        actions="recorded",
        targets="partial",
        thoughts=_state([_has(one, "thought") for one in cells]),
        urls="partial" if any(_has(one, "url", "url_before", "url_after") for one in cells) else "absent",
        screenshots=_state(shots) if run.image_count else "absent",
        a11y=_state([_has(one, "a11y") for one in cells]),
    )


def _has(cells: Mapping[str, Any], *fields: str) -> bool:
    return any(cells.get(field) not in (None, "") for field in fields)


def _state(found: list[bool]) -> str:
    return "absent" if not any(found) else "recorded" if all(found) else "partial"


class _BareRow(NamedTuple):
    """A row without an action: where among the rows, and whether another cell may hold one."""

    is_first: bool
    is_last: bool
    is_doubtful: bool

    def report(self, run: Run, place: str) -> None:
        if self.is_doubtful or (self.is_first and self.is_last):
            run.cut(
                "a row without an action, which other cells may hold: name their column with --columns", place
            )
        elif self.is_first:
            run.flaw("a row without an action: what it saw belongs to no step", place)
        elif not self.is_last:
            run.cut("a row without an action between others: what was done there is unknown", place)


def _add_bare(run: Run, step: TableStep, base: Base, row: _BareRow) -> None:
    """Add a row without an action: a look at the start or the end; between actions, one may be missing."""
    shown = _look(run, step.cells, "final" if row.is_last else "unaligned", base, step.place)
    if shown is not None:
        run.add(shown)
    row.report(run, step.place)
    stated = {name: cell for name, cell in step.cells.items() if name in _KEPT and not holds_bytes(cell)}
    run.keep(step.place, {name: cell for name, cell in stated.items() if cell not in (None, "")})


_KEPT = ("thought", "returned", "error", "target", "arguments", "value", "point")


def _add_step(run: Run, turn: int, step: TableStep, base: Base) -> list[Action]:
    cells = step.cells
    point = cells.get("point")
    if point is None and cells.get("x") is not None and cells.get("y") is not None:
        point = [cells["x"], cells["y"]]
    named = {name: cells.get(name) for name in ("target", "value", "arguments")}
    acted = list(actions_of(run, ActionCell(cells["action"], point=point, **named)))
    t, error, thought = _t(cells, base), cells.get("error"), _text(cells.get("thought"))
    before = _look(run, cells, "before", base, step.place)
    for at, (action, record) in enumerate(acted):
        is_last = at == len(acted) - 1
        one = run.step(
            action=action,
            before=before if at == 0 else None,
            thought=thought or None,
            raw=record,
            returned=cells.get("returned") if is_last and not holds_bytes(cells.get("returned")) else None,
            error=_threw(error) if is_last else None,
            url=_url(cells.get("url_after")) if is_last else None,
            turn=turn,
            t=t,
        )
    shot = next(iter(_images(run, [cells.get("screenshot_after")], step.place)), None)
    if shot is not None:
        run.add(Observation(role="after", of=one.index, url=_url(cells.get("url_after")), screenshot=shot))
    return [action for action, _ in acted]


def _threw(error: Any) -> Threw | None:
    if error in (None, "", False, [], {}):
        return None
    return Threw(name="Failed", message="" if error is True else _text(error))


def _look(run: Run, cells: Mapping[str, Any], role: str, base: Base, place: str) -> Observation | None:
    """Return what was seen; None where no cell holds anything."""
    is_before = role == "before"
    shots = ["screenshot_before"] if is_before else ["screenshot_before", "screenshot_after"]
    urls = ["url_before", "url"] if is_before else ["url_before", "url", "url_after"]
    shot = next(iter(_images(run, [cells.get(name) for name in shots], place)), None)
    url = next((found for name in urls if (found := _url(cells.get(name)))), None)
    title, tree = _text(cells.get("title")) or None, _text(cells.get("a11y"))
    if not (shot or url or title or tree):
        return None
    a11y: Blob | None = run.put("text/plain", tree.encode("utf-8", "replace")) if tree else None
    return Observation(
        role=role, t=None if is_before else _t(cells, base), url=url, title=title, screenshot=shot, a11y=a11y
    )


def _url(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _images(run: Run, cells: list[Any], place: str) -> Iterator[Blob]:
    """Yield the screenshots of cells; anything else is a flaw."""
    for cell in cells:
        many = list_of(cell)
        for one in [cell] if many is None else many:
            shot = _image(run, one, place)
            if shot is not None:
                yield shot


def _image(run: Run, cell: Any, place: str) -> Blob | None:
    if cell in (None, ""):
        return None
    if isinstance(cell, dict) and isinstance(cell.get("path"), str) and cell.get("bytes") is not None:
        run.keep(place, {"path": cell["path"]})
    found = screenshot_bytes(cell)
    named = cell.get("path") if isinstance(cell, dict) else cell
    if isinstance(found, bytes):
        run.source.check("member", len(found), place, "bytes")
        return run.screenshot_of(found, place)
    if isinstance(named, str) and "://" in named[:16]:
        run.flaw("a screenshot at an address: not fetched", place)
        return None
    shot = run.screenshot_at(found) if isinstance(found, str) else None
    if shot is None:
        run.flaw("a screenshot that is named and not there, or no image", f"{place} {named!r:.80}")
    return shot


def _end(run: Run, stated: Mapping[str, Any], candidate: Candidate) -> None:
    for name, value in stated["labels"].items():
        run.add(Imported(kind="label", name=name, value=value, file=candidate.file.partition("#")[0]))
    answer = stated.get("answer")
    answer_text = _text(answer) if answer is not None else run.last_message()
    kind, validity = stated.get("ending"), stated.get("validity")
    for name, value, known in (("ending", kind, ENDINGS), ("validity", validity, VALIDITIES)):
        if value is not None and value not in known:
            run.extra[name] = value
    run.end(
        kind if kind in ENDINGS else "unknown" if answer_text is None else "answered",
        answer=answer_text,
        validity=validity if validity in VALIDITIES else "valid",
    )


def _find_asked(path: Path, options: Options) -> Iterator[Candidate]:
    yield from find_columns(path, options.columns)


IMPORTER = Importer(
    name="table",
    reads="rows of data sets: a row a step, or a row a run",
    looks_for="*.parquet, *.arrow, *.jsonl, *.json, *.csv with a column `action`, or what --columns names",
    channels=letters("R actions; P targets; o task answer times thoughts urls screenshots a11y"),
    find=find_tables,
    read=read,
    options=("shots", "tools", "actions", "columns"),
    find_asked=_find_asked,
)
"""Reads the layout; Parquet and Arrow need the extra `parquet`."""
