"""One run as data for the report: who acted, on what, messages, requests and replies, step by step."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, TypeVar

import msgspec

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
from replaykit.report.html.observations import Looks, Plain
from replaykit.report.html.timeline import console, exchange, message, others, placed, probe
from replaykit.trajectory.action import ActionBase, DragAndDrop, Element, tag_of
from replaykit.trajectory.action_rendering import render_action, render_step
from replaykit.trajectory.completeness import state_of
from replaykit.trajectory.exchange import Console, Exchange, Message
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import Probe, Step, Trajectory

_E = TypeVar("_E")


def story(bundle: Bundle, seen: Looks) -> Plain:
    """Return a run as plain values; `seen` are its looks."""
    run = bundle.trajectory
    return without_empty(
        {
            "format": bundle.format,
            "layout": bundle.layout,
            "header": _header(run),
            "task": _task(run),
            "looks": seen.rows,
            "start": _first(seen, "start"),
            "final": _last(seen, "final"),
            "n_steps": len(run.steps),
            "steps": [_step(step, seen) for step in run.steps[:STEPS_MAX]],
            "messages": [message(one, step) for one, step in islice(placed(run), ROWS_MAX)],
            "network": [exchange(one) for one in _some(run, Exchange)],
            "console": [console(one) for one in _some(run, Console)],
            "events": list(others(run)),
            "probes": [probe(one) for one in _some(run, Probe)],
            "more": without_empty({name: _beyond(run, kind) for name, kind in _ROWS.items()}),
            "ending": _ending(run),
            "answer": bounded(run.answer),
        }
    )


_ROWS: dict[str, type[Any]] = {
    "messages": Message,
    "network": Exchange,
    "console": Console,
    "probes": Probe,
}


def _some(run: Trajectory, kind: type[_E]) -> Sequence[_E]:
    return run.of_type(kind)[:ROWS_MAX]


def _beyond(run: Trajectory, kind: type[Any]) -> int | None:
    count = len(run.of_type(kind))
    return count - ROWS_MAX if count > ROWS_MAX else None


def _header(run: Trajectory) -> Plain:
    header = run.header
    return without_empty(
        {
            "created": header.created,
            "run": line(header.run),
            "agent": _texts(header.agent),
            "environment": _texts(header.environment),
            "sites": {name: [line(root) for root in roots] for name, roots in header.sites.items()},
            "channels": {name: str(state_of(run, name)) for name in header.channels},
            "source": _texts(header.source),
            "derived": [f"{one.by} of {one.digest[:12]}" for one in header.derived_from],
            "lost": header.lost or None,
        }
    )


def _texts(struct: msgspec.Struct | None) -> Plain:
    plain = {} if struct is None else msgspec.to_builtins(struct)
    return {name: bounded(any_value(value), LINE_MAX) for name, value in plain.items() if name != "type"}


def _task(run: Trajectory) -> Plain:
    task = run.header.task or {}
    return {name: bounded(any_value(value)) for name, value in task.items() if value not in (None, "", [])}


def _first(seen: Looks, role: str) -> int | None:
    return next((at for at, row in enumerate(seen.rows) if row["role"] == role), None)


def _last(seen: Looks, role: str) -> int | None:
    return next((at for at in reversed(range(len(seen.rows))) if seen.rows[at]["role"] == role), None)


def _step(step: Step, seen: Looks) -> Plain:
    return without_empty(
        {
            "t": step.t,
            "end": step.end,
            "tab": step.page,
            "line": bounded(render_step(step), LINE_MAX),
            "tag": tag_of(step.action),
            "action": _action(step.action),
            "reported": render_action(step.reported)[:LINE_MAX] if step.mismatch else None,
            "others": [render_action(action)[:LINE_MAX] for action in step.observed[:20]],
            "url": line(step.url),
            "tabs": [line(tab.url) for tab in step.tabs[:20]] if len(step.tabs) > 1 else None,
            "thought": bounded(step.thought),
            "raw": any_value(step.raw),
            "returned": any_value(step.returned),
            "error": _threw(step.error),
            "unseen": not step.seen,
            "turn": step.turn,
            "log": [line(one) for one in step.log[:50]],
            "before": seen.before.get(step.index),
            "after": seen.after.get(step.index),
            "shown": seen.shown.get(step.index),
            "marked": step.index in seen.marked,
        }
    )


def _action(action: ActionBase) -> Plain:
    plain = msgspec.to_builtins(action)
    facts = {name: any_value(value) for name, value in plain.items() if name not in _NOT_FACTS}
    return without_empty(
        {
            "facts": facts,
            "point": getattr(action, "point", None) or (action.element.point if action.element else None),
            "to": action.to_point if isinstance(action, DragAndDrop) else None,
            "element": _element(action.element),
        }
    )


_NOT_FACTS = ("type", "element", "to", "point", "to_point", "t", "end")


def _element(element: Element | None) -> Plain | None:
    if element is None:
        return None
    return without_empty(
        {
            "tag": line(element.tag),
            "role": line(element.role),
            "name": line(element.name),
            "text": line(element.text),
            "value": line(element.value),
            "ref": line(element.ref),
            "css": line(element.css),
            "xpath": line(element.xpath),
            "frame": line(element.frame_url),
            "box": element.box,
            "node": [element.node.snapshot, element.node.number] if element.node else None,
            "disabled": element.disabled,
            "attributes": {name: line(value) for name, value in (element.attributes or {}).items()},
        }
    )


def _ending(run: Trajectory) -> Plain | None:
    ending = run.ending
    if ending is None:
        return None
    return without_empty(
        {
            "t": ending.t,
            "kind": ending.kind,
            "cause": ending.cause,
            "validity": ending.validity,
            "error": _threw(ending.error),
            "exit_code": ending.exit_code,
            "thought": bounded(ending.thought),
        }
    )


def _threw(threw: Threw | None) -> str | None:
    return (
        None if threw is None else bounded(f"{threw.name}: {threw.message}" if threw.message else threw.name)
    )
