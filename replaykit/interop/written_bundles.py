"""Bundles of imported runs on disk: there whole, or not at all."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import msgspec

from replaykit.bundle.blobs import blob_id
from replaykit.bundle.locking import remove_unlocked
from replaykit.bundle.verification import references
from replaykit.bundle.writer import Journal, SealResult, seal_passing
from replaykit.errors import BundleError, BundleWriteError, EventInvalid
from replaykit.interop.imported_run import Run

BATCH = 8
"""Events of one commit: the largest ones fit into one frame."""

UNFINISHED = ".importing-"
"""Part of the name of a bundle that is being written."""

NAME_MAX = 160
"""Characters of a bundle's name that are repeated in that one."""


def write_run(run: Run, target: Path) -> SealResult:
    """Write a run as a sealed bundle; the file is there whole or not at all.

    Raises BundleError, and MalformedSource where a value fits in no bundle, such as a number over 2^53.
    """
    try:
        return write_sealed(target, lambda path: _journal(run, path))
    except EventInvalid as error:
        what = f"event {error.fields['number']} at {error.fields['path']}"
        run.source.malformed(what, str(error.fields["reason"]), "values that a bundle can hold", error)


def write_sealed(target: Path, journal: Callable[[Path], None]) -> SealResult:
    """Have a journal written beside the target, seal it, and put it in its place. Raises BundleError.

    What a killed process leaves behind is hidden, and removed by the next import into the folder.
    """
    path = target.with_name(f".{target.name[:NAME_MAX]}{UNFINISHED}{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        journal(path)
        sealed = seal_passing(path)
        path.replace(target)
    except OSError as error:
        raise BundleWriteError(
            source=str(target), operation="write the bundle", reason=error.strerror or str(error)
        ) from error
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
    return msgspec.structs.replace(sealed, path=str(target))


def remove_unfinished(folder: Path) -> None:
    """Remove what killed imports left in a folder; what another one is writing stays."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            writer = _WRITER.search(entry.name) if entry.name.startswith(".") else None
            if writer is not None and not _is_running(int(writer[1])):
                remove_unlocked(entry.path)


_WRITER = re.compile(re.escape(UNFINISHED) + r"(\d{1,9})")


def _is_running(process: int) -> bool:
    """Whether the process that writes a file is there: between its steps, its file has no lock."""
    if sys.platform == "win32":  # a signal of 0 would end it there; the lock has to be enough
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    # Linux keeps the entry of a killed process until its parent has asked for it.
    with suppress(OSError):
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        return state not in "ZX"
    return True


def _journal(run: Run, path: Path) -> None:
    with Journal.create(path) as journal:
        journal.commit([run.built_header()])
        for at in range(0, len(run.events), BATCH):
            events = run.events[at : at + BATCH]
            ids = dict.fromkeys(id for event in events for id in references(event) if id in run.blobs)
            journal.commit(events, [(id, *loaded(run, id)) for id in ids if id not in journal])


def loaded(run: Run, id: str) -> tuple[str, bytes]:
    """Return media type and bytes of a payload. Raises BundleError where its file has changed."""
    payload = run.blobs[id]
    data = payload.load()
    if blob_id(data) != id:
        raise BundleError(source=run.source.name, what="a file changed while it was imported")
    return payload.media_type, data
