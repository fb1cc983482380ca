"""A bundle that carries its tape: derived from another, with the replies as a blob."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

from msgspec.structs import replace

from replaykit.bundle.blobs import blob_id
from replaykit.bundle.reader import Bundle, open_bundle
from replaykit.bundle.sealing import check_copy, folder_beside, put_copy
from replaykit.bundle.story_lines import Line
from replaykit.bundle.verification import references
from replaykit.bundle.writer import Journal, NewBlob, SealResult, seal
from replaykit.errors import TapeError
from replaykit.file_types import read_whole
from replaykit.grading.judges.attacks import attacks_tape
from replaykit.grading.judges.tape.tape import parse_tape, tape_beside
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import Unknown
from replaykit.trajectory.step import Derivation, Header

MEDIA_TYPE = "application/x-replaykit-replies"
"""Of a tape in a bundle."""

_DIGEST = lazy_pattern(r"[0-9a-f]{64}")

BATCH = 8
"""Events of one commit: the largest ones fit into one frame."""


def pack(
    bundle: str | Path, output: str | Path, *, replies: str | Path | None = None, force: bool = False
) -> SealResult:
    """Write a copy of a bundle that contains the tape of its replies.

    `replies`: the tape; default: the one beside the bundle. `output`: the new bundle; its own tape answers if
    no tape lies beside it. Replies to attacks are copied beside it. The source does not change. Raises
    TapeError, BundleError, UsageError.
    """
    source, target = Path(bundle), Path(output)
    check_copy(source, (target, attacks_tape(tape_beside(target))), "packed", is_forced=force)
    with open_bundle(source) as opened, folder_beside(target, "packing") as folder:
        tape = _tape(Path(replies or tape_beside(source)))
        written = folder / "run.zst"
        _write(opened, tape, written)
        written.chmod(stat.S_IMODE(source.stat().st_mode))
        sealed = seal(written)
        attacks = attacks_tape(Path(replies or tape_beside(source)))
        beside = {attacks_tape(tape_beside(target)): _tape(attacks) if attacks.exists() else None}
        put_copy(written, target, beside, "packed", is_forced=force)
    return replace(sealed, path=str(target))


def _tape(path: Path) -> bytes:
    """Return the complete lines of a tape. Raises TapeError if the bytes are not a tape."""
    try:
        data = read_whole(path)
    except OSError as error:
        reason = f"cannot read the tape: {error.strerror}; `replaykit judge run` records one"
        raise TapeError(source=path, line=0, reason=reason) from error
    whole = data[: data.rfind(b"\n") + 1]
    if not parse_tape(whole, str(path)).entries:
        raise TapeError(source=path, line=0, reason="there is no reply to pack")
    return whole


def _write(source: Bundle, tape: bytes, path: Path) -> None:
    chain = (*source.header.derived_from, Derivation(digest=source.digest, by="pack"))
    header = replace(source.header, replies=blob_id(tape), derived_from=chain)
    events = iter(source.trajectory.events)
    with Journal.create(path) as journal:
        journal.commit([header], _blobs([header], source, journal, (blob_id(tape), MEDIA_TYPE, tape)))
        while batch := list(islice(events, BATCH)):
            journal.commit(batch, _blobs(batch, source, journal))


def _blobs(lines: Iterable[Line], source: Bundle, journal: Journal, *more: NewBlob) -> Iterator[NewBlob]:
    """Yield the blobs that these lines are the first to refer to."""
    yield from more
    for id in dict.fromkeys(id for line in lines for id in _references(line)):
        if id in source and id not in journal:
            yield id, source.blob_type(id), source.blob(id)


def _references(line: Line) -> Iterator[str]:
    if isinstance(line, Header):
        return
    if isinstance(line, Unknown):
        yield from _DIGEST.findall(line.raw)
    else:
        yield from references(line)
