"""Where an agent in this process has failed: its own code, not what it calls, and not what calls it."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from types import TracebackType

_OTHERS = ("asyncio", "greenlet", "playwright", "replaykit")
"""Packages that are no agent's own."""


def place_of(error: BaseException | None) -> str | None:
    """Return `file:line, in function` of the innermost call of the agent's own; None if absent."""
    own = [] if error is None else list(_own(error))
    if not own:
        return None
    code = own[-1].tb_frame.f_code
    return f"{code.co_filename}:{own[-1].tb_lineno}, in {code.co_name}"


def trace_of(error: BaseException | None) -> str | None:
    """Return the traceback from the agent's own code on; None without an error."""
    if error is None:
        return None
    first = next(_own(error), None)
    return "".join(traceback.format_exception(type(error), error, first)).rstrip()


def _own(error: BaseException) -> Iterator[TracebackType]:
    at = error.__traceback__
    while at is not None:
        if str(at.tb_frame.f_globals.get("__name__", "")).partition(".")[0] not in _OTHERS:
            yield at
        at = at.tb_next
