"""State of the tape of a bundle: how much of it still answers."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from replaykit.bundle.reader import open_bundle
from replaykit.errors import BundleError, TapeError
from replaykit.grading.judges.judge_config import is_foreign, tape_of


class TapeState(Struct, frozen=True, kw_only=True):
    """Result of reading a tape."""

    name: str = ""
    """File name; empty where it cannot be read."""
    replies: int = 0
    """Replies that answer a request."""
    superseded: int = 0
    """Replies that a later line replaces."""
    unused: int | None = None
    """Replies that neither the task's judge and checks nor a judge with its usual settings asks for.

    Those of a user-defined judge are not counted; None = unknown.
    """
    torn: bool = False
    """The last line was cut off and is dropped."""
    foreign: bool = False
    """It was recorded for another bundle: only equal requests are answered."""
    error: str = ""
    """Why it cannot be read; empty if it can."""


def tape_state(source: str | Path, path: str | Path) -> TapeState | None:
    """Return what lies on the tape at a path, else on the packed one; None where neither can be had."""
    try:
        with open_bundle(source) as bundle:
            tape = tape_of(bundle, path)
            is_others = tape is not None and is_foreign(bundle, tape)
    except TapeError as error:
        return TapeState(error=str(error))
    except BundleError:
        return None
    if tape is None:
        return None
    return TapeState(
        name=tape.name,
        replies=len(tape.found),
        superseded=tape.superseded,
        torn=tape.torn,
        foreign=is_others,
    )
