"""How many breaches each policy notices, from the lines that `policies try --mutate --json` prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from replaykit.decoders import decode
from replaykit.errors import UsageError
from replaykit.file_types import MARK, read_whole

FILE_MAX = 2**28
"""Bytes of such a file."""


class MutationScore(Struct, frozen=True, kw_only=True):
    """Runs that were broken on purpose, one edit at a time."""

    noticed: int
    """Edits that turn the policy VIOLATED."""
    made: int
    """Edits made."""


class _Scores(Struct, frozen=True, kw_only=True):
    scores: dict[str, MutationScore] = {}


class _Line(Struct, frozen=True, kw_only=True):
    mutation: _Scores


def read_mutations(path: str | Path) -> Mapping[str, MutationScore]:
    """Return policy id to the edits of all runs of the file together. Raises UsageError."""
    file, found = Path(path), dict[str, MutationScore]()
    try:
        data = read_whole(file, FILE_MAX).removeprefix(MARK)
        lines = [decode(line, _Line) for line in data.splitlines() if line.strip()]
    except OSError as error:
        raise UsageError(what=f"{file}: cannot read: {error.strerror}") from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(what=f"{file}: {_EXPECTED}: {error}") from error
    if not lines:
        raise UsageError(what=f"{file}: {_EXPECTED}: it has none")
    for line in lines:
        for policy, one in line.mutation.scores.items():
            known = found.get(policy, MutationScore(noticed=0, made=0))
            found[policy] = MutationScore(noticed=known.noticed + one.noticed, made=known.made + one.made)
    return found


_EXPECTED = "expected the lines that `replaykit policies try FILE RUNS --mutate --json` prints"
