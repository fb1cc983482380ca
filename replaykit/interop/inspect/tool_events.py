"""Events of Inspect about calls of tools: what was carried out, which an approver may have changed.

Own module: messages say what the model asked for, events what became of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from replaykit.trajectory.scalars import Threw


class ToolEvent(Struct, frozen=True, kw_only=True):
    """One call that reached a tool."""

    function: str
    arguments: Any
    timestamp: Any
    is_failed: bool
    """Whether the call ended the sample: an approver stopped it, or the tool raised."""

    @property
    def error(self) -> Threw | None:
        """The error of a call that has no result."""
        message = "the call was stopped, or its tool raised"
        return Threw(name="ToolFailed", message=message) if self.is_failed else None


class ToolEvents:
    """Events of calls by their ids; where models use an id again, in the order of the calls."""

    def __init__(self, events: list[Any]) -> None:
        """Keep the events of tools; no event is changed."""
        self._left: dict[str, deque[ToolEvent]] = {}
        for id, event in _tool_events(events):
            self._left.setdefault(id, deque()).append(event)
        self.is_empty = not self._left
        """Whether the log has no events of tools: some writers leave them out."""

    def of(self, id: str) -> ToolEvent | None:
        """Return the event of the next call with an id; None if absent."""
        found = self._left.get(id)
        return found.popleft() if found else None

    def left(self) -> Iterator[tuple[str, ToolEvent]]:
        """Yield the events of calls that no message holds."""
        yield from ((id, event) for id, found in self._left.items() for event in found)


def _tool_events(events: list[Any]) -> Iterator[tuple[str, ToolEvent]]:
    for event in events:
        if isinstance(event, dict) and event.get("event") == "tool" and isinstance(event.get("id"), str):
            yield (
                event["id"],
                ToolEvent(
                    function=str(event.get("function") or ""),
                    arguments=event.get("arguments"),
                    timestamp=event.get("timestamp"),
                    is_failed=event.get("failed") is True,
                ),
            )
