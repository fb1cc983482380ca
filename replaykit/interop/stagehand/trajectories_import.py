"""Runs of Stagehand: trajectory folders of its verifier, histories and results that people save as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import Struct

from replaykit.interop.extra_fields import holds_data
from replaykit.interop.folder_search import folders, is_marked, json_files, peek
from replaykit.interop.imported_run import Run
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.source_files import kind_of
from replaykit.interop.stagehand.stagehand_actions import actions_of, mark_first_only
from replaykit.interop.stagehand.stagehand_history import (
    around,
    is_history,
    is_result,
    read_history,
    read_result,
    saved,
)
from replaykit.trajectory.exchange import Imported
from replaykit.trajectory.observation import Observation
from replaykit.trajectory.scalars import Blob, Threw

TRAJECTORY, TASK = "trajectory.json", "task_data.json"
"""The run, and a copy of its task."""

_ENDINGS = {"complete": "answered", "aborted": "stopped", "stalled": "stopped", "error": "crashed"}


class StagehandProbe(Struct, kw_only=True):
    """Observation of the harness after a step."""

    url: str | None = None
    screenshotPath: str | None = None
    ariaTree: str | None = None


class ToolOutput(Struct, kw_only=True):
    """Output of a tool."""

    ok: bool | None = None
    result: Any = None
    error: str | None = None


class StagehandEvidence(Struct, kw_only=True):
    """Evidence that the model was given."""

    modalities: list[Any] = []


class One(Struct, kw_only=True):
    """One step."""

    actionName: str
    actionArgs: Any = None
    reasoning: str | None = None
    agentEvidence: StagehandEvidence | None = None
    probeEvidence: StagehandProbe | None = None
    toolOutput: ToolOutput | None = None


class StagehandTask(Struct, kw_only=True):
    """Task of a run; the rubric and the expected answer are kept where no judge reads them."""

    id: str
    instruction: str | None = None
    initUrl: str | None = None


class StagehandTrajectory(Struct, kw_only=True):
    """The file `trajectory.json`."""

    task: StagehandTask
    steps: list[One]
    finalAnswer: str | None = None
    finalObservation: StagehandProbe | None = None
    status: str | None = None


def read(run: Run, candidate: Candidate) -> None:
    """Read one run."""
    if candidate.file:
        whole = run.source.json(candidate.file)
        plain = saved(whole)
        run.keep(candidate.file, dict(around(whole, plain)))
        if is_history(plain):
            read_history(run, plain, candidate.file)
        elif is_result(plain):
            read_result(run, plain, candidate.file)
        else:
            run.source.malformed(candidate.file, kind_of(plain), "a history or a result of Stagehand")
        return
    found: StagehandTrajectory = run.converted(run.source.json(TRAJECTORY), StagehandTrajectory, TRAJECTORY)
    _read_task(run, found.task)
    run.fills(actions="recorded", targets="partial")
    for turn, one in enumerate(found.steps):
        _add(run, found.steps, turn, one)
    mark_first_only(run, [one.actionName for one in found.steps])
    if found.finalObservation is not None:
        _look(run, found.finalObservation, "final", None, is_exact=True)
    _fill(run, found)
    _read_scores(run)
    run.origin.update(tool="stagehand", alignment="exact")
    _end(run, found)


def _read_task(run: Run, task: StagehandTask) -> None:
    start = (task.initUrl,) if task.initUrl else ()
    run.task(task.id, intent=task.instruction or "", start_urls=start)
    if TASK not in run.source:
        return
    copy = run.source.json(TASK)
    fields = copy if isinstance(copy, dict) else {TASK: copy}
    run.keep(TASK, {key: value for key, value in fields.items() if holds_data(value)})


def _add(run: Run, steps: list[One], turn: int, one: One) -> None:
    output, probe = one.toolOutput or ToolOutput(), one.probeEvidence
    actions = actions_of(run, one.actionName, one.actionArgs, output.result)
    for at, action in enumerate(actions):
        is_last = at == len(actions) - 1
        run.step(
            action=action, turn=turn, thought=one.reasoning or None,
            raw={"actionName": one.actionName, "actionArgs": one.actionArgs},
            returned=_returned(one, output) if is_last else None,
            error=_error(output) if is_last else None,
        )  # fmt: skip
    _shots(run, one, turn)
    if probe is not None:
        later = steps[turn + 1] if turn + 1 < len(steps) else None
        # One screenshot of a turn is that of all of its steps: only the last of them left the page so.
        is_shared = probe.screenshotPath is not None and _shot(later) == probe.screenshotPath
        _look(run, probe, "after", run.steps - 1, is_exact=not is_shared)


def _shot(one: One | None) -> str | None:
    return one.probeEvidence.screenshotPath if one is not None and one.probeEvidence else None


def _returned(one: One, output: ToolOutput) -> Any:
    parts = one.agentEvidence.modalities if one.agentEvidence else []
    seen = [part for part in parts if not (isinstance(part, dict) and part.get("type") == "image")]
    found = {"ok": output.ok, "result": output.result, "evidence": seen}
    return (
        {key: value for key, value in found.items() if key == "ok" or holds_data(value)}
        if holds_data(found)
        else None
    )


def _error(output: ToolOutput) -> Threw | None:
    if output.ok is not False and not output.error:
        return None
    fields = output.result if isinstance(output.result, dict) else {}
    return Threw(
        name="Error", message=output.error or str(fields.get("error", "the tool reported no success"))
    )


def _shots(run: Run, one: One, turn: int) -> None:
    """Keep what the model was shown: whether before or after the action is not recorded."""
    for part in one.agentEvidence.modalities if one.agentEvidence else ():
        if not isinstance(part, dict) or part.get("type") != "image":
            continue
        path, data = part.get("imagePath"), part.get("bytesBase64")
        shot = _image(run, path) if isinstance(path, str) else None
        shot = run.screenshot_in(data) if shot is None and isinstance(data, str) else shot
        if shot is not None:
            run.add(Observation(role="unaligned", screenshot=shot))
        run.keep(
            f"{TRAJECTORY} steps[{turn}]", {"image": {k: v for k, v in part.items() if k != "bytesBase64"}}
        )


def _look(run: Run, probe: StagehandProbe, role: str, of: int | None, *, is_exact: bool) -> None:
    shot = _image(run, probe.screenshotPath) if probe.screenshotPath else None
    tree = run.put("text/plain", probe.ariaTree.encode("utf-8", "replace")) if probe.ariaTree else None
    if probe.url or shot or tree:
        run.add(Observation(role=role, of=of, url=probe.url, screenshot=shot, shot_exact=is_exact, a11y=tree))


def _image(run: Run, path: str) -> Blob | None:
    """Return a screenshot; paths lead to files of the folder and nowhere else."""
    # A run that was written on another machine, or with Windows, names files of there.
    own = run.source.ending(path)
    if own is not None:
        return run.image(own)
    run.flaw("a screenshot that is not in the folder", path[:80])
    return None


def _fill(run: Run, found: StagehandTrajectory) -> None:
    probes = [one.probeEvidence for one in found.steps]
    for channel, name in (("urls", "url"), ("a11y", "ariaTree")):
        run.fills(**{channel: "partial" if any(getattr(one, name, None) for one in probes) else "absent"})
    thoughts = [one.reasoning for one in found.steps]
    run.fills(thoughts="recorded" if thoughts and all(thoughts) else "partial" if any(thoughts) else "absent")
    run.fills(screenshots="partial" if run.image_count else "absent")


def _read_scores(run: Run) -> None:
    for name in run.source.names():
        if name.startswith("scores/") and name.endswith(".json"):
            run.add(Imported(kind="judgement", name="stagehand", value=run.source.json(name), file=name))


def _end(run: Run, found: StagehandTrajectory) -> None:
    kind = _ENDINGS.get(found.status or "", "unknown")
    if kind in ("stopped", "crashed"):
        run.fills(actions="partial")  # a turn is written when it is over
    if kind == "answered" and found.finalAnswer is None:
        kind = "stopped"
    threw = Threw(name="Error", message="the run ended with an error") if kind == "crashed" else None
    run.keep(TRAJECTORY, {"status": found.status} if found.status else {})
    run.end(kind, answer=found.finalAnswer, error=threw)


def find(path: Path) -> Iterator[Candidate]:
    """Yield trajectory folders, then histories and results under a path."""
    runs = list(folders(path, lambda one: one.holds(TRAJECTORY) and _is_ours(one.path / TRAJECTORY)))
    for folder in runs:
        yield Candidate(name=_name(folder.resolve()), root=folder)
    for file in json_files(path, _is_saved, b'"parameters"', b'"method"'):
        if not any(file.is_relative_to(folder) for folder in runs):
            yield Candidate(name=file.stem, root=file.parent, file=file.name)


def _is_saved(plain: Any) -> bool:
    return is_history(saved(plain)) or is_result(saved(plain))


def _name(folder: Path) -> str:
    """Return task and run: `<group>/<task>/<run>` is how the folders lie."""
    return f"{folder.parent.name}-{folder.name}" if folder.parent.name else folder.name


def _is_ours(file: Path) -> bool:
    plain = peek(file)
    if plain is None:
        return is_marked(file, b'"task"', b'"actionName"')
    steps = plain.get("steps") if isinstance(plain, dict) else None
    return (
        isinstance(steps, list)
        and "task" in plain
        and ("status" in plain or any(isinstance(one, dict) and "actionName" in one for one in steps))
    )


IMPORTER = Importer(
    name="stagehand",
    reads="trajectories, histories and results of Stagehand",
    looks_for=f"{TRAJECTORY} with task and steps, or JSON of `stagehand.history` or of an agent's result",
    channels=letters("R actions; P targets; o task answer times thoughts urls screenshots a11y"),
    find=find,
    read=read,
    options=("tools", "actions"),
)
