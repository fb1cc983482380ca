"""Effects of an imported action that its type does not name: no page was recorded that would show them.

A recording holds what the page reported. A log holds what the agent asked for: a line feed in a typed text is
Enter, a button that goes down and up is a click, `Alt+ArrowLeft` goes back.
"""

from __future__ import annotations

from collections.abc import Iterator

from replaykit.grading.policies.events.event import ENTER, SPACE, is_printable
from replaykit.grading.policies.events.possible_actions import PossibleAction
from replaykit.patterns import lazy_pattern
from replaykit.replay.run_state import Page
from replaykit.trajectory import action as actions
from replaykit.trajectory.action import ActionBase
from replaykit.trajectory.redaction_marks import MASKED

IMPLIED = "action.implied"
"""Code of what an imported action may imply."""

_MODIFIERS = frozenset({"Alt", "AltGraph", "Control", "ControlOrMeta", "Meta", "Shift"})

_NAMED = lazy_pattern(
    r"(?i:F\d{1,2}|Arrow(Up|Down|Left|Right)|Page(Up|Down)|Numpad\w+|Key[A-Z]|Digit\d|Media\w+|Audio\w+|Browser\w+|"
    r"XF86\w+|Launch\w+|Enter|Return|Escape|Tab|Space|Spacebar|Backspace|Delete|Home|End|Insert|CapsLock|NumLock|"
    r"ScrollLock|Pause|PrintScreen|ContextMenu|Fn|Clear|Dead|Unidentified|Minus|Equal|Plus|Comma|Period|Slash|"
    r"Semicolon|Quote|Backquote|Backslash|Bracket(Left|Right)|Kp_?\w+|Ctrl|Cmd|Command|Option|Super|Win|Menu)"
)
"""Names of keys; any other word was typed."""

_SHORTCUTS: dict[str, ActionBase] = {
    **dict.fromkeys(
        ("Alt+ArrowLeft", "Meta+ArrowLeft", "Meta+[", "BrowserBack", "XF86Back"), actions.GoBack()
    ),
    **dict.fromkeys(
        ("Alt+ArrowRight", "Meta+ArrowRight", "Meta+]", "BrowserForward", "XF86Forward"), actions.GoForward()
    ),
    **dict.fromkeys(("F5", "Control+r", "Meta+r", "Control+F5", "Control+Shift+r"), actions.Reload()),
    **dict.fromkeys(("Control+t", "Meta+t", "Control+n", "Meta+n"), actions.NewTab()),
    **dict.fromkeys(("Control+w", "Meta+w", "Control+F4"), actions.CloseTab()),
    **dict.fromkeys(
        ("Control+v", "Meta+v", "Shift+Insert", "Control+Shift+v", "Meta+Shift+v"), actions.Fill(value=MASKED)
    ),
}  # fmt: skip
"""Chord to what a browser makes of it. Which text is pasted is not known."""

_ERASING = ("Backspace", "Delete")

PLACE_PX = 4
"""A pointer that moved farther between down and up has dragged."""


class ImpliedActions:
    """The implied actions of one run, whose steps are asked for in order."""

    def __init__(self) -> None:
        self._down: actions.MouseDown | None = None

    def of(self, action: ActionBase, page: Page | None) -> Iterator[PossibleAction]:
        """Yield what an action may imply."""
        for found in self._of(action):
            yield PossibleAction(found, IMPLIED, page)

    def _of(self, action: ActionBase) -> Iterator[ActionBase]:
        match action:
            case actions.KeyboardType() | actions.Type():
                yield from _entered(action)
            case actions.Press():
                yield from _pressed(action)
            case actions.KeyboardDown():
                yield actions.Press(key=action.key, element=action.element)
            case actions.MouseDown():
                self._down = action
            case actions.MouseUp():
                yield from self._released(action)
            case actions.HandleDialog(text=str(text)) if text and action.accept:
                yield actions.Fill(value=text, value_after=text)

    def _released(self, up: actions.MouseUp) -> Iterator[ActionBase]:
        down, self._down = self._down, None
        if down is not None and down.button == up.button == "left" and _is_near(down.point, up.point):
            yield actions.MouseClick(point=up.point)


def _entered(action: actions.KeyboardType | actions.Type) -> Iterator[ActionBase]:
    if "\n" in action.value or "\r" in action.value:
        yield actions.Press(key="Enter", element=action.element)


def _pressed(action: actions.Press) -> Iterator[ActionBase]:
    keys = _keys(action.key)
    acting = [key for key in keys if key in ENTER or key in SPACE]
    if len(keys) > 1 and acting:
        yield actions.Press(key=acting[0], element=action.element)
    if any(key in _ERASING for key in keys):
        yield actions.Press(key=action.key, element=action.element, value_after="")
    if _SHORTCUTS.get(action.key):
        yield _SHORTCUTS[action.key]
    if action.key in ("\n", "\r"):
        yield actions.Press(key="Enter", element=action.element)
    elif not keys:
        yield actions.KeyboardType(value=action.key, element=action.element)


def _keys(chord: str) -> list[str]:
    """Return the keys of a chord or of a sequence of keys, without modifiers; empty if it is a text."""
    if is_printable(chord):
        return [chord]
    parts = [part for part in chord.replace(",", "+").replace(" ", "+").split("+") if part]
    if not all(len(part) == 1 or _NAMED.fullmatch(part) or part in _MODIFIERS for part in parts):
        return []
    named = {part.lower(): part for part in (*ENTER, *SPACE, *_ERASING)}
    return [named.get(part.lower(), part) for part in parts if part not in _MODIFIERS] or parts or [chord]


def _is_near(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    if one is None or other is None:
        return True
    return max(abs(one[0] - other[0]), abs(one[1] - other[1])) <= PLACE_PX
