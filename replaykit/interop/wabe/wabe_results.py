"""WABE result folders and results files: Online-Mind2Web's first version with a word on success.

A folder holds `result.json` and `trajectory/`; a results file holds many tasks with their action histories.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from replaykit.interop.folder_search import Listing, files, folders, is_marked, peek, relative
from replaykit.interop.imported_run import Run
from replaykit.interop.online_mind2web.mind2web_import import (
    RESULT,
    first_steps,
    is_result,
    place_shots,
    read_first,
    shots_state,
    thoughts_state,
)
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.trajectory.exchange import Imported
from replaykit.trajectory.plurals import counted
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import Ending

OWN = ("steps_taken", "max_steps", "level", "error", "success")
"""Keys that mark a task of WABE, beside those of Online-Mind2Web."""

_AT = "#"
"""Stands between a results file and the number of a task in it."""


class ResultEntry(Struct, kw_only=True):
    """One task of a results file, and what only `result.json` holds."""

    success: bool | None = None
    steps_taken: int | None = None
    max_steps: int | None = None
    level: str | None = None
    thoughts: list[str] = []
    action_history: list[str] = []
    screenshots: list[str] = []
    error: str | None = None
    task_id: str | None = None
    task: str | None = None
    final_result_response: str | None = None


class Detail(Struct, kw_only=True):
    """One result of a results file."""

    success_rate: float
    successful_tasks: int
    total_tasks: int
    tasks: list[dict[str, Any]] = []


class WabeResult(Struct, kw_only=True):
    """Around it."""

    detail: Detail


class WabeResults(Struct, kw_only=True):
    """A results file."""

    participants: dict[str, Any]
    results: list[WabeResult]


def read(run: Run, candidate: Candidate) -> None:
    """Read a result folder, or one task of a results file."""
    if candidate.file:
        _read_entry(run, candidate)
        return
    plain = run.source.convert(run.source.json(RESULT), dict[str, Any], RESULT)
    plain = run.fitted(plain, ResultEntry, RESULT)
    entry = run.source.convert(plain, ResultEntry, RESULT)
    read_first(run, {key: value for key, value in plain.items() if key not in ("error", "success")})
    ending = run.events.pop()
    _label(run, entry, RESULT)
    _count(run, entry, RESULT)
    assert isinstance(ending, Ending)
    run.add(replace(ending, kind=_kind(entry)))


def _read_entry(run: Run, candidate: Candidate) -> None:
    name, _, place = candidate.file.rpartition(_AT)
    results = run.source.convert(run.fitted(run.source.json(name), WabeResults, name), WabeResults, name)
    where = [
        (at, number) for at, one in enumerate(results.results) for number in range(len(one.detail.tasks))
    ]
    if int(place) >= len(where):
        run.source.malformed(name, "without a task in its results", "results with `detail.tasks`")
    at, number = where[int(place)]
    detail = results.results[at].detail
    _check_counts(run, detail)
    path = f"{name} results[{at}].detail.tasks[{number}]"
    plain = detail.tasks[number]
    plain = run.fitted(plain, ResultEntry, path)
    entry = run.source.convert(plain, ResultEntry, path)
    run.extra.update({key: plain[key] for key in plain.keys() - set(ResultEntry.__struct_fields__)})
    if plain.get("thoughts") == []:
        run.extra["thoughts"] = []
    run.task(entry.task_id, intent=entry.task)
    actions = first_steps(run, entry.action_history, entry.thoughts)
    shots = _inside(run, entry.screenshots)
    run.origin["alignment"] = place_shots(run, actions, shots)
    run.fills(
        actions="recorded", targets="partial", thoughts=thoughts_state([one["thought"] for one in actions])
    )
    run.fills(screenshots=shots_state(run, run.origin["alignment"], shots))
    _label(run, entry, name)
    answer = entry.final_result_response
    error = None if entry.error is None else Threw(name="Error", message=entry.error)
    if not isinstance(results.results[at].detail.tasks[number].get("action_history"), list):
        run.flaw("no list: the actions are unknown", f"{path} action_history")
        run.fills(actions="absent")
    _count(run, entry, path)
    run.end(_kind(entry), answer=answer, error=error)


def _kind(entry: ResultEntry) -> str:
    """Return how a run ended: with an answer, or at the limit of its harness."""
    if entry.final_result_response is not None:
        return "answered"
    taken, limit = entry.steps_taken, entry.max_steps
    is_cut = taken is not None and limit is not None and taken >= limit > 0
    return "max_steps" if is_cut and entry.error is None else "unknown"


def _count(run: Run, entry: ResultEntry, place: str) -> None:
    """Leave the actions partial if there were more steps, or more thoughts than theirs and the answer's."""
    numbers = {"steps_taken": entry.steps_taken or 0, "thoughts": len(entry.thoughts) - 1}
    for name, number in numbers.items():
        if number > len(entry.action_history):
            run.flaw("more than its actions: those that are missing are unknown", f"{place} {name}")
            run.fills(actions="partial")


def _inside(run: Run, names: list[str]) -> list[str]:
    """Return the images that are there; all of them or none, since they are matched by their number."""
    if all(name in run.source for name in names):
        return names
    run.warn(f"{len(names)} screenshots are named, not all are beside the file: left out")
    return []


def _label(run: Run, entry: ResultEntry, file: str) -> None:
    if entry.success is not None:
        # A fallback of the harness looks the same as the judge's word.
        value: dict[str, Any] = {"success": entry.success, "success_source": "unknown"}
        run.add(Imported(kind="outcome", name="wabe", value=value, file=file))
    run.extra.update({name: getattr(entry, name) for name in ("steps_taken", "max_steps", "level")})
    run.extra.setdefault("screenshots", entry.screenshots)
    if entry.error is not None:
        run.extra["error"] = entry.error


def _check_counts(run: Run, detail: Detail) -> None:
    true = sum(task.get("success") is True for task in detail.tasks)
    if detail.tasks and true != detail.successful_tasks:
        run.warn(
            f"successful_tasks is {detail.successful_tasks}, but it marks as success {counted(true, 'task')}"
        )
    if not 0 <= detail.success_rate <= 100:
        run.warn(f"success_rate is {detail.success_rate}, expected 0 to 100")
    ratio = 100 * detail.successful_tasks / detail.total_tasks if detail.total_tasks > 0 else None
    if ratio is not None and abs(ratio - detail.success_rate) > 0.05:
        run.warn(f"success_rate {detail.success_rate} differs from successful tasks over all, {ratio:.1f}")


def _is_one(listing: Listing) -> bool:
    if not listing.holds(RESULT):
        return False
    file = listing.path / RESULT
    plain = peek(file)
    if plain is None:  # broken: reading it reports how
        return any(is_marked(file, f'"{name}"'.encode()) for name in OWN)
    return is_result(plain) and bool(plain.keys() & set(OWN))


def find(path: Path) -> Iterator[Candidate]:
    """Yield result folders with a key of WABE's own, then the tasks of results files."""
    for folder in folders(path, _is_one):
        yield Candidate(name=relative(folder, path), root=folder)
    for file in files(path, ".json"):
        plain = peek(file)
        if file.name != RESULT and isinstance(plain, dict) and {"participants", "results"} <= plain.keys():
            yield from _tasks(file, plain)


def _tasks(file: Path, plain: Mapping[str, Any]) -> Iterator[Candidate]:
    results = plain["results"] if isinstance(plain["results"], list) else []
    details = [one.get("detail") for one in results if isinstance(one, dict)]
    tasks = [one.get("tasks") for one in details if isinstance(one, dict)]
    total = sum(len(one) for one in tasks if isinstance(one, list))
    for number in range(max(total, 1)):
        yield Candidate(
            name=f"{file.stem}-{number + 1:03}", root=file.parent, file=f"{file.name}{_AT}{number}"
        )


IMPORTER = Importer(
    name="wabe",
    reads="WABE result folders and results files",
    looks_for=f"<task_id>/{RESULT} with {', '.join(OWN)}; a JSON file of participants and results",
    channels=letters("R task answer actions; P targets screenshots; o thoughts"),
    find=find,
    read=read,
    options=("actions",),
)
