"""How to grade: plain values, without what grades."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, get_args

from msgspec import Struct

from replaykit.errors import UsageError
from replaykit.grading.share_thresholds import ThresholdFile
from replaykit.replay.page_reader import PageReader
from replaykit.tasks.dialect import Composition, Dialect, Mode
from replaykit.tasks.judge_settings import JudgeSettings
from replaykit.tasks.policy_rules import Policy
from replaykit.tasks.suite import Suite

_ALLOWED: dict[str, tuple[str, ...]] = {
    "mode": get_args(Mode),
    "judge_mode": ("none", "new", "refresh", "off"),
    "dialect": get_args(Dialect),
    "compose": get_args(Composition),
    "replay": get_args(PageReader),
}
"""Options to their values."""


_KINDS: tuple[tuple[str, Any, str], ...] = (
    ("suite", Suite, "a suite, as `load_suite(FILE)` returns it"),
    ("policies", (tuple, list), "policies, as `load_policies(FILE)` returns them"),
    ("sites", Mapping, "names with tuples of roots, such as {'shop': (URL,)}"),
    ("judges", (tuple, list), "a tuple of names or settings, such as ('webvoyager',)"),
)
"""Options to what they have to be."""


class TaskExecutor(Protocol):
    """Runs calls elsewhere: a `concurrent.futures.Executor`, which is not imported before one is needed."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:
        """Begin a call; return its `concurrent.futures.Future`."""


class GradeOptions(Struct, frozen=True, kw_only=True):
    """Options of grading, the same for all bundles of one call. Picklable and JSON-serialisable."""

    suite: Suite | None = None
    """Tasks to use instead of those in the bundles, matched by task id."""
    policies: tuple[Policy, ...] = ()
    """Policies that every run must keep, in addition to those of its task; the same id takes their place."""
    sites: dict[str, tuple[str, ...]] = {}
    """Root URLs of sites to use instead of those in the bundles."""
    mode: Mode | None = None
    """`strict` or `compat`, instead of the mode of the task."""
    dialect: Dialect | None = None
    """Benchmark whose rules are followed, instead of the dialect of the task."""
    judges: tuple[str | JudgeSettings, ...] = ()
    """Judges to ask in addition to the judge of the task."""
    judge_mode: str = "none"
    """Source of model replies.

    `none`: only the tape. `new`: missing replies are requested and recorded. `refresh`: all replies are
    requested and recorded. `off`: judges are not evaluated, and checks get no reply.
    """
    judge_model: str | None = None
    """Model for all judges and checks that ask one, instead of their own."""
    judge_base_url: str | None = None
    """URL of the server to ask, instead of the provider's own."""
    rubrics: str | None = None
    """Folder of rubrics (`<task>.yaml`) for the judge `rubric`; None = the model is asked for criteria."""
    thresholds: ThresholdFile | None = None
    """Thresholds of a calibration for the share of votes, members or weight.

    A judge without thresholds in this file is refused.
    """
    replies: str | None = None
    """A tape or a folder of tapes; default: the tape beside each bundle."""
    compose: Composition | None = None
    """How checks and judge are combined: `rules_first`, `and` or `or`, instead of the task's value."""
    require_strong: bool = False
    """If true, a check that has only weak evidence is UNDECIDED."""
    require_proof: bool = False
    """If true, a result that needs a channel that is recorded but not proven complete is UNDECIDED."""
    verifiers: str | None = None
    """Folder of the task file whose verifier programs may run; None = none may run.

    Verifiers of a task that comes from a bundle never run.
    """
    replay: PageReader = "static"
    """When an offline Chromium reads pages.

    `static`: never. `auto`: for locators that static reading cannot answer. `chromium`: for every locator
    without a live value.
    """

    def __post_init__(self) -> None:
        # Decoded ones were compared with their types; these come from Python.
        for name, kind, how in _KINDS:
            given: object = getattr(self, name)
            if given is not None and not isinstance(given, kind):
                raise UsageError(what=f"option {name}: expected {how}, got {given!r:.100}")
        for name, allowed in _ALLOWED.items():
            value = getattr(self, name)
            if value is not None and value not in allowed:
                raise UsageError(what=f"option {name}: {value!r} is not one of {', '.join(allowed)}")
        if self.sites:
            _check_roots(self.sites)


def _check_roots(sites: Mapping[str, tuple[str, ...]]) -> None:
    """Raise UsageError for roots that no browser opens."""
    from replaykit.tasks.faults.suite_faults import root_faults  # for who names sites

    for name, given in sites.items():
        roots: object = given
        if not isinstance(roots, tuple | list):  # the characters of a text would be roots
            raise UsageError(what=f"option sites: expected a tuple of roots for {name!r}, got {roots!r}")
    for place, fault in root_faults(sites):
        raise UsageError(what=f"option sites{place}: {fault}")
