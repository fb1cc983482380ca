"""A recording made to see whether recording works here: one click in one page."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from msgspec import Struct

from replaykit.bundle.reader import open_bundle
from replaykit.recorder.agent_runs import record_agent
from replaykit.trajectory.action import Click
from replaykit.trajectory.step import Environment, Trajectory

TRY_MAX_S = 60.0
"""A browser that has not clicked after this time does not work."""

_PAGE = "<!doctype html><title>Try</title><button>Here</button>"


class Tried(Struct, frozen=True, kw_only=True):
    """Result of the trial."""

    environment: Environment
    """Driver and browser, with their versions."""
    fault: str | None = None
    """Fault in words; None = the click was recorded."""


def try_recording() -> Tried:
    """Start a browser, click once, and look for the click in the bundle. Raises ReplaykitError."""
    with tempfile.TemporaryDirectory(prefix="replaykit-") as folder:
        made = record_agent(_click, None, Path(folder) / "try.zst", max_time=TRY_MAX_S, screenshots="off")
        with open_bundle(made.path) as bundle:
            run = bundle.trajectory
    return Tried(environment=run.header.environment, fault=made.error or _fault(run))


def _click(page: Any, task: Any, run: Any) -> None:
    page.set_content(_PAGE)
    page.get_by_role("button").click()


def _fault(run: Trajectory) -> str | None:
    clicks = [step.action for step in run.steps if isinstance(step.action, Click)]
    names = [click.element.text for click in clicks if click.element is not None]
    return None if names == ["Here"] else f"of one click on one button, the recording holds {names}"
