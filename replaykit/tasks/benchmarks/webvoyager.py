"""Reader of WebVoyager task files: JSON lines of `web_name, id, ques, web` (arXiv 2401.13919)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from replaykit.errors import TaskError
from replaykit.tasks.task import Task


def read_webvoyager(records: Sequence[Mapping[str, Any]], source: str) -> list[Task]:
    """Turn records into tasks that only a judge can grade."""
    return [_task(record, source, number) for number, record in enumerate(records)]


def _task(record: Mapping[str, Any], source: str, number: int) -> Task:
    for name in ("id", "ques", "web"):
        if not isinstance(record.get(name), str):
            reason = f"expected text in `{name}`, got {type(record.get(name)).__name__}"
            raise TaskError(source=source, path=f"$[{number}].{name}", reason=reason)
    return Task(
        id=record["id"],
        intent=record["ques"],
        start_urls=(record["web"],),
        judge="webvoyager",
        metadata={"site": record.get("web_name", "")},
        source_record=dict(record),
    )
