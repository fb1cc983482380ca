"""The judges of one run, and the tape that answers them: beside the bundle, else the one packed into it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from replaykit.bundle.reader import Bundle
from replaykit.errors import JudgeError
from replaykit.grading.judges.check_comparisons import asking_of, asks_for_checks
from replaykit.grading.judges.judge_options import judge_settings
from replaykit.grading.judges.tape.tape import Tape, parse_tape, read_tape, tape_beside
from replaykit.grading.model_request import Asking
from replaykit.tasks.dialect import Mode
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.task import Task

JUDGE_MODES = ("none", "new", "refresh", "off")
"""From the tape only; ask for what is missing; ask for everything; no judge is evaluated."""


class Panel(Struct, frozen=True, kw_only=True):
    """The judges of a run and how they are answered."""

    settings: tuple[JudgeSettings, ...]
    """The judges, each once, and how checks ask a model, where a file sets it."""
    how: str = "none"
    """`none new refresh off`."""
    mode: Mode = "strict"
    """Strict, or as the benchmark judges."""
    bundle: str = ""
    """Name of the bundle."""
    replies: str | None = None
    """Tape that is named, or the folder that it lies in; None = beside the bundle."""
    base_url: str | None = None
    """Server asked instead of the provider's own."""
    model: str | None = None
    """Model that checks ask instead of their own; the judges' stands in their settings."""

    def __post_init__(self) -> None:
        if self.how not in JUDGE_MODES:
            raise JudgeError(what=f"option judge_mode: {self.how!r} is not one of {', '.join(JUDGE_MODES)}")
        asking_of(self.settings)

    @property
    def judges(self) -> tuple[JudgeSettings, ...]:
        """The judges only."""
        return tuple(one for one in self.settings if not asks_for_checks(one))

    @property
    def asking(self) -> Asking:
        """How checks ask a model."""
        return asking_of(self.settings)

    @property
    def tape(self) -> Path:
        """Where the replies lie."""
        return tape_path(self.bundle, self.replies)

    @property
    def is_live(self) -> bool:
        """Whether models are asked."""
        return self.how in ("new", "refresh")


def judges_of(
    task: Task, named: Sequence[str | JudgeSettings], model: str | None = None
) -> tuple[JudgeSettings, ...]:
    """Return the judge of a task and the settings named, each once; `model` replaces theirs.

    One that is named as the task's is takes its place: it is the same judge, changed.
    """
    found = [judge_settings(judge) for judge in named]
    if task.judge is not None:
        own = _of_task(task.judge)
        found[:0] = [own] if judge_name(own) not in map(judge_name, found) else []
    if found and model is not None:
        from replaykit.grading.judges.judge_panel import with_model  # for runs that have judges

        found = [with_model(settings, model) for settings in found]
    return tuple(settings for place, settings in enumerate(found) if settings not in found[:place])


def tape_path(bundle: str, replies: str | None) -> Path:
    """Return where the replies of a bundle lie: named, in a named folder, or beside it."""
    beside = tape_beside(bundle)
    if replies is None:
        return beside
    return Path(replies) / beside.name if Path(replies).is_dir() else Path(replies)


def judge_name(settings: JudgeSettings) -> str:
    """Return the name of a judge in reports."""
    return settings.id or settings.protocol


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


def _of_task(judge: str | JudgeSettings) -> JudgeSettings:
    """Return the judge of a task. A task may come from anyone's bundle: it never names code."""
    settings = judge_settings(judge)
    for one in (settings, *settings.members):
        if isinstance(one, JudgeSettings) and one.entry:
            raise JudgeError(what=f"judge {one.entry!r} of the task is code: name it with --judge to run it")
        if isinstance(one, JudgeSettings) and one.rubrics:
            raise JudgeError(what="option rubrics: no task names the files of its rubric")
    if asks_for_checks(settings):
        raise JudgeError(what="protocol checks is no judge of a task: name its file with --judge")
    return settings
