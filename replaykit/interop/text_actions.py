"""Actions in plain words: `Navigate to https://...`, `Click at (600, 475)`, or as calls and JSON of tools.

A table of wordings is tried in order, each against the whole line; those of `--actions FILE` come first. A
line that fits no wording is an unknown action.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec.structs import replace

from replaykit.decoders import convert, decode_plain
from replaykit.errors import UsageError
from replaykit.interop.key_names import key_name
from replaykit.interop.text_action_parts import is_denied, is_question, plain_line, states_more
from replaykit.interop.text_action_patterns import ENDING, FORMS, Make
from replaykit.interop.tool_actions import computer_action
from replaykit.interop.tools.literal_arguments import tool_arguments
from replaykit.patterns import lazy_pattern
from replaykit.recorder.session.declared_actions import declared
from replaykit.trajectory import action as actions

LINE_MAX = 20_000
"""Characters of a line that is read as words."""

_END = r"\s*[.!]?"


@lru_cache(maxsize=1)
def _compiled() -> tuple[tuple[re.Pattern[str], Make], ...]:
    flags = re.IGNORECASE | re.DOTALL
    return tuple((re.compile(rf"(?:{form}){_END}", flags), make) for form, make in FORMS)


def words_action(text: str) -> actions.Action | None:
    """Return the action that a line states in words, or as a call of a tool; None where it states none."""
    line = text.strip()
    if not line or len(line) > LINE_MAX:
        return None
    called = _called(line) or bracketed_action(line)
    if called is not None:
        return called
    line = plain_line(line)
    fits = ((make, form.fullmatch(line)) for form, make in _compiled())
    made = (_made(make, fit) for make, fit in fits if fit is not None)
    found = next((action for action in made if action is not None), None)
    # An answer may mention anything. Of two actions in one line, the second must not be lost.
    if isinstance(found, actions.Answer) or not states_more(ENDING.sub("", line)):
        is_doubtful = is_denied(line) or (is_question(line) and _is_at_element(found))
        return None if is_doubtful and not isinstance(found, actions.Answer | actions.Wait) else found
    return None


def _is_at_element(action: actions.Action | None) -> bool:
    """Whether words name what an action is about: a mark of a question is then among them."""
    text = getattr(getattr(action, "element", None), "text", None)
    return isinstance(text, str) and text.rstrip().endswith(("?", "？"))  # the second is that of Chinese


def _made(make: Make, found: re.Match[str]) -> actions.Action | None:
    try:
        return make(found)
    except (ValueError, OverflowError, msgspec.ValidationError):
        return None


_CALL = lazy_pattern(
    r"(?:await )?(?:(pyautogui|page|browser|computer)\.(?!keyboard|mouse))?"
    r"(?:(?:page\.)?(?:keyboard|mouse)\.)?([A-Za-z_]\w{0,40})\((.*)\);?",
    re.DOTALL,
)


def _called(line: str) -> actions.Action | None:
    """Return the action of a call, `click(x=600, y=475)`, or of the JSON of one."""
    if line.startswith("{"):
        try:
            plain = decode_plain(line)
        except (msgspec.DecodeError, RecursionError):
            return None
        return _of_json(plain)
    call = _CALL.fullmatch(line)
    if call is None:
        return None
    own = declared(line)
    if len(own) == 1 and not isinstance(own[0], actions.Unknown):
        return own[0]
    arguments = tool_arguments(call[2], call[3], call[1])
    return None if arguments is None else computer_action(call[2], arguments)


_ARGUMENTS = ("arguments", "args", "params", "parameters", "input", "action_input")


def _of_json(plain: Any) -> actions.Action | None:
    if not isinstance(plain, dict):
        return None
    for key in ("action", "type", "name", "action_type", "function"):
        name = plain.get(key)
        if isinstance(name, str):
            inner = next((plain[k] for k in _ARGUMENTS if isinstance(plain.get(k), dict)), None)
            return computer_action(name, inner if inner is not None else plain)
    return None


class Wordings:
    """Wordings of a user, before those of the table. `wordings`: wording with `{name}` places to fields."""

    def __init__(self, wordings: Mapping[str, Any]) -> None:
        """Compile the wordings. Raises UsageError for one that is no action."""
        self._own = [(_Wording(words), template) for words, template in wordings.items()]

    def action(self, text: str) -> actions.Action | None:
        """Return the action that a line states; None where it states none."""
        return self.own(text) or words_action(text)

    def own(self, text: str) -> actions.Action | None:
        """Return the action that a line states in the user's own wordings; None where it states none."""
        line = text.strip()
        for wording, template in self._own if len(line) <= LINE_MAX else ():
            found = wording.places(line)
            if found is not None:
                return _filled(template, found)
        return None

    def message_action(self, text: str) -> actions.Action | None:
        """Return the action of a message in the user's own wordings: all of it, or what follows `Action:`."""
        _, label, last = text.rpartition("Action:")
        return self.own(text) or (self.own(last) if label else None)


class _Wording:
    """A wording with places: each of its texts is looked for once, from left to right, on any line."""

    def __init__(self, words: str) -> None:
        parts = re.split(r"\{([a-z_]{1,32})\}", words)
        self.names = parts[1::2]
        twice = next((name for name in self.names if self.names.count(name) > 1), None)
        if twice is not None:
            raise UsageError(what=f"--actions: wording {words!r} has {{{twice}}} twice")
        self._texts = [re.compile(re.escape(part), re.IGNORECASE) for part in parts[::2]]
        self._last = len(parts[-1])

    def places(self, line: str) -> dict[str, str] | None:
        """Return what stands in the places, each as short as can be and not empty; None = another wording."""
        first, *others = self._texts
        found, places = first.match(line), dict[str, str]()
        for number, (name, text) in enumerate(zip(self.names, others, strict=True), 1):
            at = len(line) if found is None else found.end()
            if at == len(line):
                return None
            from_there = max(at + 1, len(line) - self._last) if number == len(others) else at + 1
            found = text.search(line, from_there)
            places[name] = line[at : found.start()] if found is not None else ""
        return places if found is not None and found.end() == len(line) else None


def _filled(template: Any, places: Mapping[str, str]) -> actions.Action | None:
    try:
        found: actions.Action = convert(_put(template, places), actions.Action, strict=False)
    except msgspec.ValidationError:
        return None
    return found


def _put(template: Any, places: Mapping[str, str]) -> Any:
    if isinstance(template, str):
        return re.sub(r"\{([a-z_]{1,32})\}", lambda m: places.get(m[1], m[0]).strip(), template)
    if isinstance(template, dict):
        return {key: _put(part, places) for key, part in template.items()}
    return [_put(part, places) for part in template] if isinstance(template, list) else template


def check_wordings(wordings: Mapping[str, Any]) -> None:
    """Raise UsageError for a wording whose template is no action: every place is tried with a number."""
    for words, template in wordings.items():
        places = dict.fromkeys(_Wording(words).names, "1")
        if not isinstance(template, dict) or _filled(template, places) is None:
            raise UsageError(what=f"--actions: {words!r} leads to {template!r:.120}, which is no action")


_ID = r"\[\s*([\w-]{1,32})\s*\]"
_WHOLE = r"\[(.*)\]"


def _scrolled(found: re.Match[str]) -> actions.Action:
    way = found[1].lower()
    # How far is not stated: one px stands for the direction.
    return actions.Scroll(dy=-1 if way == "up" else 1, amount=way)


_Make = Callable[["re.Match[str]"], actions.Action]
_FORMS: tuple[tuple[re.Pattern[str], _Make], ...] = tuple(
    (lazy_pattern(form, re.IGNORECASE | re.DOTALL), make)
    for form, make in (
        (rf"click {_ID}", lambda m: actions.Click(element=actions.Element(ref=m[1]))),
        (rf"hover {_ID}", lambda m: actions.Hover(element=actions.Element(ref=m[1]))),
        # Enter follows unless the last part is 0.
        (rf"type {_ID} \[(.*?)\](?: \[(?:press_enter_after\s*=\s*)?([01])\])?",
         lambda m: actions.Type(element=actions.Element(ref=m[1]), value=m[2], submit=m[3] != "0")),
        (rf"press {_WHOLE}", lambda m: actions.Press(key=key_name(m[1]))),
        (r"scroll \[(?:direction\s*=\s*)?(up|down)\]", _scrolled),
        (rf"goto {_WHOLE}", lambda m: actions.Goto(url=m[1].strip())),
        (r"(?:tab|page)_focus \[\s*(\d{1,4})\s*\]", lambda m: actions.FocusTab(tab=int(m[1]))),
        (r"go_back(?: \[\])?", lambda m: actions.GoBack()),
        (r"go_forward(?: \[\])?", lambda m: actions.GoForward()),
        (r"new_tab(?: \[\])?", lambda m: actions.NewTab()),
        (r"(?:close_tab|page_close)(?: \[\])?", lambda m: actions.CloseTab()),
        (r"none", lambda m: actions.Noop()),
        (rf"stop {_WHOLE}", lambda m: actions.Answer(text=m[1])),
    )
)  # fmt: skip


def bracketed_action(line: str) -> actions.Action | None:
    """Return the action of a line in WebArena's form; None for any other line."""
    acted, _, target = line.partition(" where [")
    name = target.partition("] is ")[2][:1024]
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
