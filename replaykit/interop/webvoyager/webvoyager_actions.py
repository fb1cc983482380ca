"""Actions in WebVoyager's words, both ways: as its own reader finds them, and as they were meant."""

from __future__ import annotations

import re
from collections.abc import Callable

from replaykit.patterns import lazy_pattern
from replaykit.trajectory import action as actions

GOOGLE = "https://www.google.com/"
"""Where `Google` leads."""

# Upstream takes the first form that is found anywhere, so text ends at the first bracket.
_PEER = (
    ("click", lazy_pattern(r"Click \[?(\d+)\]?")),
    ("type", lazy_pattern(r"Type \[?(\d+)\]?[; ]+\[?(.[^\]]*)\]?")),
    ("scroll", lazy_pattern(r"Scroll \[?(\d+|WINDOW)\]?[; ]+\[?(up|down)\]?")),
    ("wait", lazy_pattern(r"^Wait")),
    ("goback", lazy_pattern(r"^GoBack")),
    ("google", lazy_pattern(r"^Google")),
    ("answer", lazy_pattern(r"ANSWER[; ]+\[?(.[^\]]*)\]?")),
)
_STRICT = (
    ("click", lazy_pattern(r"Click (?:\[(\d+)\]|(\d+))")),
    ("type", lazy_pattern(r"Type (?:\[(\d+)\]|(\d+))[; ]+(\S.*)", re.DOTALL)),
    ("scroll", lazy_pattern(r"Scroll (?:\[(\d+|WINDOW)\]|(\d+|WINDOW))[; ]+(\[up\]|\[down\]|up|down)")),
    ("wait", lazy_pattern(r"Wait(?:[; ]+\S{0,40})?")),
    ("goback", lazy_pattern(r"GoBack")),
    ("google", lazy_pattern(r"Google")),
    ("answer", lazy_pattern(r"ANSWER[; ]+(\S.*)", re.DOTALL)),
)


def peer_action(text: str) -> actions.Action:
    """Return what upstream would have done: the first of its forms found anywhere in the text."""
    for name, form in _PEER:
        found = form.search(text)
        if found is not None:
            return _ACTIONS[name]([group or "" for group in found.groups()])
    return _unknown(text)


def strict_action(text: str) -> actions.Action:
    """Return the action that the whole text describes, with balanced brackets.

    Otherwise an unknown action.
    """
    text = text.strip()
    for name, form in _STRICT:
        found = form.fullmatch(text)
        if found is not None:
            return _ACTIONS[name]([_unbracketed(group) for group in found.groups() if group is not None])
    return _unknown(text)


def answer_of(message: str | None) -> str | None:
    """Return the answer that upstream's evaluation finds in a last message; None where it finds none."""
    if message is None or "Action: ANSWER" not in message:
        return None
    found = _PEER[-1][1].search(message)
    return found[1] if found else None


def action_line(action: actions.ActionBase, raw: object = None) -> str | None:
    """Return an action in WebVoyager's words; None where it has none for it. `raw` wins where it is one."""
    if isinstance(raw, str) and strict_action(raw) != _unknown(raw.strip()):
        return raw
    ref = action.element.ref if action.element is not None else None
    match action:
        case actions.Click() if ref:
            return f"Click [{ref}]"
        case actions.Fill() | actions.Type() if ref:
            return f"Type [{ref}]; [{action.value}]"
        case actions.Scroll():
            return f"Scroll [{ref or 'WINDOW'}]; [{'up' if action.dy < 0 else 'down'}]"
        case actions.Wait():
            return "Wait"
        case actions.GoBack():
            return "GoBack"
        case actions.Goto() if action.url == GOOGLE:
            return "Google"
        case actions.Answer():
            return f"ANSWER; [{action.text}]"
    return None


def _scroll(parts: list[str]) -> actions.Scroll:
    # How far is not stated: one px stands for the direction.
    where, way = parts
    element = None if where == "WINDOW" else actions.Element(ref=where)
    return actions.Scroll(element=element, dy=-1 if way == "up" else 1, amount=way)


_ACTIONS: dict[str, Callable[[list[str]], actions.Action]] = {
    "click": lambda parts: actions.Click(element=actions.Element(ref=parts[0])),
    "type": lambda parts: actions.Fill(element=actions.Element(ref=parts[0]), value=parts[1], submit=True),
    "scroll": _scroll,
    "wait": lambda parts: actions.Wait(),
    "goback": lambda parts: actions.GoBack(),
    "google": lambda parts: actions.Goto(url=GOOGLE),
    "answer": lambda parts: actions.Answer(text=parts[0]),
}


def _unbracketed(text: str) -> str:
    """Take off brackets around a text, where they belong to each other."""
    if not text.startswith("[") or not text.endswith("]"):
        return text
    depth = 0
    for at, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if depth == 0:
            return text[1:-1] if at == len(text) - 1 else text
    return text


def _unknown(text: str) -> actions.Unknown:
    word = re.match(r"[A-Za-z]+", text)
    return actions.Unknown(name=word[0].lower() if word else "text", raw=text)
