"""History files of browser-use: one item a turn, the page before it, its actions, what each gave.

Upstream: https://github.com/browser-use/browser-use, `browser_use/agent/views.py`. The file holds no task.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from replaykit.interop.extra_fields import holds_data
from replaykit.interop.folder_search import json_files
from replaykit.interop.har.har_entries import stamp
from replaykit.interop.imported_run import Run
from replaykit.interop.playwright_trace.trace_contexts import as_time
from replaykit.interop.playwright_trace.trace_versions import number
from replaykit.interop.registry import Candidate, Importer, letters
from replaykit.interop.repaired_values import plain_number
from replaykit.interop.tool_calls import own_action
from replaykit.trajectory.action import (
    Action,
    Answer,
    Click,
    CloseTab,
    DragAndDrop,
    Element,
    FileInfo,
    Fill,
    FocusTab,
    GoBack,
    Goto,
    MouseClick,
    NewTab,
    Press,
    Scroll,
    SelectOption,
    ToolCall,
    Type,
    Unknown,
    UploadFile,
    Wait,
)
from replaykit.trajectory.exchange import Imported
from replaykit.trajectory.observation import Observation, TabView
from replaykit.trajectory.scalars import INT_MAX, Threw
from replaykit.trajectory.step import Step

TOOLS = (
    "extract", "extract_content", "extract_structured_data", "extract_page_content", "write_file",
    "read_file",
    "replace_file", "replace_file_str", "append_file", "get_dropdown_options", "dropdown_options",
    "screenshot", "search_page", "find_elements", "read_long_content", "save_as_pdf", "save_pdf", "get_html",
)  # fmt: skip
"""Actions that read, or write files: they do nothing to a page."""

_ENGINES = {
    "duckduckgo": "https://duckduckgo.com/?q=",
    "google": "https://www.google.com/search?udm=14&q=",
    "bing": "https://www.bing.com/search?q=",
}
"""Search engine to the address that `search` visits."""


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
    """Read one history file."""
    found = run.converted(run.source.json(candidate.file), HistoryFile, candidate.file)
    start = min((at for item in found.history if (at := _time(item, "step_start_time"))), default=None)
    run.header["clock"] = "none" if start is None else "source"
    moment = None if start is None else as_time(start)
    if moment is not None:
        run.header["created"] = stamp(moment)
    run.task(None)
    for turn, item in enumerate(found.history):
        _item(run, turn, item, start)
    run.origin["alignment"] = "exact"
    run.fills(actions="recorded", targets=_targets(run), thoughts="recorded", urls="partial")
    shots = "absent" if not run.image_count else "partial"
    run.fills(screenshots="recorded" if run.image_count == len(found.history) > 0 else shots)
    _end(run, found, candidate.file)


def _targets(run: Run) -> str:
    """Return the state of the channel `targets`: partial if an element is known only by its index."""
    aimed = [one.action.element for one in run.events if isinstance(one, Step)]
    return "partial" if any(one is not None and one.tag is None for one in aimed) else "recorded"


def _item(run: Run, turn: int, item: HistoryItem, start: float | None) -> None:
    stated, began, place = item.model_output, _time(item, "step_start_time"), f"history[{turn}]"
    t = None if start is None or began is None else max(0, round(began - start))
    look = _look(run, item.state, t)
    actions = stated.action if stated is not None else []
    run.keep("", {f"{place}.metadata": item.metadata} if item.metadata else {})
    if not actions:
        # A turn without an action: no step follows this look.
        run.add(replace(look, role="unaligned"))
        if stated is not None and _thought(stated):
            run.keep("", {f"{place}.thought": _thought(stated)})
    for at, plain in enumerate(item.result[len(actions) :], len(actions)):
        run.keep("", {f"{place}.result[{at}]": plain})
    for at, named in enumerate(actions):
        given = _given(run, item.result[at], f"{place}.result[{at}]") if at < len(item.result) else None
        error = given.error if given is not None else None
        run.step(
            t=t,
            action=_action(run, named, _element(run, item.state, at)),
            # Only the first action of a turn met the page that was looked at.
            before=look if at == 0 else None,
            seen=given is not None,  # fewer results than actions: the others were not carried out
            thought=_thought(stated) if stated is not None else None,
            raw=named,
            returned=None if given is None else _returned(item.result[at]),
            error=None if error is None else Threw(name="ActionError", message=error),
            turn=turn,
        )


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


def _look(run: Run, state: BrowserState, t: int | None) -> Observation:
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
        role="before", t=t, url=state.url, title=state.title, tabs=tuple(views), screenshot=shot
    )


def _thought(stated: Thought) -> str | None:
    parts = (stated.thinking, stated.evaluation_previous_goal, stated.memory, stated.next_goal)
    return "\n".join(part for part in parts if part) or None


def _element(run: Run, state: BrowserState, at: int) -> Element | None:
    found = state.interacted_element[at] if at < len(state.interacted_element) else None
    if found is None:
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


_Make = Callable[[dict[str, Any], Element | None], Action]

ATTRIBUTES_MAX = 64
"""Attributes of an element that are kept."""


def _box(bounds: dict[str, Any]) -> Any:
    values = [number(bounds.get(name)) for name in ("x", "y", "width", "height")]
    return tuple(round(value) for value in values if value is not None) if None not in values else None


def _action(run: Run, named: dict[str, Any], element: Element | None) -> Action:
    # Some dumps hold every action that there is, all but one null.
    name, stated = next(
        (one for one in named.items() if one[1] is not None), next(iter(named.items()), ("none", {}))
    )
    if not isinstance(stated, dict | None):
        run.flaw("arguments that are no object: they stay in the record", f"an action {name!r:.80}")
        stated = {"index": stated} if type(stated) is int else {}
    arguments = stated or {}
    index = plain_number(arguments.get("index"))
    if index is not None and index.is_integer():
        element = replace(element or Element(), ref=str(int(index)))
    if name in TOOLS:
        return ToolCall(name=name, arguments=arguments)
    try:
        made = _MAKERS[name](arguments, element) if name in _MAKERS else None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        made = None
    made = made or own_action(run, name, arguments)
    return made or Unknown(name=name[:64], raw=msgspec.json.encode(stated).decode())


def _scroll(stated: dict[str, Any], element: Element | None, down: bool | None = None) -> Action:
    # How many px a page is, is not stated: one px stands for the direction.
    is_down = stated.get("down", True) if down is None else down
    amount = number(stated.get("amount"))
    pages = stated.get("num_pages", stated.get("pages"))
    dy = (1 if is_down else -1) * (round(amount) if amount else 1)
    return Scroll(element=element, dy=dy, amount=None if pages is None else f"{pages} pages")


def _goto(stated: dict[str, Any], element: Element | None) -> Action:
    return NewTab(url=stated["url"]) if stated.get("new_tab") else Goto(url=str(stated["url"]))


def _search(engine: str | None = None) -> _Make:
    def visit(stated: dict[str, Any], element: Element | None) -> Action:
        named = engine or str(stated.get("engine") or stated.get("search_engine") or "duckduckgo").lower()
        query = str(stated["query"])
        return Goto(url=_ENGINES.get(named, f"https://{named}.com/search?q=") + quote_plus(query))

    return visit


def _drag(stated: dict[str, Any], element: Element | None) -> Action:
    first, last = (
        (number(stated.get(f"coord_{end}_x")), number(stated.get(f"coord_{end}_y")))
        for end in ("source", "target")
    )
    points = [(round(x), round(y)) if x is not None and y is not None else None for x, y in (first, last)]
    source, target = _text(stated.get("element_source")), _text(stated.get("element_target"))
    return DragAndDrop(
        element=Element(ref=source) if source else element, to=Element(ref=target) if target else None,
        point=points[0], to_point=points[1],
    )  # fmt: skip


def _clicked(stated: dict[str, Any], element: Element | None) -> Action:
    x, y = (number(stated.get(f"coordinate_{axis}")) for axis in "xy")
    point = None if x is None or y is None else (round(x), round(y))
    if element is None and point is not None:
        return MouseClick(point=point)
    return Click(element=element, point=point)


def _to_text(stated: dict[str, Any], element: Element | None) -> Action:
    return Scroll(element=element, amount=f"to {stated['text']}"[:1024])


def _upload(stated: dict[str, Any], element: Element | None) -> Action:
    name = str(stated["path"]).replace("\\", "/").rpartition("/")[2]
    return UploadFile(element=element, files=(FileInfo(name=name),))


def _tab(stated: dict[str, Any], element: Element | None) -> Action:
    page = stated.get("page_id")
    return FocusTab(tab=page if isinstance(page, int) and 0 <= page <= INT_MAX else None)


def _option(stated: dict[str, Any], element: Element | None) -> Action:
    return SelectOption(element=element, values=(), labels=(str(stated["text"]),))


def _typed(stated: dict[str, Any], element: Element | None) -> Action:
    # `clear: false` appends to the current text.
    kind = Type if stated.get("clear") is False else Fill
    return kind(element=element, value=str(stated["text"]))


def _done(stated: dict[str, Any], _: Element | None) -> Action:
    """Return the answer: its text, or of a structured output the data as JSON."""
    data = stated.get("data")
    is_structured = "text" not in stated and data is not None
    return Answer(text=msgspec.json.encode(data).decode() if is_structured else str(stated["text"]))


_MAKERS: dict[str, _Make] = {
    **dict.fromkeys(("go_to_url", "navigate"), _goto),
    **dict.fromkeys(("click", "click_element", "click_element_by_index"), _clicked),
    "search": _search(),
    "search_google": _search("google"),
    **dict.fromkeys(("find_text", "scroll_to_text"), _to_text),
    "drag_drop": _drag,
    **dict.fromkeys(("input", "input_text"), _typed),
    **dict.fromkeys(("scroll",), _scroll),
    "scroll_down": lambda stated, e: _scroll(stated, e, True),
    "scroll_up": lambda stated, e: _scroll(stated, e, False),
    "send_keys": lambda stated, _: Press(key=str(stated["keys"])),
    "go_back": lambda *_: GoBack(),
    "wait": lambda stated, _: Wait(ms=round(float(stated.get("seconds", 3)) * 1000)),
    **dict.fromkeys(("switch", "switch_tab"), _tab),
    **dict.fromkeys(("close", "close_tab"), lambda *_: CloseTab()),
    "open_tab": lambda stated, _: NewTab(url=str(stated["url"])),
    **dict.fromkeys(("select_dropdown", "select_dropdown_option"), _option),
    **dict.fromkeys(("upload_file", "upload_file_to_element"), _upload),
    "done": _done,
}


def _end(run: Run, found: HistoryFile, file: str) -> None:
    results = [one for item in found.history for one in item.result]
    for one in results:
        if isinstance(one.get("judgement"), dict):
            run.add(Imported(kind="judgement", name="browser-use", value=one["judgement"], file=file))
    done = [one for one in results if one.get("is_done") is True]
    if not done:
        steps = [event for event in run.events if isinstance(event, Step)]
        answered = bool(steps) and isinstance(steps[-1].action, Answer)
        run.end("answered" if answered else "unknown")
        return
    success, answer = done[-1].get("success"), _text(done[-1].get("extracted_content"))
    if isinstance(success, bool):
        run.add(Imported(kind="label", name="self_report", value={"success": success}, file=file))
    run.end("unknown" if answer is None else "answered", answer=answer)


def _time(item: HistoryItem, name: str) -> float | None:
    """Return a time of the item, ms since 1970."""
    seconds = number((item.metadata or {}).get(name))
    return None if seconds is None else seconds * 1000


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _is_one(plain: Any) -> bool:
    history = plain.get("history") if isinstance(plain, dict) else None
    if not isinstance(history, list):
        return False
    return not history or any(isinstance(one, dict) and "state" in one for one in history)


def find(path: Path) -> Iterator[Candidate]:
    """Yield the history files under a path."""
    for file in json_files(path, _is_one, b'"history"', b'"model_output"'):
        yield Candidate(name=file.stem, root=file.parent, file=file.name)


IMPORTER = Importer(
    name="browser-use",
    reads="browser-use histories",
    looks_for="*.json with history of items with state",
    channels=letters("R answer actions targets thoughts times; P urls; o task screenshots"),
    find=find,
    read=read,
    options=("shots", "actions"),
)
"""Reads the layout; the task has to be given."""
