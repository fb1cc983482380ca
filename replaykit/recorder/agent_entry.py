"""The function of an agent, by its name: loaded, and looked at before a browser starts."""

from __future__ import annotations

import importlib
import inspect
import logging
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from replaykit.errors import RAISED_BY_LOADED_CODE, AgentError
from replaykit.recorder.live_run import LiveRun

log = logging.getLogger("replaykit.recorder")


def load_agent(entry: str) -> Callable[..., Any]:
    """Import `MODULE:FUNCTION`, the working directory included. Raises AgentError."""
    module, colon, name = entry.partition(":")
    if not colon or not module or not name:
        raise AgentError(entry=entry, reason="it is not MODULE:FUNCTION")
    if module.endswith(".py"):
        how = module.removesuffix(".py").replace("/", ".")
        raise AgentError(entry=entry, reason=f"a module is named without .py: write {how}:{name}")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
    except RAISED_BY_LOADED_CODE as error:  # whatever the user's module raises when it is loaded
        raise AgentError(entry=entry, reason=f"{type(error).__name__}: {error}") from error
    if not callable(found):
        raise AgentError(entry=entry, reason=f"{name} is not a function")
    _check_arguments(entry, found)
    return found


def _check_arguments(entry: str, found: Callable[..., Any]) -> None:
    """Raise AgentError for a function that cannot be called with page, task and run."""
    with suppress(ValueError):  # some callables do not say what they take
        signature = inspect.signature(found)
        try:
            signature.bind("page", "task", "run")
        except TypeError as error:
            reason = f"it takes {signature}, and is called with (page, task, run)"
            raise AgentError(entry=entry, reason=reason) from error


def warn_of_returned(value: object, run: LiveRun) -> None:
    """Report what an agent returned in place of an answer: only `run.answer` is recorded."""
    if value is not None and not run.has_answered:
        kind = type(value).__name__
        log.warning(
            "the agent returned a %s, which is not recorded: give its answer to run.answer(text)", kind
        )
