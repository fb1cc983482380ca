"""Files of browser-use: histories, one item a turn, the page before it, its actions, what each gave.

Upstream: https://github.com/browser-use/browser-use, `browser_use/agent/views.py`. A history holds no task.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from replaykit.interop.browser_use.cloud_tasks import is_cloud_task, read_cloud_task
from replaykit.interop.browser_use.executed_actions import (
    ExecutedAction,
    Execution,
    ItemParts,
    action_results,
    refusal_of,
    stale_execution,
)
from replaykit.interop.browser_use.named_actions import action_of, learn_echo, record_of, uncertain_action
from replaykit.interop.extra_fields import holds_data
from replaykit.interop.folder_search import json_files
from replaykit.interop.har.har_entries import stamp
from replaykit.interop.imported_run import Run
from replaykit.interop.playwright_trace.trace_contexts import as_time
from replaykit.interop.playwright_trace.trace_versions import number
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.trajectory.action import Action, Answer, Element, ToolCall, Unknown
from replaykit.trajectory.exchange import Imported
from replaykit.trajectory.observation import Observation, TabView
from replaykit.trajectory.scalars import Threw
from replaykit.trajectory.step import Step

INITIAL = "Initial Actions"
"""Title that the harness gives to the page before actions of its user, with the URL that they open."""

OUT_OF_STEPS = "Failed to complete task in maximum steps"
"""Error of the item that the harness adds to a run at its limit."""


class TabRecord(Struct, kw_only=True):
    """One tab."""

    url: Any = None
    title: Any = None


class Interacted(Struct, kw_only=True):
    """The element of an action, before it."""

    tag_name: Any = None
    node_name: Any = None
    attributes: Any = None
    ax_name: Any = None
    x_path: Any = None
    xpath: Any = None
    css_selector: Any = None
    bounds: Any = None


class BrowserState(Struct, kw_only=True):
    """The page before an item's actions."""

    url: str | None = None
    title: str | None = None
    tabs: list[TabRecord] = []
    interacted_element: list[Interacted | None] = []
    screenshot_path: str | None = None
    screenshot: str | None = None


class Thought(Struct, kw_only=True):
    """The text of the model."""

    action: list[dict[str, Any]] = []
    thinking: str | None = None
    evaluation_previous_goal: str | None = None
    memory: str | None = None
    next_goal: str | None = None


class ActionResult(Struct, kw_only=True):
    """Result of one action."""

    is_done: bool | None = None
    success: bool | None = None
    error: str | None = None
    extracted_content: str | None = None
    judgement: dict[str, Any] | None = None


class HistoryItem(Struct, kw_only=True):
    """One turn."""

    state: BrowserState
    model_output: Thought | None = None
    result: list[dict[str, Any]] = []
    metadata: dict[str, Any] | None = None


class HistoryFile(Struct, kw_only=True):
    """The file."""

    history: list[HistoryItem]


def read(run: Run, candidate: Candidate) -> None:
    """Read one file."""
    plain = run.source.json(candidate.file)
    if is_cloud_task(plain):
        read_cloud_task(run, plain, candidate.file)
        return
    inner = _history_in(plain)
    found = run.converted(inner, HistoryFile, candidate.file)
    if inner is not plain and isinstance(plain, dict):
        run.keep(candidate.file, {key: part for key, part in plain.items() if key != "history"})
    start = min((at for item in found.history if (at := _time(item, "step_start_time"))), default=None)
    run.header["clock"] = "none" if start is None else "source"
    moment = None if start is None else as_time(start)
    if moment is not None:
        run.header["created"] = stamp(moment)
    run.task(None)
    for turn, (before, item) in enumerate(pairwise([None, *found.history])):
        _item(run, turn, item, _executed(item, before), start)
    run.origin["alignment"] = "exact"
    run.fills(actions="recorded", targets=_targets(run), thoughts="recorded", urls="partial")
    _check_gaps(run, found.history)
    shots = "absent" if not run.image_count else "partial"
    run.fills(screenshots="recorded" if run.image_count == len(found.history) > 0 else shots)
    _end(run, found, candidate.file)


def _targets(run: Run) -> str:
    """Return the state of the channel `targets`: partial if an element is known only by its index."""
    aimed = [one.action.element for one in run.events if isinstance(one, Step)]
    return "partial" if any(one is not None and one.tag is None for one in aimed) else "recorded"


def _executed(item: HistoryItem, before: HistoryItem | None) -> list[ExecutedAction]:
    """Return what became of each action of an item."""
    own = _parts(item)
    stale = None if before is None or not own.actions else stale_execution(own, _parts(before))
    return (
        action_results(own.actions, own.results)
        if stale is None
        else [ExecutedAction(stale)] * len(own.actions)
    )


def _parts(item: HistoryItem) -> ItemParts:
    return ItemParts(item.model_output, item.model_output.action if item.model_output else [], item.result)


def _item(run: Run, turn: int, item: HistoryItem, found: list[ExecutedAction], start: float | None) -> None:
    stated, began, place = item.model_output, _time(item, "step_start_time"), f"history[{turn}]"
    t = None if start is None or began is None else max(0, round(began - start))
    look = _look(run, item, t)
    thought = _thought(stated) if stated is not None else None
    run.keep("", {f"{place}.metadata": item.metadata} if item.metadata else {})
    if all(one.execution is Execution.SKIPPED for one in found):
        # A turn without an action: no step follows this look.
        run.add(replace(look, role="unaligned"))
        run.keep("", {f"{place}.thought": thought} if thought else {})
    own = sum(one.result is not None for one in found)
    for at, plain in enumerate(item.result[own:], own):
        run.keep("", {f"{place}.result[{at}]": plain})
    for at, (named, outcome) in enumerate(zip(stated.action if stated else [], found, strict=True)):
        element = _element(run, item, at)
        if outcome.execution is Execution.SKIPPED:
            run.keep("", {f"{place}.model_output.action[{at}]": record_of(run, named, element)})
            continue
        make = uncertain_action if outcome.execution is Execution.UNCERTAIN else action_of
        action = make(run, named, element)
        run.step(
            t=t,
            action=action,
            # Only the first action of a turn met the page that was looked at.
            before=look if at == 0 else None,
            seen=outcome.execution is not Execution.UNREPORTED,
            thought=thought,
            raw=named if outcome.result is not None else record_of(run, named, element),
            returned=None if outcome.result is None else _returned(outcome.result),
            error=_error(run, action, outcome.result, f"{place}.result[{at}]"),
            turn=turn,
        )
        learn_echo(run, named, outcome.result or {})


def _error(run: Run, action: Action, result: dict[str, Any] | None, place: str) -> Threw | None:
    """Return why an action failed: its error, or a result that says that it did nothing."""
    if result is None:
        return None
    error = _given(run, result, place).error
    # A text that a tool read may hold any words.
    if error is None and not isinstance(action, Answer | ToolCall | Unknown):
        error = refusal_of(result)
    return None if error is None else Threw(name="ActionError", message=error)


def _given(run: Run, plain: dict[str, Any], place: str) -> ActionResult:
    found: ActionResult = run.source.convert(run.fitted(plain, ActionResult, place), ActionResult, place)
    return found


def _returned(plain: dict[str, Any]) -> dict[str, Any] | None:
    """Return the result of an action without its error and verdicts, which are stored separately."""
    stated = {
        key: value for key, value in plain.items() if key not in ("error", "judgement") and holds_data(value)
    }
    # The layout writes out its flags, and false ones say nothing.
    return {key: value for key, value in stated.items() if value is not False} or None


def _look(run: Run, item: HistoryItem, t: int | None) -> Observation:
    """Return the page before a turn; of the actions before the first one the harness looked at none."""
    if item.state.title == INITIAL and number((item.metadata or {}).get("step_number")) == 0:
        return Observation(role="before", t=t)
    state = item.state
    shot = run.screenshot_at(state.screenshot_path) if state.screenshot_path else None
    if state.screenshot_path and shot is None:
        run.flaw(
            "a screenshot that is named and not there (--shots DIR names its folder)", state.screenshot_path
        )
        run.leave_out("history[].state.screenshot_path")
    if shot is None and state.screenshot:
        shot = run.screenshot_in(state.screenshot)
    tabs = [tab for tab in state.tabs if isinstance(tab.url, str)]
    views = [TabView(page=at, url=tab.url, title=_text(tab.title)) for at, tab in enumerate(tabs)]
    return Observation(
        role="before", t=t, url=state.url or None, title=state.title, tabs=tuple(views), screenshot=shot
    )


def _thought(stated: Thought) -> str | None:
    parts = (stated.thinking, stated.evaluation_previous_goal, stated.memory, stated.next_goal)
    return "\n".join(part for part in parts if part) or None


def _is_moved(item: HistoryItem, at: int) -> bool:
    """Whether the index of an action may name another element by now.

    Releases to 0.5 number the elements again after each action, and take siblings for each other.
    """
    earlier = item.model_output.action[:at] if item.model_output is not None else []
    return any(not _KEEPS_PAGE & one.keys() for one in earlier)


_KEEPS_PAGE = frozenset({"input_text", "scroll_down", "scroll_up", "scroll", "scroll_to_text", "wait"})
"""Actions after which the elements of a page are the same."""


def _element(run: Run, item: HistoryItem, at: int) -> Element | None:
    listed = item.state.interacted_element
    found = listed[at] if at < len(listed) else None
    if found is None or (found.tag_name is not None and _is_moved(item, at)):
        return None
    stated = found.attributes if isinstance(found.attributes, dict) else {}
    attributes = {key: str(value) for key, value in stated.items() if isinstance(value, str | int | float)}
    run.leave_out("history[].state.interacted_element[].attributes", max(0, len(stated) - ATTRIBUTES_MAX))
    tag = _text(found.tag_name) or _text(found.node_name)
    return Element(
        tag=tag.lower() if tag else None,
        type=attributes.get("type"),
        name=_text(found.ax_name),
        css=_text(found.css_selector),
        xpath=_text(found.x_path) or _text(found.xpath),
        attributes=dict(list(attributes.items())[:ATTRIBUTES_MAX]) or None,
        box=_box(found.bounds) if isinstance(found.bounds, dict) else None,
    )


ATTRIBUTES_MAX = 64
"""Attributes of an element that are kept."""


def _box(bounds: dict[str, Any]) -> Any:
    values = [number(bounds.get(name)) for name in ("x", "y", "width", "height")]
    return tuple(round(value) for value in values if value is not None) if None not in values else None


def _check_gaps(run: Run, items: list[HistoryItem]) -> None:
    """Note where a step is missing: the harness leaves out those that were paused or took too long."""
    numbers = [(at, number((item.metadata or {}).get("step_number"))) for at, item in enumerate(items)]
    known = [(-1, _first(items)), *((at, step) for at, step in numbers if step is not None)]
    for (earlier, before), (at, step) in pairwise(known):
        missing = step - before - 1
        if missing > 0 and _has_room(items[earlier] if earlier >= 0 else None, items[at], missing):
            run.cut("after a number that no step has: a step is missing", f"history[{at}]")


STEP_MIN_S = 1.0
"""A step that was paused or took too long lasted longer."""


def _has_room(before: HistoryItem | None, after: HistoryItem, missing: float) -> bool:
    """Whether so many steps may have been carried out between two items, by the times that they state."""
    end = number((before.metadata or {}).get("step_end_time")) if before is not None else None
    start = number((after.metadata or {}).get("step_start_time"))
    return end is None or start is None or start - end > missing * STEP_MIN_S


def _first(items: list[HistoryItem]) -> int:
    """Return the number before that of the first step: releases to 0.5 began with 2."""
    is_new = any("step_interval" in (item.metadata or {}) for item in items)
    return 0 if is_new else 1


def _end(run: Run, found: HistoryFile, file: str) -> None:
    results = [one for item in found.history for one in item.result]
    for one in results:
        if isinstance(one.get("judgement"), dict):
            run.add(Imported(kind="judgement", name="browser-use", value=one["judgement"], file=file))
    last = next((item for item in reversed(found.history) if item.model_output or item.result), None)
    final = last.result[-1] if last is not None and last.result else {}
    if final.get("is_done") is not True:
        kind = _unfinished(run, final)
        if kind != "answered":
            # The harness leaves out a last step that took too long, and no later number shows it.
            run.fills(actions="partial")
        run.end(kind)
        return
    success, answer = final.get("success"), _text(final.get("extracted_content"))
    if isinstance(success, bool):
        run.add(Imported(kind="label", name="self_report", value={"success": success}, file=file))
    run.end("unknown" if answer is None else "answered", answer=answer)


def _unfinished(run: Run, final: dict[str, Any]) -> str:
    """Return how a run ended whose last result is not that of its answer."""
    steps = [event for event in run.events if isinstance(event, Step)]
    if final.get("error") == OUT_OF_STEPS:
        return "max_steps"
    answered = bool(steps) and isinstance(steps[-1].action, Answer) and steps[-1].error is None
    return "answered" if answered else "unknown"


def _time(item: HistoryItem, name: str) -> float | None:
    """Return a time of the item, ms since 1970."""
    seconds = number((item.metadata or {}).get(name))
    return None if seconds is None else seconds * 1000


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _history_in(plain: Any) -> Any:
    """Return the history of a file: people also save its list, or keep it beside data of their own."""
    if isinstance(plain, list) and plain and all(_is_item(one) for one in plain):
        return {"history": plain}
    inner = plain.get("history") if isinstance(plain, dict) else None
    return inner if isinstance(inner, dict) else plain


def _is_item(value: Any) -> bool:
    return isinstance(value, dict) and {"state", "model_output"} <= value.keys()


def _is_one(plain: Any) -> bool:
    inner = _history_in(plain)
    history = inner.get("history") if isinstance(inner, dict) else None
    if not isinstance(history, list):
        return False
    # Other tools have lists of that name too: an empty one is a history only where nothing stands beside it.
    return any(_is_item(one) for one in history) or (not history and inner.keys() <= {"history", "usage"})


def find(path: Path) -> Iterator[Candidate]:
    """Yield the history files and the tasks of its cloud under a path."""
    for file in json_files(path, _is_ours, b'"history"', b'"model_output"'):
        yield Candidate(name=file.stem, root=file.parent, file=file.name)


def _is_ours(plain: Any) -> bool:
    return _is_one(plain) or is_cloud_task(plain)


IMPORTER = Importer(
    name="browser-use",
    reads="browser-use histories, and tasks of its cloud",
    looks_for="*.json with history of items with state, or with task, status, steps of actions",
    channels=letters("R answer actions targets thoughts times; P urls; o task screenshots"),
    find=find,
    read=read,
    options=("shots", "actions"),
)
"""Reads the layout; the task of a history has to be given."""
