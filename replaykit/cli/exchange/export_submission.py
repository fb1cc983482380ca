"""`replaykit export stwab-submission`: many bundles, one file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from replaykit.cli.console import notice
from replaykit.decoders import decode
from replaykit.errors import InteropError, OutputExists, UsageError
from replaykit.interop.bundle_export import write_file
from replaykit.interop.stwebagentbench.stwab_submission import SubmissionOptions, build_submission
from replaykit.report.text.table import safe
from replaykit.tasks.suite import load_suite
from replaykit.trajectory.plurals import counted

FORMAT = "stwab-submission"
"""What the command line calls it."""

WRITES = "leaderboard submission of ST-WebAgentBench, of all bundles together"
"""In a few words, for the table."""

CLOSED = ".closed.txt"
"""Ending of the file that lists what was exported as violated because the result is unknown, a line each."""


def export_submission(
    bundles: Sequence[str],
    place: Path,
    *,
    suite: str | None,
    metadata: Path | None,
    benchmark: str | None,
    date: str | None,
    run_id: str | None,
    fail_closed: bool,
    force: bool,
) -> None:
    """Grade bundles as the benchmark does and write its submission. Raises CannotExport, UsageError."""
    if suite is None or metadata is None:
        raise UsageError(what=f"{FORMAT} needs --suite FILE (the benchmark's tasks) and --metadata FILE")
    beside = place.with_name(place.name.removesuffix(".json") + CLOSED)
    taken = [path for path in (place, beside) if os.path.lexists(path)]
    if taken and not force:
        raise OutputExists(source=str(taken[0]), operation="export")
    options = SubmissionOptions(
        metadata=_metadata(metadata), benchmark=benchmark, date=date, run_id=run_id, fail_closed=fail_closed
    )
    made = build_submission(bundles, load_suite(suite), options)
    beside.unlink(missing_ok=True)
    if made.closed:
        write_file(beside, "".join(f"{name}\n" for name in made.closed).encode())
        notice(
            f"warning: exported as violated: {counted(len(made.closed), 'undecided policy')}, see {beside}"
        )
    write_file(place, msgspec.json.format(msgspec.json.encode(made.plain), indent=1) + b"\n")
    click.echo(safe(str(place)))
    tasks = counted(len(made.plain["task_evidence"]), "task")
    notice(f"{counted(len(bundles), 'run')} of {tasks} exported")


def _metadata(file: Path) -> dict[str, Any]:
    try:
        return decode(file.read_bytes(), dict[str, Any])
    except OSError as error:
        raise InteropError(source=file, what=f"cannot read the metadata: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InteropError(source=file, what=f"the metadata have to be one JSON object: {error}") from error
