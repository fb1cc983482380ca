"""The recorder of a test: task and sites from a task file, the bundle in the test's own folder."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from replaykit.errors import UsageError
from replaykit.recorder.recorder import Recorder
from replaykit.recorder.settings import as_sites
from replaykit.tasks.moved_sites import at_sites
from replaykit.tasks.suite import Suite, load_suite
from replaykit.tasks.task import Task


def recorder(task: Task | Path, folder: Path, path: str | Path | None, options: dict[str, Any]) -> Recorder:
    """Return a recorder that has not begun; `options` are its keywords. Raises TaskError, UsageError."""
    suite = Suite(tasks=(task,)) if isinstance(task, Task) else load_suite(task)
    if len(suite.tasks) != 1:
        raise UsageError(what=f"{task} holds {len(suite.tasks)} tasks: pick one with FILE#ID")
    (one,) = suite.tasks
    sites = {**suite.sites, **as_sites(options.pop("sites", None))}
    one = at_sites(one, suite.sites, sites)
    place = folder / (path or f"{re.sub(r'[^A-Za-z0-9._-]+', '_', one.id)}.zst")
    return Recorder(place, task=one, sites=sites, **options)
