"""Actions in the style of Mind2Web's action history, `<tag attrs> name -> OP: value`, read back.

The other direction is `replaykit.trajectory.action_rendering`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

from replaykit.interop.text_actions import Wordings
from replaykit.patterns import lazy_pattern
from replaykit.trajectory import action as actions

FAILED = " | FAILED"
"""End of the line of an action that failed."""

SUCCESS = " | SUCCESS"
"""End of the line of an action that did not, in some layouts."""

ANSWER = "TASK_COMPLETE -> ANSWER: "
"""How a line with the final answer begins."""

_PLAIN = Wordings({})
_HEAD = lazy_pattern(r"<([A-Za-z][\w-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>\s*(.*)", re.DOTALL)
_ENTER = " [ENTER]"


def read_action(line: str, wordings: Wordings | None = None) -> actions.Action:
    """Return the action of a line, in the benchmark's form or in plain words; else an unknown one."""
    plain = line.strip().removesuffix(FAILED).removesuffix(SUCCESS)
    if plain.startswith(ANSWER.rstrip()):
        return actions.Answer(text=plain.removeprefix(ANSWER.rstrip()).removeprefix(" "))
    head, arrow, operation = plain.rpartition(" -> ")
    name, _, value = operation.partition(":")
    make = _OPERATIONS.get(name.strip())
    if not arrow or make is None:
        action = (wordings or _PLAIN).action(plain)
        return _unknown(line) if action is None else action
    return make(_element(head), value.strip()) or _unknown(line)


def operation_action(name: str, element: actions.Element | None, value: str) -> actions.Action | None:
    """Return the action of an operation, `TYPE`, on an element; None where it is unknown."""
    make = _OPERATIONS.get(name)
    return None if make is None else make(element, value)


def has_failed(line: str) -> bool:
    """Whether the line states that the action failed."""
    return line.rstrip().endswith(FAILED)


def _element(head: str) -> actions.Element | None:
    head = head.strip()
    found = _HEAD.fullmatch(head)
    if found is None:
        return None if head in ("page", "") else actions.Element(text=head)
    tag, name = found[1].lower(), found[3].strip()
    return actions.Element(
        tag=None if tag == "element" else tag, attributes=_attributes(found[2]), name=name or None
    )


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


def _unknown(line: str) -> actions.Unknown:
    name = line.strip().removesuffix(FAILED).rpartition(" -> ")[2].partition(":")[0].strip()
    return actions.Unknown(name=name.lower() if re.fullmatch(r"[A-Za-z_]{1,64}", name) else "text", raw=line)


def _fill(element: actions.Element | None, value: str) -> actions.Action:
    if element is None:
        return actions.KeyboardType(value=value)
    text = value.removesuffix(_ENTER)
    return actions.Fill(element=element, value=text, submit=text != value)


def _scroll(element: actions.Element | None, value: str) -> actions.Action | None:
    # How far is not stated: one px stands for the direction.
    ways = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}
    if value.lower() not in ways:
        return None
    dx, dy = ways[value.lower()]
    return actions.Scroll(element=element, dx=dx, dy=dy, amount=value.lower())


def _tab(element: actions.Element | None, value: str) -> actions.Action | None:
    return actions.FocusTab(tab=int(value)) if value.isdecimal() and len(value) < 10 else None


def _plain(
    kind: Callable[..., actions.Action],
) -> Callable[[actions.Element | None, str], actions.Action | None]:
    return lambda element, value: kind(element=element)


_OPERATIONS: dict[str, Callable[[actions.Element | None, str], actions.Action | None]] = {
    "CLICK": _plain(actions.Click),
    "RIGHT_CLICK": lambda element, _: actions.Click(element=element, button="right"),
    "DOUBLE_CLICK": _plain(actions.DblClick),
    "TYPE": _fill,
    "PRESS": lambda element, value: actions.Press(element=element, key=value) if value else None,
    "CLEAR": _plain(actions.Clear),
    "HOVER": _plain(actions.Hover),
    "FOCUS": _plain(actions.Focus),
    "CHECK": _plain(actions.Check),
    "UNCHECK": _plain(actions.Uncheck),
    "SELECT": lambda element, value: actions.SelectOption(element=element, values=(), labels=(value,)),
    "UPLOAD": lambda element, value: actions.UploadFile(
        element=element, files=tuple(actions.FileInfo(name=name) for name in value.split(", ") if name)
    ),
    "SCROLL": _scroll,
    "GOTO": lambda _, value: actions.Goto(url=value) if value else None,
    "GO_BACK": lambda *_: actions.GoBack(),
    "GO_FORWARD": lambda *_: actions.GoForward(),
    "RELOAD": lambda *_: actions.Reload(),
    "NEW_TAB": lambda _, value: actions.NewTab(url=value or None),
    "CLOSE_TAB": lambda *_: actions.CloseTab(),
    "SWITCH_TAB": _tab,
    "WAIT": lambda *_: actions.Wait(),
    "DIALOG": lambda _, value: actions.HandleDialog(accept=value != "dismiss"),
}
