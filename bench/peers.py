"""Grading a recorded run against WebArena-Verified's own evaluators on the same run: CPU time, one process.

Needs the evaluators that .ci/setup puts beside the environment, and the public data (REPLAYKIT_SHARED_DATA).
Where REPLAYKIT_INSPECT names a Python that has inspect_ai, reading its logs is measured too.

Run: .venv/bin/python -m bench.peers
"""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from bench.figures.figure import Figure, cpu, least
from bench.figures.reporting import main
from bench.grade import each, every_page, last_page
from bench.runs.corpus import apps, sized
from replaykit.bundle.reader import open_bundle
from replaykit.grading.grade_options import GradeOptions
from replaykit.grading.grader import grade
from replaykit.interop.bundle_export import Choices, export_run
from replaykit.interop.run_import import import_run
from replaykit.replay.dom import Dom
from replaykit.tasks.dialect import Mode
from replaykit.tasks.suite import load_tasks
from replaykit.tasks.task import Task

ROOT = Path(__file__).parent.parent
PEERS = ROOT / ".venv" / "peers"
SHARED = Path(os.environ.get("REPLAYKIT_SHARED_DATA", ROOT / "../shared/data"))
RUN = SHARED / "har/webarena-verified-107"
TASKS = SHARED / "webarena-verified/webarena-verified.json"
FORMAT = "webarena-verified"
STEPS = (5, 20, 60)
"""Steps of the runs that are made up."""
ROWS = 250
"""Rows of their pages, of 130 KB."""
MOST = 1 / 2
"""Of the peer's time, at most."""
OUTCOMES = {"success": "PASS", "failure": "FAIL", "error": "ERROR"}


def peer() -> Any:
    """Return the package's entry point; the versions it pins come before those of the environment."""
    sys.path.insert(0, str(PEERS))
    # The package lies beside the environment (.venv/peers), where type checks do not see it.
    from webarena_verified.api import WebArenaVerified  # type: ignore[import-not-found]

    logging.disable(logging.CRITICAL)
    return WebArenaVerified()


def figures(folder: Path, seconds: float) -> Iterator[Figure]:
    """Measure."""
    package, bundle = peer(), folder / "107.zst"
    import_run(FORMAT, RUN, bundle)
    tasks = [task for task in load_tasks(TASKS) if task.sites == ("shopping_admin",)]
    own = [task for task in tasks if task.id == "107"]
    requests = [task for task in tasks if len(task.checks) > 1][:20]
    for name, chosen in (("its own task", own), ("20 tasks on requests", requests)):
        theirs = _evaluating(package, chosen, RUN)
        for mode in ("compat", "strict"):
            ours = _grading(bundle, chosen, mode)
            if mode == "compat":
                assert ours() == theirs()
            yield _figure(f"{name}, {mode}", ours, theirs, len(chosen), seconds)
    for steps in STEPS:
        yield _of_steps(steps, package, own, folder, seconds)
    yield _importing(folder / "again.zst", _evaluating(package, own, RUN), seconds)
    if python := os.environ.get("REPLAYKIT_INSPECT"):
        yield from _inspecting(python, folder, seconds)


def _figure(
    name: str, ours: Callable[[], object], theirs: Callable[[], object], count: int, seconds: float
) -> Figure:
    spent, beside = cpu(ours, theirs, seconds=seconds)
    return least(name, spent, 1000 / count, "ms", None, "WebArena-Verified", beside, MOST)


def _of_steps(steps: int, package: Any, own: Sequence[Task], folder: Path, seconds: float) -> Figure:
    """Measure the same task on a run of some requests, which is given to the package as it reads runs."""
    run = sized(f"mail-{steps}", steps, ROWS)
    bundle, export = run.sealed(folder / f"{run.name}.zst"), folder / run.name
    export_run(FORMAT, bundle, export, choices=Choices(task_type="RETRIEVE", status="SUCCESS"))
    ours, theirs = _grading(bundle, own, "compat"), _evaluating(package, own, export)
    assert ours() == theirs()
    name = f"its own task, a run of {steps} steps, compat"
    return replace(_figure(name, ours, theirs, 1, seconds), most=1)


def _evaluating(package: Any, tasks: Sequence[Task], run: Path) -> Callable[[], list[str]]:
    """Evaluate a run's own files, each time read again, as the package's command does."""
    given = {"agent_response": run / "agent_response.json", "network_trace": run / "network.har"}

    def evaluate(task: Task) -> str:
        return OUTCOMES[str(package.evaluate_task(task_id=int(task.id), **given).status)]

    return lambda: [evaluate(task) for task in tasks]


def _grading(source: Path, tasks: Sequence[Task], mode: Mode) -> Callable[[], list[str]]:
    """Grade the bundle, each time opened again."""
    options = GradeOptions(mode=mode)

    def run(task: Task) -> str:
        with open_bundle(source) as bundle:
            completion = grade(bundle, task, options=options).completion
        return completion.outcome.value if completion is not None else ""

    return lambda: [run(task) for task in tasks]


def _importing(target: Path, theirs: Callable[[], object], seconds: float) -> Figure:
    spent, read = cpu(lambda: import_run(FORMAT, RUN, target, force=True), theirs, seconds=seconds)
    return least("making the bundle, once", spent, 1000, "ms", None, "WebArena-Verified", read)


def _inspecting(python: str, folder: Path, seconds: float) -> Iterator[Figure]:
    """Measure runs of 20 pages against a log whose messages are the sources of these pages."""
    runs = apps()
    texts = [[Dom(look.snapshot).source for look in run.looks] for run in runs]
    program = str(Path(__file__).parent / "runs" / "inspect_log.py")
    said = subprocess.run(
        [python, program], input=json.dumps(texts).encode(), check=True, capture_output=True
    )
    theirs = json.loads(said.stdout)
    sources = [str(run.sealed(folder / f"{run.name}.zst")) for run in runs]
    for name, work, other, key in (
        ("answer, URL, last page of 20", last_page, "one sample of an Inspect log", "one"),
        ("3 selectors on all 20", every_page, "a whole Inspect log", "whole"),
    ):
        (spent,) = cpu(each(sources, work), seconds=seconds)
        value, spread = 1000 / len(sources) * spent.low, spent.times(1000 / len(sources))
        yield Figure(name, value, "ms", None, other, theirs[key], spread=spread)
    size = sum(Path(source).stat().st_size for source in sources) / len(sources)
    yield Figure("bytes of a run", size, "B", None, "a sample", theirs["bytes"])


if __name__ == "__main__":
    sys.exit(main("peers", __doc__, figures))
