"""Bundles of imported runs on disk: there whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from replaykit.bundle.blobs import blob_id
from replaykit.bundle.sealing import named_as, put, scratch_folder
from replaykit.bundle.verification import references
from replaykit.bundle.writer import Journal, SealResult, seal_passing
from replaykit.errors import BundleError, BundleWriteError, EventInvalid
from replaykit.interop.imported_run import Run

BATCH = 8
"""Events of one commit: the largest ones fit into one frame."""


def write_run(run: Run, target: Path, *, is_forced: bool = False) -> SealResult:
    """Write a run as a sealed bundle; the file is there whole or not at all.

    `is_forced`: it replaces one that is there, else that is OutputExists. Raises BundleError, and
    MalformedSource where a value fits in no bundle, such as a number over 2^53.
    """
    try:
        return write_sealed(target, lambda path: _journal(run, path), is_forced=is_forced)
    except EventInvalid as error:
        what = f"event {error.fields['number']} at {error.fields['path']}"
        run.source.malformed(what, str(error.fields["reason"]), "values that a bundle can hold", error)


def write_sealed(target: Path, journal: Callable[[Path], None], *, is_forced: bool) -> SealResult:
    """Have a journal written beside the target, seal it, and put it in its place. Raises BundleError."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with named_as(target), scratch_folder(target.parent, "importing") as place:
            path = place / "run"
            journal(path)
            sealed = seal_passing(path)
            put(path, target, "write the bundle", is_forced=is_forced)
    except OSError as error:
        raise BundleWriteError(
            source=str(target), operation="write the bundle", reason=error.strerror or str(error)
        ) from error
    return msgspec.structs.replace(sealed, path=str(target))


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
