"""Interface of a driver for commands, and the questions that all commands share.

A command is a generator: it yields effects, a driver performs them, blocking or awaiting, and sends back what
came of it. Failures come in as `CommandRefused`, and go out as the same where the command cannot go on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, TypeAlias

from msgspec import Struct

from replaykit.recorder.browser.tab.cdp_frames import Via
from replaykit.recorder.browser.tab.cdp_tab import CdpTab

COMMAND_MAX_MS = 5000
"""A page that does not answer within this time is stuck; the agent continues."""


class CommandRefused(Exception):
    """A browser did not do what was asked; the only argument is a word of `CommandReply.error`."""


class CallMethod(Struct, frozen=True, kw_only=True):
    """Call a protocol method on a tab's session, or on that of a target below. Sends back its result."""

    tab: CdpTab
    method: str
    params: dict[str, Any] = {}
    timeout_ms: float = COMMAND_MAX_MS
    via: Via = ()
    is_optional: bool = False
    """Among several calls: where only this one is refused, None is sent back for it."""


class CallBrowser(Struct, frozen=True, kw_only=True):
    """Call a protocol method on the browser's own session. Sends back its result."""

    method: str
    params: dict[str, Any] = {}
    timeout_ms: float = COMMAND_MAX_MS


class Together(Struct, frozen=True, kw_only=True):
    """Call several methods at one go; none waits for another's result. Sends back their results in order."""

    sends: tuple[CallMethod, ...]


class Sleep(Struct, frozen=True, kw_only=True):
    """Wait while the browser goes on. Sends back None."""

    ms: float


class Work(Struct, frozen=True, kw_only=True):
    """Run a pure function in the worker thread. Sends back its result."""

    run: Callable[[], Any]


class OpenTab(Struct, frozen=True, kw_only=True):
    """Open and arm a probe tab in the agent's context. Sends back the Tab."""


class CloseProbeTab(Struct, frozen=True, kw_only=True):
    """Close a probe tab. Sends back None."""

    tab: CdpTab


class Outline(Struct, frozen=True, kw_only=True):
    """Ask Playwright for a page's accessibility tree. Sends back its YAML."""

    tab: CdpTab


Effect: TypeAlias = CallMethod | CallBrowser | Together | Sleep | Work | OpenTab | CloseProbeTab | Outline

Carried: TypeAlias = Generator[Effect, Any, Any]
"""A command under way; its return value is that of the reply."""


def ask(
    tab: CdpTab, method: str, params: dict[str, Any], timeout_ms: float = COMMAND_MAX_MS, via: Via = ()
) -> Carried:
    """Call a page; returns the result, or raises `CommandRefused` at once where it could not answer."""
    if tab.is_gone:
        raise CommandRefused("gone")
    if tab.has_dialog:
        raise CommandRefused("dialog_open")  # the page would not answer before it is closed
    return (yield CallMethod(tab=tab, method=method, params=params, timeout_ms=timeout_ms, via=via))


def evaluate_raw(
    tab: CdpTab, expression: str, world: str | None, timeout_ms: float, frame: str | None = None
) -> Carried:
    """Evaluate in a frame (default: the main one), in a world (default: ours); returns the protocol's result.

    That holds what the page has thrown.
    """
    place = tab.worlds.place(world, frame)
    if place is None:
        raise CommandRefused("gone")
    via, context = place
    params = {"expression": expression, "contextId": context, "returnByValue": True, "awaitPromise": True}
    try:
        return (yield from ask(tab, "Runtime.evaluate", params, timeout_ms, via))
    except CommandRefused as refused:
        if str(refused) == "failed" and (tab.moves.is_leaving or tab.worlds.place(world, frame) != place):
            raise CommandRefused("gone") from refused  # its document was replaced while it was asked
        raise


def evaluate(
    tab: CdpTab,
    expression: str,
    *,
    world: str | None = None,
    timeout_ms: float = COMMAND_MAX_MS,
    frame: str | None = None,
) -> Carried:
    """Evaluate in a frame's document (default: the main one); return the value, or raise `CommandRefused`."""
    result = yield from evaluate_raw(tab, expression, world, timeout_ms, frame)
    if "exceptionDetails" in result:
        raise CommandRefused("failed")
    return result["result"].get("value")


class Job:
    """A command under way: `step` until it has no effect left, then read `value` and `error`."""

    def __init__(self, carried: Carried) -> None:
        self.effect: Effect | None = None
        """The effect that it waits for; None: it is over."""
        self.value: Any = None
        """Its return value."""
        self.error: str | None = None
        """Word of `CommandReply.error`, where it could not be carried out."""
        self.fault: Exception | None = None
        """Fault of the recorder itself."""
        self._carried = carried

    def step(self, answer: Any = None, refused: CommandRefused | None = None) -> Effect | None:
        """Send back what came of the last effect; returns the next one, or None when it is over."""
        self.effect = None
        try:
            self.effect = self._carried.send(answer) if refused is None else self._carried.throw(refused)
        except StopIteration as end:
            self.value = end.value
        except CommandRefused as last:
            self.error = str(last)
        except Exception as fault:  # noqa: BLE001 - handed to whoever asked
            self.error, self.fault = "failed", fault
        return self.effect
