"""CSS selectors as text: tokens as browsers read them, and what no browser accepts."""

from __future__ import annotations

import re
from typing import Any

import tinycss2
from cssselect2 import parser

from replaykit.patterns import lazy_pattern


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The parser gives lists inside functions up as a whole after one error; renamed, they come back as tokens.
_LISTS = {"is": "x-is", "-webkit-any": "x-is", "where": "x-where", "not": "x-not", "has": "x-has"}
NTH = ("nth-child", "nth-last-child", "nth-of-type", "nth-last-of-type")

# Accepted by Chromium, but no snapshot can answer: they depend on pointer, focus, validity or script.
UNRECORDED = _words(
    "active active-view-transition autofill -webkit-autofill current default defined focus focus-visible "
    "focus-within fullscreen -webkit-full-screen -webkit-full-page-media -webkit-drag future host hover "
    "in-range interest-source interest-target invalid open out-of-range past picture-in-picture read-only "
    "read-write target target-after target-before target-current user-invalid user-valid valid "
    "window-inactive xr-overlay"
)
UNRECORDED_FUNCTIONS = _words("active-view-transition-type dir host host-context lang state")

RECORDED = _words(
    "-webkit-any-link any-link checked disabled empty enabled first-child first-of-type indeterminate "
    "last-child last-of-type link modal only-child only-of-type optional placeholder-shown popover-open "
    "required root scope visited"
)
"""Pseudo-classes that a snapshot answers."""

# Names that follow two colons; with or without an argument, they select no element.
_PSEUDO_ELEMENTS = _words(
    "after backdrop before checkmark column cue details-content file-selector-button first-letter first-line "
    "grammar-error highlight marker part permission-icon picker picker-icon placeholder scroll-button "
    "scroll-marker scroll-marker-group search-text selection slotted spelling-error target-text "
    "view-transition view-transition-group view-transition-image-pair view-transition-new "
    "view-transition-old"
)
_ONE_COLON = frozenset(("after", "before", "first-letter", "first-line"))
"""Pseudo-elements that may stand behind one."""

_CLASSES = RECORDED | UNRECORDED | _ONE_COLON
_FUNCTIONS = frozenset((*_LISTS.values(), *NTH, *UNRECORDED_FUNCTIONS))


def selector_fault(source: str) -> str | None:
    """Return why no browser would accept a selector list; None where one may."""
    return _fault(prepared(tinycss2.parse_component_value_list(source)), is_relative=False)


def prepared(tokens: list[Any]) -> list[Any]:
    """Bring tokens into the forms that the parser reads as browsers do.

    Comments and the note that a string ended with the input (browsers close it) go; `&` is `:scope`; list
    functions get names that the parser does not interpret; every pseudo-element becomes one that it knows.
    """
    kept: list[Any] = []
    for token in tokens:
        if token.type == "comment" or (token.type == "error" and token.kind == "eof-in-string"):
            continue
        if token == "&":
            kept += tinycss2.parse_component_value_list(":scope")
            continue
        if token.type in ("ident", "function") and kept[-2:] == [":", ":"]:
            token = _pseudo_element(token)
        elif token.type == "function":
            token.arguments = prepared(token.arguments)
            token.name = token.lower_name = _LISTS.get(token.lower_name, token.lower_name)
        elif token.type == "[] block":
            token.content = prepared(token.content)
        kept.append(token)
    return kept


def _pseudo_element(token: Any) -> Any:
    name = token.lower_value if token.type == "ident" else token.lower_name
    known = name in _PSEUDO_ELEMENTS or name.startswith("-webkit-")
    return tinycss2.parse_one_component_value("marker" if known else "unknown")


_TOKEN = lazy_pattern(r"<\w+ (.*)>", re.DOTALL)


def plain_words(error: Exception) -> str:
    """Return what the parser of selectors complains of, without its names of tokens."""
    token, words = error.args[0], _TOKEN.sub(lambda token: repr(token[1]), str(error.args[-1]))
    kind = getattr(token, "type", None)
    found = repr(token.serialize()) if kind is not None else "the end"
    for name in (str(kind), "EOF"):
        words = words.replace(f"got {name}", f"found {found}").replace(
            f"unexpected {name} token", f"unexpected {found}"
        )
    words = words.replace("unexpected the end", "unexpected end")
    return words[:1].lower() + words[1:].replace(", got ", ", found ").rstrip(".")


def _fault(tokens: list[Any], is_relative: bool) -> str | None:
    try:
        list(parser.parse(tokens, relative=is_relative))
    except (parser.SelectorError, AttributeError) as error:
        # AttributeError: cssselect2 0.10 reads past the end of `a|`.
        return plain_words(error)
    faults = (_pseudo_class_fault(token) for token in _behind_one_colon(tokens))
    return next((fault for fault in faults if fault is not None), None)


def _behind_one_colon(tokens: list[Any]) -> list[Any]:
    return [
        token
        for at, token in enumerate(tokens)
        if token.type in ("ident", "function")
        and tokens[at - 1 : at] == [":"]
        and tokens[at - 2 : at] != [":", ":"]
    ]


def _pseudo_class_fault(token: Any) -> str | None:
    if token.type == "ident":
        return None if token.lower_value in _CLASSES else f"unknown pseudo-class :{token.lower_value}"
    if token.lower_name not in _FUNCTIONS:
        return f"unknown pseudo-class :{token.lower_name}()"
    if token.lower_name in ("x-not", "x-has"):
        return _fault(token.arguments, is_relative=token.lower_name == "x-has")
    return None  # others forgive what they do not know
