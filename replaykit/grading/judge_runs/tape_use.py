"""Recorded replies that no one asks for: neither the task of the bundle nor a judge as it usually is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec.structs import replace

from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.errors import ReplaykitError
from replaykit.grading.checks.llm_match_replies import KINDS
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import asked_by_checks, panel_of, task_for
from replaykit.grading.judges.judge_config import judge_name, tape_of
from replaykit.grading.judges.judge_loop import Asked
from replaykit.grading.judges.judge_options import PROTOCOLS, judge_settings
from replaykit.grading.judges.request_plan import known_requests
from replaykit.grading.judges.tape.tape import Tape, TapeEntry, request_key
from replaykit.grading.judges.tape.tape_state import TapeState, tape_state
from replaykit.replay.player import Replay
from replaykit.tasks.dialect import Mode
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task

MODES: tuple[Mode, ...] = ("strict", "compat")


def tape_use(source: str | Path, path: str | Path) -> TapeState | None:
    """Return a summary of the tape of a bundle, with the number of replies that no judge requests.

    None if neither bundle nor tape is readable. `unused` is unknown (None) if the task cannot be graded.
    """
    state = tape_state(source, path)
    if state is None or state.error:
        return state
    try:
        with open_bundle(source) as bundle:
            return replace(state, unused=_unused(bundle, path))
    except ReplaykitError:
        return state


def _unused(bundle: Bundle, path: str | Path) -> int:
    tape = tape_of(bundle, path)
    if tape is None:
        return 0
    options = GradeOptions(replies=str(path))
    task = task_for(bundle, None, options)
    own = panel_of(bundle, task, options).judges
    judges = [*own, *_usual(tape)]
    asked: list[Asked] = []
    for mode in MODES:
        asked += _of_judges(judges, bundle, task, tape, mode)
        asked += _of_checks(bundle, task, tape, path, mode)
    marks = {(request_key(one.request), one.ordinal) for one in asked}
    members = (judge_settings(one) for settings in judges for one in settings.members)
    known = {*KINDS, *(judge_name(settings) for settings in (*judges, *members))}
    unused = [entry for mark, entry in tape.found.items() if mark not in marks and entry.judge in known]
    # Entries with the user's prompts are used again only with a file of settings.
    return sum("prompt" not in entry.provenance for entry in unused)


def _of_judges(
    judges: list[JudgeSettings], bundle: Bundle, task: Task, tape: Tape, mode: Mode
) -> Iterator[Asked]:
    for settings in judges:
        yield from known_requests(settings, task, Replay(bundle), tape, mode)


def _of_checks(bundle: Bundle, task: Task, tape: Tape, path: str | Path, mode: Mode) -> Iterator[Asked]:
    """Yield what the checks ask each model that they were ever asked with."""
    for model in dict.fromkeys(_model(entry) for entry in tape.entries if entry.judge in KINDS):
        options = GradeOptions(mode=mode, judge_model=model, replies=str(path))
        yield from asked_by_checks(bundle, task, options).asked


def _usual(tape: Tape) -> Iterator[JudgeSettings]:
    """Yield the judges of the tape that need no file, with their models and as many votes as there are."""
    votes: dict[tuple[str, str], int] = {}
    for entry in tape.entries:
        if entry.judge in PROTOCOLS:
            name = entry.judge, _model(entry)
            votes[name] = max(votes.get(name, 1), min(entry.ordinal[0] + 1, 99))
    for (judge, model), count in votes.items():
        yield replace(judge_settings(judge), model=model, votes=count)


def _model(entry: TapeEntry) -> str:
    return f"{entry.provider}:{entry.request.get('model', '')}"
