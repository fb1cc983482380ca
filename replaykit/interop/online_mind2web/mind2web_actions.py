"""Actions in the style of Mind2Web's action history, `<tag attrs> name -> OP: value`, read back.

The other direction is `replaykit.trajectory.action_rendering`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

from replaykit.interop.text_actions import Wordings
from replaykit.patterns import lazy_pattern
from replaykit.trajectory.action import (
    Action,
    Answer,
    Check,
    Clear,
    Click,
    CloseTab,
    DblClick,
    Element,
    FileInfo,
    Fill,
    Focus,
    FocusTab,
    GoBack,
    GoForward,
    Goto,
    HandleDialog,
    Hover,
    KeyboardType,
    NewTab,
    Press,
    Reload,
    Scroll,
    SelectOption,
    Uncheck,
    Unknown,
    UploadFile,
    Wait,
)

FAILED = " | FAILED"
"""End of the line of an action that failed."""

SUCCESS = " | SUCCESS"
"""End of the line of an action that did not, in some layouts."""

ANSWER = "TASK_COMPLETE -> ANSWER: "
"""How a line with the final answer begins."""

_PLAIN = Wordings({})
_HEAD = lazy_pattern(r"<([A-Za-z][\w-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>\s*(.*)", re.DOTALL)
_ENTER = " [ENTER]"


def read_action(line: str, wordings: Wordings | None = None) -> Action:
    """Return the action of a line, in the benchmark's form or in plain words; else an unknown one."""
    plain = line.strip().removesuffix(FAILED).removesuffix(SUCCESS)
    if plain.startswith(ANSWER.rstrip()):
        return Answer(text=plain.removeprefix(ANSWER.rstrip()).removeprefix(" "))
    head, arrow, operation = plain.rpartition(" -> ")
    name, _, value = operation.partition(":")
    make = _OPERATIONS.get(name.strip())
    if not arrow or make is None:
        said = (wordings or _PLAIN).action(plain)
        return _unknown(line) if said is None else said
    return make(_element(head), value.strip()) or _unknown(line)


def operation_action(name: str, element: Element | None, value: str) -> Action | None:
    """Return the action of an operation, `TYPE`, on an element; None where it is unknown."""
    make = _OPERATIONS.get(name)
    return None if make is None else make(element, value)


def has_failed(line: str) -> bool:
    """Whether the line says that the action failed."""
    return line.rstrip().endswith(FAILED)


def _element(head: str) -> Element | None:
    head = head.strip()
    found = _HEAD.fullmatch(head)
    if found is None:
        return None if head in ("page", "") else Element(text=head)
    tag, name = found[1].lower(), found[3].strip()
    return Element(tag=None if tag == "element" else tag, attributes=_attributes(found[2]), name=name or None)


def _attributes(text: str) -> dict[str, str] | None:
    reader = _Attributes()
    reader.feed(f"<a {text}>")
    reader.close()
    return reader.found or None


class _Attributes(HTMLParser):
    """The attributes of one start tag, at most 64."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found = {name: value or "" for name, value in attrs[:64]}


def _unknown(line: str) -> Unknown:
    name = line.strip().removesuffix(FAILED).rpartition(" -> ")[2].partition(":")[0].strip()
    return Unknown(name=name.lower() if re.fullmatch(r"[A-Za-z_]{1,64}", name) else "text", raw=line)


def _fill(element: Element | None, value: str) -> Action:
    if element is None:
        return KeyboardType(value=value)
    text = value.removesuffix(_ENTER)
    return Fill(element=element, value=text, submit=text != value)


def _scroll(element: Element | None, value: str) -> Action | None:
    # How far is not said: one px stands for the direction.
    ways = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
    if value.lower() not in ways:
        return None
    dx, dy = ways[value.lower()]
    return Scroll(element=element, dx=dx, dy=dy, amount=value.lower())


def _tab(element: Element | None, value: str) -> Action | None:
    return FocusTab(tab=int(value)) if value.isdecimal() and len(value) < 10 else None


def _plain(kind: Callable[..., Action]) -> Callable[[Element | None, str], Action | None]:
    return lambda element, value: kind(element=element)


_OPERATIONS: dict[str, Callable[[Element | None, str], Action | None]] = {
    "CLICK": _plain(Click),
    "RIGHT_CLICK": lambda element, _: Click(element=element, button="right"),
    "DOUBLE_CLICK": _plain(DblClick),
    "TYPE": _fill,
    "PRESS": lambda element, value: Press(element=element, key=value) if value else None,
    "CLEAR": _plain(Clear),
    "HOVER": _plain(Hover),
    "FOCUS": _plain(Focus),
    "CHECK": _plain(Check),
    "UNCHECK": _plain(Uncheck),
    "SELECT": lambda element, value: SelectOption(element=element, values=(), labels=(value,)),
    "UPLOAD": lambda element, value: UploadFile(
        element=element, files=tuple(FileInfo(name=name) for name in value.split(", ") if name)
    ),
    "SCROLL": _scroll,
    "GOTO": lambda _, value: Goto(url=value) if value else None,
    "GO_BACK": lambda *_: GoBack(),
    "GO_FORWARD": lambda *_: GoForward(),
    "RELOAD": lambda *_: Reload(),
    "NEW_TAB": lambda _, value: NewTab(url=value or None),
    "CLOSE_TAB": lambda *_: CloseTab(),
    "SWITCH_TAB": _tab,
    "WAIT": lambda *_: Wait(),
    "DIALOG": lambda _, value: HandleDialog(accept=value != "dismiss"),
}
