"""Online-Mind2Web's task files, and scenarios of WABE: tasks that only a judge can grade.

A record is `task_id, confirmed_task, website, level, reference_length` (arXiv 2504.01382); tables of a
scenario may use other words for the same, and say `max_steps`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from replaykit.errors import TaskError
from replaykit.tasks.checks import CheckFault
from replaykit.tasks.task import Task

Record = Mapping[str, Any]

LEVELS = ("easy", "medium", "hard")

_ID = ("task_id", "id")
_TEXT = ("confirmed_task", "task", "description")
_WEBSITE = ("website", "start_url", "url")
_NUMBERS = ("reference_length", "max_steps")
_KNOWN = frozenset((*_ID, *_TEXT, *_WEBSITE, *_NUMBERS, "level"))


def mind2web_records(plain: Any) -> list[Any] | None:
    """Return the records of a task file or scenario, which may be empty; None for any other layout."""
    if isinstance(plain, dict) and "schema" not in plain:
        tables = plain.get("tasks", [] if not plain or "participants" in plain else None)
        is_ours = isinstance(tables, list) and any(isinstance(r, dict) and "intent" in r for r in tables)
        return tables if isinstance(tables, list) and not is_ours else None
    if isinstance(plain, list):
        is_one = all(
            isinstance(record, dict) and {"task_id", "confirmed_task"} <= record.keys() for record in plain
        )
        return plain if is_one else None
    return None


def read_mind2web(records: Sequence[Record], source: str, at: str = "$") -> list[Task]:
    """Turn records into tasks. Raises `TaskError` for the first invalid one."""
    tasks = []
    for number, record in enumerate(records):
        fault = next((fault for fault in _of_fields(record, f"{at}[{number}]") if fault.is_error), None)
        if fault is not None:
            raise TaskError(source=source, path=fault.path, reason=fault.message)
        tasks.append(_task(record))
    return tasks


def mind2web_faults(records: Sequence[Record], at: str = "$") -> list[CheckFault]:
    """Return all that is wrong with records, each once; words that no one knows are notes."""
    found: list[CheckFault] = []
    seen: dict[tuple[str, str], int] = {}
    for number, record in enumerate(records):
        found += _of_fields(record, f"{at}[{number}]")
        found += _repeated(record, number, at, seen)
    return found


def totals(records: Sequence[Record]) -> list[str]:
    """Return how many tasks there are of each level and site, and how long people took."""
    tables = [record for record in records if isinstance(record, Mapping)]
    levels = Counter(str(table.get("level") or "no level") for table in tables)
    sites = Counter(_site(_value(table, _WEBSITE)) or "no site" for table in tables)
    lengths = [length for table in tables if type(length := table.get("reference_length")) is int]
    counted = [f"{name}: {count}" for counts in (levels, sites) for name, count in counts.most_common()]
    return [*counted, *([f"mean reference_length: {sum(lengths) / len(lengths):.2f}"] if lengths else [])]


def _site(website: Any) -> str:
    if not isinstance(website, str) or not _is_web(website):
        return ""
    return (urlsplit(website).hostname or "").removeprefix("www.")


def _task(record: Record) -> Task:
    website = _value(record, _WEBSITE)
    metadata = {
        "site": _site(website),
        "level": record.get("level"),
        "reference_length": record.get("reference_length"),
    }
    return Task(
        id=str(_value(record, _ID)),
        intent=_value(record, _TEXT),
        start_urls=(website,) if website else (),
        judge="webjudge",
        max_steps=record.get("max_steps"),
        metadata={name: value for name, value in metadata.items() if value not in (None, "")},
        source_record=dict(record),
    )


def _value(record: Record, names: Sequence[str]) -> Any:
    return next((record[name] for name in names if record.get(name) not in (None, "")), None)


def _of_fields(record: Any, at: str) -> Iterator[CheckFault]:
    if not isinstance(record, Mapping):
        yield CheckFault(task="", path=at, message=f"expected a table, got {type(record).__name__}")
        return
    id = _value(record, _ID)
    for path, message, is_error in _wrong(record):
        yield CheckFault(task=str(id or ""), path=f"{at}.{path}", message=message, is_error=is_error)


def _wrong(record: Record) -> Iterator[tuple[str, str, bool]]:
    for names in (_ID, _TEXT):
        value = _value(record, names)
        if not isinstance(value, str) or not value.strip():
            yield names[0], "missing or empty", True
    website = _value(record, _WEBSITE)
    if website is None:
        yield _WEBSITE[0], "missing or empty", True
    elif not isinstance(website, str) or not _is_web(website):
        yield _WEBSITE[0], f"expected an http or https address, got {website!r}", True
    level = record.get("level")
    if level is not None and level not in LEVELS:
        yield "level", f"expected one of {', '.join(LEVELS)}, got {level!r}", True
    for name in _NUMBERS:
        number = record.get(name)
        if number is not None and (type(number) is not int or number < 1):
            yield name, f"expected a whole number from 1, got {number!r}", True
    for name in record:
        if name not in _KNOWN:
            yield name, "unknown; kept as it is", False


def _is_web(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _repeated(record: Any, number: int, at: str, seen: dict[tuple[str, str], int]) -> Iterator[CheckFault]:
    """Yield ids and texts that an earlier record has, whatever their case and blanks."""
    if not isinstance(record, Mapping):
        return
    id, text = _value(record, _ID), _value(record, _TEXT)
    values = {
        "task_id": id,
        "confirmed_task": " ".join(text.split()).casefold() if isinstance(text, str) else None,
    }
    for name, value in values.items():
        if isinstance(value, str) and value.strip():
            first = seen.setdefault((name, value), number)
            if first != number:
                message = f"the same as {at}[{first}].{name}"
                yield CheckFault(
                    task=str(id or ""),
                    path=f"{at}[{number}].{name}",
                    message=message,
                    is_error=name == "task_id",
                )
