"""Drags that no pointer made: a script sends the events of one, or something comes from outside."""

from __future__ import annotations

from msgspec.structs import replace

from replaykit.recorder.session.driver_messages import PageMessage
from replaykit.recorder.session.gestures.gesture import HOLD_WAIT, FinishedGesture, Gesture, OneEvent
from replaykit.recorder.session.page_message import files_of, point_of
from replaykit.trajectory.action import DragAndDrop, UploadFile


class Dragging(Gesture):
    """From a dragstart that a script made."""

    def __init__(self, first: PageMessage) -> None:
        super().__init__(first)
        self.dropped: PageMessage | None = None

    @property
    def deadline(self) -> float:
        """Wait for the drop: agents may think in between."""
        return self.last + HOLD_WAIT

    def take(self, message: PageMessage) -> bool:
        """Absorb the drop, and what the page does meanwhile."""
        if message.event.name == "drop" and not message.event.trusted:
            self.dropped, self.last, self.over = message, message.at, True
            return True
        return message.event.name == "scroll"

    def results(self) -> list[FinishedGesture]:
        """Return the drag."""
        end = self.dropped
        action = DragAndDrop(
            element=self.element,
            to=end.event.element if end else None,
            point=point_of(self.first),
            to_point=point_of(end) if end else None,
            completed=end is not None,
            trusted=False,
        )
        return [replace(self.result(action), to=end)]


class Dropping(OneEvent):
    """From a drop that nothing was dragged for: files, or something that no page has seen."""

    def results(self) -> list[FinishedGesture]:
        """Return the files that were given to the page, or a drag from nowhere."""
        files, trusted = files_of(self.first), self.first.event.trusted
        if files:
            return [self.result(UploadFile(element=self.element, files=files, trusted=trusted))]
        drop = DragAndDrop(to=self.element, to_point=point_of(self.first), trusted=trusted)
        return [replace(self.result(drop), to=self.first, node=None)]
