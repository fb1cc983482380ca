"""WebArena-Verified output folders `<task_id>/`: `agent_response.json` and `network.har`, both ways."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args

import msgspec
from msgspec import Struct

from replaykit.bundle.reader import Bundle
from replaykit.decoders import convert, decode
from replaykit.errors import CannotExport, UsageError
from replaykit.interop.bundle_export import Choices, Exporter, Files
from replaykit.interop.folder_search import folders
from replaykit.interop.har.har_files import har_of, read_har
from replaykit.interop.imported_run import Run
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.trajectory.exchange import Imported

RESPONSE, NETWORK, RESULT = "agent_response.json", "network.har", "eval_result.json"
"""Files of the layout."""

TaskType = Literal["RETRIEVE", "MUTATE", "NAVIGATE"]
Status = Literal[
    "SUCCESS", "ACTION_NOT_ALLOWED_ERROR", "PERMISSION_DENIED_ERROR", "NOT_FOUND_ERROR",
    "DATA_VALIDATION_ERROR", "UNKNOWN_ERROR",
]  # fmt: skip


class WrittenAnswer(Struct, kw_only=True):
    """Answer of an agent; `performed_operation` is the old name of `task_type`."""

    task_type: TaskType
    status: Status
    retrieved_data: list[Any] | None = None
    error_details: str | None = None


def read(run: Run, candidate: Candidate) -> None:
    """Read one output folder."""
    response = run.text_beside(RESPONSE)
    answer = None if response is None else response.strip()
    if NETWORK in run.source:
        read_har(run, NETWORK, by_start=False)  # its evaluators take the order of the file
    else:
        run.warn(f"no {NETWORK}: the network is absent")
    result = run.beside(RESULT)
    if result is not None:
        run.add(Imported(kind="outcome", name="webarena-verified", value=result, file=RESULT))
    run.task(_id(candidate, result))
    run.end("unknown" if answer is None else "answered", answer=answer)


def _id(candidate: Candidate, result: Any) -> str:
    id = result.get("task_id") if isinstance(result, dict) else None
    return str(id) if isinstance(id, int | str) else candidate.root.resolve().name


def find(path: Path) -> Iterator[Candidate]:
    """Yield the output folders under a path."""
    for folder in folders(path, lambda one: one.holds(RESPONSE, RESULT)):
        yield Candidate(name=folder.resolve().name, root=folder)


def response_of(bundle: Bundle, task_type: str | None = None, status: str | None = None) -> bytes:
    """Return the agent's response; type and status are never guessed.

    Raises CannotExport where the answer is no such response and they are not given.
    """
    if task_type is not None and task_type not in get_args(TaskType):
        raise UsageError(what=f"--task-type: no {task_type!r}; there are {', '.join(get_args(TaskType))}")
    answer = bundle.trajectory.answer
    found = _parsed(answer)
    if found is None and (task_type is None or status is None):
        raise CannotExport(
            format="webarena-verified",
            source=bundle.name,
            missing="the answer is not a JSON object with `task_type` and `status`",
            advice="Give both: --task-type RETRIEVE|MUTATE|NAVIGATE and --status SUCCESS|...",
        )
    value = found or {"retrieved_data": None if answer is None else [answer], "error_details": None}
    given = {name: word for name, word in (("task_type", task_type), ("status", status)) if word}
    return msgspec.json.format(msgspec.json.encode({**value, **given}), indent=2) + b"\n"


def _parsed(answer: str | None) -> dict[str, Any] | None:
    try:
        plain = decode(answer or "", dict[str, Any])
        convert(
            {**plain, "task_type": plain.get("task_type", plain.get("performed_operation"))}, WrittenAnswer
        )
    except (msgspec.MsgspecError, RecursionError):
        return None
    return plain


def folder_of(bundle: Bundle, choices: Choices) -> Files:
    """Return the files of `<task_id>/`. Raises CannotExport."""
    response = response_of(bundle, choices.task_type, choices.status)
    return {RESPONSE: response, NETWORK: har_of(bundle)}


EXPORTER = Exporter(
    name="webarena-verified", writes=f"a folder with {RESPONSE} and {NETWORK}", make=folder_of
)

IMPORTER = Importer(
    name="webarena-verified",
    reads="WebArena-Verified output folders",
    looks_for=f"<task_id>/{RESPONSE}",
    channels=letters("R network answer times; o task"),
    find=find,
    read=read,
)
