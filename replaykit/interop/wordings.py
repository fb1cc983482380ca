"""Actions in plain words, as harnesses write them down: `Navigate to https://...`, `Click at (600, 475)`.

A table of wordings, tried in order, each against the whole line; `--actions FILE` puts one's own before it.
What no wording fits is unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from replaykit.decoders import convert
from replaykit.errors import UsageError
from replaykit.interop.tool_actions import computer_action, key_name, tool_arguments
from replaykit.recorder.session.declared_actions import declared
from replaykit.trajectory.action import (
    Action,
    Answer,
    Check,
    Clear,
    Click,
    CloseTab,
    DblClick,
    DragAndDrop,
    Element,
    FileInfo,
    FocusTab,
    GoBack,
    GoForward,
    Goto,
    Hover,
    KeyboardType,
    MouseClick,
    MouseDblClick,
    MouseMove,
    NewTab,
    Noop,
    Press,
    Reload,
    Scroll,
    SelectOption,
    ToolCall,
    Type,
    Uncheck,
    Unknown,
    UploadFile,
    Wait,
)

LINE_MAX = 20_000
"""Characters of a line that is read as words."""

_N = r"(-?\d{1,6}(?:\.\d{1,9})?)"
_AT = rf"[(\[]?\s*(?:x\s*[=:]\s*)?{_N}\s*[,;]?\s*(?:y\s*[=:]\s*)?{_N}\s*[)\]]?"
_PLACE = rf"(?:at |on |to )?(?:the )?(?:coordinates?|position|point|location|pixel)?\s*:?\s*{_AT}"
_URL = r"[\"'<(]?((?:https?://|about:|file:|www\.)\S+?|[\w-]+(?:\.[\w-]+)+(?:[/:?#]\S*?)?)[\"'>)]?"
_THING = r"(?:the )?(.+?)"
_ENTER = r"(?P<enter>\s*(?:\[enter\]|\\n|,?\s*(?:and|then)\s+(?:press|hit)(?:ing)?\s+(?:enter|return)))?"
_END = r"\s*[.!]?"

Make = Callable[["re.Match[str]"], Action | None]


def _xy(found: re.Match[str], first: int = 1) -> tuple[int, int]:
    return (round(float(found[first])), round(float(found[first + 1])))


def _named(text: str) -> Element:
    return Element(text=unquoted(re.sub(r"\s+(?:button|link|tab|icon|field)$", "", text.strip()))[:1024])


def unquoted(text: str) -> str:
    """Take off quotation marks around a whole text."""
    text = text.strip()
    for first, last in ('""', "''", "“”", "‘’", "``"):
        if len(text) > 1 and text[0] == first and text[-1] == last:
            return text[1:-1]
    return text


def _typed(text: str, found: re.Match[str], into: str | None = None) -> Action:
    is_sent = bool(found["enter"])
    if into is None and not is_sent:
        return KeyboardType(value=unquoted(text))
    return Type(element=None if into is None else _named(into), value=unquoted(text), submit=is_sent)


def _scrolled(way: str, said: str | None) -> Scroll:
    # How far is often not said: one px stands for the direction.
    far = round(float(said)) if said else 1
    dx, dy = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}[way.lower()]
    return Scroll(dx=dx * far, dy=dy * far, amount=None if said else way.lower())


def _waited(found: re.Match[str]) -> Wait:
    if not found[1]:
        return Wait()
    return Wait(ms=round(float(found[1]) * (1 if (found[2] or "").lower().startswith("m") else 1000)))


_FORMS: tuple[tuple[str, Make], ...] = (
    (rf"(?:open|create)(?: an?| the)? new tab(?:\s*(?:with|at|to|and (?:navigate|go) to|:)?\s*{_URL})?|new tab",
     lambda m: NewTab(url=m[1])),
    (r"(?:navigate|go|browse|browser|page)[ _-]?back(?:ward)?s?(?: (?:to|in|one|the|a)\b.{0,60})?|back|(?:go to )?previous page",
     lambda m: GoBack()),
    (r"(?:navigate|go|browse|browser|page)[ _-]?forward(?: (?:to|in|one|the|a)\b.{0,60})?|forward|next page",
     lambda m: GoForward()),
    (r"(?:refresh|reload)(?:ed)?(?: the)?(?: current)?(?: (?:web ?)?page| tab)?", lambda m: Reload()),
    (rf"(?:navigate|go|goto|go_to_url|browse|open|visit|load|access)(?:d|ed|s)?(?: to)?(?: the)?(?: (?:url|page|site|website|web page|address|link))?\s*[:=]?\s*{_URL}",
     lambda m: Goto(url=m[1])),
    (rf"(?:double|dbl)[ _-]?click(?:ed|s)?\s*{_PLACE}", lambda m: MouseDblClick(point=_xy(m))),
    (rf"triple[ _-]?click(?:ed|s)?\s*{_PLACE}", lambda m: MouseClick(point=_xy(m), count=3)),
    (rf"right[ _-]?click(?:ed|s)?\s*{_PLACE}", lambda m: MouseClick(point=_xy(m), button="right")),
    (rf"middle[ _-]?click(?:ed|s)?\s*{_PLACE}", lambda m: MouseClick(point=_xy(m), button="middle")),
    (rf"(?:left[ _-]?)?(?:mouse[ _-]?)?(?:click|tap)(?:ed|s)?\s*{_PLACE}", lambda m: MouseClick(point=_xy(m))),
    (rf"(?:hover|move)(?:ed|s)?(?: (?:the )?(?:mouse|cursor|pointer))?(?: over| to)?\s*{_PLACE}",
     lambda m: MouseMove(point=_xy(m))),
    (rf"(?:left[ _-]?click[ _-]?)?drag(?:ged|s)?(?: and drop)?(?: (?:the )?mouse)?(?: from)?\s*{_AT}\s*(?:to|->|,)\s*{_AT}",
     lambda m: DragAndDrop(point=_xy(m), to_point=_xy(m, 3))),
    (rf"scroll(?:ed|s)?\s*(?:by\s*)?[(\[]?\s*(?:delta_?x|dx|x)\s*[=:]\s*{_N}\s*,\s*(?:delta_?y|dy|y)\s*[=:]\s*{_N}\s*[)\]]?",
     lambda m: Scroll(dx=_xy(m)[0], dy=_xy(m)[1])),
    (rf"scroll(?:ed|s)?(?: (?:the )?(?:page|window|view))?(?: by)?\s*[(\[]\s*{_N}\s*,\s*{_N}\s*[)\]]",
     lambda m: Scroll(dx=_xy(m)[0], dy=_xy(m)[1])),
    (rf"scroll(?:ed|s)?(?: (?:the )?(?:page|window|view))?\s*[:(]?\s*(up|down|left|right)(?:wards?)?\)?(?:\s*(?:by|,)?\s*\(?{_N}(?:\s*(?:px|pixels?))?\)?)?(?: (?:on |in )?(?:the )?(?:page|window))?(?:\s*(?:at|from)\s*{_AT})?",
     lambda m: _scrolled(m[1], m[2])),
    (r"scroll(?:ed|s)?(?: (?:the )?page)? to(?: the)? (top|bottom|end)(?: of (?:the )?page)?",
     lambda m: Scroll(dy=-1 if m[1].lower() == "top" else 1, amount=m[1].lower())),
    (r"(?:press|hit|keypress|key press|hotkey)(?:ed|es)?(?: (?:the|on))?(?: keys?)?(?: combination)?\s*[:(]?\s*[\"'`\[]?([A-Za-z0-9_]+(?:\s*[+-]\s*[A-Za-z0-9_]+){0,4}|[^\w\s])[\"'`\]]?\)?(?: keys?)?(?: on the keyboard)?",
     lambda m: Press(key=key_name(m[1]))),
    (rf"(?:type|input|enter|write|fill)(?:d|ed|s)?(?: in)?(?: the)?(?: text| value)?\s*:?\s*(\"[^\"]*\"|'[^']*'|“[^”]*”)\s*(?:in(?:to)?|on|to|for)\s+{_THING}{_ENTER}",
     lambda m: _typed(m[1], m, m[2])),
    (rf"fill(?:ed|s)?(?: in)?\s+{_THING}\s+with\s+(?:the )?(?:text |value )?(.+?){_ENTER}", lambda m: _typed(m[2], m, m[1])),
    (rf"(?:type|input|write)(?:d|ed|s)?(?: in)?(?: the)?(?: text)?\s*:?\s+((?![\"'“]).{{1,2000}}?)\s+in(?:to)?\s+the\s+{_THING}{_ENTER}",
     lambda m: _typed(m[1], m, m[2])),
    (rf"(?:type|write|input|input text|enter text)(?:d|ed|s)?(?: in)?(?: the)?(?: text)?(?:\s*:\s*|\s+)(.+?){_ENTER}", lambda m: _typed(m[1], m)),
    (rf"enter(?:ed|s)?\s+(\"[^\"]*\"|'[^']*'|“[^”]*”){_ENTER}", lambda m: _typed(m[1], m)),
    (r"(?:wait|sleep|pause)(?:ed|s)?(?: for)?(?:\s*[(:]?\s*(\d{1,6}(?:\.\d{1,3})?)\s*(s|sec|secs|seconds?|ms|milliseconds?)?\)?)?(?: (?:for|until) (?:the )?(?:page|content).{0,60})?",
     _waited),
    (r"(?:switch|change|focus)(?:ed|es)?(?: to)?(?: the)? tab\s*#?(\d{1,4})", lambda m: FocusTab(tab=int(m[1]))),
    (r"close(?:d|s)?(?: the| this)?(?: current)? (?:tab|page)", lambda m: CloseTab()),
    (rf"(?:select|choose)(?:d|ed|s)?(?: (?:the )?option)?\s+(\"[^\"]*\"|'[^']*'|“[^”]*”)\s+(?:from|in|on)\s+{_THING}",
     lambda m: SelectOption(element=_named(m[2]), values=(), labels=(unquoted(m[1]),))),
    (rf"(?:upload|attach)(?:ed|s)?(?: the)?(?: file)?\s*:?\s+([^\s].*?)(?:\s+(?:to|into|in)\s+{_THING})?",
     lambda m: UploadFile(element=_named(m[2]) if m[2] else None, files=(FileInfo(name=_base(m[1])),))),
    (rf"(?:double|dbl)[ _-]?click(?:ed|s)?(?: on)?\s+{_THING}", lambda m: DblClick(element=_named(m[1]))),
    (rf"right[ _-]?click(?:ed|s)?(?: on)?\s+{_THING}", lambda m: Click(element=_named(m[1]), button="right")),
    (rf"(?:left[ _-]?)?(?:click|tap)(?:ed|s)?(?: on)?\s+{_THING}", lambda m: Click(element=_named(m[1]))),
    (rf"hover(?:ed|s)?(?: over| on)?\s+{_THING}", lambda m: Hover(element=_named(m[1]))),
    (rf"clear(?:ed|s)?\s+{_THING}", lambda m: Clear(element=_named(m[1]))),
    (rf"uncheck(?:ed|s)?\s+{_THING}", lambda m: Uncheck(element=_named(m[1]))),
    (r"check(?:ed|s)?\s+(?:the )?(.+?) (?:check ?box|radio)", lambda m: Check(element=_named(m[1]))),
    (r"(?:take|took|capture)(?:d)?(?: an?| the)? screen ?shot(?: of .{0,80})?|screen ?shot", lambda m: ToolCall(name="screenshot")),
    (r"(?:no action|do nothing|no-?op)", lambda m: Noop()),
    (r"(?:final answer|answer|finish(?:ed)?|done|terminate(?:d)?|task complete(?:d)?|complete(?:d)?|respond|stop)\s*(?:[:;]|->)\s*(.+)",
     lambda m: Answer(text=unquoted(m[1]))),
)  # fmt: skip
"""Wording to action; the first that fits the whole line."""


def _base(path: str) -> str:
    return unquoted(path).replace("\\", "/").rpartition("/")[2]


@lru_cache(maxsize=1)
def _compiled() -> tuple[tuple[re.Pattern[str], Make], ...]:
    flags = re.IGNORECASE | re.DOTALL
    return tuple((re.compile(rf"(?:{form}){_END}", flags), make) for form, make in _FORMS)


def words_action(text: str) -> Action | None:
    """Return the action that a line says in plain words, or as a call or JSON of a tool; None where it says none."""
    line = text.strip()
    if not line or len(line) > LINE_MAX:
        return None
    called = _called(line)
    if called is not None:
        return called
    for form, make in _compiled():
        found = form.fullmatch(line)
        if found is not None:
            return _made(make, found)
    return None


def _made(make: Make, found: re.Match[str]) -> Action | None:
    try:
        return make(found)
    except (ValueError, OverflowError, msgspec.ValidationError):
        return None


_CALL = re.compile(r"(?:pyautogui\.|page\.|browser\.|computer\.)?([A-Za-z_]\w{0,40})\((.*)\);?", re.DOTALL)


def _called(line: str) -> Action | None:
    """Return the action of a call, `click(x=600, y=475)`, or of the JSON of one."""
    if line.startswith("{"):
        try:
            plain = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError):
            return None
        return _of_json(plain)
    call = _CALL.fullmatch(line)
    if call is None:
        return None
    own = declared(line)
    if len(own) == 1 and not isinstance(own[0], Unknown):
        return own[0]
    arguments = tool_arguments(call[1], call[2])
    return None if arguments is None else computer_action(call[1], arguments)


def _of_json(plain: Any) -> Action | None:
    if not isinstance(plain, dict):
        return None
    for key in ("action", "type", "name", "action_type", "function"):
        name = plain.get(key)
        if isinstance(name, str):
            inner = next((plain[k] for k in ("arguments", "args", "params", "parameters", "input", "action_input")
                          if isinstance(plain.get(k), dict)), None)  # fmt: skip
            return computer_action(name, inner if inner is not None else plain)
    return None


class Wordings:
    """Wordings of a user, before the table's own. `said`: wording with `{name}` places to an action's fields."""

    def __init__(self, said: Mapping[str, Any]) -> None:
        """Compile the wordings. Raises UsageError for one that is no action."""
        self._own = [(_Wording(words), template) for words, template in said.items()]

    def action(self, text: str) -> Action | None:
        """Return the action that a line says; None where it says none."""
        return self.own(text) or words_action(text)

    def own(self, text: str) -> Action | None:
        """Return the action that a line says in the user's own wordings; None where it says none."""
        line = text.strip()
        for wording, template in self._own if len(line) <= LINE_MAX else ():
            found = wording.places(line)
            if found is not None:
                return _filled(template, found)
        return None

    def told(self, text: str) -> Action | None:
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


def _filled(template: Any, places: Mapping[str, str]) -> Action | None:
    try:
        found: Action = convert(_put(template, places), Action, strict=False)
    except msgspec.ValidationError:
        return None
    return found


def _put(template: Any, places: Mapping[str, str]) -> Any:
    if isinstance(template, str):
        return re.sub(r"\{([a-z_]{1,32})\}", lambda m: places.get(m[1], m[0]).strip(), template)
    if isinstance(template, dict):
        return {key: _put(part, places) for key, part in template.items()}
    return [_put(part, places) for part in template] if isinstance(template, list) else template


def check_wordings(said: Mapping[str, Any]) -> None:
    """Raise UsageError for a wording whose template is no action: every place is tried with a number."""
    for words, template in said.items():
        places = dict.fromkeys(_Wording(words).names, "1")
        if not isinstance(template, dict) or _filled(template, places) is None:
            raise UsageError(what=f"--actions: {words!r} leads to {template!r:.120}, which is no action")
