"""Tracks when the agent's scripts ran: script events meanwhile may be the agent's, others are the page's.

Events of scripts look the same for agent and page. The commands that ran a script decide: their begin is
logged before the script runs, their end after it.
"""

from __future__ import annotations

from math import inf

from msgspec import Struct
from msgspec.structs import replace

from replaykit.recorder.session.driver_messages import PageMessage
from replaykit.recorder.session.witnesses import ScriptAsked, ScriptEnded

SLACK_MS = 100.0
"""Clocks of pages and of the recorder may differ so much; a script's own timers of 0 ms are within it."""

SPANS_MAX = 256
"""Scripts that are remembered; more do not end while a message is on its way."""


DISPATCHED = frozenset(
    {"pointerdown", "pointerup", "mousedown", "mouseup", "touchstart", "touchend"}
    | {"dblclick", "auxclick", "contextmenu", "keydown", "keypress", "keyup", "submit"}
)
"""Events that pages take like a click or a key; a script that makes them clicks or presses nothing."""


def is_script_event(message: PageMessage) -> bool:
    """Whether a script made an event that counts as no action: not a click of one that the agent ran then."""
    event = message.event
    return not event.trusted and (
        event.name in DISPATCHED or (event.name == "click" and event.cause == "page")
    )


class ScriptSpan(Struct, kw_only=True):
    """When one script may have run."""

    page: int | None
    """Tab ordinal; None = any."""
    is_apart: bool
    """Not in the page's own world: call stacks show it, where they show anything."""
    begin: float
    end: float = inf

    def covers(self, message: PageMessage) -> bool:
        """Whether the script may have made an event."""
        is_here = self.page is None or self.page == message.page
        # A driver's own world appears in call stacks, so only without a call stack does the time span decide.
        is_possible = is_here and (message.event.cause == "unseen" or not self.is_apart)
        return is_possible and self.begin - SLACK_MS <= message.at <= self.end + SLACK_MS


class AgentScripts:
    """Tells events that a script of the agent made from those that the page made by itself."""

    def __init__(self) -> None:
        self._spans: dict[int, ScriptSpan] = {}
        self.is_whole = False
        """All commands of the agent are logged."""

    def asked(self, message: ScriptAsked) -> None:
        """Record that a script is about to run."""
        span = ScriptSpan(page=message.page, is_apart=message.is_apart, begin=message.at)
        self._spans[message.number] = span
        # A script that still runs is never forgotten, however many ended after it.
        ended = [number for number, one in self._spans.items() if one.end < inf]
        for number in ended[: max(0, len(ended) - SPANS_MAX)]:
            del self._spans[number]

    def ended(self, message: ScriptEnded) -> None:
        """Record that a script has run, or has failed."""
        span = self._spans.get(message.number)
        if span is not None:
            span.end = message.at

    def attributed(self, message: PageMessage) -> PageMessage:
        """Return an event of a script with the one who made it, where that is known."""
        event = message.event
        if event.trusted or event.cause not in ("", "unseen"):
            return message
        if any(span.covers(message) for span in self._spans.values()):
            return replace(message, event=replace(event, cause="driver"))
        # While the agent may have other ways to command the browser, such an event stays undecided.
        return replace(message, event=replace(event, cause="page")) if self.is_whole else message
