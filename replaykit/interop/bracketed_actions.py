"""Actions in the words of WebArena's agents: `click [12]`, `type [12] [tea] [1]`, `stop [answer]`.

Upstream: https://github.com/web-arena-x/webarena, `browser_env/actions.py`, `create_id_based_action`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec.structs import replace

from replaykit.interop.tool_actions import key_name
from replaykit.trajectory.action import (
    Action,
    Answer,
    Click,
    CloseTab,
    Element,
    FocusTab,
    GoBack,
    GoForward,
    Goto,
    Hover,
    NewTab,
    Noop,
    Press,
    Scroll,
    Type,
)

_ID = r"\[\s*([\w-]{1,32})\s*\]"
_WHOLE = r"\[(.*)\]"


def _scrolled(found: re.Match[str]) -> Action:
    way = found[1].lower()
    # How far is not said: one px stands for the direction.
    return Scroll(dy=-1 if way == "up" else 1, amount=way)


_Make = Callable[["re.Match[str]"], Action]
_FORMS: tuple[tuple[re.Pattern[str], _Make], ...] = tuple(
    (re.compile(form, re.IGNORECASE | re.DOTALL), make)
    for form, make in (
        (rf"click {_ID}", lambda m: Click(element=Element(ref=m[1]))),
        (rf"hover {_ID}", lambda m: Hover(element=Element(ref=m[1]))),
        # Enter follows unless the last part is 0.
        (rf"type {_ID} \[(.*?)\](?: \[(?:press_enter_after\s*=\s*)?([01])\])?",
         lambda m: Type(element=Element(ref=m[1]), value=m[2], submit=m[3] != "0")),
        (rf"press {_WHOLE}", lambda m: Press(key=key_name(m[1]))),
        (r"scroll \[(?:direction\s*=\s*)?(up|down)\]", _scrolled),
        (rf"goto {_WHOLE}", lambda m: Goto(url=m[1].strip())),
        (r"(?:tab|page)_focus \[\s*(\d{1,4})\s*\]", lambda m: FocusTab(tab=int(m[1]))),
        (r"go_back(?: \[\])?", lambda m: GoBack()), (r"go_forward(?: \[\])?", lambda m: GoForward()),
        (r"new_tab(?: \[\])?", lambda m: NewTab()),
        (r"(?:close_tab|page_close)(?: \[\])?", lambda m: CloseTab()),
        (r"none", lambda m: Noop()),
        (rf"stop {_WHOLE}", lambda m: Answer(text=m[1])),
    )
)  # fmt: skip


def bracketed_action(line: str) -> Action | None:
    """Return the action of a line in WebArena's form; None where it is none."""
    acted, _, said = line.partition(" where [")
    name = said.partition("] is ")[2][:1024]
    for form, make in _FORMS:
        found = form.fullmatch(acted)
        if found is not None:
            action = make(found)
            element = action.element
            return (
                action
                if not name or element is None
                else replace(action, element=replace(element, text=name))
            )
    return None
