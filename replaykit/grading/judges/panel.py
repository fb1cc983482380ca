"""The judges of one run, and the tape that answers them: beside the bundle, else the one packed into it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from replaykit.bundle.reader import Bundle
from replaykit.errors import JudgeError
from replaykit.grading.judges.client import Client
from replaykit.grading.judges.judge import judge_settings
from replaykit.grading.judges.pump import judge_from_tape
from replaykit.grading.judges.tape import Tape, parse_tape, read_tape
from replaykit.grading.verdict import Judgement, JudgeOutcome, Mode
from replaykit.replay.player import Replay
from replaykit.tasks.judging import JudgeSettings
from replaykit.tasks.task import Task

JUDGE_MODES = ("none", "new", "refresh", "off")
"""From the tape only; ask for what is missing; ask for everything; no judge is evaluated."""


class Panel(Struct, frozen=True, kw_only=True):
    """The judges of a run and how they are answered."""

    settings: tuple[JudgeSettings, ...]
    """The judges, each once."""
    how: str = "none"
    """`none new refresh off`."""
    mode: Mode = "strict"
    """Strict, or as the peer judges."""
    tape: Path
    """Where the replies lie."""
    base_url: str | None = None
    """Server asked instead of the provider's own."""


def judges_of(
    task: Task, named: Sequence[str | JudgeSettings], model: str | None = None
) -> tuple[JudgeSettings, ...]:
    """Return the judge of a task and those named, each once; `model` replaces theirs.

    One that is named as the task's is takes its place: it is the same judge, changed.
    """
    found = [judge_settings(judge) for judge in named]
    if task.judge is not None:
        own = _of_task(task.judge)
        found[:0] = [own] if _name(own) not in map(_name, found) else []
    if model is not None:
        found = [replace(settings, model=model) for settings in found]
    return tuple(settings for place, settings in enumerate(found) if settings not in found[:place])


def judge_all(
    panel: Panel, bundle: Bundle, task: Task, replay: Replay, client: Client | None = None
) -> tuple[tuple[Judgement, ...], Tape | None]:
    """Return the judgement of each judge, and the tape that they rest on.

    A client is loaded only to ask for what is missing. Raises JudgeError for judges that cannot be built.
    """
    if panel.how not in JUDGE_MODES:
        raise JudgeError(what=f"option judge_mode: {panel.how!r} is not one of {', '.join(JUDGE_MODES)}")
    if panel.how == "off":
        return tuple(_off(settings) for settings in panel.settings), None
    if not panel.settings:
        return (), None
    if panel.how != "none":
        judged = _live(panel, bundle, task, replay, client)
        return judged, tape_of(bundle, panel.tape)
    tape = tape_of(bundle, panel.tape)
    return tuple(judge_from_tape(one, task, replay, tape, panel.mode) for one in panel.settings), tape


def tape_of(bundle: Bundle, path: str | Path) -> Tape | None:
    """Return the tape at a path, else the one packed into the bundle; None where there is neither."""
    beside = read_tape(path)
    packed = bundle.header.replies
    if beside is not None or packed is None:
        return beside
    return parse_tape(bundle.blob(packed), f"tape of {Path(bundle.name).name}")


def is_foreign(bundle: Bundle, tape: Tape) -> bool:
    """Return whether a tape was recorded for another bundle, not for one that this is derived from."""
    return tape.trajectory not in ("", bundle.digest, *(one.digest for one in bundle.header.derived_from))


def unpacked(bundle: Bundle, path: str | Path) -> None:
    """Write the packed tape to a path where none lies, so that replies can be appended to it."""
    packed = bundle.header.replies
    if packed is not None and not Path(path).exists():
        Path(path).write_bytes(bundle.blob(packed))


def _live(
    panel: Panel, bundle: Bundle, task: Task, replay: Replay, client: Client | None
) -> tuple[Judgement, ...]:
    # Loaded here: threads and sockets are for those who ask.
    from replaykit.grading.judges.live import Desk, judge_sync
    from replaykit.grading.judges.transports import Transports

    unpacked(bundle, panel.tape)
    asked = client or Transports(base_url=panel.base_url)
    try:
        desks = (
            Desk(
                bundle,
                asked,
                panel.tape,
                trajectory=bundle.digest,
                mode="new" if panel.how == "new" else "refresh",
            )
            for _ in panel.settings
        )
        return tuple(
            judge_sync(one, task, replay, desk, panel.mode)
            for one, desk in zip(panel.settings, desks, strict=True)
        )
    finally:
        if isinstance(asked, Transports):
            asked.close()


def _of_task(judge: str | JudgeSettings) -> JudgeSettings:
    """Return the judge of a task. A task may come from a stranger's bundle: it never names code."""
    settings = judge_settings(judge)
    if settings.entry:
        raise JudgeError(what=f"judge {settings.entry!r} of the task is code: name it with --judge to run it")
    return settings


def _name(settings: JudgeSettings) -> str:
    return settings.id or settings.protocol


def _off(settings: JudgeSettings) -> Judgement:
    return Judgement(judge=_name(settings), outcome=JudgeOutcome.NOT_EVALUATED, reason="off", fingerprint="")
