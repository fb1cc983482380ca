"""Actions in plain words, as harnesses write them down: a table of forms, the first that fits a whole line.

Lines have their verb in the imperative (`plain_line`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from replaykit.interop.key_names import key_name
from replaykit.interop.text_action_parts import QUOTED, named, unquoted
from replaykit.patterns import lazy_pattern
from replaykit.trajectory import action as actions

_N = r"(-?\d{1,6}(?:\.\d{1,9})?)"
_AT = rf"[(\[]?\s*(?:x\s*[=:]\s*)?{_N}(?:\s*[,;]\s*|\s+)(?:y\s*[=:]\s*)?{_N}\s*[)\]]?"
_PLACE = rf"(?:at |on |to )?(?:the )?(?:coordinates?|position|point|location|pixel)?\s*:?\s*{_AT}"
_URL = r"[\"'<(\[]?((?:https?://|about:|file:|www\.)\S+?|[\w-]+(?:\.[\w-]+)+(?:[/:?#]\S*?)?)[\"'>)\]]?"
_THING = r"(?:the )?(.+?)"
_ENTER = (
    r"(?P<enter>\s*(?:\[enter\]|\\n|,?\s*(?:and then|and|then)\s+"
    r"(?:(?:press|hit)(?:ing)?\s+(?:the\s+)?(?:enter|return)(?:\s+key)?|submit(?:ted)?)))?"
)
_INTO = r"\s*(?:in(?:to)?|inside|within|on|to|for|at)\s+"
_PAGE = r"(?: (?:on |in )?(?:the )?(?:page|window|view|screen))?"
_KEYS = r"[A-Za-z0-9_]+(?:\s*[+-]\s*[A-Za-z0-9_]+){0,4}|[^\w\s]"
_FIELD = lazy_pattern(
    r".*\b(?:field|box|bar|input|area|textbox|form|dropdown|menu|list)|[\"'“‘«„「`].*|[A-Z\[#].*", re.DOTALL
)
"""Words that name a field: by its kind, quoted, or with a capital."""

ENDING = lazy_pattern(rf"{_ENTER[:-1]}\s*[.!]?\Z|(?<=\btab)\s+and\s+(?:navigate|go)\s+to\b", re.IGNORECASE)
"""Words for a second action that belong to the first: a text is sent with Enter, a new tab has a URL."""

Make = Callable[["re.Match[str]"], actions.Action | None]


def _xy(found: re.Match[str], first: int = 1) -> tuple[int, int]:
    return (round(float(found[first])), round(float(found[first + 1])))


def _typed(text: str, found: re.Match[str], into: str | None = None) -> actions.Action:
    is_sent = bool(found["enter"])
    if into is None and not is_sent:
        return actions.KeyboardType(value=unquoted(text))
    return actions.Type(element=None if into is None else named(into), value=unquoted(text), submit=is_sent)


def _typed_into(found: re.Match[str]) -> actions.Action | None:
    return _typed(found[1], found, found[2]) if _FIELD.fullmatch(found[2]) else None


def _filled(found: re.Match[str]) -> actions.Action | None:
    return None if found[1].lower().startswith(("out ", "in ")) else _typed(found[2], found, found[1])


_DIRECTIONS = {"up": (0, -1), "down": (0, 1), "left": (-1, 0), "right": (1, 0)}


def _scrolled(way: str, pixels: str | None, amount: str | None = None) -> actions.Scroll:
    # How far is often not stated: one px stands for the direction.
    far = round(float(pixels)) if pixels else 1
    dx, dy = _DIRECTIONS[way.lower()]
    distance = f"{way.lower()} {amount}"[:64] if amount else way.lower()
    return actions.Scroll(dx=dx * far, dy=dy * far, amount=None if pixels else distance)


def _waited(found: re.Match[str]) -> actions.Wait:
    if not found[1]:
        return actions.Wait()
    return actions.Wait(ms=round(float(found[1]) * (1 if (found[2] or "").lower().startswith("m") else 1000)))


def _chosen(label: str, of: str | None = None) -> actions.Action:
    return actions.SelectOption(element=named(of) if of else None, values=(), labels=(unquoted(label),))


def _chosen_from(found: re.Match[str]) -> actions.Action | None:
    return _chosen(found[1], found[2]) if _FIELD.fullmatch(found[2]) else None


def _uploaded(found: re.Match[str]) -> actions.Action:
    name = unquoted(found[1]).replace("\\", "/").rpartition("/")[2]
    return actions.UploadFile(
        element=named(found[2]) if found[2] else None, files=(actions.FileInfo(name=name),)
    )


FORMS: tuple[tuple[str, Make], ...] = (
    (rf"open\s+{_URL} in (?:an?|the) new tab", lambda m: actions.NewTab(url=m[1])),
    (rf"(?:open|create)(?: an?| the)? new tab(?:\s*(?:with|at|to|and (?:navigate|go) to|:)?\s*{_URL})?|new tab",
     lambda m: actions.NewTab(url=m[1])),
    (r"(?:navigate|go|browse|browser|page)[ _-]?back(?:ward)?s?(?: (?:to|in|one|the|a)\b.{0,60})?|back|(?:go to )?(?:the )?previous page",
     lambda m: actions.GoBack()),
    (r"(?:navigate|go|browse|browser|page)[ _-]?forward(?: (?:to|in|one|the|a)\b.{0,60})?|forward|next page",
     lambda m: actions.GoForward()),
    (r"(?:refresh|reload)(?: the| this)?(?: current)?(?: (?:web ?)?page| tab)?", lambda m: actions.Reload()),
    (rf"(?:navigate|go|goto|go_to_url|browse|open|visit|load|access)(?: to)?(?: the)?(?: (?:url|page|site|website|web page|address|link))?\s*[:=]?\s*{_URL}",
     lambda m: actions.Goto(url=m[1])),
    (rf"(?:double|dbl)[ _-]?click\s*{_PLACE}", lambda m: actions.MouseDblClick(point=_xy(m))),
    (rf"triple[ _-]?click\s*{_PLACE}", lambda m: actions.MouseClick(point=_xy(m), count=3)),
    (rf"right[ _-]?click\s*{_PLACE}", lambda m: actions.MouseClick(point=_xy(m), button="right")),
    (rf"middle[ _-]?click\s*{_PLACE}", lambda m: actions.MouseClick(point=_xy(m), button="middle")),
    (rf"(?:left[ _-]?)?(?:mouse[ _-]?)?(?:click|tap)\s*{_PLACE}", lambda m: actions.MouseClick(point=_xy(m))),
    (rf"(?:hover|move)(?: (?:the )?(?:mouse|cursor|pointer))?(?: over| to)?\s*{_PLACE}",
     lambda m: actions.MouseMove(point=_xy(m))),
    (rf"(?:left[ _-]?click[ _-]?)?drag(?: and drop)?(?: (?:the )?mouse)?(?: from)?\s*{_AT}\s*(?:to|->|,)\s*{_AT}",
     lambda m: actions.DragAndDrop(point=_xy(m), to_point=_xy(m, 3))),
    (rf"drag(?: and drop)?\s+(?:the )?({QUOTED}|.{{1,200}}?)\s+(?:to|onto|into|on|over)\s+{_THING}",
     lambda m: actions.DragAndDrop(element=named(m[1]), to=named(m[2]))),
    (rf"scroll\s*(?:by\s*)?[(\[]?\s*(?:delta_?x|dx|x)\s*[=:]\s*{_N}\s*,\s*(?:delta_?y|dy|y)\s*[=:]\s*{_N}\s*[)\]]?",
     lambda m: actions.Scroll(dx=_xy(m)[0], dy=_xy(m)[1])),
    (rf"scroll(?: (?:the )?(?:page|window|view))?(?: by)?\s*[(\[]\s*{_N}\s*,\s*{_N}\s*[)\]]",
     lambda m: actions.Scroll(dx=_xy(m)[0], dy=_xy(m)[1])),
    (rf"scroll(?: (?:the )?(?:page|window|view))?\s*[:(]?\s*(up|down|left|right)(?:wards?)?\)?(?:\s*(?:by|,)?\s*\(?{_N}(?:\s*(?:px|pixels?))?\)?)?{_PAGE}(?:\s*(?:at|from)\s*{_AT})?",
     lambda m: _scrolled(m[1], m[2])),
    (rf"scroll(?: (?:the )?(?:page|window|view))?(?: by)? {_N}\s*(?:px|pixels?) (up|down|left|right)(?:wards?)?{_PAGE}",
     lambda m: _scrolled(m[2], m[1])),
    (r"scroll(?: (?:the )?page)? to(?: the)?(?: very)? (top|bottom|end)(?: of (?:the )?page)?",
     lambda m: actions.Scroll(dy=-1 if m[1].lower() == "top" else 1, amount=m[1].lower())),
    (r"scroll(?: (?:the )?(?:page|window|view))? (up|down|left|right),? (.{1,200})", lambda m: _scrolled(m[1], None, m[2])),
    (rf"scroll (?:(?:down |up )?(?:to|until)(?: you see)?) (?:the )?({QUOTED}) ?(?:(?:section|heading|button|link|text|is|comes|in|into|view|visible) ?){{0,4}}",
     lambda m: actions.Scroll(element=named(m[1]), amount="into view")),
    (rf"(?:click|press|hit|push|tap) (?:on )?(?:the )?({QUOTED}) (?:button|link|tab|icon|menu item|menu)",
     lambda m: actions.Click(element=named(m[1]))),
    (rf"(?:press|hit|keypress|key press|hotkey)(?: (?:the|on))?(?: keys?)?(?: combination)?\s*[:(]?\s*[\"'`“‘\[]?({_KEYS})[\"'`”’\]]?\)?(?: keys?)?(?: on the keyboard)?(?:,? (?:once|twice|(?:\d{{1,3}}|two|three|four|five) times))?",
     lambda m: actions.Press(key=key_name(m[1]))),
    (rf"(?:type|input|enter|write|fill)(?: in)?(?: the)?(?: text| value| word| query)?\s*:?\s*({QUOTED}){_INTO}{_THING}{_ENTER}",
     lambda m: _typed(m[1], m, m[2])),
    (rf"fill(?: in)?\s+{_THING}\s+with\s+(?:the )?(?:text |value )?(.+?){_ENTER}", _filled),
    (rf"(?:type|input|write)(?: in)?(?: the)?(?: text)?\s*:?\s+((?![\"'“]).{{1,2000}}?)\s+in(?:to)?\s+the\s+{_THING}{_ENTER}",
     lambda m: _typed(m[1], m, m[2])),
    (rf"(?:type|input|write|enter)(?: in)?(?: the)?(?: text)?\s*:?\s+((?![\"'“]).{{1,2000}}?)\s+in(?:to)?\s+{_THING}{_ENTER}",
     _typed_into),
    (rf"(?:type|write|input|input text|enter text)(?: in)?(?: the)?(?: text)?(?:\s*:\s*|\s+)(.+?){_ENTER}", lambda m: _typed(m[1], m)),
    (rf"enter\s+({QUOTED}){_ENTER}", lambda m: _typed(m[1], m)),
    (r"(?:wait|sleep|pause)(?: for)?(?:\s*[(:]?\s*(\d{1,6}(?:\.\d{1,3})?)\s*(s|sec|secs|seconds?|ms|milliseconds?)?\)?)?(?: (?:for|until) .{1,120})?",
     _waited),
    (r"(?:switch|change|focus|go)(?: to)?(?: the)? tab\s*#?(\d{1,4})", lambda m: actions.FocusTab(tab=int(m[1]))),
    (rf"(?:switch|change)(?: back)? to(?: the)? (?:tab {QUOTED}|[^.]{{1,80}} tab)", lambda m: actions.FocusTab()),
    (r"close(?: the| this)?(?: current)? (?:tab|page)", lambda m: actions.CloseTab()),
    (rf"(?:select|choose|pick)(?: the)?(?: option| value)?\s+({QUOTED})(?: option)?\s+(?:from|in|on|for)\s+{_THING}",
     lambda m: _chosen(m[1], m[2])),
    (rf"(?:select|choose|pick)(?: the)? option\s*:?\s+({QUOTED}|[\w-]{{1,64}})", lambda m: _chosen(m[1])),
    (rf"(?:select|choose|pick)(?: the)?\s+({QUOTED}) option", lambda m: _chosen(m[1])),
    (r"(?:select|choose)\s+([\w$%.,-]{1,64}(?: [\w$%.,-]{1,32}){0,2})\s+from\s+(?:the )?(.{1,200})", _chosen_from),
    (rf"(?:upload|attach)(?: the)?(?: file)?\s*:?\s+([^\s].*?)(?:\s+(?:to|into|in)\s+{_THING})?", _uploaded),
    (rf"(?:double|dbl)[ _-]?click(?: on)?\s+{_THING}", lambda m: actions.DblClick(element=named(m[1]))),
    (rf"right[ _-]?click(?: on)?\s+{_THING}", lambda m: actions.Click(element=named(m[1]), button="right")),
    (rf"(?:left[ _-]?)?(?:click|tap)(?: on)?\s+{_THING}", lambda m: actions.Click(element=named(m[1]))),
    (rf"(?:hover(?: over| on)?|move (?:the )?(?:mouse|cursor|pointer) (?:over|to|onto))\s+{_THING}",
     lambda m: actions.Hover(element=named(m[1]))),
    (rf"clear\s+{_THING}", lambda m: actions.Clear(element=named(m[1]))),
    (rf"(?:uncheck|untick|deselect)\s+{_THING}", lambda m: actions.Uncheck(element=named(m[1]))),
    (r"(?:check|tick)\s+(?:the )?(.+?) (?:check ?box|radio)", lambda m: actions.Check(element=named(m[1]))),
    (rf"(?:check|tick)\s+(?:the )?(?:box |check ?box )?({QUOTED})", lambda m: actions.Check(element=named(m[1]))),
    (r"(accept|dismiss|close)(?: the| this)? (?:dialog|alert|confirmation|prompt)(?: dialog| box)?",
     lambda m: actions.HandleDialog(accept=m[1].lower() == "accept")),
    (r"(?:take|capture)(?: an?| the)? screen ?shot(?: of .{0,80})?|screen ?shot", lambda m: actions.ToolCall(name="screenshot")),
    (r"(?:no action|do nothing|no-?op)", lambda m: actions.Noop()),
    (r"(?:done|finish(?:ed)?|stop|terminate|task complete(?:d)?)", lambda m: actions.ToolCall(name="done")),
    (r"(?:task complete(?:d)?[.:;,]\s*)?(?:the )?(?:final )?answer(?: is)?\s*(?:[:;]|->|(?<=is))\s*(.+)", lambda m: actions.Answer(text=unquoted(m[1]))),
    (r"(?:final answer|answer|finish(?:ed)?|done|terminate(?:d)?|task complete(?:d)?|complete(?:d)?|respond|stop)\s*(?:[:;]|->)\s*(.+)",
     lambda m: actions.Answer(text=unquoted(m[1]))),
)  # fmt: skip
"""Wording to action; the first that fits the whole line and makes one."""
