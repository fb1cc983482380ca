"""Actions of browser-use, of all its releases: objects whose key is the name, and its value the arguments."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote_plus

import msgspec
from msgspec.structs import replace

from replaykit.interop.imported_run import Run
from replaykit.interop.password_masking import exactly_without, typed_password
from replaykit.interop.playwright_trace.trace_versions import number
from replaykit.interop.repaired_values import plain_number
from replaykit.interop.tool_calls import own_action
from replaykit.patterns import lazy_pattern
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
from replaykit.trajectory.redaction_marks import MASKED
from replaykit.trajectory.scalars import INT_MAX

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


_Make = Callable[[dict[str, Any], Element | None], Action]


def action_of(run: Run, named: dict[str, Any], element: Element | None) -> Action:
    """Return the action of an object whose only key names it; unknown by its name where nothing fits."""
    # Some dumps hold every action that there is, all but one null.
    name, stated = next(
        (one for one in named.items() if one[1] is not None), next(iter(named.items()), ("none", {}))
    )
    if not isinstance(stated, dict | None):
        run.flaw("arguments that are no object: they stay in the record", f"an action {name!r:.80}")
        stated = {"index": stated} if type(stated) is int else {}
    arguments = _without_placeholders(stated or {})
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


_PLACEHOLDER = lazy_pattern(r"<secret>[^<>]{1,128}</secret>")
"""Text that the harness replaces by a secret before it carries an action out."""


def _without_placeholders(value: Any) -> Any:
    """Return arguments with a mask for each secret: the placeholder was never entered."""
    if isinstance(value, dict):
        return {key: _without_placeholders(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_without_placeholders(part) for part in value]
    return _PLACEHOLDER.sub(MASKED, value) if isinstance(value, str) else value


_ECHO = lazy_pattern(r"Input '(.*)' into element \d{1,9}\.", re.DOTALL)


def learn_echo(run: Run, named: dict[str, Any], result: dict[str, Any]) -> None:
    """Learn of the secret that a placeholder stood for: releases 0.3 to 0.6 wrote it into the result."""
    echo = _ECHO.fullmatch(_text(result.get("long_term_memory")) or "")
    arguments = next(iter(named.values()), None)
    text = _text(arguments.get("text")) if isinstance(arguments, dict) else None
    around = _PLACEHOLDER.split(text or "")
    if echo is None or len(around) < 2 or run.options.keeps_secrets:
        return
    run.secret(echo[1].removeprefix(around[0]).removesuffix(around[-1]))


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


def uncertain_action(run: Run, named: dict[str, Any], element: Element | None) -> Action:
    """Return an action of which nothing says whether it was carried out: unknown, if it is one on a page."""
    action = action_of(run, named, element)
    if isinstance(action, Unknown | ToolCall):
        return action
    raw = msgspec.json.encode(record_of(run, named, element)).decode()
    return Unknown(name=next(iter(named), "none")[:64], raw=raw)


def record_of(run: Run, named: dict[str, Any], element: Element | None) -> Any:
    """Return the record of an action that becomes no step of its kind, without a password that it types."""
    typed = None if run.options.keeps_secrets else typed_password(action_of(run, named, element))
    if typed is None:
        return named
    run.secret(typed)
    return exactly_without(named, typed)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
