"""Steps of a run out of its rows: one a row, one an object of a list, or one an item of each list."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from replaykit.interop.extra_fields import holds_data
from replaykit.interop.imported_run import Run
from replaykit.interop.table.table_columns import (
    RUN_FIELDS,
    cell_of,
    column_names,
    step_columns,
    step_number,
)
from replaykit.interop.table.table_files import NO_ROW, UNLIKE
from replaykit.interop.table.table_runs import (
    STEP_ROWS,
    WHOLE_ROWS,
    RowShape,
    list_of,
    objects_of,
)

SEEN = (
    "screenshot",
    "screenshot_before",
    "screenshot_after",
    "url",
    "url_before",
    "url_after",
    "title",
    "a11y",
)
"""Fields of which a list may have one item more than there are actions: the page at the start."""

Rows = list[tuple[str, dict[str, Any]]]


class TableStep(Struct, kw_only=True):
    """Cells of a table about one step: where it stands, and field to cell."""

    place: str
    cells: dict[str, Any]
    unread: dict[str, Any] = {}
    """Other cells of its row: name to cell."""


class TableSteps(Struct, kw_only=True):
    """The steps of a run, and what was seen before the first."""

    steps: list[TableStep]
    start: dict[str, Any] = {}
    unread: dict[str, Any] = {}
    """Other cells of the run: name to cell."""


def steps_of(run: Run, shape: RowShape, rows: Rows) -> TableSteps:
    """Return the steps in their order; cells that no field reads are kept beside them."""
    for place, cells in rows:
        if UNLIKE in cells:
            run.cut("a row with fewer or more cells than columns, or with broken quotes", place)
    if shape.kind == STEP_ROWS:
        return TableSteps(steps=_ordered(run, _by_rows(run, shape, rows)))
    place, cells = rows[0]
    if shape.kind == WHOLE_ROWS:
        return _by_objects(run, shape, place, cells)
    return _by_lists(run, shape, place, cells)


def _by_lists(run: Run, shape: RowShape, place: str, cells: dict[str, Any]) -> TableSteps:
    used = {*shape.step.values(), *_flat(shape.run)}
    found = TableSteps(steps=[], unread={name: cell for name, cell in cells.items() if name not in used})
    _keep(run, place, found.unread)
    for at, one in enumerate(_listed_actions(run, cell_of(cells, shape.step["action"]), place)):
        found.steps.append(TableStep(place=f"{place} [{at}]", cells={"action": one}))
    lists = {field: name for field, name in shape.step.items() if field != "action"}
    _add_lists(run, found, lists, place, cells)
    return found


def _listed_actions(run: Run, cell: Any, place: str) -> list[Any]:
    """Return the actions of a list; anything else in its place is one action, or shows none."""
    listed = list_of(cell)
    if listed is not None:
        return listed
    if cell in (None, ""):
        run.cut("a run without a list of its actions", place)
        return []
    return [cell]


def _by_rows(run: Run, shape: RowShape, rows: Rows) -> Iterator[TableStep]:
    used = {*shape.step.values(), *_flat(shape.run)}
    before: Mapping[str, Any] = {}
    is_named = any(not _names_no_run(cells, shape) for _, cells in rows)
    for place, cells in rows:
        if NO_ROW in cells:
            run.cut("a line that is no row: kept beside the steps", place)
            run.keep(place, {"line": cells[NO_ROW]})
            continue
        if is_named and _names_no_run(cells, shape):
            run.cut("a row that names no run, among rows that do: kept beside the steps", place)
            _keep(run, place, cells)
            continue
        unread = _unread(cells, used)
        # A cell that all rows of a run repeat is kept once.
        _keep(
            run, place, {k: cell for k, cell in unread.items() if holds_bytes(cell) or before.get(k) != cell}
        )
        before = unread
        stated = {field: cell_of(cells, column) for field, column in shape.step.items()}
        yield TableStep(place=place, cells=stated, unread=unread)


def _names_no_run(cells: Mapping[str, Any], shape: RowShape) -> bool:
    return cell_of(cells, shape.run.get("run")) in (None, "")


def _by_objects(run: Run, shape: RowShape, place: str, cells: dict[str, Any]) -> TableSteps:
    objects = _step_objects(run, cell_of(cells, shape.steps), f"{place} {shape.steps}")
    names = list(dict.fromkeys(name for one in objects for name in column_names(one)))
    columns = step_columns(names, run.options.columns)
    found = TableSteps(steps=[])
    for at, one in enumerate(objects):
        inner = f"{place} {shape.steps}[{at}]"
        unread = _unread(one, {*columns.values()})
        _keep(run, inner, unread)
        stated = {field: cell_of(one, column) for field, column in columns.items()}
        found.steps.append(TableStep(place=inner, cells=stated, unread=unread))
    found.steps = _ordered(run, iter(found.steps))
    outer = step_columns(column_names(cells), {})
    lists = {
        field: name
        for field, name in outer.items()
        if field in SEEN and field not in columns and list_of(cell_of(cells, name)) is not None
    }
    used = {*lists.values(), *_flat(shape.run), shape.steps}
    found.unread = _unread(cells, used)
    _keep(run, place, found.unread)
    _add_lists(run, found, lists, place, cells)
    return found


def _step_objects(run: Run, cell: Any, place: str) -> list[dict[str, Any]]:
    """Return the objects of a list of steps; other items are kept beside them, and the run lacks them."""
    listed = list_of(cell)
    if listed is None:
        run.cut("a run without a list of its steps", place)
    others = [cell] if listed is None else [one for one in listed if not isinstance(one, dict)]
    for one in others if others != [None] else ():
        run.cut("an item of the steps that is no object: kept beside the steps", place)
        _keep(run, place, {"item": one})
    return objects_of(cell)


def _add_lists(
    run: Run, found: TableSteps, columns: Mapping[str, str], place: str, cells: Mapping[str, Any]
) -> None:
    """Put the items of lists beside their actions; a list of another length belongs to no step."""
    count = len(found.steps)
    for field, name in columns.items():
        cell = cell_of(cells, name)
        items = list_of(cell)
        if items is None:
            _keep(run, place, {name: cell})
        elif len(items) == count:
            for step, item in zip(found.steps, items, strict=True):
                step.cells[field] = item
        elif len(items) == count + 1 and field in SEEN:
            _add_seen(found, field, items)
        elif field.startswith("screenshot"):
            found.start.setdefault("unaligned", []).extend(items)
        elif items:
            run.flaw(f"a list of {len(items)} for {count} actions: kept beside the steps", f"{place} {name}")
            _keep(run, place, {name: cell})


def _add_seen(found: TableSteps, field: str, items: list[Any]) -> None:
    """Add a list with the page at the start: each other item shows what followed its action."""
    kind = field.removesuffix("_before").removesuffix("_after")
    after = f"{kind}_after" if kind in ("url", "screenshot") else kind
    found.start[after] = items[0]
    for step, item in zip(found.steps, items[1:], strict=True):
        step.cells[after] = item


def _ordered(run: Run, steps: Iterator[TableStep]) -> list[TableStep]:
    """Return steps by their numbers, where all have another one; a number left out is a step left out."""
    found = list(steps)
    numbers = [step_number(step.cells.get("step")) for step in found]
    known = [one for one in numbers if one is not None]
    is_whole = len(known) == len(found)
    if len(set(known)) < len(known):
        run.flaw("a number of two steps: they are in the order of the table", found[0].place)
    elif is_whole:
        found = [found[at] for at in sorted(range(len(found)), key=lambda at: known[at])]
    if _lacks_numbers(sorted(known) if is_whole else numbers):
        run.cut("without some numbers of steps: the actions there are unknown", found[0].place)
    return found


def _lacks_numbers(numbers: Sequence[float | None]) -> bool:
    """Whether numbers are left out; a step without a number may stand in the place of one."""
    last, free = 0.0, 1
    for one in numbers:
        if one is None:
            free += 1
            continue
        if one - last > free:
            return True
        last, free = one, 1
    return False


def _flat(columns: Mapping[str, Any]) -> Iterator[str]:
    for one in columns.values():
        yield from one if isinstance(one, list) else [one]


def _unread(cells: Mapping[str, Any], used: set[Any]) -> dict[str, Any]:
    """Return the cells that no field reads, the parts of those that wrap others one by one."""
    found: dict[str, Any] = {}
    for name, cell in cells.items():
        inner = {key for key in used if isinstance(key, str) and key.startswith(f"{name}.")}
        if name in used:
            continue
        if inner and isinstance(cell, dict):
            found.update(
                {f"{name}.{key}": part for key, part in cell.items() if f"{name}.{key}" not in inner}
            )
        else:
            found[name] = cell
    return found


def _keep(run: Run, place: str, stated: Mapping[str, Any]) -> None:
    """Keep cells beside the steps; bytes fit into no JSON, and are counted."""
    for name, cell in stated.items():
        if holds_bytes(cell):
            run.leave_out(f"{name} (bytes)")
        elif holds_data(cell):
            run.keep(place, {name: cell})


def holds_bytes(cell: Any) -> bool:
    """Whether there are bytes anywhere in a cell."""
    if isinstance(cell, dict):
        return any(holds_bytes(part) for part in cell.values())
    return any(holds_bytes(part) for part in cell) if isinstance(cell, list) else isinstance(cell, bytes)


def fields_of_run(run: Run, shape: RowShape, rows: Rows) -> dict[str, Any]:
    """Return field to value of the run in its rows; rows of other tables name their own columns."""
    found: dict[str, Any] = {"labels": {}}
    for field in RUN_FIELDS:
        if field == "labels":
            continue
        values = [
            value for _, cells in rows if (value := cell_of(cells, shape.run.get(field))) not in (None, "")
        ]
        if values:
            # The answer is the last one.
            found[field] = values[-1] if field == "answer" else values[0]
            if field != "answer" and any(value != values[0] for value in values):
                run.flaw("another value in other rows of the run: the first counts", f"{shape.run[field]}")
    for name in shape.run.get("labels", []):
        _label(run, found["labels"], name, rows)
    return found


def _label(run: Run, labels: dict[str, Any], name: str, rows: Rows) -> None:
    """Add what rows say of success: one value is that of the run, several are those of steps."""
    values = [(place, value) for place, cells in rows if (value := cell_of(cells, name)) is not None]
    if values and all(value == values[0][1] for _, value in values) and not holds_bytes(values[0][1]):
        labels[name] = values[0][1]
    else:
        for place, value in values:
            _keep(run, place, {name: value})
