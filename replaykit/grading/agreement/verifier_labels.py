"""Labels of people in the tables of CUAVerifierBench, as published: rows in, one label a run out.

Two rules: `majority` counts the blind judgements of `annotations` strictly, so that a tie is `unsure`;
`adjudicated` takes `final_human_outcome_label` of `trajectories`. Judgements made after seeing a verifier's
reasons (`informed_*`) are never used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from replaykit.errors import LabelError, MissingExtra

LabelRule: TypeAlias = Literal["majority", "adjudicated"]
"""Whose word counts where several people judged a run."""

BLIND, FINAL = "human_judgement_outcome", "final_human_outcome_label"
"""Columns of annotations, and of runs."""

MAGIC = b"PAR1"
"""First bytes of a Parquet file."""

_BLIND_LABELS = {"correct": "success", "incorrect": "failure"}
_FINAL_LABELS = {"1": "success", "0": "failure", "true": "success", "false": "failure"}


def is_published(row: Mapping[str, Any]) -> bool:
    """Return whether a row is of one of these tables."""
    return "task_id" in row and (BLIND in row or FINAL in row)


def parquet_rows(path: Path) -> list[dict[str, Any]]:
    """Return task, annotator and label of each row of a table; screenshots are not read.

    Raises LabelError for what is no such table, MissingExtra.
    """
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra(package="pyarrow", extra="parquet", purpose="reading Parquet") from None
    try:
        with ParquetFile(path, thrift_string_size_limit=2**26, thrift_container_size_limit=2**20) as table:
            names = [one for one in ("task_id", "annotator", BLIND, FINAL) if one in table.schema_arrow.names]
            batches = table.iter_batches(batch_size=1024, columns=names, use_threads=False)
            return [row for batch in batches for row in batch.to_pylist()]
    except (ArrowException, OSError, ValueError, TypeError, KeyError, OverflowError) as error:
        reason = f"no Parquet file that can be read ({type(error).__name__})"
        raise LabelError(source=path.name, line=0, reason=reason) from error


def column_of(rule: LabelRule) -> str:
    """Return the column that a rule reads."""
    return BLIND if rule == "majority" else FINAL


def verifier_labels_of(
    rows: Sequence[Mapping[str, Any]], rule: LabelRule, name: str
) -> Iterator[dict[str, str]]:
    """Yield a label of each run by the rule, then those of its annotators, as fields of a label.

    Raises LabelError for a table that the rule cannot be applied to, and for unknown labels.
    """
    column = column_of(rule)
    if not rows or not all(column in row for row in rows):
        of = "annotations" if rule == "majority" else "trajectories"
        reason = f"label rule {rule} needs the column {column}, which the table {of} has"
        raise LabelError(source=name, line=0, reason=reason)
    known = _BLIND_LABELS if rule == "majority" else _FINAL_LABELS
    by_task: dict[str, list[dict[str, str]]] = {}
    for place, row in enumerate(rows, 1):
        task = str(row.get("task_id") or "").strip()
        one = _one(row, task, column, known, name, place)
        if one is not None:
            by_task.setdefault(task, []).append(one)
    for task, given in by_task.items():
        if rule == "adjudicated" and len(given) > 1:
            raise LabelError(source=name, line=0, reason=f"task {task!r} stands there {len(given)} times")
        yield {**given[0], "label": _majority(given), "annotator": rule}
        yield from given if rule == "majority" else ()


def _one(
    row: Mapping[str, Any], task: str, column: str, known: Mapping[str, str], name: str, place: int
) -> dict[str, str] | None:
    value = row[column]
    if value is None or value == "":
        return None  # not labelled
    plain = str(int(value)) if isinstance(value, bool | float) and value in (0, 1) else str(value)
    answer = known.get(plain.strip().lower())
    if not task or answer is None:
        wrong = f"{column} {value!r} is not one of {', '.join(known)}" if task else "it names no task_id"
        raise LabelError(source=name, line=0, reason=f"row {place}: {wrong}")
    who = str(row.get("annotator") or "annotator").strip()
    return {"trajectory": task, "task": task, "label": answer, "annotator": who}


def _majority(given: Sequence[Mapping[str, str]]) -> str:
    """Return what most say; a tie is unsure."""
    votes = Counter(one["label"] for one in given)
    right, wrong = votes["success"], votes["failure"]
    return "success" if right > wrong else "failure" if wrong > right else "unsure"
