"""View of a run for labelling: task, steps, answer and pages, and no verdict."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from replaykit.bundle.reader import Bundle
from replaykit.report.html.bounded_text import (
    LINE_MAX,
    ROWS_MAX,
    STEPS_MAX,
    any_value,
    bounded,
    line,
    without_empty,
)
from replaykit.report.html.embedded_screenshots import EmbeddedScreenshot, screenshot
from replaykit.report.html.observations import Looks, Plain, looks
from replaykit.report.html.page_documents import draw, page_document
from replaykit.report.html.timeline import placed
from replaykit.trajectory.action import tag_of
from replaykit.trajectory.action_rendering import MESSAGES, render_step
from replaykit.trajectory.step import Step


class RunView:
    """One open run. Its screenshots and pages are read one at a time, when they are asked for."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self._looks: Looks = looks(bundle.trajectory)

    def facts(self) -> dict[str, Any]:
        """Return everything but screenshots and pages, as plain values."""
        run = self.bundle.trajectory
        task, ending = run.header.task or {}, run.ending
        return without_empty(
            {
                "digest": self.bundle.digest[:12],
                "intent": any_value(task.get("intent")),
                "rows": list(self._rows()),
                "more": max(0, len(run.steps) - STEPS_MAX) or None,
                "answer": bounded(run.answer),
                "answered": run.answer is not None,
                "ending": line(ending.kind) if ending is not None else None,
                "final": self._page(self._final()),
            }
        )

    def screenshot(self, at: int) -> EmbeddedScreenshot | None:
        """Return the screenshot of a look, ready for a browser; None if absent."""
        id = self._row(at).get("screenshot")
        return None if id is None else screenshot(self.bundle, id)

    def document(self, at: int) -> bytes | None:
        """Return the page of a look drawn as an inert document; None if absent."""
        key = self._looks.pages.get(self._row(at).get("page", ""))
        drawn = None if key is None else draw(self.bundle, key, ())
        return None if drawn is None else page_document(drawn).encode("utf-8", "replace")

    def _row(self, at: int) -> Plain:
        return self._looks.rows[at] if 0 <= at < len(self._looks.rows) else {}

    def _rows(self) -> Iterator[Plain]:
        """Yield steps and messages, each message behind the step that it follows."""
        messages: dict[int, list[Plain]] = {}
        for number, (one, after) in enumerate(placed(self.bundle.trajectory)):
            if one.kind != "answer" and number < ROWS_MAX:
                message = {"by": line(one.role), "text": bounded(one.text)}
                messages.setdefault(-1 if after is None else after, []).append(message)
        yield from messages.get(-1, ())
        for step in self.bundle.trajectory.steps[:STEPS_MAX]:
            if tag_of(step.action) not in MESSAGES:
                yield self._step(step)
            yield from messages.get(step.index, ())

    def _step(self, step: Step) -> Plain:
        shown = self._looks.shown.get(step.index)
        page = self._page(shown if shown is not None else self._looks.before.get(step.index))
        is_marked = step.index in self._looks.marked and shown is not None
        return without_empty(
            {
                "step": step.index,
                "line": bounded(render_step(step), LINE_MAX),
                "thought": bounded(step.thought),
                "url": line(step.url),
                "page": page,
                "box": step.action.element.box if is_marked and step.action.element else None,
            }
        )

    def _final(self) -> int | None:
        """Return the look at the end of the run that shows most; else the last that shows anything."""
        rows = self._looks.rows
        seen = [at for at, row in enumerate(rows) if "screenshot" in row or "page" in row]
        final = [at for at in seen if rows[at]["role"] == "final"]
        shown_steps = [at for at in final if "screenshot" in rows[at]]
        return next(iter((*shown_steps[::-1], *final[::-1], *seen[::-1])), None)

    def _page(self, at: int | None) -> Plain | None:
        row = self._row(-1 if at is None else at)
        if not ("screenshot" in row or "page" in row):
            return None
        kind = "screenshot" if "screenshot" in row else "page"
        kept = {name: row.get(name) for name in ("title", "url", "viewport")}
        return without_empty({"at": at, "kind": kind, **kept})
