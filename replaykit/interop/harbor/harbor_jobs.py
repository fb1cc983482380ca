"""Job folders of Harbor: one trial a run, its trajectory in the best form there is, its rewards as labels."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from replaykit.errors import MalformedSource
from replaykit.interop.atif.atif_import import read_atif
from replaykit.interop.extra_fields import holds_data
from replaykit.interop.folder_search import Listing, folders
from replaykit.interop.imported_run import Run
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.run_jsonl.agent_log import read_log
from replaykit.interop.source_files import numbered
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.exchange import Imported

AGENT, VERIFIER, STEPS = "agent/", "verifier/", "steps/"
"""Folders of a trial."""

RESULT, LOG = "result.json", "trial.log"
"""Files of a trial: its result, and its log."""

_SHOT = lazy_pattern(r"shots/.*\.(?:png|jpe?g|webp|gif)", re.IGNORECASE)

_CAUSES = (
    ("agent_exhausted_budget", ("AgentTimeout", "AgentSetupTimeout", "MaxTurns", "BudgetExceeded")),
    ("agent_refused_task", ("Refus",)),
    ("verifier_failed", ("Verifier", "RewardFile")),
    ("sandbox_failed", ("Environment", "Sandbox", "Container", "Docker")),
    ("model_provider_failed", ("RateLimit", "APIError", "APIConnection", "Provider", "InternalServer")),
    ("cancelled", ("Cancel",)),
    ("harbor_failed", ("Harbor", "Trial", "Job")),
)
"""Cause of a failed trial to how the names of its exceptions begin or what they hold, first match first."""

KEEPS_REWARD = ("agent_exhausted_budget", "agent_refused_task")
"""Causes that are the agent's own: such trials count."""


def read(run: Run, candidate: Candidate) -> None:
    """Read one trial, or one of its steps."""
    prefix = candidate.file
    result = run.beside(RESULT)
    fields = result if isinstance(result, dict) else {}
    run.keep(RESULT, {key: value for key, value in fields.items() if holds_data(value)})
    _trajectory(run, prefix)
    _rewards(run, prefix)
    task = fields.get("task_name")
    if isinstance(task, str):
        _name_task(run, task)
    cause = cause_of(fields.get("exception_info"))
    run.extra["cause"] = cause
    answer = run.header.pop("answer", None)
    run.end(
        _kind(answer, cause, has_result=bool(fields)),
        cause=_by(cause),
        answer=answer,
        validity=_validity(cause),
    )
    if not fields:
        run.warn(f"no {RESULT}: how the trial ended is not known")


def _name_task(run: Run, name: str) -> None:
    """Give the task Harbor's name: trials share it, while each session has an id of its own."""
    own = run.header.get("task")
    if own is None or run.options.suite is not None:
        run.task(name)
        return
    run.extra["session"] = own["id"]
    run.header["task"] = {**own, "id": name}


def cause_of(info: Any) -> str | None:
    """Return why a trial failed, by the name of its exception; None where it did not."""
    name = info.get("exception_type") if isinstance(info, dict) else None
    if not isinstance(name, str):
        return None
    # By parts of the name: releases of Harbor rename their exceptions.
    return next((cause for cause, words in _CAUSES if any(word in name for word in words)), "unclassified")


def _validity(cause: str | None) -> str:
    if cause is None or cause in KEEPS_REWARD:
        return "valid"
    return "session_lost" if cause == "sandbox_failed" else "other"


def _kind(answer: str | None, cause: str | None, *, has_result: bool) -> str:
    if cause == "agent_exhausted_budget":
        return "timeout"
    if cause is not None and cause not in KEEPS_REWARD:
        return "crashed"
    return "answered" if answer is not None and has_result else "unknown"


def _by(cause: str | None) -> str:
    return "agent" if cause is None or cause in KEEPS_REWARD else "harness"


def _trajectory(run: Run, prefix: str) -> None:
    """Read the first of ATIF, log, answer and images."""
    folder = prefix + AGENT
    # A damaged trajectory still has an answer and images beside it.
    if not any(_has_read(run, folder + name, reader) for name, reader in _TRAJECTORIES):
        _answer_and_shots(run, folder)
    answer = run.text_beside(folder + "answer.txt")
    if answer is not None and run.header.get("answer") is None:
        run.header["answer"] = answer.strip()


_TRAJECTORIES = (("trajectory.json", read_atif), ("run.jsonl", read_log))
"""Files of a trajectory, the best first, and what reads them."""


def _has_read(run: Run, name: str, reader: Callable[[Run, str], None]) -> bool:
    """Read a trajectory, where there is one that can be read."""
    if name not in run.source:
        return False
    try:
        reader(run, name)
    except MalformedSource as fault:
        run.flaw(f"unreadable ({fault.fields['found']}): left out, what is beside it is read", name)
        run.leave_out(name)
        return False
    return True


def _answer_and_shots(run: Run, folder: str) -> None:
    names = [
        name
        for name in run.source.names()
        if name.startswith(folder) and _SHOT.fullmatch(name[len(folder) :])
    ]
    run.unaligned(sorted(names, key=lambda name: (max(0, numbered(name)), name)))
    run.origin["alignment"] = "unaligned"


def _rewards(run: Run, prefix: str) -> None:
    folder = prefix + VERIFIER
    value = run.beside(folder + "reward.json")
    if value is not None:
        run.add(Imported(kind="reward", name="harbor", value=value, file=folder + "reward.json"))
    # Harbor prefers the JSON file too.
    elif (text := run.text_beside(folder + "reward.txt")) is not None:
        number = _finite(text.strip())
        if number is None:
            run.warn(f"{folder}reward.txt holds no finite number: left out")
            return
        run.add(Imported(kind="reward", name="harbor", value=number, file=folder + "reward.txt"))


def _finite(text: str) -> float | None:
    try:
        number = float(text[:64])
    except ValueError:
        return None
    # JSON has no infinity, and no rate can count one.
    return number if math.isfinite(number) else None


def find(path: Path) -> Iterator[Candidate]:
    """Yield the trials under a path; of a trial in several steps each of them."""
    for folder in folders(path, _is_trial):
        steps = sorted(one for one in _parts(folder) if one.is_dir()) if _is_stepped(folder) else []
        for step in steps:
            yield Candidate(
                name=f"{folder.resolve().name}-{step.name}", root=folder, file=f"{STEPS}{step.name}/"
            )
        if not steps:
            yield Candidate(name=folder.resolve().name, root=folder)


def _is_trial(listing: Listing) -> bool:
    # One that failed before its agent began has a log and nothing else; it counts all the same.
    has_agent = AGENT.rstrip("/") in listing.folders or _is_stepped(listing.path)
    return listing.holds(LOG) or (listing.holds(RESULT) and has_agent)


def _is_stepped(folder: Path) -> bool:
    return any((one / AGENT).is_dir() for one in _parts(folder))


def _parts(folder: Path) -> list[Path]:
    try:
        return list((folder / STEPS).iterdir())
    except OSError:
        return []


IMPORTER = Importer(
    name="harbor",
    reads="job folders of Harbor, a run per trial",
    looks_for="<trial>/result.json or trial.log beside agent/",
    channels=letters("P task answer actions targets thoughts screenshots; o times messages replies urls"),
    find=find,
    read=read,
    options=("tools", "actions"),
)
