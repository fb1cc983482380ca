"""Actions in the style of Mind2Web's action history, `<tag attrs> name -> OP: value`, read back.

Mind2Web itself and SeeAct write `[tag] text -> OP: value`. The other direction is
`replaykit.trajectory.action_rendering`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from html.parser import HTMLParser

from replaykit.interop.text_action_parts import named
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
_HEAD = lazy_pattern(r"<([A-Za-z][\w-]*)((?=[\s>/])(?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>\s*(.*)", re.DOTALL)
_TAG = lazy_pattern(
    r"(?!(?!h[1-6]\b)[A-Za-z]{1,3}\d+\Z)[A-Za-z][\w-]*(?:\s+[\w:.-]+=(?:\"[^\"]*\"|'[^']*'|[^\s\"'=]+))*\s*/?"
)
"""Inside of a start tag; neither words, `Delete the order`, nor the reference of an element, `e5`."""

_BRACKETS = lazy_pattern(r"\[([A-Za-z][\w-]*)((?:[^\[\]\"']|\"[^\"]*\"|'[^']*')*)\]\s*(.*)", re.DOTALL)
_OPERATION = lazy_pattern(r"([A-Za-z_ ]+?)\s*(?::\s*(.*)|(['\"])(.*)\3)?", re.DOTALL)
_ENTER = " [ENTER]"

_ATTEMPT, _CAUSE, _INSTEAD = "Failed to ", " because ", ", did a "
"""Parts of a line of SeeAct: what failed, why, and what was done in its place."""

_PARENT = "parent_node:"
"""Begin of a text of SeeAct that is not the element's own."""

_ROLES = frozenset({
    "button", "checkbox", "combobox", "dialog", "gridcell", "heading", "link", "listbox", "menuitem",
    "option", "radio", "searchbox", "slider", "spinbutton", "switch", "tab", "textbox", "treeitem",
})  # fmt: skip
"""Words in brackets that are roles; all others are tags."""


def read_action(line: str, wordings: Wordings | None = None) -> actions.Action:
    """Return the action of a line, in the benchmark's form or in plain words; else an unknown one."""
    plain = line.strip().removesuffix(FAILED).removesuffix(SUCCESS)
    if plain.startswith(ANSWER.rstrip()):
        return actions.Answer(text=plain.removeprefix(ANSWER.rstrip()).removeprefix(" "))
    head, arrow, operation = _attempted(plain) or plain.rpartition(" -> ")
    found = _OPERATION.fullmatch(operation)
    make = None if found is None else _OPERATIONS.get(found[1].replace(" ", "_"))
    if found is None or make is None or not (arrow or make in _ALONE):
        action = (wordings or _PLAIN).action(plain)
        return _unknown(line) if action is None else action
    return make(_element(head), (found[2] or found[4] or "").strip()) or _unknown(line)


def _attempted(line: str) -> tuple[str, str, str] | None:
    """Return the parts of a line about a failed action: the action used instead, or the one attempted."""
    head, attempt, rest = line.partition(f" -> {_ATTEMPT}")
    tried, cause, why = rest.partition(_CAUSE)
    if not attempt or not cause:
        return None
    done = why.rpartition(_INSTEAD)[2].removesuffix(" instead") if _is_replaced(line) else tried
    return head, attempt, done


def _is_replaced(line: str) -> bool:
    return line.endswith(" instead") and _INSTEAD in line


def operation_action(name: str, element: actions.Element | None, value: str) -> actions.Action | None:
    """Return the action of an operation, `TYPE`, on an element; None where it is unknown."""
    make = _OPERATIONS.get(name)
    return None if make is None else make(element, value)


def has_failed(line: str) -> bool:
    """Whether the line states that the action failed."""
    line = line.rstrip()
    is_attempt = line.startswith(_ATTEMPT) or f" -> {_ATTEMPT}" in line
    return line.endswith(FAILED) or (is_attempt and not _is_replaced(line))


def _element(head: str) -> actions.Element | None:
    head = head.strip()
    if head in ("", "page", "<unknown>", "<navigation>"):
        return None
    found = _HEAD.fullmatch(head)
    if found is None or not (found[3].strip() or _TAG.fullmatch(f"{found[1]}{found[2]}")):
        return _in_brackets(head)
    tag, name = found[1].lower(), found[3].strip()
    return actions.Element(
        tag=None if tag == "element" else tag, attributes=_attributes(found[2]), name=name or None
    )


def _in_brackets(head: str) -> actions.Element:
    found = _BRACKETS.fullmatch(head)
    if found is None:
        is_wrapped = head.startswith("<") and head.endswith(">")
        return _described(head[1:-1]) if is_wrapped else actions.Element(text=head)
    word, text = found[1].lower(), found[3].strip()
    is_role, is_own = word in _ROLES, bool(text) and not text.startswith(_PARENT)
    return actions.Element(
        role=word if is_role else None,
        tag=None if is_role else word,
        attributes=_attributes(found[2]),
        text=text if is_own else None,
    )


def _described(words: str) -> actions.Element:
    """Return the element that a harness describes in the place of a tag: words, a reference or a selector."""
    return named(words) if " " in words and words[0].isalpha() else actions.Element(ref=words)


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


def _fill(element: actions.Element | None, value: str) -> actions.Action | None:
    if element is None and not value:
        return None  # of a form with several fields, some harnesses write neither fields nor values
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


def _nothing(element: actions.Element | None, value: str) -> actions.Action:
    return actions.Noop()


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
    "PRESS_ENTER": lambda element, _: actions.Press(element=element, key="Enter"),
    "SCROLL_UP": lambda element, _: _scroll(element, "up"),
    "SCROLL_DOWN": lambda element, _: _scroll(element, "down"),
    "SAY": lambda _, value: actions.SendMsgToUser(text=value) if value else None,
    "NONE": _nothing,
    "No_Operation": _nothing,
    "TERMINATE": _nothing,
    "NEW_TAB": lambda _, value: actions.NewTab(url=value or None),
    "CLOSE_TAB": lambda *_: actions.CloseTab(),
    "SWITCH_TAB": _tab,
    "WAIT": lambda *_: actions.Wait(),
    "DIALOG": lambda _, value: actions.HandleDialog(accept=value != "dismiss"),
}

WITH_VALUE = frozenset({"TYPE", "SELECT", "UPLOAD"})
"""Operations that mean nothing without their value."""

_ALONE = tuple(
    _OPERATIONS[name]
    for name in (
        "PRESS_ENTER",
        "SCROLL_UP",
        "SCROLL_DOWN",
        "NONE",
        "No_Operation",
        "TERMINATE",
        "GOTO",
        "SAY",
    )
)
"""Operations that need no element: a line may be one of them."""
