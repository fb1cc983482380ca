"""A tape without secrets: its texts, the screenshots that its requests name, and the keys made of both."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from replaykit.decoders import convert
from replaykit.errors import TapeError
from replaykit.file_types import read_whole
from replaykit.grading.judges.attacks import attacks_tape
from replaykit.grading.judges.judge_options import canonical
from replaykit.grading.judges.tape.tape import (
    KEY_PREFIX,
    TapeEntry,
    TapeHead,
    normal_request,
    parse_tape,
    tape_beside,
)
from replaykit.redaction.leftover_scan import WORDS
from replaykit.secrets.redactor import Redactor
from replaykit.trajectory.scalars import Id


def rewrite_tape(
    data: bytes, name: str, redactor: Redactor, ids: Mapping[Id, Id | None], trajectory: str
) -> tuple[bytes, int]:
    """Return a tape for the bundle of another digest, and how many replies were left out.

    A reply about a screenshot that was left out is also left out: what remains would not ask for it. Raises
    TapeError.
    """
    tape = parse_tape(data, name)
    # A judge's reply to a screenshot that is gone cannot be repeated.
    entries = [_rewritten(entry, redactor, ids) for entry in tape.entries if not _is_blind(entry, ids)]
    head = TapeHead(tape="replaykit.replies", version=1, trajectory=trajectory)
    lines = [canonical(msgspec.to_builtins(line)) for line in (head, *entries)]
    return b"".join(line + b"\n" for line in lines), len(tape.entries) - len(entries)


def tapes_beside(bundle: str | Path) -> tuple[Path, Path]:
    """Return where the tapes of a bundle lie: its replies, and those to attacks on its judges."""
    own = tape_beside(bundle)
    return own, attacks_tape(own)


def read_bytes_of(path: Path) -> bytes | None:
    """Return the bytes of a tape; None if absent. Raises TapeError."""
    try:
        return read_whole(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise TapeError(source=path.name, line=0, reason=f"cannot read the tape: {error.strerror}") from error


def _rewritten(entry: TapeEntry, redactor: Redactor, ids: Mapping[Id, Id | None]) -> TapeEntry:
    request = normal_request(_clean(entry.request, redactor, ids))
    return replace(
        entry,
        # Requests are found by this key, and hiding a text changes the request.
        key=hashlib.sha256(KEY_PREFIX + canonical(request)).hexdigest(),
        request=request,
        reply=convert(_clean(msgspec.to_builtins(entry.reply), redactor, ids), type(entry.reply)),
        provenance=_clean(entry.provenance, redactor, ids),
    )


def _is_blind(entry: TapeEntry, ids: Mapping[Id, Id | None]) -> bool:
    messages = entry.request.get("messages") or ()
    blocks = [block for message in messages for block in message.get("content") or ()]
    return any(ids.get(str(block.get("sha256")), "") is None for block in blocks if isinstance(block, dict))


def _clean(value: Any, redactor: Redactor, ids: Mapping[Id, Id | None]) -> Any:
    if isinstance(value, str):
        return ids[value] if value in ids else redactor.text(value)
    if isinstance(value, dict):
        return {key: part if key in WORDS else _clean(part, redactor, ids) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(part, redactor, ids) for part in value]
    return value
