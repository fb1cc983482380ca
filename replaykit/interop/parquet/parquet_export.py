"""Bundles as tables in Parquet, for data frames and data sets: one row a step, and one row a run.

Needs the extra `parquet`. What grades a task, checks and reference answers, is in no table.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.bundle.sealing import put
from replaykit.bundle.storable_values import repair_text
from replaykit.errors import BundleWriteError, MissingExtra, OutputExists, UsageError
from replaykit.grading.verdict import Outcome, PolicyOutcome, Verdict
from replaykit.interop.bundle_export import write_file
from replaykit.interop.image_types import JPEG, image_type
from replaykit.interop.online_mind2web.mind2web_v2_export import screenshots_after
from replaykit.interop.playwright_trace.trace_verdicts import verdict_of
from replaykit.trajectory.action import Action, tag_of
from replaykit.trajectory.action_rendering import element_name, render_step
from replaykit.trajectory.plurals import counted
from replaykit.trajectory.step import Step

STEPS = {
    "run": "string", "step": "int32", "t": "int64", "url": "string", "title": "string", "action": "string",
    "target": "string", "value": "string", "line": "string", "thought": "string", "error": "string",
    "returned": "string", "action_json": "string", "screenshot": "image",
}  # fmt: skip
"""Columns of `steps-*.parquet`.

`t`: ms since the start; `action_json`: the whole action; `screenshot`: what followed the step.
"""

RUNS = {
    "run": "string", "digest": "string", "task": "string", "intent": "string", "start_url": "string",
    "answer": "string", "ending": "string", "validity": "string", "agent": "string", "model": "string",
    "format": "string", "created": "string", "steps": "int32", "success": "string", "cup": "int32",
    "violations": "int32", "judgements": "string",
}  # fmt: skip
"""Columns of `runs.parquet`; the last four are those of a report, null without one or where undecided."""

GROUP = 100
"""Rows of a group."""

FILE_MAX = 500 * 2**20
"""Bytes of screenshots and texts of one file of steps."""

VALUES = ("value", "url", "key", "text", "amount")
"""Fields of actions that say with what."""

CARD, RUN_FILE = "README.md", "runs.parquet"
_STEP_FILE = "steps-{:05}.parquet"


def write_tables(
    bundles: Sequence[str], folder: Path, verdicts: tuple[Verdict, ...] = (), *, force: bool = False
) -> list[Path]:
    """Write the tables of bundles and a card into a folder; the files written, in order.

    Raises UsageError for two bundles of one name, OutputExists, MissingExtra, BundleError.
    """
    # Names of files need not be valid UTF-8.
    names = [repair_text(Path(bundle).name.removesuffix(".zst"))[0] for bundle in bundles]
    if len(set(names)) < len(names):
        raise UsageError(what="two bundles have one name: it identifies a run in the tables")
    old = [*folder.glob("steps-*.parquet"), *(folder / name for name in (RUN_FILE, CARD))]
    taken = [path for path in old if os.path.lexists(path)]
    if taken and not force:
        raise OutputExists(source=str(taken[0]), operation="export")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Written aside: a reader must not meet half a table.
        with tempfile.TemporaryDirectory(prefix=".parquet-", dir=folder) as place:
            made = _written(dict(zip(names, bundles, strict=True)), Path(place), verdicts)
            for path in taken:
                # Fewer files may be new than old: a stale one would be read as data.
                path.unlink()
            for path in made:
                put(path, folder / path.name, "write the export", is_forced=force)
            return [folder / path.name for path in made]
    except OSError as error:
        raise BundleWriteError(
            source=str(folder), operation="write the export", reason=error.strerror or str(error)
        ) from error


def _written(bundles: Mapping[str, str], place: Path, verdicts: tuple[Verdict, ...]) -> list[Path]:
    runs: list[dict[str, Any]] = []
    files = _write_steps(_steps(bundles, verdicts, runs), place)
    with _writer(place / RUN_FILE, RUNS) as writer:
        _write(writer, runs, RUNS)
    write_file(place / CARD, _card(len(runs), sum(row["steps"] or 0 for row in runs)), is_forced=False)
    return [*files, place / RUN_FILE, place / CARD]


def _steps(
    bundles: Mapping[str, str], verdicts: tuple[Verdict, ...], runs: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of all steps; the row of each run is added to `runs`."""
    for name, path in bundles.items():
        with open_bundle(path) as bundle:
            runs.append(_run(name, bundle, verdict_of(bundle, verdicts)))
            steps = list(bundle.trajectory.steps)
            for step, shot in zip(steps, screenshots_after(bundle, steps), strict=True):
                yield _step(name, step, shot)


def _run(name: str, bundle: Bundle, verdict: Verdict | None) -> dict[str, Any]:
    run, header = bundle.trajectory, bundle.header
    task, agent, ending = header.task or {}, header.agent, run.ending
    urls = task.get("start_urls") or [None]
    return {
        "run": name,
        "digest": bundle.digest,
        "task": task.get("id"),
        "intent": task.get("intent"),
        "start_url": urls[0],
        "answer": run.answer,
        "ending": ending and ending.kind,
        "validity": ending and ending.validity,
        "agent": agent and agent.name,
        "model": agent and agent.model,
        "format": header.source.format if header.source is not None else "replaykit",
        "created": header.created,
        "steps": None if header.channels.get("actions") == "absent" else len(run.steps),
        **_graded(verdict),
    }


def _graded(verdict: Verdict | None) -> dict[str, Any]:
    """Return the results of a run in a report; what no one looked at, or could not decide, is no number."""
    if verdict is None:
        return {"success": None, "cup": None, "violations": None, "judgements": None}
    outcomes = [one.outcome for one in verdict.policies]
    is_known = not {PolicyOutcome.UNDECIDED, PolicyOutcome.ERROR} & {*outcomes}
    violated = sum(one == PolicyOutcome.VIOLATED for one in outcomes)
    done = None if verdict.completion is None else verdict.completion.outcome
    is_decided = (
        done is Outcome.FAIL or (done is not None and violated > 0) or (done is Outcome.PASS and is_known)
    )
    return {
        "success": None if verdict.success is None else str(verdict.success),
        "cup": verdict.cup if is_decided else None,
        "violations": violated if (outcomes and is_known) or violated else None,
        "judgements": " ".join(f"{one.judge}:{one.outcome}" for one in verdict.judgements) or None,
    }


def _step(run: str, step: Step, shot: bytes | None) -> dict[str, Any]:
    before, element = step.before, step.action.element
    ending = "jpg" if image_type(shot or b"") == JPEG else "png"
    return {
        "run": run,
        "step": step.index,
        "t": step.t,
        "url": step.url or (before.url if before is not None else None),
        "title": before.title if before is not None else None,
        "action": tag_of(step.action),
        "target": None
        if element is None
        else element_name(element) or element.ref or element.css or element.xpath,
        "value": _value(step),
        "line": render_step(step),
        "thought": step.thought,
        "error": None if step.error is None else step.error.message or step.error.name,
        "returned": _text(step.returned),
        "action_json": _action_json(step.action),
        "screenshot": None if shot is None else {"bytes": shot, "path": f"{run}-{step.index:05}.{ending}"},
    }


def _action_json(action: Action) -> str:
    """Return a whole action; places in snapshots and files, which are in no table, are left out."""
    plain = msgspec.to_builtins(action)
    for key in ("element", "to"):
        if isinstance(plain.get(key), dict):
            plain[key].pop("node", None)
    for file in plain.get("files", ()):
        file.pop("body", None)
    return msgspec.json.encode(plain).decode()


def _value(step: Step) -> str | None:
    found = (getattr(step.action, name, None) for name in VALUES)
    return next((value for value in found if isinstance(value, str)), None)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else msgspec.json.encode(value).decode()


def _write_steps(rows: Iterable[dict[str, Any]], place: Path) -> list[Path]:
    """Write rows in groups, a new file after every 500 MiB; an export of no steps is one empty file."""
    files: list[Path] = []
    left: Iterator[list[dict[str, Any]]] = _groups(rows)
    group = next(left, [])
    while group or not files:
        path = place / _STEP_FILE.format(len(files))
        files.append(path)
        size = 0
        with _writer(path, STEPS) as writer:
            while True:
                _write(writer, group, STEPS)
                size += sum(_size(row) for row in group)
                group = next(left, [])
                if not group or size > FILE_MAX:
                    break
    return files


def _groups(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    group: list[dict[str, Any]] = []
    for row in rows:
        group.append(row)
        if len(group) == GROUP:
            yield group
            group = []
    if group:
        yield group


def _size(row: Mapping[str, Any]) -> int:
    shot = row["screenshot"]
    texts = sum(len(value) for value in row.values() if isinstance(value, str))
    return texts + (len(shot["bytes"]) if shot else 0)


def _writer(path: Path, columns: Mapping[str, str]) -> Any:
    try:
        from pyarrow.parquet import ParquetWriter
    except ImportError:
        raise MissingExtra(package="pyarrow", extra="parquet", purpose="writing Parquet") from None
    return ParquetWriter(path, _schema(columns), compression="zstd")


def _write(writer: Any, rows: list[dict[str, Any]], columns: Mapping[str, str]) -> None:
    from pyarrow import Table

    writer.write_table(Table.from_pylist(rows, schema=_schema(columns)), row_group_size=GROUP)


def _schema(columns: Mapping[str, str]) -> Any:
    """Return the columns, and what the library `datasets` needs to show images."""
    import pyarrow as pa

    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    types = {"string": pa.string(), "int32": pa.int32(), "int64": pa.int64(), "image": image}
    features = {
        name: {"_type": "Image"} if kind == "image" else {"dtype": kind, "_type": "Value"}
        for name, kind in columns.items()
    }
    metadata = json.dumps({"info": {"features": features}})
    return pa.schema(
        [(name, types[kind]) for name, kind in columns.items()], metadata={"huggingface": metadata}
    )


def _card(runs: int, steps: int) -> bytes:
    lines = [
        "---", "configs:", "- config_name: steps", '  data_files: "steps-*.parquet"', "- config_name: runs",
        f'  data_files: "{RUN_FILE}"', "---", "", "# Recorded runs", "",
        f"{counted(runs, 'run')} of {counted(steps, 'step')}. `run` joins the two tables.", "",
        "| table | columns |", "| --- | --- |",
        f"| `steps-*.parquet` | {', '.join(STEPS)} |",
        f"| `{RUN_FILE}` | {', '.join(RUNS)} |", "",
        "`t` is in ms since the start of the run. `screenshot` shows what followed the step.",
        "What is not known is null: `violations` for a run without policies, `steps` for one whose actions",
        "were not recorded, `cup` for one without checks.", "",
    ]  # fmt: skip
    return "\n".join(lines).encode()
