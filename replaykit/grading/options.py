"""How to grade: plain values, without what grades."""

from __future__ import annotations

from typing import get_args

from msgspec import Struct

from replaykit.errors import UsageError
from replaykit.grading.judge_shares import ThresholdFile
from replaykit.replay.tier import Tier
from replaykit.tasks.dialect import Composition, Dialect, Mode
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.suite import Suite

_ALLOWED: dict[str, tuple[str, ...]] = {
    "mode": get_args(Mode),
    "dialect": get_args(Dialect),
    "compose": get_args(Composition),
    "replay": get_args(Tier),
}
"""Options to their values."""


class GradeOptions(Struct, frozen=True, kw_only=True):
    """How to grade; the same for every bundle of a run. Picklable, and JSON all through."""

    suite: Suite | None = None
    """Tasks that replace the one in the bundle; each bundle takes the task of its own id."""
    sites: dict[str, tuple[str, ...]] = {}
    """Site roots that override those in the bundle."""
    mode: Mode | None = None
    """Overrides the mode of the task."""
    dialect: Dialect | None = None
    """Overrides the dialect of the task."""
    judges: tuple[str | JudgeSettings, ...] = ()
    """Judges to ask beside the task's own."""
    judge_mode: str = "none"
    """`none`: replies come from the tape only; `new`: what judges and checks miss is asked for and recorded;
    `refresh`: everything is; `off`: judges are not evaluated, checks get no reply."""
    judge_model: str | None = None
    """Model of all judges and of checks that ask one, instead of their own."""
    judge_base_url: str | None = None
    """Server asked instead of the provider's own."""
    rubrics: str | None = None
    """Folder of rubrics, `<task>.yaml` each, for the judge `rubric`; None = the model is asked."""
    thresholds: ThresholdFile | None = None
    """Thresholds of a calibration, which decide by the share of votes, members or weight; a judge that has
    none there is refused."""
    replies: str | None = None
    """Tape, or a folder of tapes; default: beside each bundle."""
    compose: Composition | None = None
    """Overrides how checks and judge make one result."""
    require_strong: bool = False
    """Weak evidence leaves a check undecided."""
    require_proof: bool = False
    """What rests on a channel that is recorded, and not proven, is undecided."""
    verifiers: str | None = None
    """Folder of the task file, whose verifiers are trusted and run; None = none are. Never those of a task
    that a bundle names itself."""
    replay: Tier = "static"
    """`static`: no browser is started; `auto`: an offline Chromium answers what static reading cannot;
    `chromium`: it answers every locator that no live value answers."""

    def __post_init__(self) -> None:
        # Decoded ones were compared with their types; these come from Python.
        judges: object = self.judges
        if isinstance(judges, str):
            raise UsageError(what=f"option judges: expected a tuple, found the text {judges!r}")
        for name, allowed in _ALLOWED.items():
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise UsageError(what=f"option {name}: {value!r} is not one of {', '.join(allowed)}")
